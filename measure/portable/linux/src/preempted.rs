//! Counts involuntary preemptions of a thread.

use rustix::io::Errno;

/// How often others have preempted the calling thread so far. Fails if Linux does not report it.
pub fn count() -> Result<u64, Errno> {
    // SAFETY: a C structure of integers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives during the call.
    match unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } {
        0 => Ok(usage.ru_nivcsw as u64),
        _ => Err(crate::realtime::last_errno()),
    }
}
