//! What a task finds when it starts: addresses, slots and a page of facts that its creator (the
//! resource manager) filled.

use pillion_abi::boot::{IO_APICS, IoApic, Range};

/// Addresses in every task made by the resource manager.
pub mod address {
    /// [`super::TaskInfo`], read-only.
    pub const INFO: u64 = 0x10_0000;
    /// Latency histogram, shared with the resource manager.
    pub const HISTOGRAM: u64 = 0x11_0000;
    /// [`super::LinuxInfo`], read-only, in the VM monitor only.
    pub const LINUX_INFO: u64 = 0x12_0000;
    /// State page of the vCPU, in the VM monitor; of the vCPUs, one after the other, in the task
    /// that runs handlers of Linux processes.
    pub const VCPU_STATE: u64 = 0x13_0000;
    /// Top of the stack; the page below the stack is not mapped.
    pub const STACK_TOP: u64 = 0x3f_0000;
    /// The task's own memory (`memory_kib`), zeroed.
    pub const MEMORY: u64 = 0x1000_0000;
    /// The bundle, read-only, in the VM monitor only.
    pub const BUNDLE: u64 = 0x40_0000_0000;
    /// Pool of shared buffers ([`super::SkinInfo::pool_size`]) in a task with a skin; Linux may
    /// write it. With the task's own memory it lies below 2 GiB: old programs keep pointers in
    /// integers.
    pub const POOL: u64 = 0x6000_0000;
    /// [`pillion_abi::channel::Status`] of a task with a skin; Linux may read it.
    pub const STATUS: u64 = 0x60_0000_0000;
    /// [`pillion_abi::channel::Share`] of a task with a skin, and the data of its FIFOs
    /// ([`super::SkinInfo::share_size`]); Linux may write it.
    pub const SHARE: u64 = 0x60_4000_0000;
    /// [`pillion_abi::channel::Directory`], read-only, in a task with a skin.
    pub const DIRECTORY: u64 = 0x60_c000_0000;
    /// [`pillion_abi::channel::Psc`] in the task that runs handlers of Linux processes; Linux's
    /// kernel may write it, its processes may not.
    pub const PSC: u64 = 0x60_e000_0000;
    /// Memory for messages between a task with a skin and the broker
    /// ([`super::broker::TRANSFER_SIZE`]); Linux has no access.
    pub const TRANSFER: u64 = 0x61_0000_0000;
    /// The kernel's trace buffer, read-only, in a task with a skin while the kernel traces
    /// ([`super::SkinInfo::traced`]).
    pub const TRACE: u64 = 0x63_0000_0000;
    /// Guest-physical address 0, in the VM monitor only: Linux's memory is mapped here as far as it
    /// is RAM or ACPI tables.
    pub const GUEST: u64 = 0x100_0000_0000;
}

/// Slots of the capability space of every task made by the resource manager.
pub mod slot {
    /// Endpoint of the resource manager: log and services.
    pub const MANAGER: u32 = 1;
    /// A notification, bound to nothing.
    pub const NOTIFICATION: u32 = 2;
    /// A timer, bound to nothing.
    pub const TIMER: u32 = 3;
    /// The vCPU, in the VM monitor.
    pub const VCPU: u32 = 4;
    /// Authority over interrupt lines, in the VM monitor.
    pub const IRQ_CONTROL: u32 = 5;
    /// All I/O ports that tasks do not have, in the VM monitor.
    pub const PORTS: u32 = 6;
    /// The task's own thread.
    pub const THREAD: u32 = 7;
    /// The notification bound to Linux's monitor, in a task with a skin: signalling it rings the
    /// doorbell in Linux.
    pub const LINUX: u32 = 8;
    /// Endpoint of the broker, in a task with a skin.
    pub const BROKER: u32 = 9;
    /// First of the task's interrupts, in the order of the system file. Each signals bit `i` of
    /// [`NOTIFICATION`].
    pub const INTERRUPTS: u32 = 16;
    /// First of the task's port ranges, in the order of the system file.
    pub const TASK_PORTS: u32 = 32;
    /// Number of slots of a task without a skin.
    pub const COUNT: u32 = 64;
    /// First of the threads of a task with a skin; number 0 is the one that it starts with. All
    /// rights.
    pub const THREADS: u32 = 64;
    /// First of their scheduling contexts, bound to them. All rights.
    pub const CONTEXTS: u32 = 128;
    /// First of their notifications, bound to nothing. All rights; signalling through these sets
    /// [`super::wake::THREAD`].
    pub const NOTIFICATIONS: u32 = 192;
    /// Number of slots of a task with a skin.
    pub const SKIN_COUNT: u32 = 256;
    /// In the task that runs handlers of Linux processes: first of the user vCPUs, one for each
    /// thread but the main thread.
    pub const VCPUS: u32 = 256;
    /// First of the timers that belong to them, bound to nothing.
    pub const TIMERS: u32 = 272;
    /// Number of slots of that task.
    pub const PSC_COUNT: u32 = 288;
    /// In the VM monitor: first of the main threads' notifications of the tasks with a skin, by
    /// their index; signalling sets [`super::wake::KICK`].
    pub const KICKS: u32 = 64;
}

/// Bits of the notification of a thread of a task with a skin.
pub mod wake {
    /// Another thread of the task, or the broker.
    pub const THREAD: u64 = 1;
    /// Linux has something for the task. To the main thread only.
    pub const KICK: u64 = 2;
    /// The task is to run `cleanup_module` and end. To the main thread only.
    pub const UNLOAD: u64 = 4;
}

/// Bits of the notification bound to Linux's monitor.
pub mod monitor_bit {
    /// A task, or the resource manager, has something for Linux.
    pub const DOORBELL: u64 = 1 << 32;
    /// From the resource manager: a Linux that stays off is to be started.
    pub const START: u64 = 1 << 33;
}

/// Levels, the kernel's priorities, of what runs in tasks with a skin. `pillion_level` maps the
/// skin's priorities to them.
pub mod level {
    /// Least urgent real-time thread.
    pub const FIRST: u8 = 16;
    /// Most urgent real-time thread.
    pub const LAST: u8 = 211;
    /// Threads that run handlers of interrupts.
    pub const INTERRUPT: u8 = 212;
}

/// Labels of calls to the resource manager's endpoint.
pub mod label {
    /// Up to 64 bytes for the log in the words; the label's bits 8.. hold their number.
    pub const LOG: u64 = 1;
    /// The system ends; first word 0 when all is well. From the VM monitor, or a task with
    /// `may_end_system`.
    pub const END: u64 = 2;
    /// From a task with a skin: it wants the FIFO whose number is in the first word. Answer: first
    /// word 0, or a negative errno.
    pub const FIFO_CLAIM: u64 = 3;
    /// It does not need the FIFO any more.
    pub const FIFO_RELEASE: u64 = 4;
    /// It wants the shared buffer with the size in the first word and the name in the next five (as
    /// many bytes as [`pillion_abi::channel::MBUFF_NAME`]). Answer: first word the index in the
    /// directory or a negative errno, then offset in the pool and size. `EAGAIN` (-11): it is new
    /// and being cleared; the caller asks again, as often as it gets that answer.
    pub const MBUFF_HOLD: u64 = 5;
    /// It gives one hold of the shared buffer back, whose name is in words 1 to 5. Answer: first
    /// word 0 or a negative errno.
    pub const MBUFF_RELEASE: u64 = 6;
    /// `init_module` returned the first word.
    pub const STARTED: u64 = 7;
    /// `cleanup_module` returned, or `init_module` failed: the task has ended. Not answered.
    pub const ENDED: u64 = 8;
    /// From the VM monitor: [`pillion_abi::channel::Command`] is to be carried out. Answer: first
    /// word the result; `EAGAIN` (-11) after a step of one that has several: the monitor asks
    /// again.
    pub const COMMAND: u64 = 9;
    /// From the VM monitor: Linux is gone; it holds nothing any more. First word one of
    /// [`super::gone`].
    pub const LINUX_GONE: u64 = 10;
    /// From a task with `may_start_linux`: a Linux that stays off is to be started. Answer: first
    /// word 0 or a negative errno, `EBUSY` while Linux runs.
    pub const LINUX_START: u64 = 11;
}

/// What is to become of a Linux that is gone.
pub mod gone {
    /// It begins anew.
    pub const RESTARTS: u64 = 0;
    /// It switched itself off, and stays so until it is started.
    pub const OFF: u64 = 1;
    /// It was given up, and stays off until it is started.
    pub const GIVEN_UP: u64 = 2;
}

/// Facts for a task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TaskInfo {
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hz: u64,
    /// Period in ticks; 0 when the task is not periodic.
    pub period: u64,
    /// Bytes at [`address::MEMORY`].
    pub memory_size: u64,
    /// Name, padded with zeros.
    pub name: [u8; 32],
    /// Arguments, padded with zeros.
    pub arguments: [u8; 1024],
    /// Facts for a task with a skin; zeros in others.
    pub skin: SkinInfo,
}

/// Facts for a task with a skin.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SkinInfo {
    /// Index of the task among those with a skin.
    pub index: u32,
    /// Number of threads that it may have, its main thread included.
    pub threads: u32,
    /// Level of its main thread.
    pub main_level: u32,
    /// Highest level that its threads may have.
    pub ceiling: u32,
    /// 1 where it may share semaphores, queues and FIFOs with other tasks.
    pub shares: u32,
    /// Number of entries in `lines`.
    pub line_count: u32,
    /// Number of entries in `ports`.
    pub port_count: u32,
    /// 1 where Linux rides along.
    pub linux: u32,
    /// 1 where the kernel traces: its buffer is at [`address::TRACE`].
    pub traced: u32,
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
}

/// Most ranges of guest-physical memory.
pub const RANGES: usize = 96;

/// Kinds of guest-physical memory, beside those of [`pillion_abi::boot::range_kind`].
pub mod range_kind {
    /// Absent for Linux: belongs to the real-time side.
    pub const HIDDEN: u64 = 16;
}

/// What follows an end of Linux.
pub mod then {
    /// It is started again.
    pub const RESTART: u64 = 0;
    /// It stays off.
    pub const OFF: u64 = 1;
    /// The system ends.
    pub const END: u64 = 2;
}

/// Facts for the VM monitor.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinuxInfo {
    /// The bytes of the ACPI root pointer, as in [`pillion_abi::boot::BootInfo`].
    pub root_pointer: [u8; 40],
    /// The I/O APICs.
    pub io_apics: [IoApic; IO_APICS],
    /// Number of entries in `ranges`.
    pub range_count: u64,
    /// Guest-physical memory: what is mapped in the guest space, but for holes, and what is not
    /// Linux's.
    pub ranges: [Range; RANGES],
    /// Offset and size of the kernel in the bundle.
    pub kernel: [u64; 2],
    /// Offset and size of the initial RAM disk in the bundle; size 0 for none.
    pub initrd: [u64; 2],
    /// How often Linux is restarted at most.
    pub restart_limit: u64,
    /// Pause before a restart in ticks.
    pub restart_backoff: u64,
    /// What follows when it switches itself off, when it ends otherwise, and when it was restarted
    /// often enough: [`then`].
    pub after: [u64; 3],
    /// Lines that belong to the real-time side: bit `i` for line `i`.
    pub hidden_lines: u64,
    /// Number of entries in `hidden_devices`.
    pub hidden_device_count: u64,
    /// PCI functions that belong to the real-time side (bus << 8 | device << 3 | function).
    pub hidden_devices: [u16; 32],
    /// Number of entries in `hidden_ports`.
    pub hidden_port_count: u64,
    /// Ports that belong to the real-time side: first and count.
    pub hidden_ports: [[u32; 2]; 32],
    /// Physical address and bytes of the channel window ([`pillion_abi::channel`]); zeros without
    /// one.
    pub channel: [u64; 2],
    /// Number of tasks with a skin, for [`slot::KICKS`].
    pub skin_count: u64,
    /// Command line, ended by a zero.
    pub command_line: [u8; 1024],
}

/// What the broker's endpoint takes: objects that several tasks use.
///
/// The broker runs on its caller's time. An operation never blocks there: where the caller has to
/// wait, the answer says so, the caller waits for its notification ([`wake::THREAD`]) and asks
/// again with [`crate::broker::Request::Finish`]. The first word of an answer is 0 or more, or a
/// negative errno.
pub mod broker {
    /// Bytes at [`super::address::TRANSFER`]; messages and FIFO data go through them.
    pub const TRANSFER_SIZE: u64 = 64 << 10;

    /// First word of an answer: the caller waits, and is woken.
    pub const WAIT: u64 = u64::MAX / 2;

    /// First word of an answer: the caller asks the same again.
    pub const MORE: u64 = WAIT - 1;

    /// In the broker's capability space: notification of thread `t` of task `k` is at
    /// `WAKERS + k * 64 + t`.
    pub const WAKERS: u32 = 64;

    /// In the broker's address space: the transfer memory of task `k` is at
    /// `TRANSFERS + k * TRANSFER_SIZE`.
    pub const TRANSFERS: u64 = 0x62_0000_0000;
}

const _: () = assert!(size_of::<TaskInfo>() <= 4096 && size_of::<LinuxInfo>() <= 4096);

/// The task's facts. Tasks that the resource manager makes have them as they have their code:
/// before their first instruction.
#[must_use]
pub fn task() -> &'static TaskInfo {
    // SAFETY: the resource manager maps the page before it starts the task, and nobody writes it
    // afterwards; every bit pattern is valid.
    unsafe { &*(address::INFO as *const TaskInfo) }
}

/// The VM monitor's facts.
///
/// # Safety
///
/// The task is the VM monitor.
#[must_use]
pub unsafe fn linux() -> &'static LinuxInfo {
    // SAFETY: the resource manager maps the page in the monitor, as in `task`.
    unsafe { &*(address::LINUX_INFO as *const LinuxInfo) }
}

/// Text up to the first zero; what is not UTF-8 is cut off.
#[must_use]
pub fn text(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    match core::str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(e) => core::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
    }
}
