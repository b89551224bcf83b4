//! The channel window: the memory that real-time tasks and Linux share.
//!
//! At boot the resource manager sets aside one contiguous stretch of physical memory, the *window*.
//! Its parts are:
//!
//! | part | written by | for Linux |
//! |---|---|---|
//! | [`Directory`], then [`Usage`] | resource manager | read-only |
//! | [`Status`] of each task | the task | read-only |
//! | [`Share`] of each task, then its FIFO data | the task and Linux | writable |
//! | [`Command`] | Linux | writable |
//! | pool of shared buffers (mbuff) | tasks and Linux | writable |
//! | [`Psc`] | Linux's kernel and the task [`psc::TASK`] | writable; no process maps it, not even to read |
//! | [`crate::dual::Dual`], at the end, with dual mode | Linux's kernel and the task [`crate::dual::TASK`] | the same |
//!
//! Linux's kernel module finds the window by CPUID ([`cpuid`]), which the monitor answers, and
//! calls the monitor by [`hypercall`]. Linux can write anything at any time into the parts that are
//! writable for it, so the real-time side reads each such word once, checks it, and keeps sizes and
//! offsets in memory of its own or in read-only parts. The page table makes a part read-only for
//! Linux; Linux can trust its contents only as far as it trusts the real-time side.
//!
//! All offsets count from the start of the window unless stated otherwise. Everything is
//! little-endian and naturally aligned; words that both sides use at the same time are accessed
//! atomically.

/// First eight bytes of a [`Directory`].
pub const MAGIC: u64 = u64::from_le_bytes(*b"PILLCHAN");

/// Version of this layout.
pub const VERSION: u32 = 10;

/// Maximum number of tasks with channels.
pub const TASKS: usize = 16;

/// Number of FIFOs.
pub const FIFOS: usize = 64;

/// Maximum number of threads of a task.
pub const THREADS: usize = 64;

/// Maximum number of shared buffers.
pub const MBUFFS: usize = 32;

/// Bytes of a shared buffer's name, with its terminating zero.
pub const MBUFF_NAME: usize = 40;

/// Bytes of the ring that holds what a task prints.
pub const LOG_SIZE: usize = 16 << 10;

/// Bytes that an I/O control can carry to a task's handler and back.
pub const IOCTL_SIZE: usize = 4096;

/// How a kernel module finds the window.
pub mod cpuid {
    /// Leaf: `eax` [`super::VERSION`] (0: no window), `ebx` the GSI of the doorbell, an
    /// edge-triggered interrupt without a physical line, `ecx` the window's physical address and
    /// `edx` its size, both in pages.
    pub const LEAF: u32 = 0x4000_0101;
}

/// Calls of Linux's kernel module by VMMCALL, from the most privileged mode only: `rax` holds the
/// number, `rbx` an argument; on return `rax` holds the result. Other registers keep their values.
/// An unknown number gives -38 (ENOSYS).
pub mod hypercall {
    /// The module was loaded (`rbx` 1) or is being unloaded (`rbx` 0); returns 0. While it is not
    /// loaded no doorbell rings.
    pub const HELLO: u64 = 0x5049_0000;
    /// Wakes the task with the index in `rbx`, which then checks [`super::Share::kicks`]. Returns
    /// 0, or -22 (EINVAL).
    pub const KICK: u64 = 0x5049_0001;
    /// Has the resource manager carry out [`super::Command`]; returns its result.
    pub const COMMAND: u64 = 0x5049_0002;
}

/// States of a task.
pub mod task_state {
    /// No such task.
    pub const NONE: u32 = 0;
    /// In the system file, but not loaded.
    pub const STOPPED: u32 = 1;
    /// Runs its `init_module`.
    pub const STARTING: u32 = 2;
    /// Loaded.
    pub const RUNNING: u32 = 3;
    /// Runs its `cleanup_module`.
    pub const STOPPING: u32 = 4;
    /// One of its threads faulted: all of them are stopped.
    pub const FAULTED: u32 = 5;
}

/// Details of a fault, for the report.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FaultReport {
    /// Exception vector.
    pub vector: u64,
    /// Error code.
    pub error: u64,
    /// For a page fault, the address that was accessed.
    pub address: u64,
    /// Address of the instruction.
    pub rip: u64,
    /// Stack pointer.
    pub rsp: u64,
    /// Index of the thread.
    pub thread: u64,
}

/// A task in the directory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TaskEntry {
    /// Name, padded with zeros.
    pub name: [u8; 32],
    /// One of [`task_state`].
    pub state: u32,
    /// Result of the last `init_module`: 0 or a negative errno.
    pub result: i32,
    /// How often it was started.
    pub starts: u32,
    /// Maximum number of threads, its main thread included.
    pub threads: u32,
    /// Offset of its [`Status`].
    pub status: u64,
    /// Offset of its [`Share`].
    pub share: u64,
    /// Bytes of its share: the [`Share`] and the FIFO data after it.
    pub share_size: u64,
    /// The last fault.
    pub fault: FaultReport,
    /// Bit mask of the threads that used nearly all their allowed time in the last second.
    pub busy: u64,
    /// Number of the processor that its threads start on.
    pub cpu: u64,
}

/// A shared buffer in the directory. An entry with size 0 is free.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Mbuff {
    /// Name, padded with zeros.
    pub name: [u8; MBUFF_NAME],
    /// Offset from the start of the pool, in whole pages.
    pub offset: u64,
    /// Bytes, in whole pages.
    pub size: u64,
    /// References that tasks hold to it.
    pub task_count: u32,
    /// 1 while Linux holds a reference to it.
    pub linux_count: u32,
}

/// The first part of the window.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Directory {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Number of entries in `tasks`.
    pub task_count: u32,
    /// Bytes of the window.
    pub size: u64,
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hz: u64,
    /// Offset of [`Usage`].
    pub usage: u64,
    /// Offset of [`Command`].
    pub command: u64,
    /// Offset of the pool of shared buffers.
    pub pool: u64,
    /// Bytes of the pool.
    pub pool_size: u64,
    /// Offset of [`Psc`]: no process maps that or anything after it.
    pub psc: u64,
    /// Offset of [`crate::dual::Dual`] and its slots.
    pub dual: u64,
    /// Bytes of them ([`crate::dual::bytes`]); 0 without dual mode.
    pub dual_size: u64,
    /// Name of the group whose members may mark processes for dual mode, padded with zeros.
    pub dual_group: [u8; 32],
    /// Levels of threads in primary mode with the priorities 1 and 99 in Linux's FIFO class.
    pub dual_levels: [u32; 2],
    /// Level up to which Linux is boosted for such threads; 0: it is not.
    pub dual_ceiling: u32,
    /// How long interrupts of Linux's devices wait for such threads, in milliseconds; 0: not.
    pub dual_shield_ms: u32,
    /// The processor of each [`crate::dual::Slot`]: its number.
    pub dual_slots: [u8; crate::dual::SLOTS],
    /// The ID of the local APIC of each processor that has slots, by its number.
    pub dual_apics: [u32; crate::dual::PROCESSORS],
    /// Incremented after each change to the fields below.
    pub generation: u64,
    /// The task that owns each FIFO: its index plus one, or 0.
    pub fifo_owner: [u8; FIFOS],
    /// The tasks.
    pub tasks: [TaskEntry; TASKS],
    /// The shared buffers.
    pub mbuffs: [Mbuff; MBUFFS],
}

/// Processor and processor time of a thread.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadUsage {
    /// Ticks used.
    pub ticks: u64,
    /// How often its budget ran out.
    pub exhausted: u64,
    /// Number of the processor that it is on.
    pub cpu: u64,
}

/// Processor and processor time of all threads, updated by [`command::REFRESH`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Usage {
    /// By task and thread.
    pub threads: [[ThreadUsage; THREADS]; TASKS],
}

/// States of a thread.
pub mod thread_state {
    /// There is no thread in this entry.
    pub const FREE: u32 = 0;
    /// Running or ready to run.
    pub const READY: u32 = 1;
    /// Waiting for its next period.
    pub const PERIODIC: u32 = 2;
    /// Sleeping until a given time.
    pub const SLEEPING: u32 = 3;
    /// Waiting for an object.
    pub const BLOCKED: u32 = 4;
    /// Suspended.
    pub const SUSPENDED: u32 = 5;
    /// Ended but not joined.
    pub const ENDED: u32 = 6;
}

/// What a thread is for.
pub mod thread_mode {
    /// A real-time thread of the program.
    pub const REAL_TIME: u32 = 0;
    /// The main thread: `init_module`, FIFO handlers, and everything else that Linux did in
    /// RTLinux.
    pub const LINUX: u32 = 1;
    /// Runs handlers of interrupts and clocks.
    pub const INTERRUPT: u32 = 2;
}

/// A thread in a [`Status`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadEntry {
    /// One of [`thread_state`].
    pub state: u32,
    /// One of [`thread_mode`].
    pub mode: u32,
    /// Priority that the program set, 0 to 1,000,000.
    pub priority: u32,
    /// Its level in the kernel, including inheritance.
    pub level: u32,
    /// Period in nanoseconds, or 0.
    pub period_ns: u64,
    /// Periods that have begun.
    pub releases: u64,
    /// Periods that were skipped because the previous one was not finished.
    pub overruns: u64,
    /// Address of its start function.
    pub entry: u64,
    /// Longest time from a release to the return of `pthread_wait_np`, in nanoseconds.
    pub latency_max_ns: u64,
    /// Zero.
    pub reserved: u64,
}

/// Flags of a FIFO.
pub mod fifo_flag {
    /// A handler is called after each read and write by a Linux process.
    pub const HANDLER: u32 = 1;
    /// A handler accepts I/O controls.
    pub const IOCTL: u32 = 2;
}

/// A FIFO in a [`Status`]: the words that only the real-time side may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FifoEntry {
    /// Bytes that each of its two rings holds; 0: the FIFO does not exist.
    pub size: u32,
    /// How often it was created: open files of an older generation are stale.
    pub generation: u32,
    /// See [`fifo_flag`].
    pub flags: u32,
    /// FIFO from which Linux processes read: its own number unless paired.
    pub read_from: u32,
    /// Offset of the ring to Linux from the start of the task's [`Share`].
    pub to_linux: u64,
    /// Offset of the ring to the task from the start of the [`Share`].
    pub to_task: u64,
    /// How often impossible counts were found in words that Linux can write, and repaired.
    pub damaged: u64,
    /// Offset of its [`FifoControl`] from the start of the [`Share`].
    pub control: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

/// What a task publishes about itself. Written by the task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Status {
    /// The threads; number 0 is the main thread.
    pub threads: [ThreadEntry; THREADS],
    /// The FIFOs that the task created, by number.
    pub fifos: [FifoEntry; FIFOS],
    /// Bytes of log written so far: byte `n` is at `log[n % LOG_SIZE]`. Each reader keeps its own
    /// position and loses bytes that are overwritten before it reads them.
    pub log_written: u64,
    /// Zero.
    pub reserved: [u64; 7],
    /// The log.
    pub log: [u8; LOG_SIZE],
}

/// Kinds of [`FifoControl::request`].
pub mod request {
    /// A process has read: call the handler.
    pub const READ: u32 = 1;
    /// A process has written: call the handler.
    pub const WRITE: u32 = 2;
    /// An I/O control: `command` and `argument` are the process's. If the command carries data (by
    /// its `_IOC` encoding), the data is in [`super::Share::ioctl`] in both directions, and the
    /// handler gets a pointer to a copy of it.
    pub const IOCTL: u32 = 3;
}

/// The words of a FIFO that both sides use. A ring is a stretch of `size` bytes; `written` and
/// `read` count bytes since the FIFO was created and wrap at 2^64; byte `n` is at `n % size`. Only
/// the ring's producer writes `written`; both sides can take bytes out and advance `read`, by
/// compare-and-swap. At all times `written - read <= size`; if not, the real-time side repairs the
/// counts by dropping the contents.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct FifoControl {
    /// Ring to Linux: bytes that the task put in.
    pub to_linux_written: u64,
    /// Ring to the task: bytes taken out.
    pub to_task_read: u64,
    /// Number of the last answered request: the task sets it to `request` when it is done.
    pub answer: u64,
    /// Result of the request: 0 or more, or a negative errno.
    pub result: i64,
    /// Zero.
    pub reserved: [u64; 4],
    /// Ring to Linux: bytes taken out.
    pub to_linux_read: u64,
    /// Ring to the task: bytes that Linux put in.
    pub to_task_written: u64,
    /// Number of the last request; Linux increments it after it has filled in the rest.
    pub request: u64,
    /// Argument of an I/O control.
    pub argument: u64,
    /// Kind of the request.
    pub request_kind: u32,
    /// Command of an I/O control.
    pub command: u32,
    /// Who wants to know when there is data to read: see [`user`].
    pub want_data: u32,
    /// Who wants to know when there is room again: see [`user`].
    pub want_room: u32,
    /// Processes that have it open.
    pub opens: u32,
    /// Linux is taking bytes out, and the rings must stay where they are. Linux sets this before it
    /// reads where they are.
    pub taking: u32,
    /// Who is putting bytes in: see [`user`]. Only who exchanges it for 0 may, and the rings stay
    /// where they are.
    pub putting: u32,
    /// Runners of the task of dual mode that take bytes out, as bits: as `taking`, for them.
    pub entered: u32,
}

/// Words of a [`FifoControl`] that name who uses the FIFO on Linux's side: Linux, and a thread in
/// primary mode ([`crate::dual`]).
pub mod user {
    /// The bits for Linux; one that is set means Linux.
    pub const LINUX: u32 = 0xff;
    /// Runner `n` of the task of dual mode is `n + 1` times this; 0 is none.
    pub const RUNNER: u32 = 0x100;

    /// What names a runner.
    #[inline]
    #[must_use]
    pub const fn of_runner(runner: usize) -> u32 {
        (runner as u32 + 1) * RUNNER
    }

    /// The runner that a word names, which Linux can write.
    #[inline]
    #[must_use]
    pub const fn runner(word: u32) -> Option<usize> {
        match word / RUNNER {
            number @ 1..=RUNNERS => Some(number as usize - 1),
            _ => None,
        }
    }

    const RUNNERS: u32 = crate::dual::SLOTS as u32;
}

/// Bits of [`Share::events`]`[1]`.
pub mod event {
    /// The log has new text.
    pub const LOG: u64 = 1;
    /// Linux must simulate interrupts: see [`super::Share::pended`].
    pub const PENDED: u64 = 2;
}

/// The memory that a task and Linux share, followed by the data of the task's FIFOs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Share {
    /// Events for Linux: the task sets bits, and rings the doorbell if the word was 0; Linux takes
    /// all bits at once. Word 0: bit `n` for FIFO `n`. Word 1: see [`event`].
    pub events: [u64; 2],
    /// Bit mask of Linux's interrupts that `rtl_global_pend_irq` requested.
    pub pended: [u64; 4],
    /// Requests to the task: Linux sets bit `n` for a request to FIFO `n` and makes
    /// [`hypercall::KICK`]; the task takes all bits at once.
    pub kicks: u64,
    /// Zero.
    pub reserved: [u64; 9],
    /// The FIFOs' control words, unless [`FifoEntry::control`] gives another place.
    pub fifos: [FifoControl; FIFOS],
    /// Data of the I/O control in progress. Linux makes one at a time, and the task does not touch
    /// the data after its answer.
    pub ioctl: [u8; IOCTL_SIZE],
}

/// Numbers of [`Command::number`]. The result is 0 or a negative errno.
pub mod command {
    /// Updates [`super::Usage`].
    pub const REFRESH: u32 = 1;
    /// Starts the task named in `text`; its parameters follow the name, after a zero. The start is
    /// complete when the task's state is no longer `STARTING`.
    pub const LOAD: u32 = 2;
    /// Has the task named in `text` run `cleanup_module` and end. It has ended when its state is
    /// `STOPPED`.
    pub const UNLOAD: u32 = 3;
    /// Finds or creates the shared buffer named in `text` with `size` bytes and holds it for Linux;
    /// the result is its index.
    pub const MBUFF_HOLD: u32 = 4;
    /// Releases Linux's hold on the shared buffer named in `text`.
    pub const MBUFF_RELEASE: u32 = 5;
}

/// A command from Linux to the resource manager. One at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Command {
    /// One of [`command`].
    pub number: u32,
    /// Zero.
    pub reserved: u32,
    /// Size of a shared buffer.
    pub size: u64,
    /// Name, a zero, and more text.
    pub text: [u8; 1024],
}

/// Constants for handlers of Linux processes that run at real-time priority (PSC). The task
/// [`psc::TASK`] runs them; see [`Psc`].
pub mod psc {
    /// Name of the task.
    pub const TASK: &str = "psc";
    /// Maximum number of handlers.
    pub const SLOTS: usize = 16;

    /// [`super::PscSlot::command`]: run the handler from now on, when its time comes.
    pub const START: u32 = 1;
    /// [`super::PscSlot::command`]: stop the handler. Once this is answered it no longer runs.
    pub const STOP: u32 = 2;

    /// [`super::PscSlot::flags`]: run the handler only once.
    pub const ONESHOT: u32 = 1;
    /// [`super::PscSlot::flags`]: run the handler at interrupts of the line in `line`, which must
    /// belong to the task.
    pub const LINE: u32 = 2;

    /// [`super::PscSlot::state`]: stopped.
    pub const IDLE: u32 = 0;
    /// [`super::PscSlot::state`]: the handler runs when its time comes.
    pub const ACTIVE: u32 = 1;
    /// [`super::PscSlot::state`]: the handler was stopped for the reason in `vector`.
    pub const FAULTED: u32 = 2;

    /// [`super::PscSlot::vector`], beyond the exceptions: the handler accessed memory that Linux
    /// does not have.
    pub const NO_MEMORY: u32 = 256;
    /// [`super::PscSlot::vector`]: the handler did not return in time.
    pub const TOO_LONG: u32 = 257;
    /// [`super::PscSlot::vector`]: the handler made an unknown call, or used a forbidden
    /// instruction.
    pub const REFUSED: u32 = 258;

    /// VMMCALL of a handler, number in `rax`: the handler has returned.
    pub const DONE: u64 = 0x5049_0010;
    /// VMMCALL of a handler, number in `rax`: Linux must look at the FIFO with the number in `rbx`.
    pub const RING: u64 = 0x5049_0011;
}

/// A handler. Linux fills in its half, increments `request` and makes [`hypercall::KICK`]; the task
/// sets `answer` to `request` when it has carried out the request.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PscSlot {
    /// Number of the last request.
    pub request: u64,
    /// [`psc::START`] or [`psc::STOP`].
    pub command: u32,
    /// See [`psc::ONESHOT`] and [`psc::LINE`].
    pub flags: u32,
    /// Instruction pointer at the start of each run.
    pub entry: u64,
    /// Stack pointer at the start of each run.
    pub stack: u64,
    /// Values of `rdi` and `rsi` at the start of each run.
    pub arguments: [u64; 2],
    /// The process's page tables.
    pub cr3: u64,
    /// CR4, of which only the bits that concern user mode are used.
    pub cr4: u64,
    /// Base of FS.
    pub fs_base: u64,
    /// Time from the request to the first run, and from one run to the next, in nanoseconds.
    pub period_ns: u64,
    /// Interrupt line.
    pub line: u64,
    /// Zero.
    pub reserved: [u64; 4],
    /// The task's half begins here: number of the last request that was carried out.
    pub answer: u64,
    /// Its result: 0 or a negative errno.
    pub result: i64,
    /// One of [`psc::IDLE`], [`psc::ACTIVE`], [`psc::FAULTED`].
    pub state: u32,
    /// Why it was stopped: an exception's vector, [`psc::NO_MEMORY`], [`psc::TOO_LONG`] or
    /// [`psc::REFUSED`].
    pub vector: u32,
    /// The address that it accessed, if that is why it was stopped.
    pub address: u64,
    /// Instruction at which it was stopped.
    pub rip: u64,
    /// How often it ran.
    pub runs: u64,
    /// Runs that were skipped because the previous one had not finished.
    pub overruns: u64,
    /// Longest time from when a run was due to its start, in nanoseconds.
    pub latency_max_ns: u64,
    /// Zero.
    pub reserved2: [u64; 9],
}

/// A FIFO for handlers. Requests and answers work as in [`PscSlot`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PscFifo {
    /// Number of the last request.
    pub request: u64,
    /// Number of the FIFO.
    pub number: u32,
    /// Bytes that each of its rings must hold; 0: remove the FIFO.
    pub size: u32,
    /// Number of the last request that was carried out.
    pub answer: u64,
    /// Its result: 0 or a negative errno.
    pub result: i64,
    /// Zero.
    pub reserved: [u64; 4],
}

/// What the task that runs handlers of Linux processes shares with Linux's kernel in addition to
/// its [`Share`]: which code runs on which page tables. Processes may write parts of the share
/// (their own FIFO), but no part of this.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Psc {
    /// The handlers.
    pub slots: [PscSlot; psc::SLOTS],
    /// The request for a FIFO.
    pub fifo: PscFifo,
}

const _: () = {
    assert!(size_of::<FifoControl>() == 128);
    assert!(size_of::<Share>() == 128 + FIFOS * 128 + IOCTL_SIZE);
    assert!(size_of::<ThreadEntry>() == 64 && size_of::<FifoEntry>() == 64);
    assert!(size_of::<Status>() == 4096 + 4096 + 64 + LOG_SIZE);
    assert!(size_of::<Usage>() == TASKS * THREADS * 24);
    assert!(size_of::<Directory>() <= 2 * 4096);
    assert!(size_of::<PscSlot>() == 256 && size_of::<PscFifo>() == 64);
};
