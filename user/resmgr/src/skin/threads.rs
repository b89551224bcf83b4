//! The threads of a task with a skin. All are made before the task starts, each with a scheduling
//! context and a notification, and the task uses them as it likes.

use crate::failure::{Result, While};
use crate::objects::Slots;
use crate::task::{Maker, Task, Urgency, give};
use alloc::vec::Vec;
use pillion_abi::PAGE;
use pillion_abi::object::{Kind, right};
use pillion_runtime::info::{TaskInfo, skin, wake};
use pillion_runtime::{Cap, thread_configure, thread_register, thread_suspend};

/// Most bytes that a scheduling context and a notification take together.
const SMALL: u64 = 512;

/// A thread and its objects.
#[derive(Clone, Copy)]
pub struct Thread {
    pub thread: Cap,
    pub context: Cap,
    pub notification: Cap,
    /// Ticks it had used when the manager last checked.
    pub ticks: u64,
    /// How often its budget had run out by then.
    pub exhausted: u64,
}

/// Pages of the threads, without the first thread itself.
pub fn pages(threads: u32) -> u64 {
    u64::from(threads) - 1 + (u64::from(threads) * SMALL).div_ceil(PAGE)
}

pub const fn slots(threads: u32) -> u32 {
    3 * threads
}

/// Makes the threads of a task into `all`, including the one that the task already has, each for
/// its processor, and gives the task its capabilities for them.
pub fn make(
    maker: &mut Maker<'_>,
    task: &Task,
    fault: Cap,
    (flags, urgency): (u64, Urgency),
    all: &mut Vec<Thread>,
    info: &TaskInfo,
) -> Result<()> {
    all.clear();
    // Threads first: each is a page, and small objects in between would waste as much.
    for number in 0..info.skin.threads {
        let cpu = info.processor_of(number);
        let thread = if number == 0 { task.thread } else { another(maker.slots, task, fault, flags, cpu)? };
        all.push(Thread { thread, context: 0, notification: 0, ticks: 0, exhausted: 0 });
    }
    for (number, one) in (0..).zip(all.iter_mut()) {
        let cpu = info.processor_of(number);
        one.context = maker.give_time_on(cpu, task.region, one.thread, urgency)?;
        one.notification = maker.slots.make_on(cpu, task.region, Kind::Notification)?;
        give(task, skin::slot::THREADS + number, one.thread, right::ALL, 0)?;
        give(task, skin::slot::CONTEXTS + number, one.context, right::ALL, 0)?;
        give(task, skin::slot::NOTIFICATIONS + number, one.notification, right::ALL, wake::THREAD)?;
    }
    Ok(())
}

fn another(slots: &mut Slots, task: &Task, fault: Cap, flags: u64, cpu: u64) -> Result<Cap> {
    let thread = slots.make_on(cpu, task.region, Kind::Thread)?;
    thread_configure(thread, task.space, task.caps, fault, flags).when("configuring a thread")?;
    Ok(thread)
}

pub fn suspend(all: &[Thread]) {
    for one in all {
        let _ = thread_suspend(one.thread);
    }
}

/// The thread that is stopped at this instruction with this stack pointer.
pub fn find(all: &[Thread], rip: u64, rsp: u64) -> Option<usize> {
    all.iter().position(|one| thread_register(one.thread, 0) == Ok([rip, rsp]))
}
