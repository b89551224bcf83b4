//! The task of dual mode: what it has beside the threads of a task with a skin. Each of its runners
//! has a user vCPU, with a state page, in a guest space that the task maps Linux's memory in; and
//! Linux's kernel can signal each. The task sees Linux's RAM, and shares a part of the window with
//! Linux's kernel.

use super::{
    Passenger,
    channel::{Access, Channel},
    layout::Layout,
    program::Plan,
    user_vcpus::{self, PAGES, runners},
};
use crate::{
    failure::{Result, While},
    linux::{Guest, MAPPED, Part, Seen},
    page_tables::Extent,
    platform::Platform,
    task::{Maker, Task, give, give_into},
    window::bytes_of,
};
use alloc::vec::Vec;
use pillion_abi::{
    PAGE,
    boot::{Range, range_kind},
    dual,
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap,
    info::{
        RANGES, TaskInfo, address,
        dual::{DualInfo, PARTS, REPLACEMENTS, SIGNALLED, slot},
    },
    memory_map, vcpu_bind_signals,
};

/// Pages for the runners' objects; `tables` are those for a guest space with Linux's memory.
pub fn pages(threads: u32, tables: u64) -> u64 {
    // A vCPU, a guest space, and the page of the vDSO for each runner. The vCPUs begin on a page;
    // then the task's information, and the space for Linux's signals.
    u64::from(runners(threads)) * (PAGES + space_tables(tables) + 1 + 1) + 1 + 1 + 1
}

/// Table pages of a runner's guest space: each hole of a page may cut a page of 1 GiB in pages of
/// two sizes.
const fn space_tables(tables: u64) -> u64 {
    tables + 2 * REPLACEMENTS as u64
}

/// Slots for the runners' objects, the task's information, the state of Linux's vCPU, the space for
/// Linux's signals, the parts of the window, and the ranges of Linux's RAM.
pub const fn slots(threads: u32) -> u32 {
    5 * runners(threads) + 7 + RANGES as u32
}

/// The mappings that only this task has; `ram` are those of Linux's RAM.
pub fn extents(threads: u32, ram: &[Extent], window: &Layout) -> Vec<Extent> {
    let count = runners(threads);
    let mut all = Vec::from([
        Extent::small(address::VCPU_STATE, u64::from(count) * PAGE),
        Extent::small(address::VVAR, u64::from(count) * PAGE),
        Extent::small(address::DUAL_INFO, PAGE),
        Extent::small(address::PASSENGER_STATES, u64::from(count) * PAGE),
        Extent::small(address::DUAL, dual::bytes(count as usize)),
        Extent::small(address::WINDOW, window.pool),
    ]);
    all.extend_from_slice(ram);
    all
}

/// The number of each slot's processor, and the ID of the local APIC of each processor with slots.
pub type Places = ([u8; dual::SLOTS], [u32; dual::PROCESSORS]);

/// Where the runners of the task of dual mode are, if there is one.
pub(super) fn places(machine: &Platform, programs: &[Plan]) -> Result<Places> {
    let (mut slots, mut apics) = ([0; dual::SLOTS], [0; dual::PROCESSORS]);
    let Some(plan) = programs.iter().find(|plan| plan.wanted.dual().is_some()) else { return Ok((slots, apics)) };
    for (slot, thread) in slots.iter_mut().zip(1..plan.spec.info.skin.threads) {
        *slot = plan.spec.info.processor_of(thread) as u8;
        if let Some(apic) = apics.get_mut(usize::from(*slot)) {
            *apic = machine.apic_id((*slot).into())?;
        }
    }
    Ok((slots, apics))
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
    (rules, plan, tables): (&Rules, &TaskInfo, u64),
) -> Result<()> {
    let [main, runners @ ..] = notifications else { return Ok(()) };
    let (place, size) = (channel.layout.dual, channel.layout.dual_size);
    maker.window.fill_part(channel.memory, place, size, &[])?;
    channel.map(maker.slots, task.space, address::DUAL, (place, size), Access::Write)?;
    show_window(maker, task, channel)?;
    for (number, _) in (0..).zip(runners) {
        make_runner(maker, task, number, (plan.processor_of(number + 1), &passenger.guest), tables)?;
    }
    let info = show_memory(maker, task, channel, &passenger.guest, rules)?;
    maker.memory(task, address::DUAL_INFO, PAGE, bytes_of(&info), 0)?;
    let signals = maker.slots.make(task.region, Kind::CapSpace, dual::MAIN + 1)?;
    for (slot, notification) in (dual::FIRST_SIGNAL as Cap..).zip(runners) {
        give_into(signals, slot, *notification, right::WRITE, SIGNALLED)?;
    }
    give_into(signals, dual::MAIN as Cap, *main, right::WRITE, SIGNALLED)?;
    for Seen { vcpu, .. } in &passenger.guest.vcpus {
        vcpu_bind_signals(*vcpu, signals).when("binding Linux's signals")?;
    }
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

/// Makes a runner's vCPU, in a guest space of its own, and its page of the vDSO; and shows it
/// Linux's vCPU on its processor.
fn make_runner(
    maker: &mut Maker<'_>,
    task: &Task,
    number: u32,
    (cpu, guest): (u64, &Guest),
    tables: u64,
) -> Result<()> {
    let space = maker.slots.make(task.region, Kind::GuestSpace, space_tables(tables))?;
    user_vcpus::make_one(maker, (task, cpu), space, slot::VCPUS, number)?;
    give(task, slot::SPACES + number, space, right::ALL, 0)?;
    // The check of the system file sees to it that there is one.
    if let Some(Seen { vcpu, state, .. }) = guest.vcpus.iter().find(|one| one.cpu == cpu) {
        give(task, slot::PASSENGERS + number, *vcpu, right::WRITE, 0)?;
        let state = maker.slots.derive(*state, right::READ, 0)?;
        let place = address::PASSENGER_STATES + u64::from(number) * PAGE;
        memory_map(state, task.space, place, 0).when("showing a task the state of Linux's vCPU")?;
    }
    let vvar = maker.memory(task, address::VVAR + u64::from(number) * PAGE, PAGE, &[], map::WRITE)?;
    give(task, slot::VVAR + number, vvar, right::READ, 0)
}

/// Gives the task what Linux's guest space maps, and maps Linux's RAM in the task. The largest
/// ranges of RAM come first: most of what the task looks at is there. Where there are more parts
/// than the task can be told of, the last are left out.
fn show_memory(
    maker: &mut Maker<'_>,
    task: &Task,
    channel: &Channel,
    guest: &Guest,
    rules: &Rules,
) -> Result<DualInfo> {
    let Rules { levels, watchdog, watch_level, boosts } = *rules;
    let Guest { parts, vcpus, .. } = guest;
    let parts_of =
        |is_ram: bool| parts.iter().filter(move |one| (one.range.kind == range_kind::RAM) == is_ram).copied();
    let mut ram: Vec<Part> = parts_of(true).collect();
    ram.sort_by_key(|one| core::cmp::Reverse(one.range.size));
    ram.truncate(RANGES);
    for one in &ram {
        let seen = maker.slots.derive(one.memory, right::READ | right::WRITE, 0)?;
        memory_map(seen, task.space, address::GUEST + one.range.base, map::WRITE).when("showing a task Linux's RAM")?;
    }
    let ram_count = ram.len() as u64;
    let mapped = |one: Part| (one.memory, Range { kind: MAPPED, ..one.range });
    let all = ram.into_iter().map(mapped).chain(channel.guest_parts(maker.slots)?).chain(parts_of(false).map(mapped));
    let mut info = DualInfo {
        levels,
        watchdog,
        watch_level,
        boosts,
        several: (vcpus.len() > 1).into(),
        part_count: 0,
        ram_count,
        parts: [Range::default(); PARTS],
    };
    for (entry, (memory, range)) in info.parts.iter_mut().zip(all) {
        give(task, slot::PARTS + info.part_count as u32, memory, map::rights(range.kind), 0)?;
        *entry = range;
        info.part_count += 1;
    }
    Ok(info)
}
