//! Names of figures and curves.

use core::fmt::{self, Write};
use pillion_abi::call::Call;

/// A call and, where it is scanned more than once, what it is used for.
#[derive(Clone, Copy)]
pub struct Name {
    /// The call.
    pub call: Call,
    /// What it is used for, or nothing.
    pub variant: &'static str,
}

impl Name {
    /// The usual use.
    pub const fn of(call: Call) -> Name {
        Name { call, variant: "" }
    }

    /// A use of its own.
    pub const fn variant(call: Call, variant: &'static str) -> Name {
        Name { call, variant }
    }
}

impl fmt::Display for Name {
    /// In lower case, the words joined by underscores: `cap_revoke_mapped`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, letter) in self.call.name().char_indices() {
            if at != 0 && letter.is_ascii_uppercase() {
                f.write_char('_')?;
            }
            f.write_char(letter.to_ascii_lowercase())?;
        }
        if !self.variant.is_empty() {
            f.write_char('_')?;
        }
        f.write_str(self.variant)
    }
}
