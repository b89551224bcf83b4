//! Makes a task: its address space, its memory and its thread.

use crate::{
    failure::{Failure, Result, While},
    objects::Slots,
    page_tables::{Extent, table_pages, whole_pages},
    window::{Window, bytes_of, put_text},
};
use alloc::{string::String, vec::Vec};
use pillion_abi::bundle::SEGMENTS;
use pillion_abi::object::{Kind, map, right};
use pillion_abi::{NEVER, PAGE, boot};
use pillion_histogram::Histogram;
use pillion_runtime::image::Image;
use pillion_runtime::info::{self, NOTIFIED, TaskInfo, address, slot};
use pillion_runtime::{
    Cap, cap_derive, context_configure, memory_map, thread_bind_context, thread_configure, thread_set_registers,
};

/// Bytes of a task's stack.
pub const STACK: u64 = 64 << 10;

/// Bytes of a histogram, in whole pages.
const HISTOGRAM: u64 = Histogram::PAGES as u64 * PAGE;

/// Where the manager maps its tasks' histograms, one after the other.
const HISTOGRAMS: u64 = 0x90_0000_0000;

/// Most pages of a task's fixed objects but the capability space: the thread, and the small ones.
const OBJECT_PAGES: u64 = 1 + 3;

/// Most slots that a task takes, without those of its interrupts and ports: region, capability
/// space, notification, timer, address space, thread, the segments of its image, stack, task
/// information, memory, histogram twice, fault endpoint, scheduling context, and three that only
/// some tasks have.
pub const SLOTS: u32 = 16 + SEGMENTS as u32;

/// What a task is made from.
pub struct Spec {
    /// Name. It is never freed: the reports need it, and the heap takes little back.
    pub name: &'static str,
    pub image: Image<'static>,
    /// The task information that it finds in its memory.
    pub info: TaskInfo,
    /// Period in nanoseconds, or 0.
    pub period_ns: u64,
    pub thread_flags: u64,
    /// Slots of its capability space.
    pub slots: u32,
    /// Index of its histogram, if it has one.
    pub histogram: Option<u64>,
    /// Other ranges to be mapped.
    pub more: Vec<Extent>,
    /// Pages for other objects.
    pub more_pages: u64,
}

pub struct Task {
    pub name: &'static str,
    /// Period in nanoseconds, or 0.
    pub period_ns: u64,
    /// Processor that its objects belong to.
    pub cpu: u64,
    /// Region that the task is made from.
    pub region: Cap,
    /// Capability space.
    pub caps: Cap,
    pub space: Cap,
    pub thread: Cap,
    pub notification: Cap,
    pub stack: Cap,
    /// Its own memory; 0 if it has none.
    pub memory: Cap,
    pub histogram: Option<&'static Histogram>,
}

impl Task {
    /// Periods that the task missed.
    pub fn overruns(&self) -> u64 {
        self.histogram.map_or(0, Histogram::overruns)
    }
}

impl Spec {
    /// A task with nothing but its image.
    pub fn new(name: &str, image: Image<'static>, tsc_hz: u64) -> Spec {
        let mut info = TaskInfo {
            tsc_hz,
            period: 0,
            memory_size: 0,
            cpu: 0,
            name: [0; 32],
            arguments: [0; 1024],
            skin: info::SkinInfo::default(),
        };
        put_text(&mut info.name[..31], name);
        Spec {
            name: String::from(name).leak(),
            image,
            info,
            period_ns: 0,
            thread_flags: 0,
            slots: slot::COUNT,
            histogram: None,
            more: Vec::new(),
            more_pages: 0,
        }
    }

    /// The ranges mapped from the task's own region.
    fn own(&self) -> Vec<Extent> {
        let mut all: Vec<Extent> =
            self.image.segments().map(|(s, _)| Extent::small(s.address, whole_pages(s.memory_size))).collect();
        all.push(Extent::small(address::STACK_TOP - STACK, STACK));
        all.push(Extent::small(address::INFO, PAGE));
        all.push(Extent::small(address::MEMORY, self.info.memory_size));
        if self.histogram.is_some() {
            all.push(Extent::small(address::HISTOGRAM, HISTOGRAM));
        }
        all
    }

    fn table_pages(&self) -> u64 {
        let mut all = self.own();
        all.extend_from_slice(&self.more);
        table_pages(&all)
    }

    /// Bytes of the region that the task is made from.
    pub fn bytes(&self) -> u64 {
        let mapped = self.own().iter().fold(0, |sum: u64, e| sum.saturating_add(e.size));
        // A slot has 64 bytes, and so has the header before the slots; the capability space need
        // not begin on a page.
        let caps = (u64::from(self.slots) + 1) * 64 / PAGE + 1;
        let pages = OBJECT_PAGES.saturating_add(caps + 1 + self.table_pages()).saturating_add(self.more_pages);
        mapped.saturating_add(pages.saturating_mul(PAGE))
    }
}

/// How urgent a thread is.
#[derive(Clone, Copy)]
pub struct Urgency {
    /// Initial priority.
    pub level: u8,
    /// Highest priority that the task may give the thread.
    pub ceiling: u8,
    /// Budget and period in ticks; `None` for unlimited time at its priority.
    pub time: Option<(u64, u64)>,
}

impl Urgency {
    /// A priority that the task cannot change.
    pub fn fixed(level: u8, time: Option<(u64, u64)>) -> Urgency {
        Urgency { level, ceiling: level, time }
    }
}

/// What it takes to make tasks.
pub struct Maker<'a> {
    pub slots: &'a mut Slots,
    /// Window into memory that the manager gives to others.
    pub window: &'a Window,
    /// Region of the real-time side.
    pub pool: Cap,
    /// The manager's endpoint.
    pub endpoint: Cap,
}

impl Maker<'_> {
    /// Makes a task that is stopped and has no scheduling context yet. Its messages carry `badge`,
    /// its faults `badge + 1`.
    pub fn make(&mut self, spec: &Spec, badge: u64) -> Result<Task> {
        let region = self.slots.make(self.pool, Kind::Region, spec.bytes())?;
        self.make_in(region, spec, badge)
    }

    /// Makes a task from an existing region.
    pub fn make_in(&mut self, region: Cap, spec: &Spec, badge: u64) -> Result<Task> {
        let caps = self.slots.make(region, Kind::CapSpace, u64::from(spec.slots))?;
        let cpu = spec.info.cpu;
        let notification = self.slots.make_on(cpu, region, Kind::Notification)?;
        let timer = self.slots.make_on(cpu, region, Kind::Timer)?;
        let space = self.slots.make(region, Kind::AddressSpace, spec.table_pages())?;
        let thread = self.slots.make_on(cpu, region, Kind::Thread)?;
        let mut task = Task {
            name: spec.name,
            period_ns: spec.period_ns,
            cpu,
            region,
            caps,
            space,
            thread,
            notification,
            stack: 0,
            memory: 0,
            histogram: None,
        };
        self.load(spec, &mut task)?;
        if let Some(number) = spec.histogram {
            task.histogram = Some(self.histogram(&task, number)?);
        }
        give(&task, slot::MANAGER, self.endpoint, right::WRITE, badge)?;
        give(&task, slot::NOTIFICATION, notification, right::ALL, NOTIFIED)?;
        give(&task, slot::TIMER, timer, right::ALL, 0)?;
        give(&task, slot::THREAD, thread, right::ALL, 0)?;
        let fault = self.slots.derive(self.endpoint, right::WRITE, badge + 1)?;
        thread_configure(thread, space, caps, fault, spec.thread_flags).when("configuring the thread")?;
        thread_set_registers(thread, spec.image.entry, address::STACK_TOP, address::INFO)
            .when("setting the registers")?;
        Ok(task)
    }

    /// Fills the task's memory with what it finds there when it starts.
    fn load(&mut self, spec: &Spec, task: &mut Task) -> Result<()> {
        for (segment, data) in spec.image.segments().filter(|(s, _)| s.memory_size != 0) {
            self.memory(task, segment.address, whole_pages(segment.memory_size), data, segment.flags)?;
        }
        task.stack = self.memory(task, address::STACK_TOP - STACK, STACK, &[], map::WRITE)?;
        self.memory(task, address::INFO, PAGE, bytes_of(&spec.info), 0)?;
        if spec.info.memory_size != 0 {
            task.memory = self.memory(task, address::MEMORY, spec.info.memory_size, &[], map::WRITE)?;
        }
        Ok(())
    }

    /// Makes memory that begins with `data`, the rest zeros, and maps it in the task.
    pub fn memory(&mut self, task: &Task, address: u64, size: u64, data: &[u8], flags: u64) -> Result<Cap> {
        let memory = self.slots.make(task.region, Kind::Memory, size)?;
        self.window.fill(memory, size, data)?;
        memory_map(memory, task.space, address, flags).when("mapping memory")?;
        Ok(memory)
    }

    fn histogram(&mut self, task: &Task, number: u64) -> Result<&'static Histogram> {
        let memory = self.memory(task, address::HISTOGRAM, HISTOGRAM, &[], map::WRITE)?;
        let seen = self.slots.derive(memory, right::READ, 0)?;
        let address = HISTOGRAMS + number * HISTOGRAM;
        memory_map(seen, boot::slot::ADDRESS_SPACE, address, 0).when("mapping a histogram")?;
        // SAFETY: the call above mapped as many pages there as a histogram has, for good. They hold
        // zeros, which are an empty histogram, and all its words are atomic, so the task may write
        // them at any time.
        Ok(unsafe { &*(address as *const Histogram) })
    }

    /// Gives one of the task's threads a scheduling context made from its region, so that it can
    /// run.
    pub fn give_time(&mut self, task: &Task, thread: Cap, urgency: Urgency) -> Result<Cap> {
        self.give_time_on(task.cpu, task.region, thread, urgency)
    }

    /// The same for a thread on a processor.
    pub fn give_time_on(&mut self, cpu: u64, region: Cap, thread: Cap, urgency: Urgency) -> Result<Cap> {
        let context = self.time(cpu, region, urgency)?;
        thread_bind_context(thread, context).when("binding the budget")?;
        Ok(context)
    }

    /// Makes a scheduling context, which is bound to nothing yet.
    pub fn time(&mut self, cpu: u64, region: Cap, urgency: Urgency) -> Result<Cap> {
        let context = self.slots.make_on(cpu, region, Kind::SchedContext)?;
        let Urgency { level, ceiling, time } = urgency;
        let (budget, period) = time.map_or((NEVER, 0), |(budget, period)| (budget.min(period), period));
        context_configure(boot::slot::SCHED_CONTROL, context, level, budget, period, ceiling)
            .when("setting the budget")?;
        Ok(context)
    }
}

/// Derives a capability into a task's capability space.
pub fn give(task: &Task, to: Cap, from: Cap, rights: u8, badge: u64) -> Result<()> {
    give_into(task.caps, to, from, rights, badge)
}

/// Derives a capability into a capability space.
pub fn give_into(caps: Cap, to: Cap, from: Cap, rights: u8, badge: u64) -> Result<()> {
    cap_derive(caps, to, from, rights, badge)
        .map_err(|error| Failure::call(&alloc::format!("giving the capability in slot {to}"), error))?;
    Ok(())
}
