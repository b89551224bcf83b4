//! The task that runs handlers of Linux processes: what it has beside the threads of a task with a
//! skin. Each of its runners has a timer and a user vCPU in Linux's guest space, with a state page.
//! The task also sees what Linux's kernel says about handlers.

use super::{
    channel::{Access, Channel},
    layout::PSC,
    user_vcpus::{self, PAGES, runners},
};
use crate::{
    failure::Result,
    objects::Slots,
    page_tables::Extent,
    task::{Maker, Task, give},
};
use pillion_abi::{
    PAGE,
    object::{Kind, right},
};
use pillion_runtime::{
    Cap,
    info::{address, psc},
};

/// Most bytes that a timer takes.
const TIMER: u64 = 128;

/// Pages for the runners' objects.
pub fn pages(threads: u32) -> u64 {
    let count = u64::from(runners(threads));
    // The vCPUs begin on a page.
    count * PAGES + (count * TIMER).div_ceil(PAGE) + 1
}

/// Slots for the runners' objects.
pub const fn slots(threads: u32) -> u32 {
    3 * runners(threads)
}

/// The mappings of the runners.
pub fn extents(threads: u32) -> [Extent; 2] {
    [Extent::small(address::VCPU_STATE, u64::from(runners(threads)) * PAGE), Extent::small(address::PSC, PSC)]
}

/// Shows the task what Linux's kernel says, cleared first: requests of an earlier Linux are void.
pub fn show(maker: &mut Maker<'_>, task: &Task, channel: &Channel) -> Result<()> {
    let place = channel.layout.psc;
    maker.window.fill_part(channel.memory, place, PSC, &[])?;
    channel.map(maker.slots, task.space, address::PSC, (place, PSC), Access::Write)
}

/// Makes the runners' objects, in Linux's guest space, and gives them to the task.
pub fn make(maker: &mut Maker<'_>, task: &Task, guest: Cap, threads: u32) -> Result<()> {
    user_vcpus::make(maker, task, guest, psc::slot::VCPUS, runners(threads))?;
    timers(maker.slots, task, runners(threads))
}

fn timers(slots: &mut Slots, task: &Task, count: u32) -> Result<()> {
    for number in 0..count {
        let timer = slots.make_on(task.cpu, task.region, Kind::Timer)?;
        give(task, psc::slot::TIMERS + number, timer, right::ALL, 0)?;
    }
    Ok(())
}
