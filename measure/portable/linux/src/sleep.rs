//! Sleeps until a deadline.

use crate::time_source::timespec;
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};

/// Sleeps until `CLOCK_MONOTONIC` is `deadline_ns`, whatever signals come. Fails if Linux refuses.
pub fn until(deadline_ns: u64) -> Result<(), Errno> {
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &timespec(deadline_ns)) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}
