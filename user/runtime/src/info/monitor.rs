//! What Linux's monitor finds beside what every task finds.

use super::address;
use pillion_abi::boot::{IO_APICS, IoApic, Range};

/// Slots that only the monitor has.
pub mod slot {
    /// The vCPU.
    pub const VCPU: u32 = 4;
    /// Authority over interrupt lines.
    pub const IRQ_CONTROL: u32 = 5;
    /// All I/O ports that tasks do not have.
    pub const PORTS: u32 = 6;
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
    /// The I/O APICs.
    pub io_apics: [IoApic; IO_APICS],
    /// Number of entries in `ranges`.
    pub range_count: u64,
    /// Guest-physical memory: what is mapped in the guest space, except holes, and what is not
    /// Linux's.
    pub ranges: [Range; RANGES],
    /// Offset and size of the kernel in the bundle.
    pub kernel: [u64; 2],
    /// Offset and size of the initial RAM disk in the bundle; size 0 for none.
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
    /// Command line, terminated by a zero.
    pub command_line: [u8; 1024],
}

const _: () = assert!(size_of::<LinuxInfo>() <= 4096);

/// The VM monitor's information.
///
/// # Safety
/// The task is the VM monitor.
#[must_use]
pub unsafe fn linux() -> &'static LinuxInfo {
    // SAFETY: the resource manager maps the page in the monitor, as in `task`.
    unsafe { &*(address::LINUX_INFO as *const LinuxInfo) }
}
