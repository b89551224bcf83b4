//! Names of figures and curves.

use core::fmt::{self, Write};
use pillion_abi::call::Call;

/// A call and, if it is scanned more than once, the use of it.
#[derive(Clone, Copy)]
pub struct Name {
    pub call: Call,
    /// The use of the call, or empty.
    pub variant: &'static str,
}

impl Name {
    /// The usual use of a call.
    pub const fn of(call: Call) -> Name {
        Name { call, variant: "" }
    }

    /// A particular use of a call.
    pub const fn variant(call: Call, variant: &'static str) -> Name {
        Name { call, variant }
    }
}

impl fmt::Display for Name {
    /// Prints the name in lower case, with words joined by underscores: `cap_revoke_mapped`.
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
