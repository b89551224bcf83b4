//! Signals.

use super::meter::Meter;
use crate::realtime::last_errno;
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

/// Sends a signal to this process, whose handler does nothing.
pub fn delivery(meter: &Meter) -> Result<f64> {
    set_handler()?;
    meter.each(CALLS, || {
        // SAFETY: a signal to this process, which has a handler for it.
        match unsafe { libc::kill(libc::getpid(), SIGNAL) } {
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
