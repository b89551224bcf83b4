//! The trace buffer: a ring that one CPU writes and anyone with the capability reads.
//!
//! The writer fills an entry and then raises [`Header::written`]. A reader copies entries, loads
//! `written` again, and drops those that were overwritten in the meantime: entry `n` is whole if
//! `written` is still below `n + ENTRIES`.

/// Bytes of the buffer: a header's page and the entries.
pub const SIZE: u64 = 4096 + (ENTRIES * size_of::<Entry>()) as u64;

/// Offset of the entries.
pub const FIRST_ENTRY: u64 = 4096;

/// Number of entries; a power of two.
pub const ENTRIES: usize = 4096;

/// Start of the buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// Number of entries written since boot; entry `n` is at place `n % ENTRIES`.
    pub written: u64,
    /// What took the CPU's time for others than the thread that ran there.
    pub counts: Counts,
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hz: u64,
    /// Longest stretch with interrupts off while tracing was on, in ticks: from an event that
    /// enters the kernel, or a preemption point, to the next that leaves it, or a preemption point.
    /// The tracing itself is included.
    pub longest: u64,
    /// The entry that this stretch began with.
    pub longest_cause: Entry,
}

/// Vectors that are counted apart: from [`FIRST_VECTOR`] to 255.
pub const VECTORS: usize = 1 + (u8::MAX - FIRST_VECTOR) as usize;

/// Stands for itself and all lower ones: the interrupts of the guest that has all leftover time.
/// The next ones are those of tasks' devices; 0xfd is another processor's, 0xfe the timer's.
pub const FIRST_VECTOR: u8 = crate::RT_VECTOR_FIRST - 1;

/// Counts since boot. Where one processor runs nothing is counted, and all are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    /// Physical interrupts, by vector, but for those that end a guest's run: the guest's state
    /// counts these.
    pub interrupts: [u64; VECTORS],
    /// Letters of other processors about calls: one from there, the answer to one, news of either.
    pub calls: u64,
    /// Letters with signals to notifications.
    pub signals: u64,
    /// Address spaces that it left because memory was unmapped there.
    pub flushes: u64,
}

/// An entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// Time-stamp counter.
    pub time: u64,
    /// One of [`Event`].
    pub event: u64,
    /// See [`Event`].
    pub first: u64,
    /// See [`Event`].
    pub second: u64,
}

/// Kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Event {
    /// The kernel was entered by a system call: number, capability.
    Syscall = 1,
    /// The kernel was entered by an interrupt: vector.
    Interrupt = 2,
    /// The kernel was entered by an exception: vector, address of the instruction.
    Exception = 3,
    /// A thread is resumed: its number.
    Switch = 4,
    /// A guest is entered: its number, the interrupt offered to it.
    GuestEntry = 5,
    /// A guest exited: its number.
    GuestExit = 6,
    /// The CPU goes to sleep.
    Idle = 7,
    /// A preemption point was passed.
    Window = 8,
}

impl Event {
    /// Whether a stretch with interrupts off ends here.
    #[must_use]
    pub const fn ends_stretch(self) -> bool {
        matches!(self, Event::Switch | Event::GuestEntry | Event::Idle | Event::Window)
    }

    /// Whether a stretch with interrupts off begins here.
    #[must_use]
    pub const fn begins_stretch(self) -> bool {
        matches!(self, Event::Syscall | Event::Interrupt | Event::Exception | Event::GuestExit | Event::Window)
    }
}

const _: () = assert!(size_of::<Entry>() == 32 && ENTRIES.is_power_of_two());
