//! From the system file to running tasks.

use crate::{
    failure::{Result, While},
    grants::{give_interrupts, give_ports},
    linux::{self, LinuxLog, Monitor, Presence},
    objects::{self, Slots},
    platform::Platform,
    pool::{self, Pool},
    processors::{self, Processors},
    rights::{Grants, Sender, badge},
    service::Service,
    skin::{self, Channel, Plans, Shared, Skins, dual, program, psc, threads},
    system,
    task::{self, Maker, Spec, Task, Urgency},
    time,
    window::{Window, put_text},
};
use alloc::vec::Vec;
use pillion_abi::PAGE;
use pillion_abi::boot::{self, BootInfo, slot};
use pillion_abi::call::endpoint::OWN_PRIORITY;
use pillion_abi::call::thread;
use pillion_abi::object::Kind;
use pillion_runtime::info::monitor::PROCESSORS;
use pillion_runtime::{Cap, endpoint_bind_with, println, thread_resume};
use pillion_system::{Linux, System, limit};

/// Pages for the manager's own objects.
const OWN_PAGES: u64 = 1;

/// Slots of the largest system that the check of the system file accepts: its tasks, the monitor
/// and Linux's memory, the broker, and what exists once.
const LARGEST: u32 = {
    let skins = limit::SKINS as u32;
    let others = limit::TASKS as u32 - skins;
    // The slot of a program's region is outside the program's own part.
    let dual_threads = *limit::DUAL_THREADS.end() as u32 + 1;
    let programs = skins * (1 + program::SLOTS + threads::slots(*limit::THREADS.end() as u32))
        + psc::slots(limit::PSC_THREADS)
        + dual::slots(dual_threads);
    let monitor = task::SLOTS + 2 * boot::REGIONS as u32 + (PROCESSORS as u32 - 1) * linux::OTHER_SLOTS;
    programs + others * task::SLOTS + limit::ALL_PORTS as u32 + limit::INTERRUPTS as u32 + monitor + 2 * task::SLOTS
};

// No system file that passes the check fails for want of slots.
const _: () = assert!(LARGEST <= objects::COUNT);

/// Reads the system file and starts everything in it.
pub fn start(boot: &'static BootInfo) -> Result<Service> {
    let machine = Platform::new(boot)?;
    processors::report(boot);
    let system = system::read(&machine)?;
    processors::say_users(boot, &system);
    set_own_priority(&system)?;
    linux::say_missing(&system);
    let specs: Vec<Spec> =
        others(&system).enumerate().map(|(i, task)| spec(&machine, task, i)).collect::<Result<_>>()?;
    let skins = skin::plan(&machine, &system)?;
    let shared = Shared::plan(&machine, &system, skins.as_ref());
    let monitor =
        system.linux.as_ref().map(|l| Ok((l, linux::plan(&machine, &system, l, shared.as_ref())?))).transpose()?;
    let mut slots = Slots::new();
    let more = monitor.as_ref().map_or(0, |(_, m)| m.bytes());
    let more = more.saturating_add(skins.as_ref().map_or(0, Plans::bytes));
    let more = more.saturating_add(shared.as_ref().map_or(0, |shared| shared.layout.size));
    let pool = take_pool(&mut slots, &machine, &specs, more)?;
    let endpoint = slots.make(pool.cap, Kind::Endpoint, 0)?;
    // The manager serves every request and fault at its own priority, not at the sender's.
    endpoint_bind_with(endpoint, slot::THREAD, OWN_PRIORITY, 0, 0).when("binding the endpoint")?;
    let window = Window::new(&mut slots)?;
    let channel = shared
        .as_ref()
        .map(|shared| Channel::make(&mut slots, &window, pool.cap, shared.layout.clone(), machine.boot.tsc_hz));
    let mut channel = channel.transpose()?;
    let mut maker = Maker { slots: &mut slots, window: &window, pool: pool.cap, endpoint };
    let mut tasks = make_tasks(&mut maker, &machine, &system, &specs)?;
    let mut senders: Vec<Sender> = others(&system).map(|task| Sender::Task(Grants::of(task))).collect();
    let (mut guest, mut presence) = (None, None);
    if let Some(monitor) = monitor {
        let channel = channel.as_ref().zip(shared.as_ref().map(|shared| shared.tasks));
        let (task, threads, its_guest) =
            make_monitor(&mut maker, &machine, &system, &monitor, (&pool, channel), badge(tasks.len()))?;
        presence = Some(Presence::new(&mut maker, &task, threads)?);
        tasks.push(task);
        guest = Some(its_guest);
        senders.push(Sender::Monitor);
    }
    let monitor = tasks.last().filter(|_| system.linux.is_some());
    let log = shared.and_then(|shared| shared.log).zip(channel.as_mut()).zip(monitor);
    let log = log.map(|((index, channel), monitor)| LinuxLog::make(&mut maker, channel, index, monitor.notification));
    let mut log = log.transpose()?;
    if skins.is_none() {
        log.iter_mut().zip(channel.take()).for_each(|(log, channel)| log.keep(channel));
    }
    if skins.is_some() {
        senders.extend(system.skins().map(|(task, _)| Sender::Program(Grants::of(task))).chain([Sender::Broker]));
    }
    let skins = skins
        .zip(channel)
        .map(|(plans, channel)| Skins::make(&mut maker, plans, channel, monitor.zip(guest), tasks.len(), &machine));
    let skins = skins.transpose()?;
    let count = tasks.len() + system.skins().count();
    println!("[resmgr] system {}: {count} tasks, {} KiB", system.name, pool.range.size >> 10);
    let mut processors = Processors::new(boot, &system)?;
    for task in &tasks {
        thread_resume(task.thread).when("starting a thread")?;
    }
    skins.iter().try_for_each(Skins::start)?;
    time::limit(&machine)?;
    processors.iter_mut().for_each(|processors| processors.begin(u64::MAX));
    Ok(Service::new(&machine, (tasks, processors), skins, senders, (presence, log)))
}

/// The tasks without a skin.
fn others(system: &System) -> impl Iterator<Item = &pillion_system::Task> {
    system.tasks.iter().filter(|task| task.skin.is_none())
}

/// Sets the manager's priority: above Linux and, if the system file leaves room, below the tasks.
fn set_own_priority(system: &System) -> Result<()> {
    let priority = system.linux.as_ref().map_or(1, |linux| linux.priority + 1);
    for task in system.tasks.iter().filter(|t| t.priority <= priority && t.processors.has(0)) {
        println!("[resmgr] {} shares priority {priority} with the resource manager; a higher one is better", task.name);
    }
    time::set_priority(priority)
}

fn spec(machine: &Platform, task: &pillion_system::Task, index: usize) -> Result<Spec> {
    let image = machine.image(&task.image).map_err(|failure| failure.of(&task.name))?;
    let mut spec = Spec::new(&task.name, image, machine.boot.tsc_hz);
    spec.info.memory_size = task.memory_bytes;
    spec.info.period = task.time.map_or(0, |t| machine.ticks(t.period_ns));
    spec.info.cpu = task.cpu.into();
    put_text(&mut spec.info.arguments, &task.arguments);
    spec.period_ns = task.time.map_or(0, |t| t.period_ns);
    spec.thread_flags = if task.fpu { thread::FPU } else { 0 };
    spec.histogram = Some(index as u64);
    spec.more_pages = u64::from(!task.interrupts.is_empty());
    Ok(spec)
}

fn take_pool(slots: &mut Slots, machine: &Platform, specs: &[Spec], more: u64) -> Result<Pool> {
    let tasks = specs.iter().fold(OWN_PAGES * PAGE, |sum: u64, spec| sum.saturating_add(spec.bytes()));
    pool::take(slots, machine.regions(), tasks.saturating_add(more))
}

fn make_tasks(maker: &mut Maker<'_>, machine: &Platform, system: &System, specs: &[Spec]) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for (index, (wanted, spec)) in others(system).zip(specs).enumerate() {
        let task = make_task(maker, machine, wanted, spec, badge(index));
        tasks.push(task.map_err(|failure| failure.of_task(spec.name, spec.info.cpu))?);
    }
    Ok(tasks)
}

fn make_task(
    maker: &mut Maker<'_>,
    machine: &Platform,
    wanted: &pillion_system::Task,
    spec: &Spec,
    badge: u64,
) -> Result<Task> {
    let task = maker.make(spec, badge)?;
    let time = wanted.bound().map(|t| (machine.ticks(t.budget_ns), machine.ticks(t.period_ns)));
    maker.give_time(&task, task.thread, Urgency::fixed(wanted.priority, time))?;
    give_interrupts(maker, &task, wanted)?;
    give_ports(maker, &task, wanted)?;
    Ok(task)
}

fn make_monitor(
    maker: &mut Maker<'_>,
    machine: &Platform,
    system: &System,
    (linux, monitor): &(&Linux, Monitor),
    (pool, channel): (&Pool, Option<(&Channel, usize)>),
    badge: u64,
) -> Result<(Task, Vec<Cap>, linux::Guest)> {
    linux::make(maker, machine, system, (linux, monitor), (pool.range, channel), badge)
        .map_err(|failure| failure.of_task("linux", monitor.cpu()))
}
