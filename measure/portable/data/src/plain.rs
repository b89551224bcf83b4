//! Texts of guests, programs and files, as they are shown.

/// A text without what would control a terminal and what XML forbids.
#[must_use]
pub fn plain(text: &str) -> String {
    let shown = |c: &char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars().filter(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_controls_a_terminal_or_is_no_xml() {
        assert_eq!(plain("é µ\t€\n"), "é µ\t€\n");
        assert_eq!(plain("a\0\x1b[2J\u{9b}31m\x07\x7f\r\u{ffff}b\u{fffe}"), "a[2J31mb");
    }
}
