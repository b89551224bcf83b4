//! The manager's own time. The manager always runs at its own priority, just above Linux, whoever
//! its client is ([`pillion_abi::call::endpoint::OWN_PRIORITY`]). While the system runs it also has
//! a budget, so that no flood of requests keeps Linux from running.

use crate::failure::{Result, While};
use crate::platform::Platform;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot};
use pillion_runtime::context_configure;

static PRIORITY: AtomicU64 = AtomicU64::new(1);

/// Sets the priority, with no budget yet.
pub fn set_priority(priority: u8) -> Result<()> {
    PRIORITY.store(priority.into(), Relaxed);
    configure(NEVER, 0)
}

/// Sets the budget that the check of the system file assumes.
pub fn limit(machine: &Platform) -> Result<()> {
    configure(machine.ticks(pillion_system::MANAGER_NS), machine.ticks(pillion_system::MANAGER_PERIOD_NS))
}

/// Removes the budget, so that nothing holds up the end of the system.
pub fn lift() {
    let _ = configure(NEVER, 0);
}

fn configure(budget: u64, period: u64) -> Result<()> {
    let priority = PRIORITY.load(Relaxed) as u8;
    context_configure(slot::SCHED_CONTROL, slot::CONTEXT, priority, budget, period, 0)
        .when("setting the manager's time")?;
    Ok(())
}
