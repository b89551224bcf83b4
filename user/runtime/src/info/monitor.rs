//! What Linux's monitor finds beside what every task finds.

use super::address;
use pillion_abi::PAGE;
use pillion_abi::boot::{IO_APICS, IoApic, Range, Screen};

/// Slots that only the monitor has.
pub mod slot {
    /// Authority over interrupt lines.
    pub const IRQ_CONTROL: u32 = 5;
    /// All I/O ports that tasks do not have.
    pub const PORTS: u32 = 6;
    /// For each of Linux's processors, its vCPU.
    pub const VCPUS: u32 = 16;
    /// Likewise, the notification bound to the thread that runs it; signalling sets
    /// [`super::monitor_bit::LOOK`]. Thread and timer of the first one
    /// are in [`super::super::slot`] instead.
    pub const NOTIFICATIONS: u32 = VCPUS + super::PROCESSORS as u32;
    /// Likewise, that thread.
    pub const THREADS: u32 = NOTIFICATIONS + super::PROCESSORS as u32;
    /// Likewise, its timer.
    pub const TIMERS: u32 = THREADS + super::PROCESSORS as u32;
    /// First of the notifications of the main threads of tasks with a skin, by task index;
    /// signalling sets [`super::wake::KICK`].
    pub const KICKS: u32 = 64;
}

/// Bits of the notification bound to Linux's monitor.
pub mod monitor_bit {
    /// A task, or the resource manager, has something for Linux.
    pub const DOORBELL: u64 = 1 << 32;
    /// From the resource manager: start a Linux that is off.
    pub const START: u64 = 1 << 33;
    /// From another thread of the monitor: look what has changed.
    pub const LOOK: u64 = 1 << 34;
}

/// What follows for a Linux that is gone.
pub mod gone {
    /// It restarts.
    pub const RESTARTS: u64 = 0;
    /// It switched itself off, and stays off until something starts it.
    pub const OFF: u64 = 1;
    /// It was given up, and stays off until something starts it.
    pub const GIVEN_UP: u64 = 2;
    /// It is dead, but nothing has touched its memory yet. Answer: 1 as long as its threads in
    /// primary mode should run on, else 0. The monitor asks again.
    pub const DEAD: u64 = 3;
}

/// What follows an end of Linux.
pub mod then {
    /// It restarts.
    pub const RESTART: u64 = 0;
    /// It stays off.
    pub const OFF: u64 = 1;
    /// The system ends.
    pub const END: u64 = 2;
}

/// Most processors.
pub const PROCESSORS: usize = 8;

/// Top of the stack of the thread that runs one of Linux's processors. The page below each stack is
/// not mapped.
#[must_use]
pub const fn stack_top(processor: usize) -> u64 {
    const APART: u64 = 0x2_0000;
    address::STACK_TOP - processor as u64 * APART
}

/// Slot of the timer of the thread that runs a processor.
#[must_use]
pub const fn timer(processor: usize) -> u32 {
    if processor == 0 { super::slot::TIMER } else { slot::TIMERS + processor as u32 }
}

/// State page of a processor's vCPU.
#[must_use]
pub const fn vcpu_state(processor: usize) -> u64 {
    address::VCPU_STATE + processor as u64 * PAGE
}

/// Most ranges of guest-physical memory.
pub const RANGES: usize = 96;

/// Kinds of guest-physical memory, beside those of [`pillion_abi::boot::range_kind`].
pub mod range_kind {
    /// Absent for Linux, because it belongs to the real-time side.
    pub const HIDDEN: u64 = 16;
}

/// The information for the VM monitor.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinuxInfo {
    /// The bytes of the ACPI root pointer, as in [`pillion_abi::boot::BootInfo`].
    pub root_pointer: [u8; 40],
    /// The screen as the boot loader left it, as in [`pillion_abi::boot::BootInfo`].
    pub screen: Screen,
    /// The I/O APICs.
    pub io_apics: [IoApic; IO_APICS],
    /// Number of entries in `ranges`.
    pub range_count: u64,
    /// Guest-physical memory: what is mapped in the guest space, except holes, and what is not
    /// Linux's.
    pub ranges: [Range; RANGES],
    /// Offset of the kernel from [`address::BUNDLE`], and its size.
    pub kernel: [u64; 2],
    /// Those of the initial RAM disk; size 0 for none.
    pub initrd: [u64; 2],
    /// Most restarts of Linux.
    pub restart_limit: u64,
    /// Pause before a restart in ticks.
    pub restart_backoff: u64,
    /// What follows after it switches itself off, after it ends otherwise, and after the last
    /// restart that it may have: [`then`].
    pub after: [u64; 3],
    /// Lines that belong to the real-time side: bit `i` for line `i`.
    pub hidden_lines: u64,
    /// Lines that a shield ([`pillion_abi::dual::URGENCY`]) lets through, likewise.
    pub shield_lines: u64,
    /// Number of entries in `hidden_devices`.
    pub hidden_device_count: u64,
    /// PCI functions that belong to the real-time side (`bus << 8 | device << 3 | function`).
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
    /// Number of entries in `processors`, 1 at least.
    pub processor_count: u64,
    /// Linux's processors, the one that starts it first: the IDs of their local APICs.
    pub processors: [u32; PROCESSORS],
    /// Command line, terminated by a zero.
    pub command_line: [u8; 1984],
}

impl LinuxInfo {
    /// The IDs of the local APICs of Linux's processors.
    #[must_use]
    pub fn processors(&self) -> &[u32] {
        self.processors.get(..self.processor_count as usize).unwrap_or(&self.processors)
    }
}

const _: () = assert!(size_of::<LinuxInfo>() <= 2 * 4096);

/// The VM monitor's information.
///
/// # Safety
/// The task is the VM monitor.
#[must_use]
pub unsafe fn linux() -> &'static LinuxInfo {
    // SAFETY: the resource manager maps the page in the monitor, as in `task`.
    unsafe { &*(address::LINUX_INFO as *const LinuxInfo) }
}
