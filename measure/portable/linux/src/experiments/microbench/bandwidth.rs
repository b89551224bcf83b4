//! Bandwidth of memory, over more than most caches hold.

use super::meter::Meter;
use anyhow::Result;
use std::hint::black_box;

const SIZE: usize = 8 << 20;
const CALLS: u64 = 20;

/// Copies memory.
pub fn copy(meter: &Meter) -> Result<f64> {
    let from = vec![1u8; SIZE];
    let mut to = vec![0u8; SIZE];
    meter.bandwidth(SIZE, CALLS, || {
        to.copy_from_slice(&from);
        black_box(&to);
        Ok(())
    })
}

/// Adds up memory.
pub fn read(meter: &Meter) -> Result<f64> {
    let from = vec![1u64; SIZE / size_of::<u64>()];
    meter.bandwidth(SIZE, CALLS, || {
        black_box(black_box(&from).iter().copied().fold(0, u64::wrapping_add));
        Ok(())
    })
}

/// Fills memory.
pub fn write(meter: &Meter) -> Result<f64> {
    let mut to = vec![0u8; SIZE];
    let mut value = 0u8;
    meter.bandwidth(SIZE, CALLS, || {
        value = value.wrapping_add(1);
        to.fill(value);
        black_box(&to);
        Ok(())
    })
}
