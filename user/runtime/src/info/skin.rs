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

impl SkinInfo {
    /// Whether the task has threads on several processors.
    #[inline(always)]
    #[must_use]
    pub const fn has_several(&self) -> bool {
        self.cpus & self.cpus.wrapping_sub(1) != 0
    }

    /// The processor of a thread of a task that starts on processor `first`. The threads take
    /// turns: number 0 is on the first one, and those that follow on the next higher ones, after
    /// the highest one on the lowest.
    #[must_use]
    pub fn processor_of(&self, first: u64, thread: u32) -> u64 {
        let all = self.cpus | 1 << (first % 64);
        let (below, from) = (all & ((1 << (first % 64)) - 1), all >> (first % 64) << (first % 64));
        let turn = thread % all.count_ones();
        let (mut set, skip) = match turn.checked_sub(from.count_ones()) {
            None => (from, turn),
            Some(rest) => (below, rest),
        };
        for _ in 0..skip {
            set &= set - 1;
        }
        set.trailing_zeros().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processors(cpus: u64, first: u64) -> [u64; 7] {
        let info = SkinInfo { cpus, ..SkinInfo::default() };
        core::array::from_fn(|thread| info.processor_of(first, thread as u32))
    }

    #[test]
    fn threads_take_turns_from_the_first_processor_on() {
        assert_eq!(processors(0b100, 2), [2; 7]);
        assert_eq!(processors(0b11, 0), [0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(processors(0b10_1101, 3), [3, 5, 0, 2, 3, 5, 0]);
        assert_eq!(processors(0, 4), [4; 7], "a task without a skin");
    }
}
