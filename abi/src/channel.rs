//! What real-time tasks and Linux share: the channel window.
//!
//! The resource manager makes one contiguous stretch of physical memory, the *window*, at boot. It
//! has parts:
//!
//! | part | written by | for Linux |
//! |---|---|---|
//! | [`Directory`], then [`Usage`] | resource manager | read-only |
//! | [`Status`] of each task | the task | read-only |
//! | [`Share`] of each task, then its FIFO data | the task and Linux | writable |
//! | [`Command`] | Linux | writable |
//! | pool of shared buffers (mbuff) | tasks and Linux | writable |
//! | [`Psc`], at the end | Linux's kernel and the task [`psc::TASK`] | writable; no process maps it, not even to read |
//!
//! Linux's monitor tells a kernel module where the window is by CPUID ([`cpuid`]) and takes its
//! calls ([`hypercall`]). Linux can write anything at any time into what is writable for it: the
//! real-time side reads each such word once, checks it, and keeps sizes and offsets in memory of
//! its own or in read-only parts. A part that is read-only for Linux is so by its page table: Linux
//! can trust no more than what the real-time side wrote there.
//!
//! All offsets count from the start of the window unless it says otherwise. Everything is
//! little-endian and naturally aligned; words that both sides use at the same time are atomic.

/// First eight bytes of a [`Directory`].
pub const MAGIC: u64 = u64::from_le_bytes(*b"PILLCHAN");

/// Version of this layout.
pub const VERSION: u32 = 3;

/// Most tasks with channels.
pub const TASKS: usize = 16;

/// Number of FIFOs.
pub const FIFOS: usize = 64;

/// Most threads of a task.
pub const THREADS: usize = 64;

/// Most shared buffers.
pub const MBUFFS: usize = 32;

/// Bytes of a name of a shared buffer, with its final zero.
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

/// Calls of a kernel module by VMMCALL, from its most privileged mode only: `rax` holds the number,
/// `rbx` an argument; on return `rax` holds the result. Other registers keep their values. An
/// unknown number gives -38 (ENOSYS).
pub mod hypercall {
    /// The module is there (`rbx` 1) or goes (`rbx` 0); returns 0. Until it is there no doorbell
    /// rings.
    pub const HELLO: u64 = 0x5049_0000;
    /// Wakes the task with the index in `rbx`: it finds what is asked for in
    /// [`super::Share::kicks`]. Returns 0, or -22.
    pub const KICK: u64 = 0x5049_0001;
    /// Has the resource manager carry out [`super::Command`]; returns its result.
    pub const COMMAND: u64 = 0x5049_0002;
}

/// States of a task.
pub mod task_state {
    /// No such task.
    pub const NONE: u32 = 0;
    /// Known to the system, not loaded.
    pub const STOPPED: u32 = 1;
    /// Runs its `init_module`.
    pub const STARTING: u32 = 2;
    /// Loaded.
    pub const RUNNING: u32 = 3;
    /// Runs its `cleanup_module`.
    pub const STOPPING: u32 = 4;
    /// A thread of it faulted: all of it is stopped.
    pub const FAULTED: u32 = 5;
}

/// What a fault was, for the report.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FaultReport {
    /// Exception vector.
    pub vector: u64,
    /// Error code.
    pub error: u64,
    /// Address that was accessed, of a page fault.
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
    /// Number of threads that it may have, its main thread included.
    pub threads: u32,
    /// Offset of its [`Status`].
    pub status: u64,
    /// Offset of its [`Share`].
    pub share: u64,
    /// Bytes from there on that are the task's.
    pub share_size: u64,
    /// The last fault.
    pub fault: FaultReport,
    /// Threads that have used all the time that they may have, for a second, by bit.
    pub busy: u64,
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
    /// How often tasks hold it.
    pub task_count: u32,
    /// 1 while Linux holds it.
    pub linux_count: u32,
}

/// First part of the window.
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
    /// Offset of [`Psc`], behind everything else.
    pub psc: u64,
    /// Raised after each change of what follows.
    pub generation: u64,
    /// Which task made each FIFO: its index plus one, or 0.
    pub fifo_owner: [u8; FIFOS],
    /// The tasks.
    pub tasks: [TaskEntry; TASKS],
    /// The shared buffers.
    pub mbuffs: [Mbuff; MBUFFS],
}

/// Processor time of a thread.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct ThreadUsage {
    /// Ticks used.
    pub ticks: u64,
    /// How often its budget ran out.
    pub exhausted: u64,
}

/// Processor time of all threads, brought up to date by [`command::REFRESH`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Usage {
    /// By task and thread.
    pub threads: [[ThreadUsage; THREADS]; TASKS],
}

/// States of a thread.
pub mod thread_state {
    /// No thread.
    pub const FREE: u32 = 0;
    /// Runs or could run.
    pub const READY: u32 = 1;
    /// Waits for its next period.
    pub const PERIODIC: u32 = 2;
    /// Sleeps until a point in time.
    pub const SLEEPING: u32 = 3;
    /// Waits for an object.
    pub const BLOCKED: u32 = 4;
    /// Suspended.
    pub const SUSPENDED: u32 = 5;
    /// Ended and not joined.
    pub const ENDED: u32 = 6;
}

/// What a thread is for.
pub mod thread_mode {
    /// A real-time thread of the program.
    pub const REAL_TIME: u32 = 0;
    /// The main thread: `init_module`, FIFO handlers, everything that Linux did in RTLinux.
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
    /// Priority as the program gave it, 0 to 1,000,000.
    pub priority: u32,
    /// Priority in the kernel, inherited ones included.
    pub level: u32,
    /// Period in nanoseconds, or 0.
    pub period_ns: u64,
    /// Periods that began.
    pub releases: u64,
    /// Periods that were skipped because the one before was not finished.
    pub overruns: u64,
    /// Address of the function that it started with.
    pub entry: u64,
    /// Longest time from a release to the return of `pthread_wait_np`, in nanoseconds.
    pub latency_max_ns: u64,
    /// Zero.
    pub reserved: u64,
}

/// Flags of a FIFO.
pub mod fifo_flag {
    /// A handler is called after each read and write of a Linux process.
    pub const HANDLER: u32 = 1;
    /// A handler takes I/O controls.
    pub const IOCTL: u32 = 2;
}

/// A FIFO in a [`Status`]: what only the real-time side may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FifoEntry {
    /// Bytes that each of its two rings holds; 0: it is not there.
    pub size: u32,
    /// How often it was made: an open file of an older one is stale.
    pub generation: u32,
    /// See [`fifo_flag`].
    pub flags: u32,
    /// FIFO that reads of Linux processes take from: its own number unless paired.
    pub read_from: u32,
    /// Offset from the start of the task's [`Share`] of the ring to Linux.
    pub to_linux: u64,
    /// Offset from there of the ring to the task.
    pub to_task: u64,
    /// How often something impossible was found in what Linux can write, and repaired.
    pub damaged: u64,
    /// Offset from there of its [`FifoControl`].
    pub control: u64,
    /// Zero.
    pub reserved: [u64; 2],
}

/// What a task shows. Written by the task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Status {
    /// The threads; number 0 is the main thread.
    pub threads: [ThreadEntry; THREADS],
    /// The FIFOs that the task made, by number.
    pub fifos: [FifoEntry; FIFOS],
    /// Bytes of log written so far: byte `n` is at `log[n % LOG_SIZE]`. Readers keep a place of
    /// their own and lose what is overwritten.
    pub log_written: u64,
    /// Zero.
    pub reserved: [u64; 7],
    /// The log.
    pub log: [u8; LOG_SIZE],
}

/// Kinds of [`FifoControl::request`].
pub mod request {
    /// A process has read; the handler is to be called.
    pub const READ: u32 = 1;
    /// A process has written; the handler is to be called.
    pub const WRITE: u32 = 2;
    /// An I/O control: `command` and `argument` are the process's. Where the command says that it
    /// carries data (as `_IOC` does), they are in [`super::Share::ioctl`], both ways, and the
    /// handler gets a pointer to a copy of them.
    pub const IOCTL: u32 = 3;
}

/// The words of a FIFO that both sides use. A ring is a stretch of `size` bytes; `written` and
/// `read` count bytes since the FIFO was made and wrap at 2^64, byte `n` is at `n % size`.
/// `written` has one writer (the side that the ring leads away from); `read` is raised by
/// compare-and-swap by whoever took bytes out, which may be either side. At all times
/// `written - read <= size`; the real-time side repairs what violates that by dropping the
/// contents.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct FifoControl {
    /// Ring to Linux: written by the task.
    pub to_linux_written: u64,
    /// Ring to the task: taken out.
    pub to_task_read: u64,
    /// Answered requests: the task sets it to `request` when it is done.
    pub answer: u64,
    /// Result of the request: 0 or more, or a negative errno.
    pub result: i64,
    /// Zero.
    pub reserved: [u64; 4],
    /// Ring to Linux: taken out.
    pub to_linux_read: u64,
    /// Ring to the task: written by Linux.
    pub to_task_written: u64,
    /// Number of the last request; raised by Linux after it filled in the rest.
    pub request: u64,
    /// Argument of an I/O control.
    pub argument: u64,
    /// Kind of the request.
    pub request_kind: u32,
    /// Command of an I/O control.
    pub command: u32,
    /// Linux wants the doorbell when there is something to read.
    pub want_data: u32,
    /// Linux wants the doorbell when there is room again.
    pub want_room: u32,
    /// Processes that have it open.
    pub opens: u32,
    /// Linux takes bytes out: the rings have to stay where they are. It says so, then looks where
    /// they are.
    pub taking: u32,
    /// Linux puts bytes in: the same.
    pub putting: u32,
    /// Zero.
    pub reserved2: u32,
}

/// Bits of [`Share::events`]`[1]`.
pub mod event {
    /// There is more in the log.
    pub const LOG: u64 = 1;
    /// An interrupt of Linux is to be simulated: see [`super::Share::pended`].
    pub const PENDED: u64 = 2;
}

/// What a task and Linux share, followed by the data of its FIFOs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Share {
    /// What Linux is to look at: the task sets bits and rings the doorbell when a word was 0, Linux
    /// takes all. Word 0: bit `n` for FIFO `n`. Word 1: see [`event`].
    pub events: [u64; 2],
    /// Interrupts of Linux that `rtl_global_pend_irq` asked for, by number.
    pub pended: [u64; 4],
    /// What the task is to look at: Linux sets bit `n` for a request of FIFO `n` and makes
    /// [`hypercall::KICK`]; the task takes all.
    pub kicks: u64,
    /// Zero.
    pub reserved: [u64; 9],
    /// The FIFOs, where [`FifoEntry::control`] does not say otherwise.
    pub fifos: [FifoControl; FIFOS],
    /// Data of the I/O control under way; Linux makes one at a time, and the task touches them only
    /// up to its answer.
    pub ioctl: [u8; IOCTL_SIZE],
}

/// Numbers of [`Command::number`]. The result is 0 or a negative errno.
pub mod command {
    /// Brings [`super::Usage`] up to date.
    pub const REFRESH: u32 = 1;
    /// Starts the task named in `text`; parameters follow the name, after a zero. It is done when
    /// the task's state is no longer `STARTING`.
    pub const LOAD: u32 = 2;
    /// Has the task named in `text` run `cleanup_module` and end. It is done when the task's state
    /// is `STOPPED`.
    pub const UNLOAD: u32 = 3;
    /// Finds or makes the shared buffer named in `text` with `size` bytes and holds it for Linux;
    /// the result is its index.
    pub const MBUFF_HOLD: u32 = 4;
    /// Linux no longer holds the shared buffer named in `text`.
    pub const MBUFF_RELEASE: u32 = 5;
}

/// A command of Linux to the resource manager. One at a time.
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

/// Handlers of Linux processes that run at real-time priority (PSC): numbers. The task
/// [`psc::TASK`] runs them; see [`Psc`].
pub mod psc {
    /// Name of the task.
    pub const TASK: &str = "psc";
    /// Most handlers.
    pub const SLOTS: usize = 16;

    /// [`super::PscSlot::command`]: the handler is to run when its time comes.
    pub const START: u32 = 1;
    /// [`super::PscSlot::command`]: it is to run no more. When that is answered it does not run.
    pub const STOP: u32 = 2;

    /// [`super::PscSlot::flags`]: it runs once.
    pub const ONESHOT: u32 = 1;
    /// [`super::PscSlot::flags`]: it runs when the interrupt line in `line` interrupts, which has
    /// to be the task's.
    pub const LINE: u32 = 2;

    /// [`super::PscSlot::state`]: it does not run.
    pub const IDLE: u32 = 0;
    /// [`super::PscSlot::state`]: it runs when its time comes.
    pub const ACTIVE: u32 = 1;
    /// [`super::PscSlot::state`]: it was stopped because of what it did, which `vector` says.
    pub const FAULTED: u32 = 2;

    /// [`super::PscSlot::vector`], where it is not that of an exception: it touched memory that
    /// Linux does not have.
    pub const NO_MEMORY: u32 = 256;
    /// [`super::PscSlot::vector`]: it did not return in time.
    pub const TOO_LONG: u32 = 257;
    /// [`super::PscSlot::vector`]: it made a call that there is not, or used an instruction that it
    /// may not.
    pub const REFUSED: u32 = 258;

    /// VMMCALL of a handler, number in `rax`: it has returned.
    pub const DONE: u64 = 0x5049_0010;
    /// VMMCALL of a handler: Linux is to look at the FIFO whose number is in `rbx`.
    pub const RING: u64 = 0x5049_0011;
}

/// A handler. Linux fills its half in, raises `request` and makes [`hypercall::KICK`]; the task
/// sets `answer` to it when that is done.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PscSlot {
    /// Number of the last request.
    pub request: u64,
    /// What it asks for.
    pub command: u32,
    /// See [`psc::ONESHOT`] and [`psc::LINE`].
    pub flags: u32,
    /// Instruction that each run begins with.
    pub entry: u64,
    /// Stack pointer that it begins with.
    pub stack: u64,
    /// What it finds in `rdi` and `rsi`.
    pub arguments: [u64; 2],
    /// The process's page tables.
    pub cr3: u64,
    /// CR4, of which what concerns user mode is taken.
    pub cr4: u64,
    /// Base of FS.
    pub fs_base: u64,
    /// Time from the request to the first run, and from one to the next, in nanoseconds.
    pub period_ns: u64,
    /// Interrupt line.
    pub line: u64,
    /// Zero.
    pub reserved: [u64; 4],
    /// The task's half: the request that was carried out last.
    pub answer: u64,
    /// Its result: 0 or a negative errno.
    pub result: i64,
    /// One of [`psc::IDLE`], [`psc::ACTIVE`], [`psc::FAULTED`].
    pub state: u32,
    /// Why it was stopped.
    pub vector: u32,
    /// Address that it touched, if that is why.
    pub address: u64,
    /// Instruction that it was stopped at.
    pub rip: u64,
    /// How often it ran.
    pub runs: u64,
    /// How often it did not run because it was at it still.
    pub overruns: u64,
    /// Latest that it was entered after its time, in nanoseconds.
    pub latency_max_ns: u64,
    /// Zero.
    pub reserved2: [u64; 9],
}

/// A FIFO for handlers; requested as a handler is.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct PscFifo {
    /// Number of the last request.
    pub request: u64,
    /// The FIFO.
    pub number: u32,
    /// Bytes that each of its rings is to hold; 0: it is to go.
    pub size: u32,
    /// The request that was carried out last.
    pub answer: u64,
    /// Its result: 0 or a negative errno.
    pub result: i64,
    /// Zero.
    pub reserved: [u64; 4],
}

/// What the task that runs handlers of Linux processes shares with Linux's kernel beside its
/// [`Share`]: which code runs on which page tables. Processes may write parts of the share (a FIFO
/// of theirs), and nothing of this.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Psc {
    /// The handlers.
    pub slots: [PscSlot; psc::SLOTS],
    /// The FIFO that is asked for.
    pub fifo: PscFifo,
}

const _: () = {
    assert!(size_of::<FifoControl>() == 128);
    assert!(size_of::<Share>() == 128 + FIFOS * 128 + IOCTL_SIZE);
    assert!(size_of::<ThreadEntry>() == 64 && size_of::<FifoEntry>() == 64);
    assert!(size_of::<Status>() == 4096 + 4096 + 64 + LOG_SIZE);
    assert!(size_of::<Usage>() == TASKS * THREADS * 16);
    assert!(size_of::<Directory>() <= 2 * 4096);
    assert!(size_of::<PscSlot>() == 256 && size_of::<PscFifo>() == 64);
};
