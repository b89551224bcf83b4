//! What a task finds when it starts: addresses, slots, and a page of information from its creator,
//! the resource manager.

pub mod broker;
pub mod dual;
pub mod monitor;
pub mod psc;
pub mod skin;

pub use monitor::{LinuxInfo, PROCESSORS, RANGES, gone, linux, monitor_bit, range_kind, then};
pub use skin::{SkinInfo, level, wake};

/// Addresses in every task made by the resource manager.
pub mod address {
    /// [`super::TaskInfo`], read-only.
    pub const INFO: u64 = 0x10_0000;
    /// Latency histogram, shared with the resource manager.
    pub const HISTOGRAM: u64 = 0x11_0000;
    /// [`super::LinuxInfo`], read-only, in the VM monitor only.
    pub const LINUX_INFO: u64 = 0x12_0000;
    /// State pages of all vCPUs, one after the other, in the VM monitor and the tasks that run
    /// handlers or threads of Linux processes.
    pub const VCPU_STATE: u64 = 0x13_0000;
    /// [`super::dual::DualInfo`], read-only, in the task of dual mode only.
    pub const DUAL_INFO: u64 = 0x12_8000;
    /// State pages of Linux's vCPUs, read-only, in the task of dual mode only: for each runner,
    /// that of the vCPU on its processor.
    pub const PASSENGER_STATES: u64 = 0x16_0000;
    /// A page for each runner, in the task of dual mode only: its copy of the page from which
    /// the vDSO of Linux's processes reads the clocks ([`pillion_abi::dual::Vvar`]).
    pub const VVAR: u64 = 0x18_0000;
    /// Top of the stack; the page below the stack is not mapped.
    pub const STACK_TOP: u64 = 0x3f_0000;
    /// The task's own memory (`memory_kib`), zeroed.
    pub const MEMORY: u64 = 0x1000_0000;
    /// The bundle and what else the boot loader loaded, read-only, in the VM monitor only.
    pub const BUNDLE: u64 = 0x40_0000_0000;
    /// Pool of shared buffers ([`super::SkinInfo::pool_size`]) in a task with a skin; Linux may
    /// write it. Like the task's own memory it lies below 2 GiB, because old programs keep pointers
    /// in integers.
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
    /// [`pillion_abi::dual::Dual`] and its slots, in the task of dual mode; Linux's kernel may
    /// write it, its processes may not.
    pub const DUAL: u64 = 0x60_f000_0000;
    /// Memory for messages between a task with a skin and the broker
    /// ([`super::broker::TRANSFER_SIZE`]); Linux has no access.
    pub const TRANSFER: u64 = 0x61_0000_0000;
    /// The channel window up to the pool of shared buffers, as Linux has it, in the task of dual
    /// mode: writable from the first [`pillion_abi::channel::Share`] on.
    pub const WINDOW: u64 = 0x64_0000_0000;
    /// The kernel's trace buffer, read-only, in a task with a skin while the kernel traces
    /// ([`super::SkinInfo::traced`]).
    pub const TRACE: u64 = 0x63_0000_0000;
    /// Guest-physical address 0, in the VM monitor and the task of dual mode. In the monitor, the
    /// RAM and the ACPI tables of Linux's memory are mapped from here on, and the first 2 MiB of
    /// each range of device memory; in the task, the RAM.
    pub const GUEST: u64 = 0x100_0000_0000;
}

/// Slots of the capability space of every task made by the resource manager.
pub mod slot {
    /// Endpoint of the resource manager: log and services.
    pub const MANAGER: u32 = 1;
    /// A notification that is bound to nothing; signalling it sets [`super::NOTIFIED`].
    pub const NOTIFICATION: u32 = 2;
    /// A timer that is bound to nothing.
    pub const TIMER: u32 = 3;
    /// The task's own thread.
    pub const THREAD: u32 = 7;
    /// First of the task's interrupts, in the order of the system file. Interrupt `i` signals bit
    /// `i` of [`NOTIFICATION`].
    pub const INTERRUPTS: u32 = 16;
    /// First of the task's port ranges, in the order of the system file.
    pub const TASK_PORTS: u32 = 32;
    /// Number of slots of a task without a skin.
    pub const COUNT: u32 = 64;
}

/// Bit of [`slot::NOTIFICATION`] that a task sets itself: to signal without bits does nothing to a
/// notification of another processor.
pub const NOTIFIED: u64 = 1 << 63;

/// Labels of calls to the resource manager's endpoint.
pub mod label {
    /// Up to 64 bytes for the log in the words; bits 8 and up of the label hold their number.
    pub const LOG: u64 = 1;
    /// The system ends; first word 0 if all is well. From the VM monitor, or a task with
    /// `may_end_system`.
    pub const END: u64 = 2;
    /// From a task with a skin: it claims the FIFO with the number in the first word. Answer: first
    /// word 0, or a negative errno.
    pub const FIFO_CLAIM: u64 = 3;
    /// From a task with a skin: it releases the FIFO.
    pub const FIFO_RELEASE: u64 = 4;
    /// From a task with a skin: it wants to hold the shared buffer with the size in the first word
    /// and the name in the next five ([`pillion_abi::channel::MBUFF_NAME`] bytes). Answer: first
    /// word the index in the directory or a negative errno, then offset in the pool and size.
    /// `EAGAIN` (-11): the buffer is new and being cleared; the caller asks again for as long as it
    /// gets that answer.
    pub const MBUFF_HOLD: u64 = 5;
    /// From a task with a skin: it releases one hold of the shared buffer whose name is in words 1
    /// to 5. Answer: first word 0 or a negative errno.
    pub const MBUFF_RELEASE: u64 = 6;
    /// `init_module` returned the first word.
    pub const STARTED: u64 = 7;
    /// `cleanup_module` returned, or `init_module` failed: the task has ended. There is no answer.
    pub const ENDED: u64 = 8;
    /// From the VM monitor: carry out [`pillion_abi::channel::Command`]. Answer: first word the
    /// result; `EAGAIN` (-11) after one step of a command with several: the monitor asks again.
    pub const COMMAND: u64 = 9;
    /// From the VM monitor: Linux is gone and holds nothing any more. First word one of
    /// [`super::gone`].
    pub const LINUX_GONE: u64 = 10;
    /// From a task with `may_start_linux`: start a Linux that is off. Answer: first word 0 or a
    /// negative errno, `EBUSY` while Linux runs.
    pub const LINUX_START: u64 = 11;
}

/// The information for a task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TaskInfo {
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hz: u64,
    /// Period in ticks; 0 if the task is not periodic.
    pub period: u64,
    /// Bytes at [`address::MEMORY`].
    pub memory_size: u64,
    /// Processor that its threads start on.
    pub cpu: u64,
    /// Name, padded with zeros.
    pub name: [u8; 32],
    /// Arguments, padded with zeros.
    pub arguments: [u8; 1024],
    /// The information for a task with a skin; zeros in others.
    pub skin: SkinInfo,
}

const _: () = assert!(size_of::<TaskInfo>() <= 4096);

impl TaskInfo {
    /// The processor of one of the threads of a task with a skin.
    #[inline]
    #[must_use]
    pub fn processor_of(&self, thread: u32) -> u64 {
        if self.skin.has_several() { self.skin.processor_of(self.cpu, thread) } else { self.cpu }
    }
}

/// The task's information. The resource manager provides it before the task's first instruction,
/// like its code.
#[must_use]
pub fn task() -> &'static TaskInfo {
    // SAFETY: the resource manager maps the page before it starts the task, and nothing writes it
    // afterwards; every bit pattern is valid.
    unsafe { &*(address::INFO as *const TaskInfo) }
}

/// The text up to the first zero, and up to the first invalid UTF-8.
#[must_use]
pub fn text(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    match core::str::from_utf8(&bytes[..end]) {
        Ok(text) => text,
        Err(e) => core::str::from_utf8(&bytes[..e.valid_up_to()]).unwrap_or(""),
    }
}
