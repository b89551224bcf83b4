//! The user's terminal: raw, with a line at the bottom that does not scroll.

use anyhow::Result;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{Write as _, stdin, stdout};
use std::time::{Duration, Instant};

/// The least time between two drawings of a line that Linux can have erased.
const REDRAW: Duration = Duration::from_millis(100);

/// The terminal in raw mode, until this value is dropped.
pub struct Terminal {
    before: Termios,
    rows: u16,
    columns: u16,
    sequence: Sequence,
    shown: String,
    drawn: Instant,
    /// Linux has written something since, which can have erased the line.
    is_stale: bool,
}

/// Rows and columns that Linux may use.
pub fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdout()).ok()?;
    (size.ws_row > 2 && size.ws_col > 0).then(|| (size.ws_row - 1, size.ws_col))
}

impl Terminal {
    /// Takes the terminal over.
    pub fn open() -> Result<Terminal> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        let mut terminal = Terminal {
            before,
            rows: 0,
            columns: 0,
            sequence: Sequence::Ground,
            shown: String::new(),
            drawn: Instant::now(),
            is_stale: false,
        };
        terminal.fit();
        Ok(terminal)
    }

    /// Writes Linux's output.
    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.sequence = self.sequence.after(*byte);
        }
        self.is_stale |= !bytes.is_empty();
        put(bytes);
    }

    /// Shows a line at the bottom, unless it is there, or Linux is in the middle of a control
    /// sequence. Of a line that is too long, the text is cut, and what keys do stays.
    pub fn status(&mut self, text: &str, keys: &str) {
        if self.sequence != Sequence::Ground {
            return;
        }
        let fitted = self.fit();
        let line = fitting(text, keys, usize::from(self.columns));
        // The console comes byte by byte.
        let is_lost = self.is_stale && self.drawn.elapsed() >= REDRAW;
        if line == self.shown && !fitted && !is_lost {
            return;
        }
        (self.is_stale, self.drawn) = (false, Instant::now());
        put(format!("\x1b7\x1b[{};1H\x1b[0;7m\x1b[K{line}\x1b[0m\x1b8", self.rows).as_bytes());
        self.shown = line;
    }

    /// Rows and columns that Linux has now.
    pub fn size(&self) -> (u16, u16) {
        (self.rows.saturating_sub(1), self.columns)
    }

    /// Reserves the bottom line when the terminal's size has changed.
    fn fit(&mut self) -> bool {
        let Some((rows, columns)) = size() else { return false };
        if (rows + 1, columns) == (self.rows, self.columns) {
            return false;
        }
        // The old status line may have moved, or wrapped to two lines. It is below where Linux
        // writes, like everything that a resize uncovers.
        let clear = if self.rows == 0 { "" } else { "\x1b7\x1b[r\x1b8\x1b[J" };
        (self.rows, self.columns) = (rows + 1, columns);
        put(format!("{clear}\n\x1b[A\x1b7\x1b[1;{rows}r\x1b8").as_bytes());
        true
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        put(format!("\x1b[0m\x1b[r\x1b[{};1H\x1b[K\x1b[?25h", self.rows).as_bytes());
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// At most `columns` characters: as much of the text as there is room for, and the keys.
fn fitting(text: &str, keys: &str, columns: usize) -> String {
    let room = columns.saturating_sub(keys.chars().count());
    let cut = if text.chars().count() > room { "…" } else { "" };
    let text = text.chars().take(room.saturating_sub(cut.chars().count()));
    text.chain(cut.chars()).chain(keys.chars()).take(columns).collect()
}

fn put(bytes: &[u8]) {
    let mut out = stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Tracks whether a stream of bytes is within a control sequence or a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    Ground,
    Escape,
    Control,
    Text,
    Character(u8),
}

impl Sequence {
    fn after(self, byte: u8) -> Sequence {
        match (self, byte) {
            (_, 0x1b) => Sequence::Escape,
            (Sequence::Escape, b'[') => Sequence::Control,
            (Sequence::Escape, b']' | b'P') => Sequence::Text,
            (Sequence::Escape, 0x20..=0x2f) => Sequence::Escape,
            (Sequence::Control, 0x20..=0x3f) => Sequence::Control,
            (Sequence::Text, 0x07) => Sequence::Ground,
            (Sequence::Text, _) => Sequence::Text,
            (Sequence::Character(left @ 2..), 0x80..=0xbf) => Sequence::Character(left - 1),
            (_, 0xc0..=0xdf) => Sequence::Character(1),
            (_, 0xe0..=0xef) => Sequence::Character(2),
            (_, 0xf0..=0xf7) => Sequence::Character(3),
            _ => Sequence::Ground,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &[u8]) -> Sequence {
        text.iter().fold(Sequence::Ground, |state, byte| state.after(*byte))
    }

    #[test]
    fn a_narrow_terminal_shows_what_keys_do() {
        assert_eq!(fitting("Linux: up", " ^] leaves", 20), "Linux: up ^] leaves");
        assert_eq!(fitting("Linux: up", " ^] leaves", 19), "Linux: up ^] leaves");
        assert_eq!(fitting("Linux: up", " ^] leaves", 18), "Linux: … ^] leaves");
        assert_eq!(fitting("Linux: up", " ^] leaves", 5), "… ^] ");
    }

    #[test]
    fn knows_when_a_sequence_is_complete() {
        for whole in ["plain", "\x1b[1;31m", "\x1bM", "\x1b(B", "\x1b]0;title\x07", "é€"] {
            assert_eq!(after(whole.as_bytes()), Sequence::Ground, "{whole:?}");
        }
        for part in [&b"\x1b"[..], b"\x1b[1;3", b"\x1b]0;ti", "é".as_bytes().split_last().unwrap().1] {
            assert_ne!(after(part), Sequence::Ground, "{part:?}");
        }
    }
}
