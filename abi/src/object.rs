//! What capabilities name, and what they allow.

/// Kind of object behind a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Empty slot.
    None = 0,
    /// Raw memory, out of which objects, `Memory` and smaller regions are made.
    Region = 1,
    /// Memory that can be mapped.
    Memory = 2,
    /// Capability space: a table of slots.
    CapSpace = 3,
    /// Host address space.
    AddressSpace = 4,
    /// Nested (guest-physical) address space.
    GuestSpace = 5,
    /// Thread.
    Thread = 6,
    /// Scheduling context.
    SchedContext = 7,
    /// Endpoint for call and reply.
    Endpoint = 8,
    /// Notification: a word of bits.
    Notification = 9,
    /// One-shot timer with an absolute deadline.
    Timer = 10,
    /// Hardware interrupt bound to a user thread.
    Interrupt = 11,
    /// Virtual CPU.
    Vcpu = 12,
    /// Range of I/O ports.
    Ports = 13,
    /// Authority over priorities and budgets.
    SchedControl = 14,
    /// Authority over interrupt lines.
    IrqControl = 15,
    /// Authority over the trace buffer and the log.
    Trace = 16,
}

impl Kind {
    /// All kinds, in order of their numbers.
    pub const ALL: [Kind; 17] = [
        Kind::None,
        Kind::Region,
        Kind::Memory,
        Kind::CapSpace,
        Kind::AddressSpace,
        Kind::GuestSpace,
        Kind::Thread,
        Kind::SchedContext,
        Kind::Endpoint,
        Kind::Notification,
        Kind::Timer,
        Kind::Interrupt,
        Kind::Vcpu,
        Kind::Ports,
        Kind::SchedControl,
        Kind::IrqControl,
        Kind::Trace,
    ];

    /// The kind with that number.
    #[must_use]
    pub fn from_raw(raw: u64) -> Option<Kind> {
        usize::try_from(raw).ok().and_then(|i| Self::ALL.get(i)).copied()
    }
}

/// Rights of a capability, as bits.
pub mod right {
    /// May be read from: mapped readable, received from, waited on.
    pub const READ: u8 = 1;
    /// May be written to: mapped writable, called, signalled.
    pub const WRITE: u8 = 2;
    /// May be mapped executable.
    pub const EXECUTE: u8 = 4;
    /// May be configured: bound, started, stopped.
    pub const CONTROL: u8 = 8;
    /// Every right.
    pub const ALL: u8 = 15;
}

/// Flags of a `Region` or `Memory`.
pub mod memory {
    /// Not RAM: no kernel object may live in it, and it is mapped uncached.
    pub const DEVICE: u64 = 1;
}

/// Flags of a mapping.
pub mod map {
    /// Writable.
    pub const WRITE: u64 = 1;
    /// Executable. Together with [`WRITE`] it is refused in host address spaces.
    pub const EXECUTE: u64 = 2;
    /// Not cached.
    pub const UNCACHED: u64 = 4;

    /// The rights to memory that mapping it with those flags takes.
    #[inline]
    #[must_use]
    pub const fn rights(flags: u64) -> u8 {
        use super::right;
        let write = if flags & WRITE == 0 { 0 } else { right::WRITE };
        let execute = if flags & EXECUTE == 0 { 0 } else { right::EXECUTE };
        right::READ | write | execute
    }
}
