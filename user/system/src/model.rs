//! The content of a system file, in the units that the machine uses.
use crate::Processors;
use alloc::{string::String, vec::Vec};
use core::fmt;

/// A whole system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Name for people and reports.
    pub name: String,
    /// Processors that are used; `None`: all.
    pub processors: Option<Processors>,
    /// Line of the file that names them, or of the section's header.
    pub processors_at: u32,
    /// The real-time tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// Linux, if there is one.
    pub linux: Option<Linux>,
    /// What tasks with a skin share with each other and with Linux.
    pub channels: Channels,
}

impl System {
    /// The tasks with a skin, in the order of the file.
    pub fn skins(&self) -> impl Iterator<Item = (&Task, &Skin)> {
        self.tasks.iter().filter_map(|t| Some((t, t.skin.as_ref()?)))
    }

    /// Dual mode, if there is any.
    #[must_use]
    pub fn dual(&self) -> Option<Dual> {
        self.tasks.iter().find_map(Task::dual)
    }

    /// Bytes of the pool of shared buffers: the part for all, and what is reserved for each task.
    #[must_use]
    pub fn pool_bytes(&self) -> u64 {
        self.skins().fold(self.channels.mbuff_bytes, |sum, (_, skin)| sum.saturating_add(skin.mbuff_bytes))
    }
}

/// What tasks with a skin share with each other and with Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Bytes of the pool of shared buffers that are for all, whole pages.
    pub mbuff_bytes: u64,
    /// FIFOs that are not a single task's: bit `n` for FIFO `n`.
    pub shared_fifos: u64,
}

/// The properties of a task that is written for another system's programming interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skin {
    /// Which skin.
    pub kind: Kind,
    /// Number of threads that it may have, its main thread included.
    pub threads: u32,
    /// Bytes for the data of its FIFOs, whole pages.
    pub fifo_bytes: u64,
    /// How it starts.
    pub start: Start,
    /// Whether it may share named objects with other tasks.
    pub share: bool,
    /// Bytes of the pool of shared buffers that are reserved for it, whole pages.
    pub mbuff_bytes: u64,
    /// How long `init_module` and `cleanup_module` may each take, in nanoseconds.
    pub grace_ns: u64,
}

/// Skins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Programs for RTLinux.
    RtLinux,
    /// Handlers of Linux processes: the task that runs them.
    Psc,
    /// Dual mode: the task that runs threads of Linux processes.
    Dual(Dual),
}

/// Dual mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dual {
    /// The file names its processors.
    pub is_placed: bool,
    /// Level of a thread with priority 1 in Linux's FIFO class; 99 has the task's priority.
    pub first: u8,
    /// How long its threads may outlive Linux, in milliseconds.
    pub linger_ms: u32,
    /// How long a thread may compute without waiting, in milliseconds; 0: for ever.
    pub watchdog_ms: u32,
    /// Name of the group in Linux whose members may use it, padded with zeros.
    pub group: [u8; 32],
    /// How urgent Linux is for such a thread.
    pub boost: Option<Boost>,
    /// How long interrupts of Linux's devices wait for such a thread, in milliseconds; 0: not.
    pub shield_ms: u32,
    /// Lines that do not wait: bit `i` for line `i`.
    pub shield_lines: u64,
}

/// How urgent Linux is while it runs a real-time thread of a marked process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boost {
    /// Highest level.
    pub ceiling: u8,
    /// Time in each period.
    pub time: Budget,
    /// Line of the file.
    pub line: u32,
}

/// How a task with a skin starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It starts with the system.
    Boot,
    /// A command in Linux starts it.
    Linux,
}

/// Execution time per period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Execution time in nanoseconds.
    pub budget_ns: u64,
    /// Period in nanoseconds.
    pub period_ns: u64,
}

impl Budget {
    /// The budget of each thread of a task for which the file gives none: an endless loop must
    /// leave Linux, the log and `pillion unload` enough time to find and end it. No response time
    /// depends on it: such a task is below all periodic ones, or the check refuses it.
    pub const DEFAULT: Budget = Budget { budget_ns: 9_000_000, period_ns: 10_000_000 };
}

/// A real-time task in an address space of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Name, unique among the tasks.
    pub name: String,
    /// Entry of the bundle that holds its image.
    pub image: String,
    /// Priority; for a task with a skin, the highest one that its threads can have.
    pub priority: u8,
    /// Processor that its threads start on.
    pub cpu: u8,
    /// Processors that its threads may be on: only a skin has several.
    pub processors: Processors,
    /// Period and budget, with a skin those of each thread; `None` for a task that is not periodic.
    pub time: Option<Budget>,
    /// Whether the file says that a task without a budget must not get the default either.
    pub unlimited: bool,
    /// Memory in bytes, whole pages.
    pub memory_bytes: u64,
    /// Text that the task gets at its start.
    pub arguments: String,
    /// Its skin, if it has one.
    pub skin: Option<Skin>,
    /// Whether it uses the floating-point and vector registers.
    pub fpu: bool,
    /// Interrupt lines that it handles.
    pub interrupts: Vec<Interrupt>,
    /// I/O ports that it may use.
    pub ports: Vec<PortRange>,
    /// PCI functions that belong to it.
    pub devices: Vec<PciFunction>,
    /// Whether it may end the system.
    pub may_end_system: bool,
    /// Whether it may start a Linux that is off.
    pub may_start_linux: bool,
    /// Lines of the file.
    pub lines: Lines,
}

impl Task {
    /// A resource that both tasks have.
    #[must_use]
    pub fn shared_with(&self, other: &Task) -> Option<Resource> {
        let line = self.interrupts.iter().find(|one| other.interrupts.iter().any(|i| i.line == one.line));
        let ports = self.ports.iter().find(|one| other.ports.iter().any(|p| p.overlaps(one.first, one.last)));
        let same = |one: &&PciFunction| other.devices.iter().any(|d| d.requester_id() == one.requester_id());
        let line = line.map(|one| Resource::Line(one.line));
        let device = || self.devices.iter().find(same).map(|one| Resource::Function(*one));
        line.or_else(|| ports.map(|one| Resource::Ports(*one))).or_else(device)
    }

    /// Dual mode, if it is the task of that.
    #[must_use]
    pub fn dual(&self) -> Option<Dual> {
        match self.kind() {
            Some(Kind::Dual(dual)) => Some(dual),
            _ => None,
        }
    }

    /// Its skin's kind, if it has one.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        self.skin.as_ref().map(|skin| skin.kind)
    }

    /// The largest share of time that each of its threads gets; `None` is unlimited.
    #[must_use]
    pub fn bound(&self) -> Option<Budget> {
        self.time.or_else(|| (!self.unlimited).then_some(Budget::DEFAULT))
    }
}

/// A resource of the machine that only one task can have at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An interrupt line.
    Line(u32),
    /// Any of these ports.
    Ports(PortRange),
    /// A PCI function.
    Function(PciFunction),
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Line(line) => write!(f, "interrupt line {line}"),
            Resource::Ports(ports) => write!(f, "one of {ports}"),
            Resource::Function(function) => write!(f, "PCI function {function}"),
        }
    }
}

/// Line of each key of a `[[task]]` or `[linux]` section, or of its header where the key is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The section's header.
    pub section: u32,
    /// `name`.
    pub name: u32,
    /// `image`, or `kernel`.
    pub image: u32,
    /// `initrd`.
    pub initrd: u32,
    /// `priority`.
    pub priority: u32,
    /// `cpus`, or `cpu`.
    pub processors: u32,
    /// `period_us` or `period_ns`.
    pub period: u32,
    /// `budget_us` or `budget_ns`.
    pub budget: u32,
    /// `memory_kib` or `memory_mib`.
    pub memory: u32,
    /// `command_line`.
    pub command_line: u32,
}

/// An interrupt line of the I/O APIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Number of the line.
    pub line: u32,
    /// Level-triggered.
    pub level: bool,
    /// Active low.
    pub low: bool,
    /// Line of the file.
    pub at: u32,
}

/// A range of I/O ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port, at least `first`.
    pub last: u16,
    /// Line of the file.
    pub at: u32,
}

impl PortRange {
    /// Whether the two ranges have a port in common.
    #[must_use]
    pub const fn overlaps(&self, first: u16, last: u16) -> bool {
        self.first <= last && first <= self.last
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ports {:#x}-{:#x}", self.first, self.last)
    }
}

/// A PCI function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciFunction {
    /// Bus.
    pub bus: u8,
    /// Device, 0..=31.
    pub device: u8,
    /// Function, 0..=7.
    pub function: u8,
    /// Line of the file.
    pub at: u32,
}

impl PciFunction {
    /// Reads `bus:device.function`.
    #[must_use]
    pub fn parse(text: &str, at: u32) -> Option<PciFunction> {
        let (bus, rest) = text.split_once(':')?;
        let (device, function) = rest.split_once('.')?;
        let (bus, device, function) = (hex(bus, 2)?, hex(device, 2)?, hex(function, 1)?);
        (device < 32 && function < 8).then_some(PciFunction { bus, device, function, at })
    }

    /// Bus, device and function as one number, as the hardware writes them.
    #[must_use]
    pub fn requester_id(self) -> u16 {
        (u16::from(self.bus) << 8) | (u16::from(self.device) << 3) | u16::from(self.function)
    }
}

impl fmt::Display for PciFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}:{:02x}.{:x}", self.bus, self.device, self.function)
    }
}

/// Reads exactly that many hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u8> {
    let good = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    if good { u8::from_str_radix(text, 16).ok() } else { None }
}

/// What follows an end of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Linux restarts.
    Restart,
    /// Linux stays off; the tasks continue.
    Off,
    /// The system ends, and the tasks with it.
    End,
}

/// What follows the different ends of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// After it switched itself off.
    pub poweroff: Then,
    /// After every other end.
    pub crash: Then,
    /// After more restarts than `restart_limit` permits, or if Linux cannot be started at all.
    pub limit: Then,
}

/// Linux, the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linux {
    /// Entry of the bundle that holds the kernel, a bzImage.
    pub kernel: String,
    /// Entry of the bundle that holds the initial RAM disk.
    pub initrd: String,
    /// Command line.
    pub command_line: String,
    /// Memory in bytes, whole large pages; `None` is the rest of the machine.
    pub memory_bytes: Option<u64>,
    /// Priority of Linux and its monitor.
    pub priority: u8,
    /// Processors that it has: one of its own processors runs on each.
    pub processors: Processors,
    /// Whether the file names them; else [`System::meet`] can give it more than the first.
    pub is_placed: bool,
    /// Budget and period; `None` is all time that is left.
    pub time: Option<Budget>,
    /// How often it may restart.
    pub restart_limit: u32,
    /// Pause before the first restart in milliseconds.
    pub restart_backoff_ms: u32,
    /// What follows its ends.
    pub after: After,
    /// Lines of the file.
    pub lines: Lines,
}
