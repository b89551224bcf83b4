//! Copies what tasks print from the rings that they show to the system's log.

use crate::lines::{Line, print_from};
use pillion_abi::channel::{LOG_SIZE, Status};

/// Bytes of a task's log that are printed in one go.
pub const PIECE: u64 = 128;

/// How far a task's log has been printed.
pub struct Reader {
    name: &'static str,
    seen: u64,
    line: Line,
}

/// A task's log: a count of the bytes written so far, and the bytes by number.
pub trait Ring {
    /// Number of bytes written so far.
    fn written(&self) -> u64;
    /// Byte `n`, or another one if the task has since written [`LOG_SIZE`] more.
    fn byte(&self, n: u64) -> u8;
}

/// The log in what a task shows.
pub struct Shown(*const Status);

impl Shown {
    /// The log in this status.
    ///
    /// # Safety
    /// The status stays readable for good.
    pub unsafe fn of(status: *const Status) -> Shown {
        Shown(status)
    }
}

impl Ring for Shown {
    fn written(&self) -> u64 {
        // SAFETY: readable, as the caller of `of` promised; the task writes it at any time, and
        // every value is valid.
        unsafe { (&raw const (*self.0).log_written).read_volatile() }
    }

    fn byte(&self, n: u64) -> u8 {
        // SAFETY: as above; the index is within the log.
        unsafe { (&raw const (*self.0).log).cast::<u8>().add(n as usize % LOG_SIZE).read_volatile() }
    }
}

impl Reader {
    /// A reader that has printed nothing yet.
    pub fn new(name: &'static str) -> Reader {
        Reader { name, seen: 0, line: Line::new() }
    }

    /// Prints new lines, from at most `most` bytes. Returns whether there were any new bytes.
    pub fn look(&mut self, ring: &impl Ring, most: u64) -> bool {
        let name = self.name;
        self.copy(ring, most, &mut |line| print_from(name, line))
    }

    /// Prints everything, including an unfinished line.
    pub fn finish(&mut self, ring: &impl Ring) {
        // The limit keeps a task that never stops printing from holding up the end.
        self.look(ring, 2 * LOG_SIZE as u64);
        let name = self.name;
        self.line.finish(|line| print_from(name, line));
    }

    /// Skips what is new.
    pub fn skip(&mut self, ring: &impl Ring) {
        self.seen = ring.written();
    }

    fn copy(&mut self, ring: &impl Ring, most: u64, print: &mut impl FnMut(&[u8])) -> bool {
        let written = ring.written();
        let ahead = written.wrapping_sub(self.seen);
        if ahead == 0 {
            return false;
        }
        if ahead > LOG_SIZE as u64 {
            self.lose(ahead - LOG_SIZE as u64, print);
        }
        let end = self.seen.wrapping_add(written.wrapping_sub(self.seen).min(most));
        while self.seen != end {
            let byte = ring.byte(self.seen);
            let over = ring.written().wrapping_sub(self.seen);
            if over > LOG_SIZE as u64 {
                // The task overtook the reader; the rest is printed next time.
                self.lose(over - LOG_SIZE as u64, print);
                return true;
            }
            self.line.push(&[byte], &mut *print);
            self.seen = self.seen.wrapping_add(1);
        }
        true
    }

    /// Skips what was overwritten, and reports it.
    fn lose(&mut self, bytes: u64, print: &mut impl FnMut(&[u8])) {
        self.line.finish(&mut *print);
        self.line.push(alloc::format!("({bytes} bytes of the log are lost)\n").as_bytes(), print);
        self.seen = self.seen.wrapping_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::{string::String, vec, vec::Vec};

    struct Text {
        written: u64,
        log: Vec<u8>,
    }

    impl Text {
        fn write(&mut self, text: &[u8]) {
            for byte in text {
                self.log[self.written as usize % LOG_SIZE] = *byte;
                self.written = self.written.wrapping_add(1);
            }
        }
    }

    impl Ring for Text {
        fn written(&self) -> u64 {
            self.written
        }
        fn byte(&self, n: u64) -> u8 {
            self.log[n as usize % LOG_SIZE]
        }
    }

    fn text() -> Text {
        Text { written: 0, log: vec![0; LOG_SIZE] }
    }

    fn look(reader: &mut Reader, ring: &Text, most: u64) -> Vec<String> {
        let mut out = Vec::new();
        reader.copy(ring, most, &mut |line| out.push(String::from_utf8_lossy(line).into_owned()));
        out
    }

    #[test]
    fn whole_lines_come_out_once() {
        let (mut reader, mut ring) = (Reader::new("a"), text());
        ring.write(b"one\ntw");
        assert_eq!(look(&mut reader, &ring, PIECE), ["one"]);
        assert!(look(&mut reader, &ring, PIECE).is_empty());
        ring.write(b"o\n");
        assert_eq!(look(&mut reader, &ring, PIECE), ["two"]);
        assert!(!reader.copy(&ring, PIECE, &mut |_| {}));
    }

    #[test]
    fn a_little_at_a_time() {
        let (mut reader, mut ring) = (Reader::new("a"), text());
        ring.write(b"one\ntwo\n");
        assert_eq!(look(&mut reader, &ring, 5), ["one"]);
        assert_eq!(look(&mut reader, &ring, 5), ["two"]);
    }

    #[test]
    fn what_is_overwritten_is_told() {
        let (mut reader, mut ring) = (Reader::new("a"), text());
        ring.write(&[b'x'; LOG_SIZE]);
        ring.write(b"\nnew\n");
        let out = look(&mut reader, &ring, 2 * LOG_SIZE as u64);
        assert_eq!((out[0].as_str(), out.last().unwrap().as_str()), ("(5 bytes of the log are lost)", "new"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Where the reader keeps up, the text comes out unchanged, whatever the pieces.
        #[test]
        fn nothing_is_lost_by_a_reader_that_keeps_up(pieces in prop::collection::vec(("[a-z\n]{0,200}", 1u64..300), 0..60)) {
            let (mut reader, mut ring, mut got, mut all) = (Reader::new("a"), text(), String::new(), String::new());
            for (piece, most) in pieces {
                ring.write(piece.as_bytes());
                all.push_str(&piece);
                reader.copy(&ring, most, &mut |line| { got.push_str(std::str::from_utf8(line).unwrap()); got.push('\n'); });
            }
            reader.copy(&ring, u64::MAX, &mut |line| { got.push_str(std::str::from_utf8(line).unwrap()); got.push('\n'); });
            let whole: String = all.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
            prop_assert_eq!(got, whole);
        }
    }
}
