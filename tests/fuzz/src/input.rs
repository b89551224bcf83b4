//! Interprets a target's input bytes as numbers.

/// The rest of an input; zeros follow its end.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Bytes of an access: 1, 2, 4 or 8, at most `widest`.
    pub fn width(&mut self, widest: u8) -> u8 {
        (1 << (self.u8() & 3)).min(widest)
    }

    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_at(self.0.len().min(N));
        self.0 = rest;
        std::array::from_fn(|i| taken.get(i).copied().unwrap_or(0))
    }
}
