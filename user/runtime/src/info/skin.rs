//! What a task with a skin finds beside what every task finds.

/// Slots that only such a task has.
pub mod slot {
    /// The notification bound to Linux's monitor: signalling it rings the doorbell in Linux.
    pub const LINUX: u32 = 8;
    /// Endpoint of the broker.
    pub const BROKER: u32 = 9;
    /// First of the threads; number 0 is the one that the task starts with. All rights.
    pub const THREADS: u32 = 64;
    /// First of their scheduling contexts, bound to them. All rights.
    pub const CONTEXTS: u32 = 128;
    /// First of their notifications, bound to nothing. All rights; signalling through these sets
    /// [`super::wake::THREAD`].
    pub const NOTIFICATIONS: u32 = 192;
    /// First of the notifications of the runners of the task of dual mode, right W; empty in that
    /// task, in the one that runs handlers, and while dual mode does not run.
    pub const RUNNERS: u32 = 256;
    /// Number of slots.
    pub const COUNT: u32 = RUNNERS + pillion_abi::dual::SLOTS as u32;

    /// The notification of the runner that such a word of a FIFO names:
    /// [`pillion_abi::channel::user`].
    #[inline]
    #[must_use]
    pub const fn runner(user: u32) -> Option<u32> {
        match pillion_abi::channel::user::runner(user) {
            Some(runner) => Some(RUNNERS + runner as u32),
            None => None,
        }
    }
}

/// Bits of the notification of a thread of a task with a skin.
pub mod wake {
    /// From another thread of the task, the broker, or a task that uses a FIFO with a thread in
    /// primary mode.
    pub const THREAD: u64 = 1;
    /// Linux has something for the task. To the main thread only.
    pub const KICK: u64 = 2;
    /// The task must run `cleanup_module` and end. To the main thread only.
    pub const UNLOAD: u64 = 4;
}

/// Levels, that is kernel priorities, of real-time threads in tasks with a skin.
pub mod level {
    /// The least urgent one.
    pub const FIRST: u8 = 16;
    /// The most urgent one.
    pub const LAST: u8 = 211;
}

/// The information for a task with a skin.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SkinInfo {
    /// Index of the task among those with a skin.
    pub index: u32,
    /// Number of threads that it may have, including its main thread.
    pub threads: u32,
    /// Level of its main thread.
    pub main_level: u32,
    /// Highest level that its threads may have.
    pub ceiling: u32,
    /// 1 if it may share semaphores, queues and FIFOs with other tasks.
    pub shares: u32,
    /// Number of entries in `lines`.
    pub line_count: u32,
    /// Number of entries in `ports`.
    pub port_count: u32,
    /// 1 if there is a Linux.
    pub linux: u32,
    /// 1 if the kernel traces: its buffer is at [`address::TRACE`].
    pub traced: u32,
    /// Index of the task of dual mode plus one; 0: there is none.
    pub dual: u32,
    /// Interrupt lines, in the order of [`slot::INTERRUPTS`].
    pub lines: [u32; 16],
    /// Port ranges, in the order of [`slot::TASK_PORTS`]: first and count.
    pub ports: [[u32; 2]; 16],
    /// Bytes at [`address::SHARE`].
    pub share_size: u64,
    /// Bytes at [`address::POOL`].
    pub pool_size: u64,
    /// FIFOs that belong to no single task: bit `n` for FIFO `n`. The broker keeps them.
    pub shared_fifos: u64,
    /// Processors that its threads may be on: bit `n` for processor `n`.
    pub cpus: u64,
}
