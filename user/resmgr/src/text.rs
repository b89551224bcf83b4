//! Short texts that are formatted often: not on the heap, which takes back little.

use core::fmt;

/// Longest text; the rest of a longer one is cut off.
const LONGEST: usize = 400;

pub struct Text {
    bytes: [u8; LONGEST],
    used: usize,
}

impl Text {
    pub fn new(arguments: fmt::Arguments<'_>) -> Text {
        let mut text = Text { bytes: [0; LONGEST], used: 0 };
        // Cutting a long text off is no error.
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }

    /// Its characters.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.used]).unwrap_or_default()
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let most = LONGEST - self.used;
        let count = (0..=text.len().min(most)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.bytes[self.used..self.used + count].copy_from_slice(&text.as_bytes()[..count]);
        self.used += count;
        if count == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! text {
    ($($argument:tt)*) => { $crate::text::Text::new(core::format_args!($($argument)*)) };
}
pub(crate) use text;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::String;

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        assert_eq!(text!("{} of {}", 1, "two").as_str(), "1 of two");
        let long: String = core::iter::repeat_n('µ', 300).collect();
        assert_eq!(text!("a{long}b").as_str(), &long.replacen('µ', "aµ", 1)[..399]);
    }
}
