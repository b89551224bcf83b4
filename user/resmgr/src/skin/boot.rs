//! From the system file to tasks with a skin.

use super::{
    Channel, LOOKS, Passenger, Skins, broker, dual,
    layout::Layout,
    mbuff,
    program::{self, Program},
    task_output, user_vcpus, warden,
};
use crate::{
    failure::Result,
    kernel_trace,
    lines::Line,
    linux::Guest,
    platform::Platform,
    rights::badge,
    task::{Maker, Spec, Task},
    window::put_text,
};
use alloc::vec::Vec;
use pillion_abi::PAGE;
use pillion_abi::channel::{FIFOS, TASKS, task_state};
use pillion_abi::object::right;
use pillion_runtime::info::{SkinInfo, monitor_bit};
use pillion_runtime::now;
use pillion_system::{Dual, Kind, Processors, Start, System};

/// Priority of the main threads where there is no Linux.
const MAIN_LEVEL: u8 = 3;

/// What to make.
pub struct Plans {
    programs: Vec<program::Plan>,
    broker: Spec,
    /// Parts of the channel window.
    pub layout: Layout,
    /// Entry of the window that shows Linux the system's log.
    pub log: Option<usize>,
    shared_fifos: u64,
    /// Linux's processors.
    linux: Processors,
}

/// The window of a system without tasks with a skin: only the log.
fn log_only() -> Layout {
    Layout::new(&[0], 0, 0)
}

/// The plan of the channel window.
pub struct Shared {
    /// Its parts.
    pub layout: Layout,
    /// Number of tasks with a skin.
    pub tasks: usize,
    /// The directory entry that shows the system's log in Linux, where no UART takes it.
    pub log: Option<usize>,
}

impl Shared {
    /// Plans the window: there is one if tasks have a skin, or nothing else takes the log.
    pub fn plan(machine: &Platform, system: &System, skins: Option<&Plans>) -> Option<Shared> {
        match skins {
            Some(plans) => Some(Shared { layout: plans.layout.clone(), tasks: plans.count(), log: plans.log }),
            None if machine.shows_linux_the_log(system) => Some(Shared { layout: log_only(), tasks: 0, log: Some(0) }),
            None => None,
        }
    }
}

/// Plans the tasks with a skin, if there are any.
pub fn plan(machine: &Platform, system: &System) -> Result<Option<Plans>> {
    let count = system.skins().count();
    if count == 0 {
        return Ok(None);
    }
    let shared_fifos = system.channels.shared_fifos;
    let broker_bytes = if shared_fifos == 0 { 0 } else { broker::FIFO_BYTES };
    let mut fifo_bytes: Vec<u64> = system.skins().map(|(_, skin)| skin.fifo_bytes).chain([broker_bytes]).collect();
    // An entry without FIFOs, after the others.
    let log = (machine.shows_linux_the_log(system) && fifo_bytes.len() < TASKS).then_some(fifo_bytes.len());
    fifo_bytes.extend(log.map(|_| 0));
    let dual = system.skins().enumerate().find(|(_, (_, skin))| matches!(skin.kind, Kind::Dual(_)));
    let runners = dual.map_or(0, |(_, (_, skin))| user_vcpus::runners(skin.threads));
    let layout = Layout::new(&fifo_bytes, system.pool_bytes(), runners);
    let main_level = system.linux.as_ref().map_or(MAIN_LEVEL, |linux| linux.priority + 2);
    let common = SkinInfo {
        main_level: main_level.into(),
        linux: system.linux.is_some().into(),
        traced: kernel_trace::is_wanted(machine).into(),
        pool_size: layout.pool_size,
        shared_fifos,
        dual: dual.map_or(0, |(index, _)| index as u32 + 1),
        ..SkinInfo::default()
    };
    let facts = |index: usize| SkinInfo { index: index as u32, share_size: layout.tasks[index].share_size, ..common };
    let programs = system.skins().enumerate().map(|(index, (task, skin))| {
        let facts = SkinInfo {
            threads: skin.threads,
            ceiling: task.priority.into(),
            shares: skin.share.into(),
            // A runner of code of Linux's processes is where its vCPU is.
            cpus: match skin.kind {
                Kind::RtLinux | Kind::Dual(_) => task.processors,
                Kind::Psc => Processors::one(task.cpu),
            }
            .bits(),
            ..facts(index)
        };
        program::Plan::new(machine, system, task, facts, main_level, &layout)
    });
    let programs = programs.collect::<Result<_>>()?;
    let broker = broker::plan(
        machine,
        SkinInfo { threads: 1, shares: 1, cpus: Processors::FIRST.bits(), ..facts(count) },
        count,
    )?;
    let linux = system.linux.as_ref().map_or(Processors::FIRST, |linux| linux.processors);
    Ok(Some(Plans { programs, broker, layout, log, shared_fifos, linux }))
}

impl Plans {
    /// Bytes that everything takes.
    pub fn bytes(&self) -> u64 {
        let programs = self.programs.iter().fold(0, |sum: u64, plan| sum.saturating_add(plan.spec.bytes()));
        let warden = warden::PAGES * PAGE;
        programs.saturating_add(self.broker.bytes()).saturating_add(warden)
    }

    /// Number of tasks with a skin.
    pub fn count(&self) -> usize {
        self.programs.len()
    }
}

impl Skins {
    /// Makes the tasks; those that start with the system are ready to run. The badges of their
    /// messages begin with that of sender `first`.
    pub fn make(
        maker: &mut Maker<'_>,
        plans: Plans,
        mut channel: Channel,
        linux: Option<(&Task, Guest)>,
        first: usize,
        machine: &Platform,
    ) -> Result<Skins> {
        let count = plans.programs.len();
        let skins = plans.programs.iter().filter_map(|plan| plan.wanted.skin.as_ref());
        let kept: Vec<u64> = skins.map(|skin| skin.mbuff_bytes).collect();
        fill_directory(&mut channel, &plans, dual::places(machine, &plans.programs)?);
        warden::make(maker, machine.boot.tsc_hz)?;
        let need = machine.ticks(pillion_system::BROKER_NEED_NS);
        let first_only = Processors::FIRST.bits();
        let has_visitors = plans.programs.iter().any(|plan| plan.wanted.processors.bits() != first_only);
        let visitors = has_visitors
            .then(|| (machine.ticks(pillion_system::VISITORS_NS), machine.ticks(pillion_system::VISITORS_PERIOD_NS)));
        let sender = badge(first + count);
        let broker = broker::Broker::make(maker, &plans.broker, &channel, count, sender, need, visitors)?;
        let passenger = linux.map(|(monitor, guest)| passenger(maker, monitor, guest)).transpose()?;
        if let Some(passenger) = &passenger {
            crate::task::give(
                &broker.task,
                pillion_runtime::info::skin::slot::LINUX,
                passenger.notification,
                right::WRITE,
                monitor_bit::DOORBELL,
            )?;
        }
        let named = |(i, plan): (usize, program::Plan)| {
            let name = plan.spec.name;
            Program::new(maker, plan, badge(first + i)).map_err(|failure| failure.of(name))
        };
        let programs: Vec<Program> = plans.programs.into_iter().enumerate().map(named).collect::<Result<_>>()?;
        let logs = programs
            .iter()
            .map(|p| task_output::Reader::new(p.name()))
            .chain([task_output::Reader::new(plans.broker.name)]);
        let logs: Vec<_> = logs.collect();
        let mut skins = Skins {
            mbuffs: mbuff::Pool::new(channel.layout.pool_size, &kept),
            lines: logs.iter().map(|_| Line::new()).collect(),
            logs,
            programs,
            broker,
            channel,
            window: *maker.window,
            endpoint: maker.endpoint,
            passenger,
            tsc_hz: machine.boot.tsc_hz,
            died: None,
            timed_at: now(),
            linux: plans.linux,
            starved: [0; _],
            next_look: now().saturating_add(machine.boot.tsc_hz / LOOKS[0]),
            turn: 0,
            chatty: true,
            copied: true,
            until_ended: machine.word("until") == Some("ended"),
            failed: false,
            changed_on: 0,
        };
        for index in 0..count {
            if skins.starts_at_boot(index) {
                let spec = &skins.programs[index].plan.spec;
                let (name, cpu) = (spec.name, spec.info.cpu);
                skins.load(index).map_err(|failure| failure.of_task(name, cpu))?;
            }
        }
        Ok(skins)
    }

    fn starts_at_boot(&self, index: usize) -> bool {
        self.programs[index].plan.wanted.skin.as_ref().is_some_and(|skin| skin.start == Start::Boot)
    }

    /// Starts the tasks that start with the system.
    pub fn start(&self) -> Result<()> {
        self.programs.iter().try_for_each(Program::start)
    }
}

fn passenger(maker: &mut Maker<'_>, monitor: &Task, guest: Guest) -> Result<Passenger> {
    let doorbell = maker.slots.derive(monitor.notification, right::WRITE, monitor_bit::DOORBELL)?;
    Ok(Passenger { doorbell, caps: monitor.caps, notification: monitor.notification, guest })
}

fn fill_directory(channel: &mut Channel, plans: &Plans, places: dual::Places) {
    let specs = plans.programs.iter().map(|plan| (&plan.spec, task_state::STOPPED));
    let all = specs.chain([(&plans.broker, task_state::RUNNING)]);
    let broker = plans.programs.len();
    channel.change(|directory| {
        for (entry, (spec, state)) in directory.tasks.iter_mut().zip(all) {
            put_text(&mut entry.name[..31], spec.name);
            entry.threads = spec.info.skin.threads;
            entry.cpu = spec.info.cpu;
            entry.state = state;
        }
        for fifo in (0..FIFOS).filter(|fifo| plans.shared_fifos >> fifo & 1 != 0) {
            directory.fifo_owner[fifo] = broker as u8 + 1;
        }
        for program in &plans.programs {
            if let Some(Dual { group, boost, shield_ms, .. }) = program.wanted.dual() {
                directory.dual_group = group;
                directory.dual_levels = dual::levels(&program.wanted);
                directory.dual_ceiling = boost.map_or(0, |boost| boost.ceiling.into());
                directory.dual_shield_ms = shield_ms;
                (directory.dual_slots, directory.dual_apics) = places;
            }
        }
    });
}
