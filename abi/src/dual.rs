//! Dual mode: threads of Linux processes that run on the real-time side (*primary* mode) until they
//! need Linux (*secondary* mode). The task [`TASK`] runs them; Linux's kernel module gives them to
//! it and takes them back.
//!
//! [`Dual`] is a part of the channel window ([`crate::channel`]) that Linux's kernel and the task
//! share, and that no process maps. A thread that is in primary mode has a [`Slot`]. Its state says
//! who owns the rest of the slot:
//!
//! | [`Slot::state`] | owner | set by |
//! |---|---|---|
//! | [`state::LINUX`] | Linux | Linux, when it has taken the registers back |
//! | [`state::OFFERED`] | the task | Linux, followed by [`SIGNAL`] |
//! | [`state::PRIMARY`] | the task | the task, when it runs the thread |
//! | [`state::RETURNED`] | Linux | the task, followed by the doorbell unless Linux asked for the thread |
//!
//! Linux asks for a thread by setting [`Slot::recall`] to [`Slot::offer`] and [`SIGNAL`]. The task
//! is more urgent than Linux: when the hypercall returns, the thread has been given back, unless
//! its budget is used up, in which case it is given back when the next period begins, or its slot
//! is on another processor than the hypercall: then it comes soon. The task does not ring then:
//! Linux looks at the slot until the thread is there.
//!
//! Each slot is on a processor ([`crate::channel::Directory::dual_slots`]), and so is its runner.
//!
//! Linux can write all of this at any time, so the task reads each word once and checks it.

use crate::PAGE;

/// Name of the task.
pub const TASK: &str = "dual";

/// Maximum number of threads in primary mode at the same time.
pub const SLOTS: usize = 32;

/// Hypercall that the kernel answers itself, from Linux's most privileged mode: signals the
/// notification in slot `rbx` of the space bound by `VcpuBindSignals`. Result
/// in `rax`: 0, or -22 (EINVAL) if there is no notification that may be signalled; -38 (ENOSYS) if
/// no space is bound. Slot [`FIRST_SIGNAL`]` + n` wakes the runner of the [`Slot`] with number `n`.
pub const SIGNAL: u64 = 0x5049_0100;

/// Hypercall that the kernel answers itself, from Linux's most privileged mode: waits as HLT does,
/// also with interrupts disabled, until an interrupt could be delivered, or until a task ends the
/// wait ([`VcpuNotify`](crate::call::Call::VcpuNotify)). The result is 0, or -38 (ENOSYS) if no
/// space is bound by `VcpuBindSignals`.
pub const WAIT: u64 = 0x5049_0102;

/// Hypercall that the kernel answers itself, from Linux's most privileged mode: says how urgent
/// Linux's present thread is. Bits 0..=7 of the argument are a priority: Linux's thread is
/// boosted to it, at most to the ceiling that it is allowed, while the boost's budget lasts. Bits
/// 8..=15 are a second task priority of its local APIC, the shield, which does not hold back lines
/// that are routed with [`THROUGH`](crate::vcpu::route::THROUGH). The result is 0, or -38 (ENOSYS)
/// if no space is bound by `VcpuBindSignals`.
pub const URGENCY: u64 = 0x5049_0103;

/// Hypercall that the kernel answers itself, from Linux's most privileged mode: something was taken
/// from a process that has threads in primary mode on another processor, whose local APIC has the
/// number in bits 0..=31 of the argument. With [`ASK`] the processor is interrupted if such a
/// thread runs there. The result is 0 when all that they had found of memory before is not used any
/// more; [`ASKED`] if Linux has to make the call again, without [`ASK`]; -22 (EINVAL) if there is
/// no such processor; -38 (ENOSYS) if no space is bound by `VcpuBindSignals`.
pub const TAKEN: u64 = 0x5049_0104;

/// See [`TAKEN`].
pub const ASK: u64 = 1 << 63;

/// Result of [`TAKEN`].
pub const ASKED: u64 = 1;

/// Slot of that space that wakes the task's main thread.
pub const MAIN: u64 = FIRST_SIGNAL + SLOTS as u64;

/// Added to the argument of [`SIGNAL`]: before that, Linux is no longer urgent.
pub const CALM: u64 = 1 << 63;

/// See [`SIGNAL`]: slot 0 of a space is always empty.
pub const FIRST_SIGNAL: u64 = 1;

/// Number of the system call that says whether Linux lives: one of [`life`]. It is outside of
/// Linux's range, and answered in primary mode only; Linux itself returns `ENOSYS`.
pub const LIFE_CALL: u64 = 0x5049_0200;

/// Values of [`Dual::life`].
pub mod life {
    /// It lives, or is about to.
    pub const LIVES: u32 = 0;
    /// It panicked: it says so itself.
    pub const PANICKED: u32 = 1;
    /// It has ended.
    pub const ENDED: u32 = 2;
}

/// Maximum number of processors with threads in primary mode.
pub const PROCESSORS: usize = 8;

/// Processes that can have objects at the same time.
pub const MEMORIES: usize = 32;

/// System calls that Linux does not have: objects on which threads in primary mode wait for each
/// other. The call with number [`FIRST`](service::FIRST)` + n` has its arguments in `rdx`, `r10`,
/// `r8` and `r9`, all of them values but for the addresses of names and messages. It returns a
/// value, or the negative number of an error. Linux returns ENOSYS.
pub mod service {
    /// Number of call 0.
    pub const FIRST: u64 = 0x5049_0000;
    /// Calls have numbers below this one.
    pub const END: u64 = 32;

    /// Does nothing: the caller is in primary mode.
    pub const NOTHING: u64 = 0;
    /// Makes an object: one of [`super::object`], its value, its flags; the address of a word
    /// ([`super::word`]), or 0: only a mutex has one that has no ceiling and is neither
    /// recursive nor robust. Returns the handle.
    pub const CREATE: u64 = 1;
    /// Ends an object: handle, whether also with threads that wait for it.
    pub const DESTROY: u64 = 2;
    /// Takes one from a semaphore: handle, clock, time.
    pub const SEMAPHORE_WAIT: u64 = 3;
    /// Adds one to a semaphore, or wakes all that wait: handle, whether all.
    pub const SEMAPHORE_POST: u64 = 4;
    /// The value of a semaphore: handle.
    pub const SEMAPHORE_VALUE: u64 = 5;
    /// Locks a mutex: handle, clock, time, whether the caller may be above its ceiling.
    pub const MUTEX_LOCK: u64 = 6;
    /// Unlocks a mutex: handle.
    pub const MUTEX_UNLOCK: u64 = 7;
    /// Unlocks a mutex, waits for a condition, and locks the mutex: handles of condition and mutex,
    /// clock, time. The mutex is not locked if the result is EINTR.
    pub const CONDITION_WAIT: u64 = 8;
    /// Wakes one thread that waits for a condition, or all: handle, whether all, or the number of
    /// a thread of the process, which is woken if it waits.
    pub const CONDITION_WAKE: u64 = 9;
    /// Waits for one of some bits, or for all: handle, bits plus [`ANY`], clock, time. Returns
    /// those that are set, and clears them if they are [`super::object::TAKEN`].
    pub const FLAGS_WAIT: u64 = 10;
    /// Sets bits: handle, bits; of those that are [`super::object::TAKEN`], whether each thread
    /// that waits takes them.
    pub const FLAGS_SET: u64 = 11;
    /// Clears bits: handle, bits. Returns the value before.
    pub const FLAGS_CLEAR: u64 = 12;
    /// Makes the caller periodic: clock, time of the first release, length of a period. A period of
    /// 0 ends that.
    pub const PERIOD_SET: u64 = 13;
    /// Waits for the caller's next release. Returns how many were missed.
    pub const PERIOD_WAIT: u64 = 14;
    /// Unlocks all mutexes of the caller, and ends its periods.
    pub const THREAD_ENDS: u64 = 15;
    /// Opens the object with a name, or makes it: what Linux's kernel put into
    /// [`super::Slot::naming`]. Returns its handle. Only from Linux, by the ioctl.
    pub const OPEN: u64 = 16;
    /// Closes an object with a name, for the process: handle.
    pub const CLOSE: u64 = 17;
    /// Removes a name, as [`OPEN`] has it. Only from Linux, by the ioctl.
    pub const UNLINK: u64 = 18;
    /// Sends a message to a queue: [`QUEUE_CLOCK`] times the low half of the clock, plus the
    /// handle; its address; [`QUEUE_PRIORITY`] times its priority, plus its length; time.
    pub const QUEUE_SEND: u64 = 19;
    /// Receives a message from a queue: handle and clock as of [`QUEUE_SEND`], address of the room
    /// for it, bytes of that, time. Returns [`QUEUE_RESULT`] times its priority, plus its length.
    pub const QUEUE_RECEIVE: u64 = 20;
    /// The state of a queue: handle. Returns bytes of a message, plus [`QUEUE_RESULT`] times most
    /// messages less one, plus [`QUEUE_COUNT`] times messages now.
    pub const QUEUE_STATE: u64 = 21;
    /// The ceiling of a mutex: handle, the new one, or 0. Returns the one before.
    pub const MUTEX_CEILING: u64 = 22;
    /// The caller has mended what a mutex guards whose last owner ended: handle.
    pub const MUTEX_CONSISTENT: u64 = 23;

    /// In place of a clock: wait however long it takes.
    pub const FOREVER: u64 = u64::MAX;
    /// In place of a clock: do not wait.
    pub const TRY: u64 = u64::MAX - 1;
    /// See [`QUEUE_SEND`].
    pub const QUEUE_CLOCK: u64 = 1 << 32;
    /// See [`QUEUE_SEND`].
    pub const QUEUE_PRIORITY: u64 = 1 << 32;
    /// See [`QUEUE_RECEIVE`]. Of the result of an ioctl, Linux keeps 32 bits.
    pub const QUEUE_RESULT: u64 = 1 << 16;
    /// See [`QUEUE_STATE`].
    pub const QUEUE_COUNT: u64 = 1 << 23;
    /// Of [`FLAGS_WAIT`]: one of the bits is enough.
    pub const ANY: u64 = 1 << 32;
}

/// Kinds of objects.
pub mod object {
    /// Its value is what can be taken.
    pub const SEMAPHORE: u64 = 1;
    /// Has the flags [`INHERIT`], [`RECURSIVE`], [`CHECKED`] and [`ROBUST`]. Its value is its
    /// ceiling, a priority in Linux: its owner is at least as urgent. 0: it has none.
    pub const MUTEX: u64 = 2;
    /// A condition variable.
    pub const CONDITION: u64 = 3;
    /// Its value is 32 bits. Has the flag [`TAKEN`].
    pub const FLAGS: u64 = 4;
    /// A message queue, only with a name. Its value is most messages, plus [`QUEUE_SIZE`] times
    /// bytes of a message.
    pub const QUEUE: u64 = 5;

    /// See [`QUEUE`].
    pub const QUEUE_SIZE: u64 = 1 << 32;

    /// See [`MUTEX`]: the highest priority of Linux's FIFO class.
    pub const CEILING_MAX: u64 = 99;

    /// The owner of a mutex is as urgent as its most urgent waiter.
    pub const INHERIT: u64 = 1;
    /// The owner of a mutex may lock it again.
    pub const RECURSIVE: u64 = 2;
    /// An owner that locks its mutex again gets an error, and does not wait for itself.
    pub const CHECKED: u64 = 4;
    /// Who locks a mutex whose owner ended is told so (EOWNERDEAD), and has to say that it is
    /// consistent again; if the mutex is unlocked before that, nobody can lock it any more.
    pub const ROBUST: u64 = 8;
    /// Who waits for bits takes them: they are for the most urgent thread that waits.
    pub const TAKEN: u64 = 16;
}

/// The word of a mutex, in its process's memory ([`service::CREATE`]). The four bytes before it are
/// the mutex's handle, as long as it lies there.
pub mod word {
    /// The number of the thread that owns it; 0: nobody does.
    pub const THREAD: u32 = 0x3fff_ffff;
    /// The task says who owns it. A word without this bit is exchanged by threads.
    pub const CLAIMED: u32 = 1 << 31;
}

/// Objects with names.
pub mod name {
    /// Bytes of a name, with at least one zero at its end.
    pub const SIZE: usize = 48;
    /// Groups of a process that are looked at, beside its own.
    pub const GROUPS: usize = 32;

    /// Flag of an open: make it if there is none.
    pub const CREATE: u32 = 1;
    /// With [`CREATE`]: there must be none.
    pub const EXCLUSIVE: u32 = 2;
}

/// Private futexes of memories whose threads may be in primary mode.
pub mod futex {
    /// A wait's address is counted in bucket `(address / 4 * `[`HASH`]` mod 2^32) / 2^`[`SHIFT`].
    pub const BUCKETS: usize = 32;
    /// See [`BUCKETS`].
    pub const HASH: u32 = 0x9e37_79b1;
    /// See [`BUCKETS`].
    pub const SHIFT: u32 = 32 - BUCKETS.trailing_zeros();
    /// Addresses at which the threads of a memory that wait in Linux are still to be woken.
    pub const POSTS: usize = 14;
    /// Bit of [`super::Processor::events`] for [`super::Dual::posted`].
    pub const EVENT: u64 = 1 << super::SLOTS;

    /// The low bits of [`super::FutexWaiter::state`].
    pub mod state {
        /// The runner's thread does not wait for a futex.
        pub const IDLE: u64 = 0;
        /// It is about to compare the futex.
        pub const ARRIVING: u64 = 1;
        /// Somebody woke at its address since: it compares again.
        pub const AGAIN: u64 = 2;
        /// It waits.
        pub const WAITING: u64 = 3;
        /// It was woken.
        pub const WOKEN: u64 = 4;
        /// The other bits are the number of the wait, which is a multiple of this.
        pub const ONE: u64 = 8;
    }
}

/// Files of Linux's that threads in primary mode read and write as well: [`File`].
pub mod file {
    /// Index of their waits among the sets of [`super::Futexes`]: the one after all memories'.
    pub const SET: usize = super::MEMORIES;

    /// Values of [`super::File::kind`].
    pub mod kind {
        /// There is none.
        pub const NONE: u32 = 0;
        /// An eventfd: a read takes its whole count.
        pub const EVENT: u32 = 1;
        /// One with `EFD_SEMAPHORE`: a read takes one.
        pub const SEMAPHORE: u32 = 2;
        /// A timerfd.
        pub const TIMER: u32 = 3;
    }

    /// How many open FIFOs can be used in primary mode.
    pub const FIFOS: usize = 128;

    /// Bit of a file's mode: it may be read.
    pub const READ: u32 = 1;
    /// It may be written.
    pub const WRITE: u32 = 2;

    /// The highest count of an eventfd.
    pub const COUNT_MAX: u64 = u64::MAX - 1;
    /// [`super::File::value`] of a timer: how many of its expirations were taken, below this. The
    /// other bits are the number of its setting, of which the lowest says which one it is.
    pub const TAKEN: u64 = 1 << 48;
    /// [`super::File::changing`]: nobody sets the timer, or Linux does, or the task.
    pub const FREE: u32 = 0;
    /// See [`FREE`].
    pub const BY_LINUX: u32 = 1;
    /// See [`FREE`].
    pub const BY_TASK: u32 = 2;
}

/// Message queues of POSIX's that threads in primary mode use as well: [`Queue`].
pub mod queue {
    /// Most messages of one.
    pub const MESSAGES: usize = 64;
    /// Most bytes of a message.
    pub const SIZE: usize = 8192;
    /// How many there can be.
    pub const QUEUES: usize = 32;
    /// Priorities of messages are below this.
    pub const PRIORITIES: u32 = 32768;
    /// [`super::Message::order`] is the priority, plus 1, times this, plus what is left to this of
    /// the number of the message, and 1.
    pub const NUMBERS: u64 = 1 << 48;
    /// The address of waits for messages is `4 * (FIRST + 2 * number)`, that of waits for room four
    /// more.
    pub const FIRST: u64 = 128;
}

/// Values of [`Slot::state`].
pub mod state {
    /// Linux runs the thread, or the slot is free.
    pub const LINUX: u32 = 0;
    /// Linux has filled in the slot.
    pub const OFFERED: u32 = 1;
    /// The thread is in primary mode.
    pub const PRIMARY: u32 = 2;
    /// The thread is on its way back: Linux has not taken it yet.
    pub const RETURNED: u32 = 3;
}

/// Values of [`Slot::reason`]: why a thread was given back.
pub mod reason {
    /// Linux asked for it.
    pub const RECALL: u32 = 1;
    /// It made a system call that is not answered in primary mode; [`super::Slot::number`] is its
    /// number.
    pub const CALL: u32 = 2;
    /// It caused an exception: vector in [`super::Slot::number`], error code in
    /// [`super::Slot::code`], and the address of a page fault in [`super::Slot::address`].
    pub const EXCEPTION: u32 = 3;
    /// It executed an instruction that is not offered in primary mode (CPUID, INT, VMMCALL, ...),
    /// or accessed memory that Linux does not have.
    pub const INSTRUCTION: u32 = 4;
    /// It was refused: what Linux offered cannot run. Nothing of it has run.
    pub const REFUSED: u32 = 5;
    /// It computed for too long without a system call.
    pub const WATCHDOG: u32 = 6;
    /// Its call was answered, and it was offered for that only ([`super::flag::ONCE`]).
    pub const ANSWERED: u32 = 7;
    /// As [`CALL`], for a call that waits for a mutex whose owner is in Linux.
    pub const INVERSION: u32 = 8;
}

/// Bits of [`Slot::flags`].
pub mod flag {
    /// Linux wants the thread back as soon as its call has been answered.
    pub const ONCE: u32 = 1;
    /// The call that it is offered at is one of those with a [`super::Slot::naming`].
    pub const NAMED: u32 = 2;
    /// Its process is told why its threads go to Linux, and so of waits for owners there.
    pub const WARNS: u32 = 4;
    /// It is one that sleeps until or for a [`super::Slot::time`].
    pub const TIMED: u32 = 8;
}

/// Values of [`Slot::resume`]: how Linux continues a thread that was given back.
pub mod resume {
    /// At its registers: the instruction that ended primary mode is executed again.
    pub const AT: u32 = 0;
    /// After a system call that waits for an absolute time and was cut short. Its number is in
    /// `rax`, and `rip` is that of the SYSCALL instruction.
    pub const ABSOLUTE: u32 = 1;
    /// The same for one that waits for a length of time: it ends at [`super::Slot::wake_ns`].
    pub const RELATIVE: u32 = 2;
}

/// One of two copies of what converts between ticks and the time of Linux's clocks.
///
/// The monotonic clock is `base_ns + ((tsc - tsc_base) * mult + fraction) >> shift` nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Conversion {
    /// 1 while Linux's clocks run by the time-stamp counter; 0: nothing below is valid.
    pub valid: u32,
    /// Nanoseconds of a tick, shifted left by `shift`.
    pub mult: u32,
    /// See above; below 64.
    pub shift: u32,
    /// `mult` of the raw clock, which has the same shift.
    pub raw_mult: u32,
    /// Ticks at the time of `base_ns`.
    pub tsc_base: u64,
    /// Nanoseconds of the monotonic clock then.
    pub base_ns: u64,
    /// Its fraction of a nanosecond, shifted left by `shift`.
    pub fraction: u64,
    /// Nanoseconds of the raw clock then.
    pub raw_base_ns: u64,
    /// Its fraction.
    pub raw_fraction: u64,
    /// From the monotonic clock to the real-time clock, in nanoseconds.
    pub to_realtime_ns: i64,
    /// To the clock that counts suspended time.
    pub to_boottime_ns: i64,
    /// To International Atomic Time.
    pub to_tai_ns: i64,
}

/// The clocks. Linux writes one copy while readers use the other: it increments `sequence`, writes
/// copy 0, increments it again, and writes copy 1. Copy `sequence % 2` is complete.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Clocks {
    /// See above.
    pub sequence: u64,
    /// Zero.
    pub reserved: [u64; 7],
    /// The copies.
    pub copies: [Conversion; 2],
}

/// Where the clocks of the vDSO begin in their page, in all versions of Linux, and bytes of
/// [`Vvar::copies`].
pub const VVAR_FIRST: usize = 128;
/// See [`VVAR_FIRST`].
pub const VVAR_BYTES: usize = 576;

/// The page from which the vDSO of Linux's processes reads the clocks. In primary mode there is a
/// copy of the runner's own in its place, which changes only while the runner's thread does not
/// run.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Vvar {
    /// Its guest-physical address, written by Linux, followed by [`SIGNAL`] with [`MAIN`]; 0: none.
    pub page: u64,
    /// The page that has copies in its place; written by the task. There are none if it differs.
    pub replaced: u64,
    /// Its bytes from [`VVAR_FIRST`] on, in two copies that are written with those of [`Clocks`].
    pub copies: [[u8; VVAR_BYTES]; 2],
}

/// Registers of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Registers {
    /// General registers, by their numbers in instructions.
    pub gpr: [u64; 16],
    /// Instruction pointer.
    pub rip: u64,
    /// Flags.
    pub rflags: u64,
    /// Base of FS.
    pub fs_base: u64,
    /// Base of GS, as user mode sees it.
    pub gs_base: u64,
}

/// An object with a name, and who asks for it. Linux's kernel says both.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Naming {
    /// The name, padded with zeros.
    pub name: [u8; name::SIZE],
    /// One of [`object`].
    pub kind: u32,
    /// See [`name::CREATE`].
    pub flags: u32,
    /// If it is made: who may open it, as Linux's bits say, for reading and writing.
    pub mode: u32,
    /// If it is made: its flags.
    pub object_flags: u32,
    /// If it is made: its value.
    pub value: u64,
    /// The asking process's user and group.
    pub user: u32,
    /// See above.
    pub group: u32,
    /// 1 if no mode keeps it out.
    pub privileged: u32,
    /// How many further groups the process is in.
    pub group_count: u32,
    /// The first of them.
    pub groups: [u32; name::GROUPS],
}

/// Bytes for the vector registers in the format of XSAVE (Intel SDM vol. 1, 13.4.1: the standard
/// form).
pub const VECTOR_BYTES: usize = PAGE as usize;

/// Maximum number of timers whose signals a thread in primary mode waits for.
pub const SIGNAL_TIMERS: usize = 8;

/// A timer that sends a signal (`timer_create`). The task writes what its thread sets it to.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SignalTimer {
    /// Its number.
    pub id: u32,
    /// The signal.
    pub signal: u32,
    /// What the signal carries.
    pub value: u64,
    /// The clock that it runs by.
    pub clock: u64,
    /// The time of its first expiry; 0: it does not run.
    pub first: u64,
    /// Nanoseconds from one expiry to the next; 0: there is one only.
    pub interval: u64,
    /// Expirations whose signals were taken; the task adds to it.
    pub taken: u64,
    /// Expirations that the last signal stood for, beside its own.
    pub overrun: u64,
}

/// A thread in primary mode, or a free place for one.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(4096))]
pub struct Slot {
    /// One of [`state`].
    pub state: u32,
    /// Number of the offer, which Linux increments with each.
    pub offer: u32,
    /// The offer that Linux wants back.
    pub recall: u32,
    /// Priority of the thread in Linux's FIFO class, 1 to 99.
    pub priority: u32,
    /// The registers, in both directions. They are offered at a SYSCALL instruction, with the
    /// number of the call in `rax`: the task answers it before it runs anything.
    pub registers: Registers,
    /// The process's page tables for user mode.
    pub cr3: u64,
    /// CR4, of which only the bits that concern user mode are used.
    pub cr4: u64,
    /// Components of the vector state that Linux saves and restores.
    pub xcr0: u64,
    /// Number of the thread in its own name space.
    pub thread: u32,
    /// Number of its process.
    pub process: u32,
    /// Name of the thread, padded with zeros.
    pub name: [u8; 16],
    /// Its memory, as an index of [`Dual::memories`].
    pub memory: u32,
    /// Bits of [`flag`].
    pub flags: u32,
    /// The task's half begins here: one of [`reason`].
    pub reason: u32,
    /// One of [`resume`].
    pub resume: u32,
    /// See [`reason`].
    pub number: u64,
    /// See [`reason`].
    pub address: u64,
    /// See [`reason`].
    pub code: u64,
    /// See [`resume::RELATIVE`]: nanoseconds of the monotonic clock.
    pub wake_ns: u64,
    /// System calls answered since the offer.
    pub calls: u64,
    /// Of these, calls that waited.
    pub waits: u64,
    /// Longest time from the end of a wait to the instruction before the thread's own, in ticks,
    /// since the offer.
    pub latency_max: u64,
    /// Ticks of processor time that it has used since the offer; valid once it was given back.
    pub ticks: u64,
    /// How often its budget was used up since the offer; valid once it was given back.
    pub exhausted: u64,
    /// Points of time that had passed before the thread began to wait for them, since the offer.
    pub overruns: u64,
    /// 1 while the thread waits.
    pub waiting: u64,
    /// `waits` when Linux died; written by whoever sets [`Dual::life`].
    pub waits_at_death: u64,
    /// See [`service::OPEN`]; valid with [`flag::NAMED`].
    pub naming: Naming,
    /// Guest-physical address of the word with the address of the thread's `struct fdtable`; 0:
    /// none. It stays as long as the thread is in primary mode.
    pub descriptors: u64,
    /// Signals that the thread can wait for in primary mode, as bits; it comes back when Linux has
    /// one of them for it.
    pub signals: u64,
    /// Timers of Linux's that send such a signal. Linux has stopped them.
    pub timers: [SignalTimer; SIGNAL_TIMERS],
    /// How many there are.
    pub timer_count: u64,
    /// Seconds and nanoseconds that the call names, as Linux found them in the process's memory;
    /// valid with [`flag::TIMED`].
    pub time: [u64; 2],
    /// The number that Linux gives the processor which the thread was offered on.
    pub processor: u64,
    /// Zero.
    pub reserved: [u64; 381],
    /// The vector registers, in both directions.
    pub vectors: [u8; VECTOR_BYTES],
}

/// A wait of a thread in primary mode for a futex.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FutexWaiter {
    /// One of [`futex::state`], plus the wait's number.
    pub state: u64,
    /// The futex's address in the thread's memory.
    pub address: u64,
    /// Ticks at its beginning: among equals, the longest wait ends first.
    pub since: u64,
    /// A wake-up with one of these bits is for it.
    pub bitset: u32,
    /// The most urgent waiter is woken first.
    pub urgency: u32,
}

/// The futexes of a memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Futexes {
    /// Runners with a [`FutexWaiter`] of this memory, as bits; written by the task.
    pub waiters: u32,
    /// Threads in Linux that may wait for any address; written by Linux, as are the two counts
    /// below.
    pub anywhere: u32,
    /// 1 while the task changes futexes with priority inheritance. Linux does not meanwhile.
    pub busy: u32,
    /// Zero.
    pub reserved: u32,
    /// Threads that wait in Linux, by [`futex::BUCKETS`].
    pub waits: [u32; futex::BUCKETS],
    /// Threads in Linux that use a futex with priority inheritance.
    pub owned: [u32; futex::BUCKETS],
    /// Where Linux is to wake all its threads, or 0. The task writes it over 0, and Linux over an
    /// address.
    pub posts: [u64; futex::POSTS],
}

/// A file of Linux's that both sides read and write. It lies in Linux's memory.
///
/// An eventfd's count, and which of a timer's expirations were taken, is one word that each side
/// exchanges. Whoever waits is woken as for a futex with the number of the file, from 1 on, times
/// four as its address. A runner that uses a file has its [`FutexWaiter`] at that address, and
/// looks the descriptor up once more after that: Linux makes no other file of it meanwhile.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct File {
    /// One of [`file::kind`].
    pub kind: u32,
    /// 1 if somebody in Linux may wait without being counted (poll).
    pub polled: u32,
    /// Address of Linux's `struct file`.
    pub key: u64,
    /// See above.
    pub value: u64,
    /// 1 if Linux has yet to wake those that wait there; written by the task.
    pub posted: u64,
    /// Of a timer: the clock of its descriptor.
    pub clock: u64,
    /// Who sets it, as [`file::FREE`] says: exchanged for that, and only by them.
    pub changing: u32,
    /// Zero.
    pub reserved: [u32; 5],
    /// What it is set to, and what it was set to before, or will be: whoever sets it writes the
    /// latter, then exchanges `value`.
    pub settings: [TimerSetting; 2],
}

/// What a timer is set to.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TimerSetting {
    /// The clock that it runs by.
    pub clock: u64,
    /// The time of its first expiry; 0: it does not run.
    pub first: u64,
    /// Nanoseconds from one expiry to the next; 0: there is one only.
    pub interval: u64,
    /// The flags of the call that set it, for Linux to show.
    pub flags: u64,
}

/// Where the [`File`] of a descriptor is found in Linux's memory. Addresses are those of Linux's
/// kernel; one that is not `direct_map` plus a guest-physical address leads nowhere.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Descriptors {
    /// See above; 0: nothing below is valid.
    pub direct_map: u64,
    /// Address of the [`File`]s.
    pub files: u64,
    /// Their number.
    pub count: u32,
    /// Offset in a `struct fdtable`: the number of its descriptors, of four bytes.
    pub fdtable_count: u32,
    /// Offset in it: the address of the addresses of the descriptors' files.
    pub fdtable_files: u32,
    /// Offset in a `struct file`: its flags (`O_NONBLOCK`), of four bytes.
    pub file_flags: u32,
    /// Offset in it: its mode, of four bytes, whose bits are [`file::READ`] and [`file::WRITE`].
    pub file_mode: u32,
    /// Offset in it: the address of its operations.
    pub file_operations: u32,
    /// Offset in it: the address of its module's data.
    pub file_data: u32,
    /// Zero.
    pub reserved: u32,
    /// Address of the [`file::FIFOS`] [`OpenFifo`]s.
    pub fifos: u64,
    /// Address of the operations of files whose data is a [`Queue`].
    pub queue_operations: u64,
    /// Address of the [`queue::QUEUES`] [`Queue`]s, of which each is one.
    pub queues: u64,
}

/// A message of a [`Queue`], or a place for one.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Message {
    /// 0: there is none. The highest is received first: see [`queue::NUMBERS`].
    pub order: u64,
    /// Bytes of its text.
    pub length: u32,
    /// Zero.
    pub reserved: u32,
}

/// A message queue of POSIX's that both sides use. It lies in Linux's memory.
///
/// Whoever puts a message or takes one holds `lock`; a message begins and ends with its
/// order, so what a holder that died leaves is a queue. Threads wait for messages and for room as
/// they do for a [`File`], at addresses that follow from `number`. A runner has its [`FutexWaiter`]
/// there as long as it uses the queue, and looks the descriptor up once more after that: Linux
/// makes no other queue of it meanwhile.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Queue {
    /// Who holds it, as [`file::FREE`] says.
    pub lock: u32,
    /// Its number, below [`queue::QUEUES`].
    pub number: u32,
    /// Most messages.
    pub most: u32,
    /// Most bytes of a message.
    pub size: u32,
    /// 1 if somebody in Linux may wait without being counted (poll).
    pub polled: u32,
    /// 1 if a process wants to be told of a message: then Linux sends.
    pub notifies: u32,
    /// 1 if Linux has yet to wake those that wait there; written by the task.
    pub posted: u64,
    /// Number of the next message.
    pub next: u64,
    /// Address of the texts, of `size` bytes each.
    pub texts: u64,
    /// Zero.
    pub reserved: [u64; 2],
    /// Those with an order, and places.
    pub messages: [Message; queue::MESSAGES],
}

/// What an open `/dev/rtf*` is. It lies in Linux's memory; the data of the file begin with its
/// address, or 0.
///
/// A file can be closed while it is looked up, and be another's then. So whoever looks reads `turn`
/// and `key` first, looks the descriptor up once more in the end, and reads both again: with the
/// same values, what was read between is of the file that the descriptor has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct OpenFifo {
    /// Number of the FIFO.
    pub number: u32,
    /// Which of the FIFOs with that number: [`crate::channel::FifoEntry::generation`].
    pub generation: u32,
    /// Index of the task that had it then.
    pub task: u32,
    /// What may be done with it: [`file::READ`] and [`file::WRITE`].
    pub mode: u32,
    /// Address of the `struct file`; 0: this is free. Written last, and first when it is closed.
    pub key: u64,
    /// How many files had this place before, and this one.
    pub turn: u64,
}

/// What a processor's runners and Linux, on the same processor, tell each other.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Processor {
    /// Threads that were given back, bit `n` for slot `n`; and [`futex::EVENT`]. The task sets
    /// bits, and rings if the word was 0; Linux takes all bits at once.
    pub events: u64,
    /// What the kernel was last told by [`URGENCY`], or by the task when it gave a thread back.
    /// Linux writes it before it tells the kernel, and looks at it again afterwards.
    pub urgency: u32,
    /// The shield of a thread that is given back, in bits 8..=15 as [`URGENCY`] has it; 0: none.
    pub shield: u32,
    /// Zero.
    pub reserved: [u64; 6],
}

/// What the task and Linux's kernel share, followed by as many [`Slot`]s as there are runners.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(4096))]
pub struct Dual {
    /// The vector with which the task interrupts Linux; 0: it rings the doorbell.
    pub vector: u32,
    /// Whether Linux lives: one of [`life`]. Set by Linux when it panics, and by the manager when
    /// it has ended.
    pub life: u32,
    /// How many memories have gone. Linux then signals the runners if that memory had opened
    /// something by name: an object may have lost its owner.
    pub memories_gone: u32,
    /// Zero.
    pub reserved: [u32; 13],
    /// What is told about each processor, by its number.
    pub processors: [Processor; PROCESSORS],
    /// The clocks.
    pub clocks: Clocks,
    /// The memories (address spaces) whose threads may have objects ([`service`]): a number that is
    /// never used again, or 0. Objects end with the memory that they were made in.
    pub memories: [u64; MEMORIES],
    /// Memories with [`Futexes::posts`], as bits, and bit [`file::SET`] for [`File::posted`]. Linux
    /// takes all at once.
    pub posted: u64,
    /// Each runner's.
    pub futex_waiters: [FutexWaiter; SLOTS],
    /// Waits for [`File`]s.
    pub file_waits: Futexes,
    /// Written by Linux, once each time that the task is started.
    pub descriptors: Descriptors,
    /// The page with the clocks of the vDSO.
    pub vvar: Vvar,
    /// The highest ceiling that a process may give a mutex, of each of [`Dual::memories`].
    pub ceilings: [u8; MEMORIES],
    /// Zero.
    pub reserved2: [u64; 44],
    /// Each memory's.
    pub futexes: [Futexes; MEMORIES],
}

/// Bytes of the part with that many slots.
#[must_use]
pub const fn bytes(slots: usize) -> u64 {
    (size_of::<Dual>() + slots * size_of::<Slot>()) as u64
}

const _: () = {
    assert!(size_of::<Conversion>() == 80);
    assert!(size_of::<Dual>() == 4 * 4096);
    assert!(size_of::<Futexes>() == 384 && core::mem::offset_of!(Dual, futexes) == 4096);
    assert!(size_of::<Processor>() == 64 && core::mem::offset_of!(Dual, processors) == 64);
    assert!(size_of::<File>() == 128);
    assert!(size_of::<OpenFifo>() == 32);
    assert!(size_of::<Queue>() == 64 + queue::MESSAGES * size_of::<Message>());
    assert!(size_of::<SignalTimer>() == 56);
    assert!(size_of::<Slot>() == 8192);
    assert!(core::mem::offset_of!(Slot, vectors) == 4096);
};
