//! Makes new inputs out of old ones.

/// Pseudo-random numbers (xorshift).
pub struct Random(u64);

impl Random {
    /// A generator from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() >> 11) as usize % bound.max(1)
    }
}

/// Boundary values.
const EDGES: [u64; 14] =
    [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0xfff, 0x1000, 0x7fff_ffff, 0x8000_0000, u64::MAX / 2, u64::MAX];

/// Changes an input in a few places; `other` provides pieces.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&str], longest: usize, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(9) {
            0 => change(input, at, |byte| *byte ^= 1 << (random.below(8))),
            1 => change(input, at, |byte| *byte = random.number() as u8),
            2 => put(input, at, &EDGES[random.below(EDGES.len())].to_le_bytes()[..1 << random.below(4)]),
            3 => insert(input, at, &random.number().to_le_bytes()[..1 + random.below(8)]),
            4 => drop(input.drain(at..(at + 1 + random.below(16)).min(input.len()))),
            5 => insert(input, at, piece(other, random)),
            6 => put(input, at, piece(other, random)),
            7 if !words.is_empty() => insert(input, at, words[random.below(words.len())].as_bytes()),
            _ => change(input, at, |byte| *byte = byte.wrapping_add((random.below(9) as u8).wrapping_sub(4))),
        }
    }
    input.truncate(longest);
}

fn piece<'a>(from: &'a [u8], random: &mut Random) -> &'a [u8] {
    let at = random.below(from.len() + 1);
    let end = (at + 1 + random.below(32)).min(from.len());
    &from[at.min(end)..end]
}

fn change(input: &mut [u8], at: usize, how: impl FnOnce(&mut u8)) {
    if let Some(byte) = input.get_mut(at) {
        how(byte);
    }
}

fn put(input: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in input.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stay_below_the_limit_and_differ() {
        let mut random = Random::new(1);
        let mut input = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            mutate(&mut input, b"other", &["word"], 40, &mut random);
            assert!(input.len() <= 40);
            seen.insert(input.clone());
        }
        assert!(seen.len() > 1500);
    }
}
