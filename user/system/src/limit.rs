//! Limits of the values in a system file.

use core::ops::RangeInclusive;

/// Most bytes of a file. This and [`ALL_PORTS`] keep the reader's memory below the heap of the
/// resource manager.
pub const FILE: usize = 32 << 10;
/// Most tasks.
pub const TASKS: usize = 64;
/// Most bytes of a name.
pub const NAME: usize = 31;
/// Most bytes of the name of an entry of the bundle.
pub const IMAGE: usize = 47;
/// Most bytes of a task's arguments.
pub const ARGUMENTS: usize = 128;
/// Most bytes of the arguments of a task with a skin.
pub const SKIN_ARGUMENTS: usize = 1000;
/// Most tasks with a skin.
pub const SKINS: usize = 15;
/// Most bytes of Linux's command line, including the additions.
pub const COMMAND_LINE: usize = 1983;
/// Highest interrupt line of a task that can be kept from Linux.
pub const HIDDEN_LINE: u32 = 63;
/// Most PCI functions of all tasks together, where there is Linux.
pub const HIDDEN_DEVICES: usize = 32;
/// Most ranges of ports of all tasks together, where there is Linux. The kernel's ranges are
/// kept from Linux, too.
pub const HIDDEN_PORTS: usize = 32 - crate::KERNEL_PORTS.len();
/// Most interrupt lines of all tasks together: the vectors that the kernel has for them.
pub const INTERRUPTS: usize = 12;
/// Number of a processor.
pub const PROCESSOR: RangeInclusive<i64> = 0..=7;
/// Priority of a task.
pub const PRIORITY: RangeInclusive<i64> = 2..=254;
/// Priority of a task with a skin.
pub const SKIN_PRIORITY: RangeInclusive<i64> = 16..=254;
/// Most ranges of ports of a task.
pub const PORTS: usize = 32;
/// Most ranges of ports of all tasks together.
pub const ALL_PORTS: usize = 256;
/// Most ranges of ports of a task with a skin.
pub const SKIN_PORTS: usize = 16;
/// Threads of a task with a skin.
pub const THREADS: RangeInclusive<i64> = 2..=64;
/// Most threads of the task that runs Linux processes' handlers: the main thread, and one for each.
pub const PSC_THREADS: u32 = 17;
/// Threads of Linux processes that can be in primary mode at the same time.
pub const DUAL_THREADS: RangeInclusive<i64> = 1..=32;
/// How long threads in primary mode outlive Linux.
pub const LINGER_MS: RangeInclusive<i64> = 0..=600_000;
/// Time in microseconds for which Linux is boosted in each period.
pub const BOOST_US: RangeInclusive<i64> = 1..=1_000_000;
/// How long interrupts of Linux's devices wait for a thread; 0: not.
pub const SHIELD_MS: RangeInclusive<i64> = 0..=1_000;
/// Lines that do not wait.
pub const SHIELD_LINES: RangeInclusive<i64> = 0..=63;
/// How long a thread in primary mode may compute without a system call; 0: for ever.
pub const WATCHDOG_MS: RangeInclusive<i64> = 0..=600_000;
/// Number of a FIFO.
pub const FIFO: RangeInclusive<i64> = 0..=63;
/// Memory for the data of a task's FIFOs in KiB: up to 1 GiB.
pub const FIFO_KIB: RangeInclusive<i64> = 0..=1 << 20;
/// Pool of shared buffers in KiB: up to 512 MiB.
pub const MBUFF_KIB: RangeInclusive<i64> = 4..=1 << 19;
/// The part of them reserved for a task, in KiB.
pub const KEPT_KIB: RangeInclusive<i64> = 0..=1 << 19;
/// `grace_ms`.
pub const GRACE_MS: RangeInclusive<i64> = 1..=600_000;
/// Priority of Linux.
pub const LINUX_PRIORITY: RangeInclusive<i64> = 1..=253;
/// Period in nanoseconds: 1 µs to an hour.
pub const PERIOD_NS: RangeInclusive<i64> = 1_000..=3_600_000_000_000;
/// Budget in nanoseconds.
pub const BUDGET_NS: RangeInclusive<i64> = 1..=3_600_000_000_000;
/// Memory of a task in KiB: up to 1 TiB.
pub const MEMORY_KIB: RangeInclusive<i64> = 16..=1 << 30;
/// Memory of a task with a skin in KiB: up to 1 GiB, so that its addresses fit into 31 bits.
pub const SKIN_MEMORY_KIB: RangeInclusive<i64> = 16..=1 << 20;
/// Memory of Linux in MiB: up to 16 TiB.
pub const MEMORY_MIB: RangeInclusive<i64> = 64..=1 << 24;
/// Interrupt line.
pub const LINE: RangeInclusive<i64> = 0..=255;
/// Restarts of Linux.
pub const RESTARTS: RangeInclusive<i64> = 0..=1_000_000;
/// Pause before a restart in milliseconds.
pub const BACKOFF_MS: RangeInclusive<i64> = 0..=60_000;
