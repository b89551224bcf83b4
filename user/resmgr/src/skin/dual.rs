//! The task of dual mode: what it has beside the threads of a task with a skin. Each of its runners
//! has a user vCPU in Linux's guest space, with a state page, and Linux's kernel can signal each.
//! The task sees Linux's RAM, and shares a part of the window with Linux's kernel.

use super::{
    Passenger,
    channel::{Access, Channel},
    layout::Layout,
    user_vcpus::{self, PAGES, runners},
};
use crate::{
    failure::{Result, While},
    linux::Ram,
    page_tables::Extent,
    task::{Maker, Task, give, give_into},
    window::bytes_of,
};
use alloc::vec::Vec;
use pillion_abi::{
    PAGE,
    boot::Range,
    dual,
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap,
    info::{
        RANGES, address,
        dual::{DualInfo, SIGNALLED, slot},
    },
    memory_map, vcpu_bind_signals,
};

/// Pages for the runners' objects.
pub fn pages(threads: u32) -> u64 {
    // The vCPUs begin on a page; then the task's information, and the space for Linux's signals.
    u64::from(runners(threads)) * PAGES + 1 + 1 + 1
}

/// Slots for the runners' objects, the task's information, the state of Linux's vCPU, the space for
/// Linux's signals, the parts of the window, and the ranges of Linux's RAM.
pub const fn slots(threads: u32) -> u32 {
    2 * runners(threads) + 6 + RANGES as u32
}

/// The mappings that only this task has; `ram` are those of Linux's RAM.
pub fn extents(threads: u32, ram: &[Extent], window: &Layout) -> Vec<Extent> {
    let count = runners(threads);
    let mut all = Vec::from([
        Extent::small(address::VCPU_STATE, u64::from(count) * PAGE),
        Extent::small(address::DUAL_INFO, PAGE),
        Extent::small(address::PASSENGER_STATE, PAGE),
        Extent::small(address::DUAL, dual::bytes(count as usize)),
        Extent::small(address::WINDOW, window.pool),
    ]);
    all.extend_from_slice(ram);
    all
}

/// What the system file says.
pub(super) struct Rules {
    /// Levels of Linux's priorities 1 and 99.
    levels: [u32; 2],
    /// See [`DualInfo`].
    watchdog: u64,
    watch_level: u64,
    boosts: u64,
}

/// Levels of Linux's priorities 1 and 99. A thread without a budget must not keep the main thread
/// from watching it: that is one level above all others then.
pub(super) fn levels(task: &pillion_system::Task) -> [u32; 2] {
    let first = task.dual().map_or(task.priority, |dual| dual.first);
    let last = if is_watched_from_above(task) { (task.priority - 1).max(first) } else { task.priority };
    [first, last].map(u32::from)
}

fn is_watched_from_above(task: &pillion_system::Task) -> bool {
    task.unlimited && watchdog_ms(task) != 0
}

fn watchdog_ms(task: &pillion_system::Task) -> u32 {
    task.dual().map_or(0, |dual| dual.watchdog_ms)
}

impl Rules {
    pub(super) fn of(task: &pillion_system::Task, tsc_hz: u64) -> Rules {
        Rules {
            levels: levels(task),
            watchdog: tsc_hz / 1_000 * u64::from(watchdog_ms(task)),
            watch_level: if is_watched_from_above(task) { task.priority.into() } else { 0 },
            boosts: task.dual().is_some_and(|dual| dual.boost.is_some()).into(),
        }
    }
}

/// Makes all of it, and lets Linux signal the runners, whose notifications are given. What an
/// earlier Linux offered is void.
pub(super) fn make(
    maker: &mut Maker<'_>,
    task: &Task,
    channel: &Channel,
    passenger: &Passenger,
    notifications: &[Cap],
    rules: &Rules,
) -> Result<()> {
    let (place, size) = (channel.layout.dual, channel.layout.dual_size);
    maker.window.fill_part(channel.memory, place, size, &[])?;
    channel.map(maker.slots, task.space, address::DUAL, (place, size), Access::Write)?;
    show_window(maker, task, channel)?;
    user_vcpus::make(maker, task, passenger.guest.space, slot::VCPUS, notifications.len() as u32)?;
    give(task, slot::PASSENGER, passenger.guest.vcpu, right::WRITE, 0)?;
    let state = maker.slots.derive(passenger.guest.state, right::READ, 0)?;
    memory_map(state, task.space, address::PASSENGER_STATE, 0).when("showing a task the state of Linux's vCPU")?;
    let info = show_ram(maker, task, &passenger.guest.ram, rules)?;
    maker.memory(task, address::DUAL_INFO, PAGE, bytes_of(&info), 0)?;
    let signals = maker.slots.make(task.region, Kind::CapSpace, dual::FIRST_SIGNAL + notifications.len() as u64)?;
    for (slot, notification) in (dual::FIRST_SIGNAL as Cap..).zip(notifications) {
        give_into(signals, slot, *notification, right::WRITE, SIGNALLED)?;
    }
    vcpu_bind_signals(passenger.guest.vcpu, signals).when("binding Linux's signals")?;
    Ok(())
}

/// Maps what tasks publish and what they share with Linux, with Linux's rights: a thread in primary
/// mode uses the FIFOs of its process.
fn show_window(maker: &mut Maker<'_>, task: &Task, channel: &Channel) -> Result<()> {
    let Layout { command, pool, .. } = channel.layout;
    // The command, between the two, is no part of it.
    let first = channel.layout.managed();
    channel.map(maker.slots, task.space, address::WINDOW, (0, command), Access::Read)?;
    channel.map(maker.slots, task.space, address::WINDOW + first, (first, pool - first), Access::Write)
}

/// Maps Linux's RAM in the task, the largest range first: most of what the task looks at is there.
/// Where there are more ranges than the task can be told of, the smallest are left out.
fn show_ram(maker: &mut Maker<'_>, task: &Task, ram: &[Ram], rules: &Rules) -> Result<DualInfo> {
    let Rules { levels, watchdog, watch_level, boosts } = *rules;
    let ranges = [Range::default(); RANGES];
    let mut info = DualInfo { levels, watchdog, watch_level, boosts, range_count: 0, ranges };
    let mut ram: Vec<&Ram> = ram.iter().collect();
    ram.sort_by_key(|one| core::cmp::Reverse(one.range.size));
    for (entry, one) in info.ranges.iter_mut().zip(ram) {
        let seen = maker.slots.derive(one.memory, right::READ | right::WRITE, 0)?;
        memory_map(seen, task.space, address::GUEST + one.range.base, map::WRITE).when("showing a task Linux's RAM")?;
        *entry = one.range;
        info.range_count += 1;
    }
    Ok(info)
}
