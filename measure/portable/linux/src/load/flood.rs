//! Leaves every cache line dirty and every TLB entry replaced: writes a word of each line of a
//! working set larger than the caches.

use super::Piece;
use anyhow::Result;
use std::fs;

/// The shortest cache line of the machines in measure/machines, that of the Pentium Pro; longer
/// lines are written more than once.
const LINE: usize = 32;

/// The working set if Linux does not report the last cache's size; larger than a small machine's.
const DEFAULT: usize = 16 << 20;

/// Allocates the working set: twice the last cache, so that none of its lines survives a pass.
pub fn prepare() -> Result<Piece> {
    let mut memory = vec![0u8; 2 * last_cache().unwrap_or(DEFAULT)];
    let mut round = 0u8;
    Ok(Box::new(move || {
        round = round.wrapping_add(1);
        dirty(&mut memory, round);
        Ok(1)
    }))
}

/// Changes a byte of each line.
fn dirty(memory: &mut [u8], value: u8) {
    for line in memory.chunks_mut(LINE) {
        line[0] = value;
    }
    std::hint::black_box(memory);
}

/// Bytes of the first processor's largest cache.
fn last_cache() -> Option<usize> {
    let sizes = (0..8)
        .filter_map(|index| fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok());
    sizes.filter_map(|text| bytes(text.trim())).max()
}

/// A size as Linux writes it: `32K`, `8M`.
fn bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok().map(|number| number << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!((bytes("32K"), bytes("1M"), bytes("7"), bytes("x")), (Some(32768), Some(1 << 20), Some(7), None));
    }

    #[test]
    fn each_line_gets_dirty() {
        let mut memory = vec![0; 3 * LINE + 1];
        dirty(&mut memory, 9);
        assert_eq!(memory.iter().filter(|&&byte| byte == 9).count(), 4);
        assert_eq!((memory[0], memory[LINE], memory[3 * LINE]), (9, 9, 9));
    }
}
