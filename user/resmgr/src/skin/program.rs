//! A task with a skin: what it is made from, anew each time it is loaded.

use super::{
    channel::{Access, Channel},
    dual,
    layout::{DIRECTORY, Layout, STATUS},
    psc,
    threads::{self, Thread},
    user_vcpus,
};
use crate::{
    failure::{Result, While},
    grants::{give_interrupts, give_ports},
    kernel_trace, linux,
    objects::Slots,
    page_tables::Extent,
    platform::Platform,
    task::{Maker, Spec, Task, Urgency, give},
    window::{Window, put_text},
};
use alloc::vec::Vec;
use pillion_abi::call::thread;
use pillion_abi::object::{self, right};
use pillion_runtime::info::broker::TRANSFER_SIZE;
use pillion_runtime::info::{self, SkinInfo, address, skin, wake};
use pillion_runtime::{Cap, context_consumed, region_reset, thread_resume};
use pillion_system::{Kind, System};

/// Slots of a task beside its threads': objects, memory, parts of the window, interrupts and ports.
pub const SLOTS: u32 = 64;

/// What a task with a skin is made from.
pub struct Plan {
    /// As for other tasks.
    pub spec: Spec,
    /// What the system file says.
    pub wanted: pillion_system::Task,
    pub urgency: Urgency,
    /// Ticks that `init_module` and `cleanup_module` may each take.
    pub grace: u64,
    /// Table pages for a guest space with Linux's memory, for the task of dual mode; else 0.
    pub guest_tables: u64,
}

impl Plan {
    /// Plans a task; `facts` gives its index among those with a skin, `window` is that of all.
    pub fn new(
        machine: &Platform,
        system: &System,
        wanted: &pillion_system::Task,
        facts: SkinInfo,
        main_level: u8,
        window: &Layout,
    ) -> Result<Plan> {
        let image = machine.image(&wanted.image).map_err(|failure| failure.of(&wanted.name))?;
        let mut spec = Spec::new(&wanted.name, image, machine.boot.tsc_hz);
        spec.info.memory_size = wanted.memory_bytes;
        spec.info.cpu = wanted.cpu.into();
        spec.info.period = wanted.time.map_or(0, |t| machine.ticks(t.period_ns));
        put_text(&mut spec.info.arguments, &wanted.arguments);
        spec.info.skin = with_resources(facts, wanted);
        spec.thread_flags = thread::FPU;
        // After those of the tasks without a skin.
        spec.histogram = Some((pillion_system::limit::TASKS + facts.index as usize) as u64);
        spec.slots = skin::slot::COUNT;
        spec.more = extents(&facts);
        spec.more_pages = threads::pages(facts.threads) + u64::from(!wanted.interrupts.is_empty());
        let time = wanted.bound().map(|t| (machine.ticks(t.budget_ns), machine.ticks(t.period_ns)));
        let mut guest_tables = 0;
        match wanted.kind() {
            Some(Kind::Psc) => {
                spec.slots = info::psc::slot::COUNT;
                spec.more.extend(psc::extents(facts.threads));
                spec.more_pages += psc::pages(facts.threads);
            }
            Some(Kind::Dual(_)) => {
                spec.slots = info::dual::slot::count(user_vcpus::runners(facts.threads));
                spec.more.extend(dual::extents(facts.threads, &linux::ram_extents(machine, system), window));
                guest_tables =
                    system.linux.as_ref().map_or(0, |l| linux::guest_tables(machine, system, l, Some(window)));
                spec.more_pages += dual::pages(facts.threads, guest_tables);
            }
            Some(Kind::RtLinux) | None => {}
        }
        let urgency = Urgency { level: main_level, ceiling: wanted.priority, time };
        let grace = machine.ticks(wanted.skin.as_ref().map_or(0, |skin| skin.grace_ns));
        Ok(Plan { spec, wanted: wanted.clone(), urgency, grace, guest_tables })
    }
}

fn with_resources(facts: SkinInfo, wanted: &pillion_system::Task) -> SkinInfo {
    let mut facts = facts;
    for (to, from) in facts.lines.iter_mut().zip(&wanted.interrupts) {
        *to = from.line;
        facts.line_count += 1;
    }
    for (to, from) in facts.ports.iter_mut().zip(&wanted.ports) {
        *to = [from.first.into(), u32::from(from.last) - u32::from(from.first) + 1];
        facts.port_count += 1;
    }
    facts
}

/// The mappings of the window, of the broker's memory, and of the trace.
fn extents(facts: &SkinInfo) -> Vec<Extent> {
    [
        (address::STATUS, STATUS),
        (address::SHARE, facts.share_size),
        (address::POOL, facts.pool_size),
        (address::DIRECTORY, DIRECTORY),
        (address::TRANSFER, TRANSFER_SIZE),
        (address::TRACE, u64::from(facts.traced) * pillion_abi::trace::SIZE),
    ]
    .map(|(address, size)| Extent::small(address, size))
    .into()
}

/// A task with a skin.
pub struct Program {
    pub plan: Plan,
    /// Its index among the tasks with a skin.
    pub index: usize,
    badge: u64,
    /// Region that it is made from each time.
    region: Cap,
    /// Slots for the objects that it is made from.
    pub slots: Slots,
    /// The task, while it is loaded.
    pub task: Option<Task>,
    /// Its threads, while it is loaded.
    pub threads: Vec<Thread>,
    /// Signals its main thread to end the task.
    pub unloader: Option<Cap>,
    /// Ticks that all threads but the main one had used when it began to start or stop.
    pub others_before: u64,
    /// Threads already reported as using all of their time, by bit.
    pub told: u64,
}

impl Program {
    /// Sets aside a region and slots for a task.
    pub fn new(maker: &mut Maker<'_>, plan: Plan, badge: u64) -> Result<Program> {
        let region = maker.slots.make(maker.pool, object::Kind::Region, plan.spec.bytes())?;
        let count = plan.spec.info.skin.threads;
        let runners = match plan.wanted.kind() {
            Some(Kind::Psc) => psc::slots(count),
            Some(Kind::Dual(_)) => dual::slots(count),
            Some(Kind::RtLinux) | None => 0,
        };
        let slots = maker.slots.part(SLOTS + threads::slots(count) + runners)?;
        let (index, threads) = (plan.spec.info.skin.index as usize, Vec::with_capacity(count as usize));
        let (task, unloader) = (None, None);
        Ok(Program { plan, index, badge, region, slots, task, threads, unloader, others_before: 0, told: 0 })
    }

    /// Whether it is the task of dual mode.
    pub fn is_dual(&self) -> bool {
        matches!(self.plan.wanted.kind(), Some(Kind::Dual(_)))
    }

    pub fn name(&self) -> &'static str {
        self.plan.spec.name
    }

    /// How long `init_module` and `cleanup_module` may each take.
    pub fn grace_ns(&self) -> u64 {
        self.plan.wanted.skin.as_ref().map_or(0, |skin| skin.grace_ns)
    }

    /// Ticks that all threads but the main one have used.
    pub fn ticks_of_others(&self) -> u64 {
        let others = self.threads.iter().skip(1);
        others
            .filter_map(|one| context_consumed(one.context).ok())
            .fold(0, |sum: u64, [ticks, _]| sum.saturating_add(ticks))
    }

    /// Bytes of the memory at the address of its own memory.
    pub fn memory_size(&self) -> u64 {
        self.plan.spec.info.memory_size
    }

    /// Makes the task, which does not run yet.
    pub fn load(&mut self, window: &Window, endpoint: Cap, channel: &Channel) -> Result<()> {
        let Program { plan, badge, region, slots, threads, .. } = self;
        let mut maker = Maker { slots, window, pool: *region, endpoint };
        let task = maker.make_in(*region, &plan.spec, *badge)?;
        let fault = maker.slots.derive(endpoint, right::WRITE, *badge + 1)?;
        let kind = (plan.spec.thread_flags, plan.urgency);
        threads::make(&mut maker, &task, fault, kind, threads, &plan.spec.info)?;
        give_interrupts(&mut maker, &task, &plan.wanted)?;
        give_ports(&mut maker, &task, &plan.wanted)?;
        show(maker.slots, &task, channel, self.index)?;
        if plan.spec.info.skin.traced != 0 {
            kernel_trace::show(maker.slots, task.space)?;
        }
        self.unloader = Some(maker.slots.derive(threads[0].notification, right::WRITE, wake::UNLOAD)?);
        self.task = Some(task);
        Ok(())
    }

    /// Starts its main thread.
    pub fn start(&self) -> Result<()> {
        let Some(task) = &self.task else { return Ok(()) };
        thread_resume(task.thread).when("starting a thread")?;
        Ok(())
    }

    /// Ends the task and everything that it was made from.
    pub fn unload(&mut self) -> Result<()> {
        (self.task, self.unloader) = (None, None);
        self.threads.clear();
        self.told = 0;
        region_reset(self.region).when("ending a task")?;
        self.slots.clear();
        Ok(())
    }

    /// Gives the task a capability.
    pub fn give(&self, to: Cap, from: Cap, rights: u8, badge: u64) -> Result<()> {
        self.task.as_ref().map_or(Ok(()), |task| give(task, to, from, rights, badge))
    }
}

/// Maps a task's parts of the window.
fn show(slots: &mut Slots, task: &Task, channel: &Channel, index: usize) -> Result<()> {
    let places = channel.layout.tasks[index];
    let pool = (channel.layout.pool, channel.layout.pool_size);
    channel.map(slots, task.space, address::STATUS, (places.status, STATUS), Access::Write)?;
    channel.map(slots, task.space, address::SHARE, (places.share, places.share_size), Access::Write)?;
    channel.map(slots, task.space, address::POOL, pool, Access::Write)?;
    channel.map(slots, task.space, address::DIRECTORY, (0, DIRECTORY), Access::Read)
}
