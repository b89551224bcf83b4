//! Mutexes, condition variables, semaphores and other synchronization.

pub mod barrier;
mod by_handle;
pub(crate) mod claim;
pub mod cond;
pub mod mutex;
mod mutex_api;
mod mutex_attributes;
pub mod once;
mod queue;
pub mod rwlock;
pub mod semaphore;
pub mod spin;

use crate::error::EINVAL;
use crate::lock::Token;
use crate::time::{Timespec, clocks};
use core::ffi::c_int;
use pillion_rt_core::urgency::PRIORITY_MAX;

/// `struct sched_param`; also in `sched.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SchedParam {
    /// Priority.
    pub sched_priority: c_int,
}

/// Returns whether a number is a valid priority.
pub(crate) fn prio_ok(priority: c_int) -> bool {
    (0..=PRIORITY_MAX as c_int).contains(&priority)
}

/// The tick at which the scheduler's clock shows a time.
pub(crate) fn deadline_of(token: &Token, time: &Timespec) -> Result<u64, c_int> {
    time.ns().map(|ns| clocks::schedule_deadline(token, ns)).ok_or(EINVAL)
}
