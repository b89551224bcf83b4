//! Signals.

use super::meter::Meter;
use crate::realtime::last_errno;
use crate::team::own_number;
use anyhow::Result;
use std::mem::zeroed;
use std::ptr::null_mut;

const CALLS: u64 = 50_000;

const SIGNAL: i32 = libc::SIGUSR1;

extern "C" fn handler(_signal: i32) {}

/// Sets a handler.
pub fn install(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, set_handler)
}

/// Sends a signal to this thread; its handler does nothing. A signal to the process could interrupt
/// another thread's system call.
pub fn delivery(meter: &Meter) -> Result<f64> {
    set_handler()?;
    let (process, thread) = (std::process::id(), own_number());
    meter.each(CALLS, || {
        // SAFETY: a signal to this thread, which has a handler for it.
        match unsafe { libc::syscall(libc::SYS_tgkill, process, thread, SIGNAL) } {
            0 => Ok(()),
            _ => Err(last_errno().into()),
        }
    })
}

fn set_handler() -> Result<()> {
    // SAFETY: a C structure for which zeros are values: no flags, no signals masked.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: the handler does nothing, which is safe at any point of the program.
    match unsafe { libc::sigaction(SIGNAL, &raw const action, null_mut()) } {
        0 => Ok(()),
        _ => Err(last_errno().into()),
    }
}
