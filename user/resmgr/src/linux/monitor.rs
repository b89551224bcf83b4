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
    task::{Maker, STACK, Spec, Task, Urgency, give},
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
    info::{LinuxInfo, address, monitor, monitor_bit, slot},
    memory_map, thread_bind_notification, thread_configure, vcpu_configure,
};
use pillion_system::{Boost, Linux, System};

/// Entry of the bundle with the monitor's image.
const IMAGE: &str = "vmm";

/// Pages of a vCPU and its state.
const VCPU: u64 = 16 + 1;

/// Bytes of the monitor's information.
const INFO: u64 = (size_of::<LinuxInfo>() as u64).next_multiple_of(PAGE);

/// Pages of the objects beside the page tables: a vCPU, its state, the monitor's information.
const PAGES: u64 = VCPU + INFO / PAGE;

/// Pages of what belongs to another processor: a thread, its stack and its small objects, and a
/// vCPU.
const OTHER: u64 = 1 + STACK / PAGE + 1 + VCPU;

/// Slots that the manager has for another processor: thread, stack, notification, timer, vCPU,
/// state, context.
pub const OTHER_SLOTS: u32 = 7;

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

    /// Processor of its objects.
    pub fn cpu(&self) -> u64 {
        self.spec.info.cpu
    }
}

pub fn plan(machine: &Platform, system: &System, linux: &Linux, shared: Option<&Shared>) -> Result<Monitor> {
    let all = pieces(machine.regions(), Range::default(), linux.memory_bytes, &task_devices::registers(system));
    let guest_tables = guest_tables(machine, system, linux, shared.map(|shared| &shared.layout));
    let mut spec = Spec::new(IMAGE, machine.image(IMAGE)?, machine.boot.tsc_hz);
    spec.info.cpu = linux.processors.numbers().next().unwrap_or(0).into();
    let others = u64::from(linux.processors.count().saturating_sub(1));
    for other in 1..=others as usize {
        spec.more.push(Extent::small(monitor::stack_top(other) - STACK, STACK));
        spec.more.push(Extent::small(monitor::vcpu_state(other), PAGE));
    }
    spec.more.extend(monitor_extents(&all));
    spec.more.push(Extent::small(address::LINUX_INFO, INFO));
    spec.more.push(Extent::small(monitor::vcpu_state(0), PAGE));
    spec.more.extend(machine.mappings().map(|file| Extent::small(address::BUNDLE + file.at, file.size)));
    spec.more.extend(POOL_ENDS);
    spec.slots = shared.map_or(slot::COUNT, |shared| monitor::slot::KICKS + shared.tasks as u32);
    spec.more_pages = PAGES + 1 + others * OTHER + guest_tables;
    Ok(Monitor { spec, guest_tables })
}

/// Table pages for a guest space with Linux's memory, as known before the pool is taken.
pub fn guest_tables(machine: &Platform, system: &System, linux: &Linux, layout: Option<&Layout>) -> u64 {
    let all = pieces(machine.regions(), Range::default(), linux.memory_bytes, &task_devices::registers(system));
    let mut extents = guest_extents(&all);
    extents.extend(layout.into_iter().flat_map(skin::guest_extents));
    table_pages(&extents) + SPARE_TABLES
}

/// One of its vCPUs.
#[derive(Clone, Copy)]
pub struct Seen {
    pub vcpu: Cap,
    /// Its state page.
    pub state: Cap,
    /// Its processor.
    pub cpu: u64,
}

/// What tasks that run Linux's code need of it.
pub struct Guest {
    /// Its guest space.
    pub space: Cap,
    /// Those of all its processors, the first of them first.
    pub vcpus: Vec<Seen>,
    /// What is mapped in it, but for the channel window.
    pub parts: Vec<Part>,
}

/// Makes the monitor, ready to run. Returns its threads as well.
pub fn make(
    maker: &mut Maker<'_>,
    machine: &Platform,
    system: &System,
    (linux, monitor): (&Linux, &Monitor),
    (pool, channel): (Range, Option<(&Channel, usize)>),
    badge: u64,
) -> Result<(Task, Vec<Cap>, Guest)> {
    let all = pieces(machine.regions(), pool, linux.memory_bytes, &task_devices::registers(system));
    let task = maker.make(&monitor.spec, badge)?;
    let guest = maker.slots.make(task.region, Kind::GuestSpace, monitor.guest_tables)?;
    let parts = map_memory(maker.slots, &all, guest, task.space)?;
    let mut info = facts(machine, system, linux, &all)?;
    if let Some((channel, tasks)) = channel {
        channel.map_guest(maker.slots, guest)?;
        info.channel = [channel.base, channel.layout.size];
        info.skin_count = tasks as u64;
    }
    maker.memory(&task, address::LINUX_INFO, INFO, bytes_of(&info), 0)?;
    for file in machine.mappings() {
        let cap = maker.slots.derive(file.slot, right::READ, 0)?;
        memory_map(cap, task.space, address::BUNDLE + file.at, 0).when("showing the monitor what was loaded")?;
    }
    give_authority(&task)?;
    let time = linux.time.map(|t| (machine.ticks(t.budget_ns), machine.ticks(t.period_ns)));
    let urgency = Urgency::fixed(linux.priority, time);
    let first = Seat { index: 0, cpu: task.cpu, thread: task.thread, notification: task.notification };
    let (vcpu, state, context) = seat(maker, &task, guest, &first, urgency)?;
    allow_boost(machine, system, (first.cpu, context))?;
    let (mut threads, mut vcpus) = (Vec::from([task.thread]), Vec::from([Seen { vcpu, state, cpu: first.cpu }]));
    for (index, number) in linux.processors.numbers().enumerate().skip(1) {
        let other = another(maker, &task, index, number.into(), badge)?;
        let (vcpu, state, context) = seat(maker, &task, guest, &other, urgency)?;
        allow_boost(machine, system, (other.cpu, context))?;
        threads.push(other.thread);
        vcpus.push(Seen { vcpu, state, cpu: other.cpu });
    }
    say(linux, &all);
    Ok((task, threads, Guest { space: guest, vcpus, parts }))
}

/// What runs one of Linux's processors.
struct Seat {
    index: u32,
    cpu: u64,
    thread: Cap,
    notification: Cap,
}

/// Gives a thread of the monitor its vCPU, its notification and its time. Returns vCPU, state page
/// and context.
fn seat(maker: &mut Maker<'_>, task: &Task, guest: Cap, seat: &Seat, urgency: Urgency) -> Result<(Cap, Cap, Cap)> {
    let vcpu = maker.slots.make_on(seat.cpu, task.region, Kind::Vcpu)?;
    let state = maker.memory(task, monitor::vcpu_state(seat.index as usize), PAGE, &[], map::WRITE)?;
    vcpu_configure(vcpu, guest, state, 0).when("configuring a vCPU")?;
    give(task, monitor::slot::VCPUS + seat.index, vcpu, right::ALL, 0)?;
    give(task, monitor::slot::NOTIFICATIONS + seat.index, seat.notification, right::ALL, monitor_bit::LOOK)?;
    thread_bind_notification(seat.thread, seat.notification).when("binding a notification")?;
    let context = maker.give_time_on(seat.cpu, task.region, seat.thread, urgency)?;
    Ok((vcpu, state, context))
}

/// Makes the thread for another processor of Linux's, which the monitor starts.
fn another(maker: &mut Maker<'_>, task: &Task, index: usize, cpu: u64, badge: u64) -> Result<Seat> {
    let thread = maker.slots.make_on(cpu, task.region, Kind::Thread)?;
    maker.memory(task, monitor::stack_top(index) - STACK, STACK, &[], map::WRITE)?;
    let notification = maker.slots.make_on(cpu, task.region, Kind::Notification)?;
    let timer = maker.slots.make_on(cpu, task.region, Kind::Timer)?;
    let fault = maker.slots.derive(maker.endpoint, right::WRITE, badge + 1)?;
    thread_configure(thread, task.space, task.caps, fault, 0).when("configuring a thread of the monitor")?;
    let index = index as u32;
    give(task, monitor::slot::THREADS + index, thread, right::ALL, 0)?;
    give(task, monitor::slot::TIMERS + index, timer, right::ALL, 0)?;
    Ok(Seat { index, cpu, thread, notification })
}

/// Lets Linux be boosted on a processor, where real-time threads of marked processes can be, if the
/// system file says so.
fn allow_boost(machine: &Platform, system: &System, (cpu, context): (u64, Cap)) -> Result<()> {
    let mut there = system.tasks.iter().filter(|task| task.processors.numbers().any(|n| u64::from(n) == cpu));
    let dual = there.find_map(pillion_system::Task::dual);
    let Some(Boost { ceiling, time, .. }) = dual.and_then(|dual| dual.boost) else { return Ok(()) };
    let [budget, period] = [time.budget_ns, time.period_ns].map(|ns| machine.ticks(ns));
    context_allow_boost(boot::slot::SCHED_CONTROL, context, ceiling, budget.min(period), period)
        .when("letting Linux be boosted")?;
    Ok(())
}

fn give_authority(task: &Task) -> Result<()> {
    give(task, monitor::slot::IRQ_CONTROL, boot::slot::IRQ_CONTROL, right::ALL, 0)?;
    give(task, monitor::slot::PORTS, boot::slot::PORTS, right::ALL, 0)
}

fn say(linux: &Linux, pieces: &[Piece]) {
    let ram = pieces.iter().map(|p| p.range).filter(|r| r.kind == boot::range_kind::RAM).map(|r| r.size).sum::<u64>();
    pillion_runtime::println!("[resmgr] Linux: {} MiB, priority {}", ram >> 20, linux.priority);
    pillion_runtime::println!(
        "[resmgr] no IOMMU in use: Linux's devices can reach all memory, also that of the real-time side"
    );
}
