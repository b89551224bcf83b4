//! User vCPUs of tasks that run code of Linux's processes: one for each runner, with a state page.

use crate::{
    failure::{Result, While},
    task::{Maker, Task, give},
};
use pillion_abi::{
    PAGE,
    object::{Kind, map, right},
    vcpu::configure,
};
use pillion_runtime::{Cap, info::address, vcpu_configure};

/// Pages of a runner's vCPU and its state.
pub const PAGES: u64 = 9 + 1;

/// Number of runners in a task with that many threads.
pub const fn runners(threads: u32) -> u32 {
    threads.saturating_sub(1)
}

/// Makes the vCPUs, and gives them to the task, in slots from `first` on.
pub fn make(maker: &mut Maker<'_>, task: &Task, guest: Cap, first: Cap, count: u32) -> Result<()> {
    (0..count).try_for_each(|number| make_one(maker, (task, task.cpu), guest, first, number))
}

/// Makes the vCPU with that number, on a processor, and gives it to the task.
pub fn make_one(maker: &mut Maker<'_>, (task, cpu): (&Task, u64), guest: Cap, first: Cap, number: u32) -> Result<()> {
    let state = maker.memory(task, address::VCPU_STATE + u64::from(number) * PAGE, PAGE, &[], map::WRITE)?;
    let vcpu = maker.slots.make_on(cpu, task.region, Kind::Vcpu)?;
    vcpu_configure(vcpu, guest, state, configure::USER).when("configuring a user vCPU")?;
    give(task, first + number, vcpu, right::ALL, 0)
}
