//! Notes: lines that the guest writes to port 0xe9, byte by byte.

/// Port of the notes. It is the debug console of QEMU and Bochs, so that the same program works
/// without a monitor.
pub const PORT: u16 = 0xe9;

/// Longest line; the rest of a longer one is dropped.
pub const LONGEST: usize = 240;

/// A line being assembled.
#[derive(Clone, Debug)]
pub struct Notes {
    bytes: [u8; LONGEST],
    length: usize,
    complete: bool,
}

impl Default for Notes {
    fn default() -> Self {
        Self::new()
    }
}

impl Notes {
    /// An empty line.
    pub const fn new() -> Self {
        Notes { bytes: [0; LONGEST], length: 0, complete: false }
    }

    /// Takes a byte, and returns the line if the byte ends one that is not empty. What is not
    /// printable ASCII becomes `?`, and `"` and `\` become `'` and `/`, so that a report can put
    /// the line between quotation marks.
    pub fn push(&mut self, byte: u8) -> Option<&str> {
        if self.complete {
            self.length = 0;
            self.complete = false;
        }
        match byte {
            b'\n' => {
                self.complete = true;
                return self.line();
            }
            b'\r' => {}
            _ => self.append(plain(byte)),
        }
        None
    }

    fn append(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    fn line(&self) -> Option<&str> {
        let line = self.bytes.get(..self.length)?;
        core::str::from_utf8(line).ok().filter(|line| !line.is_empty())
    }
}

const fn plain(byte: u8) -> u8 {
    match byte {
        b'"' => b'\'',
        b'\\' => b'/',
        b' '..=b'~' => byte,
        b'\t' => b' ',
        _ => b'?',
    }
}
