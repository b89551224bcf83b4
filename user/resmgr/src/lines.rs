//! Assembles the pieces of text that tasks send for the log into lines.

use core::fmt::Write as _;
use pillion_abi::call::MESSAGE_WORDS;

/// Longest line; a longer one is printed in pieces.
const LONGEST: usize = 512;

/// What a task has written since its last newline.
pub struct Line {
    bytes: [u8; LONGEST],
    used: usize,
}

impl Line {
    pub const fn new() -> Line {
        Line { bytes: [0; LONGEST], used: 0 }
    }

    /// Adds a piece and prints every line that it completes.
    pub fn push(&mut self, piece: &[u8], mut print: impl FnMut(&[u8])) {
        for byte in piece {
            if *byte == b'\n' {
                self.flush(&mut print);
                continue;
            }
            if self.used == LONGEST {
                self.flush(&mut print);
            }
            if *byte != b'\r' {
                self.bytes[self.used] = *byte;
                self.used += 1;
            }
        }
    }

    /// Prints what is left, if anything.
    pub fn finish(&mut self, print: impl FnMut(&[u8])) {
        if self.used != 0 {
            self.flush(print);
        }
    }

    fn flush(&mut self, mut print: impl FnMut(&[u8])) {
        print(&self.bytes[..self.used]);
        self.used = 0;
    }
}

/// The bytes in a message's words.
pub fn bytes_of_words(words: &[u64; MESSAGE_WORDS]) -> [u8; MESSAGE_WORDS * 8] {
    let mut bytes = [0; MESSAGE_WORDS * 8];
    for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Prints a line; control characters and invalid UTF-8 become question marks.
pub fn print(line: &[u8]) {
    print_to(pillion_runtime::log::Log::new(), line);
}

/// Prints a line after the name of the task that wrote it.
pub fn print_from(name: &str, line: &[u8]) {
    let mut log = pillion_runtime::log::Log::new();
    let _ = write!(log, "[{name}] ");
    print_to(log, line);
}

fn print_to(mut log: pillion_runtime::log::Log, line: &[u8]) {
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            let _ = log.write_char(if c.is_control() && c != '\t' { '?' } else { c });
        }
        if !chunk.invalid().is_empty() {
            let _ = log.write_char('?');
        }
    }
    let _ = log.write_char('\n');
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{string::String, vec::Vec};

    fn run(pieces: &[&[u8]]) -> Vec<String> {
        let (mut line, mut out) = (Line::new(), Vec::new());
        for piece in pieces {
            line.push(piece, |l| out.push(String::from_utf8_lossy(l).into_owned()));
        }
        line.finish(|l| out.push(String::from_utf8_lossy(l).into_owned()));
        out
    }

    #[test]
    fn lines_are_put_together() {
        assert_eq!(run(&[b"ab", b"c\r\n\nd", b"e"]), ["abc", "", "de"]);
        assert!(run(&[]).is_empty());
        let long = run(&[&[b'x'; 600], b"\n"]);
        assert_eq!((long.len(), long[0].len(), long[1].len()), (2, 512, 88));
    }

    #[test]
    fn words_are_little_endian() {
        let mut words = [0; MESSAGE_WORDS];
        words[1] = 0x6261;
        assert_eq!(&bytes_of_words(&words)[8..11], b"ab\0");
    }
}
