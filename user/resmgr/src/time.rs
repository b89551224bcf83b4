//! The manager's own time. It runs at its own priority, just above Linux, whatever is asked of it
//! ([`pillion_abi::call::endpoint::OWN_PRIORITY`]); and while the system runs, in no more than its
//! budget, so that no flood of requests keeps Linux from running.

use crate::{
    failure::{Result, While},
    machine::Machine,
};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot};
use pillion_runtime::context_configure;

static PRIORITY: AtomicU64 = AtomicU64::new(1);

/// Sets the priority; there is no budget yet.
pub fn set_priority(priority: u8) -> Result<()> {
    PRIORITY.store(priority.into(), Relaxed);
    configure(NEVER, 0)
}

/// From now on there is a budget: what the check of the system file counts with.
pub fn limit(machine: &Machine) -> Result<()> {
    configure(machine.ticks(pillion_system::MANAGER_NS), machine.ticks(pillion_system::MANAGER_PERIOD_NS))
}

/// There is no budget any more: the end of the system is not held up.
pub fn lift() {
    let _ = configure(NEVER, 0);
}

fn configure(budget: u64, period: u64) -> Result<()> {
    let priority = PRIORITY.load(Relaxed) as u8;
    context_configure(slot::SCHED_CONTROL, slot::CONTEXT, priority, budget, period, 0)
        .when("setting the manager's time")?;
    Ok(())
}
