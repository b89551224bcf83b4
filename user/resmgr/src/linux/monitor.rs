//! The VM monitor: a task like the others, with a vCPU, Linux's memory, and authority over the rest
//! of the machine.

use super::{
    facts::facts,
    memory_map::{POOL_ENDS, Part, guest_extents, map_memory, monitor_extents},
    ranges::{Piece, pieces},
    task_devices,
};
use crate::{
    failure::{Result, While},
    page_tables::{Extent, table_pages},
    platform::Platform,
    skin::{self, Channel, Layout, Shared},
    task::{Maker, Spec, Task, Urgency, give},
    window::bytes_of,
};
use alloc::vec::Vec;
use pillion_abi::{
    PAGE,
    boot::{self, Range},
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap, context_allow_boost,
    info::{address, monitor, slot},
    memory_map, thread_bind_notification, vcpu_configure,
};
use pillion_system::{Boost, Linux, System};

/// Entry of the bundle with the monitor's image.
const IMAGE: &str = "vmm";

/// Pages of the objects beside the page tables: a vCPU, its state, the monitor's information.
const PAGES: u64 = 16 + 2;

/// Tables beyond those known before the pool is taken: the pool cuts a region in two.
const SPARE_TABLES: u64 = 8;

/// The plan of the monitor.
pub struct Monitor {
    spec: Spec,
    guest_tables: u64,
}

impl Monitor {
    /// Bytes of the region that the monitor is made from.
    pub fn bytes(&self) -> u64 {
        self.spec.bytes()
    }
}

pub fn plan(machine: &Platform, system: &System, linux: &Linux, shared: Option<&Shared>) -> Result<Monitor> {
    let all = pieces(machine.regions(), Range::default(), linux.memory_bytes, &task_devices::registers(system));
    let guest_tables = guest_tables(machine, system, linux, shared.map(|shared| &shared.layout));
    let mut spec = Spec::new(IMAGE, machine.image(IMAGE)?, machine.boot.tsc_hz);
    spec.more = monitor_extents(&all);
    spec.more.push(Extent::small(address::LINUX_INFO, PAGE));
    spec.more.push(Extent::small(address::VCPU_STATE, PAGE));
    spec.more.push(Extent::small(address::BUNDLE, machine.bundle_mapping()));
    spec.more.extend(POOL_ENDS);
    spec.slots = shared.map_or(slot::COUNT, |shared| monitor::slot::KICKS + shared.tasks as u32);
    spec.more_pages = PAGES + 1 + guest_tables;
    Ok(Monitor { spec, guest_tables })
}

/// Table pages for a guest space with Linux's memory, as known before the pool is taken.
pub fn guest_tables(machine: &Platform, system: &System, linux: &Linux, layout: Option<&Layout>) -> u64 {
    let all = pieces(machine.regions(), Range::default(), linux.memory_bytes, &task_devices::registers(system));
    let mut extents = guest_extents(&all);
    extents.extend(layout.into_iter().flat_map(skin::guest_extents));
    table_pages(&extents) + SPARE_TABLES
}

/// What tasks that run Linux's code need of it.
pub struct Guest {
    /// Its guest space.
    pub space: Cap,
    pub vcpu: Cap,
    /// The state page of the vCPU.
    pub state: Cap,
    /// What is mapped in it, but for the channel window.
    pub parts: Vec<Part>,
}

/// Makes the monitor, ready to run.
pub fn make(
    maker: &mut Maker<'_>,
    machine: &Platform,
    system: &System,
    (linux, monitor): (&Linux, &Monitor),
    (pool, channel): (Range, Option<(&Channel, usize)>),
    badge: u64,
) -> Result<(Task, Guest)> {
    let all = pieces(machine.regions(), pool, linux.memory_bytes, &task_devices::registers(system));
    let task = maker.make(&monitor.spec, badge)?;
    let vcpu = maker.slots.make(task.region, Kind::Vcpu, 0)?;
    let guest = maker.slots.make(task.region, Kind::GuestSpace, monitor.guest_tables)?;
    let parts = map_memory(maker.slots, &all, guest, task.space)?;
    let mut info = facts(machine, system, linux, &all)?;
    if let Some((channel, tasks)) = channel {
        channel.map_guest(maker.slots, guest)?;
        info.channel = [channel.base, channel.layout.size];
        info.skin_count = tasks as u64;
    }
    maker.memory(&task, address::LINUX_INFO, PAGE, bytes_of(&info), 0)?;
    let state = maker.memory(&task, address::VCPU_STATE, PAGE, &[], map::WRITE)?;
    vcpu_configure(vcpu, guest, state, 0).when("configuring the vCPU")?;
    let bundle = maker.slots.derive(boot::slot::BUNDLE, right::READ, 0)?;
    memory_map(bundle, task.space, address::BUNDLE, 0).when("showing the monitor the bundle")?;
    give_authority(&task, vcpu)?;
    let time = linux.time.map(|t| (machine.ticks(t.budget_ns), machine.ticks(t.period_ns)));
    let context = maker.give_time(task.region, task.thread, Urgency::fixed(linux.priority, time))?;
    allow_boost(machine, system, context)?;
    say(linux, &all);
    Ok((task, Guest { space: guest, vcpu, state, parts }))
}

/// Lets Linux be boosted for real-time threads of marked processes, if the system file says so.
fn allow_boost(machine: &Platform, system: &System, context: Cap) -> Result<()> {
    let Some(Boost { ceiling, time, .. }) = system.dual().and_then(|dual| dual.boost) else { return Ok(()) };
    let [budget, period] = [time.budget_ns, time.period_ns].map(|ns| machine.ticks(ns));
    context_allow_boost(boot::slot::SCHED_CONTROL, context, ceiling, budget.min(period), period)
        .when("letting Linux be boosted")?;
    Ok(())
}

fn give_authority(task: &Task, vcpu: Cap) -> Result<()> {
    give(task, monitor::slot::VCPU, vcpu, right::ALL, 0)?;
    give(task, monitor::slot::IRQ_CONTROL, boot::slot::IRQ_CONTROL, right::ALL, 0)?;
    give(task, monitor::slot::PORTS, boot::slot::PORTS, right::ALL, 0)?;
    thread_bind_notification(task.thread, task.notification).when("binding the notification")?;
    Ok(())
}

fn say(linux: &Linux, pieces: &[Piece]) {
    let ram = pieces.iter().map(|p| p.range).filter(|r| r.kind == boot::range_kind::RAM).map(|r| r.size).sum::<u64>();
    pillion_runtime::println!("[resmgr] Linux: {} MiB, priority {}", ram >> 20, linux.priority);
    pillion_runtime::println!(
        "[resmgr] no IOMMU in use: Linux's devices can reach all memory, also that of the real-time side"
    );
}
