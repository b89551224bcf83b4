//! Short system calls.

use super::meter::Meter;
use anyhow::Result;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{read, write};
use rustix::time::ClockId;
use std::hint::black_box;

const CALLS: u64 = 100_000;

/// The shortest call: getppid, which the C library does not cache.
pub fn null(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, || {
        black_box(rustix::process::getppid());
        Ok(())
    })
}

/// The number of this process, by a real system call.
pub fn getpid(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, || {
        black_box(rustix::process::getpid());
        Ok(())
    })
}

/// The time, which Linux provides without a system call if its clock source allows it.
pub fn clock_gettime(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, || {
        black_box(rustix::time::clock_gettime(ClockId::Monotonic));
        Ok(())
    })
}

/// A byte of /dev/zero.
pub fn read_zero(meter: &Meter) -> Result<f64> {
    let file = open("/dev/zero", OFlags::RDONLY, Mode::empty())?;
    meter.each(CALLS, || Ok(read(&file, &mut [0u8]).map(drop)?))
}

/// A byte into /dev/null.
pub fn write_null(meter: &Meter) -> Result<f64> {
    let file = open("/dev/null", OFlags::WRONLY, Mode::empty())?;
    meter.each(CALLS, || Ok(write(&file, &[0u8]).map(drop)?))
}

/// The status of an existing file.
pub fn stat(meter: &Meter) -> Result<f64> {
    meter.each(CALLS / 2, || Ok(rustix::fs::stat("/dev/null").map(drop)?))
}

/// Opens and closes an existing file.
pub fn open_close(meter: &Meter) -> Result<f64> {
    meter.each(CALLS / 4, || Ok(open("/dev/null", OFlags::RDONLY, Mode::empty()).map(drop)?))
}
