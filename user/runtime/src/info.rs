//! What a task finds when it starts: addresses, slots and a page of facts that its creator (the resource manager) filled.

use pillion_abi::boot::Range;

/// Addresses in every task made by the resource manager.
pub mod address {
    /// [`super::TaskInfo`], read-only.
    pub const INFO: u64 = 0x10_0000;
    /// Latency histogram, shared with the resource manager.
    pub const HISTOGRAM: u64 = 0x11_0000;
    /// [`super::LinuxInfo`], read-only, in the VM monitor only.
    pub const LINUX_INFO: u64 = 0x12_0000;
    /// State page of the vCPU, in the VM monitor only.
    pub const VCPU_STATE: u64 = 0x13_0000;
    /// Top of the stack; the page below the stack is not mapped.
    pub const STACK_TOP: u64 = 0x3f_0000;
    /// The task's own memory (`memory_kib`), zeroed.
    pub const MEMORY: u64 = 0x1000_0000;
    /// The bundle, read-only, in the VM monitor only.
    pub const BUNDLE: u64 = 0x40_0000_0000;
    /// Guest-physical address 0, in the VM monitor only: Linux's memory is mapped here as far as it is RAM or ACPI tables.
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
    /// First of the task's interrupts, in the order of the system file. Each signals bit `i` of [`NOTIFICATION`].
    pub const INTERRUPTS: u32 = 16;
    /// First of the task's port ranges, in the order of the system file.
    pub const TASK_PORTS: u32 = 32;
    /// Number of slots.
    pub const COUNT: u32 = 64;
}

/// Labels of calls to the resource manager's endpoint.
pub mod label {
    /// Up to 64 bytes for the log in the words; the label's bits 8.. hold their number.
    pub const LOG: u64 = 1;
    /// The system ends; first word 0 when all is well.
    pub const END: u64 = 2;
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
    pub arguments: [u8; 128],
}

/// Most ranges of guest-physical memory.
pub const RANGES: usize = 48;

/// Kinds of guest-physical memory, beside those of [`pillion_abi::boot::range_kind`].
pub mod range_kind {
    /// Absent for Linux: belongs to the real-time side.
    pub const HIDDEN: u64 = 16;
}

/// Facts for the VM monitor.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinuxInfo {
    /// Physical address of the ACPI root pointer.
    pub rsdp: u64,
    /// Physical address of the I/O APIC.
    pub ioapic: u64,
    /// Number of entries in `ranges`.
    pub range_count: u64,
    /// Guest-physical memory, as mapped in the guest space.
    pub ranges: [Range; RANGES],
    /// Offset and size of the kernel in the bundle.
    pub kernel: [u64; 2],
    /// Offset and size of the initial RAM disk in the bundle; size 0 for none.
    pub initrd: [u64; 2],
    /// How often Linux is restarted at most.
    pub restart_limit: u64,
    /// Pause before a restart in ticks.
    pub restart_backoff: u64,
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
    /// Command line, ended by a zero.
    pub command_line: [u8; 1024],
}

const _: () = assert!(size_of::<TaskInfo>() <= 4096 && size_of::<LinuxInfo>() <= 4096);

/// The task's facts. For tasks made by the resource manager.
#[must_use]
pub fn task() -> &'static TaskInfo {
    // SAFETY: the resource manager maps the page before it starts the task, and nobody writes it afterwards; every bit pattern is valid.
    unsafe { &*(address::INFO as *const TaskInfo) }
}

/// The VM monitor's facts. For the VM monitor only.
#[must_use]
pub fn linux() -> &'static LinuxInfo {
    // SAFETY: as in `task`.
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
