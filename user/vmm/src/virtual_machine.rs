//! The machine as Linux sees it: the models, the memory, and the state shared with the kernel.

use pillion_abi::boot::range_kind as boot_kind;
use pillion_runtime::info::{LinuxInfo, RANGES, address, slot, text};
use pillion_runtime::{call, now};
use pillion_vmm_devices::bus::Bus;
use pillion_vmm_devices::cpuid::{Context, hypervisor};
use pillion_vmm_devices::ioapic::IoApics;
use pillion_vmm_devices::notes::Notes;
use pillion_vmm_devices::pci::{Change, Filter, Function, Kept};
use pillion_vmm_devices::power::Power;
use pillion_vmm_devices::{acpi, boot};

use crate::{
    channel::Channels, command_line::CommandLine, firmware, host, linux_log::Exits, linux_vcpu, watchdog::Watchdog,
    window::Window,
};

/// Everything that one run of Linux needs.
pub struct VirtualMachine {
    info: &'static LinuxInfo,
    /// Linux's memory.
    pub memory: Window,
    /// What CPUID answers.
    pub cpuid: Context,
    /// Maps ports, memory and registers to the models.
    pub bus: Bus<'static>,
    /// The ACPI tables that Linux finds.
    tables: Option<acpi::Copy>,
    /// Lines written to the debug port.
    pub notes: Notes,
    /// Counts of exits by reason.
    pub exits: Exits,
    /// Checks whether Linux still lives.
    pub watchdog: Watchdog,
    /// The channels to real-time tasks.
    pub channels: Channels,
}

impl VirtualMachine {
    /// The machine before Linux is loaded for the first time.
    pub fn new(info: &'static LinuxInfo, tsc_hz: u64) -> VirtualMachine {
        let memory = Window::new(info);
        let mut pci = Filter::new();
        for id in info.hidden_devices.iter().take(info.hidden_device_count as usize) {
            let _ = pci.hide(Function::from_id(*id));
        }
        let mut cpuid = Context::from_host(tsc_hz, host::cpuid);
        let [base, size] = info.channel;
        let io_apics = IoApics::new(&info.io_apics, info.hidden_lines, size != 0).letting_through(info.shield_lines);
        cpuid.channels = io_apics.doorbell().map(|gsi| hypervisor::Channels { gsi, base, size });
        let found = firmware::find(&memory, info, &io_apics, &mut pci);
        VirtualMachine {
            info,
            memory,
            cpuid,
            bus: Bus::new(hidden_ports(info), pci, Power::new(found.fadt), io_apics),
            tables: found.tables,
            notes: Notes::new(),
            exits: Exits::default(),
            watchdog: Watchdog::new(tsc_hz),
            channels: Channels::new(info.skin_count, size != 0),
        }
    }

    /// Loads Linux for its `life`th time and sets its initial state.
    pub fn boot(&mut self, life: u64) -> Result<(), boot::Error> {
        let command_line = CommandLine::new(text(&self.info.command_line), life);
        let (ranges, count) = memory_map(self.info);
        // SAFETY: the information is the resource manager's.
        let (image, initrd) = unsafe { (file(self.info.kernel), file(self.info.initrd)) };
        let linux = boot::Linux {
            image,
            initrd,
            command_line: command_line.as_bytes(),
            ranges: &ranges[..count],
            tables: self.tables.as_ref(),
        };
        boot::load(&linux, &mut self.memory, linux_vcpu::state())
    }

    /// Takes Linux's devices and interrupts from it and resets everything.
    pub fn reset(&mut self) {
        host::quiesce(&self.bus.pci);
        linux_vcpu::reset();
        self.bus.reset();
        self.bus.io_apics.routes().for_each(linux_vcpu::route);
        self.notes = Notes::new();
    }

    /// Work before each entry: rearms a periodic timer and sets the monitor's own timer.
    pub fn before_entry(&mut self) {
        let wake = self.bus.rearm(now(), linux_vcpu::state()).unwrap_or(u64::MAX);
        if let Some(at) = self.watchdog.timer(wake) {
            let _ = call::timer_set(slot::TIMER, at);
        }
    }

    /// Writes configuration space for Linux, if the guard allows it.
    pub fn config_write(&self, address: u32, port: u16, width: u8, value: u32) {
        let register = (address & 0xfc) as u8 | (port & 3) as u8;
        let change = Change { function: Function::of(address), register, width, value };
        if self.bus.pci.allows(&mut host::Config, self, change) {
            host::config_write(address, port, width, value);
        }
    }
}

/// What Linux must not move its devices over.
impl Kept for VirtualMachine {
    fn memory(&self, base: u64, size: u64) -> bool {
        let end = base.saturating_add(size);
        let ranges = self.info.ranges.iter().take(self.info.range_count as usize);
        ranges.filter(|r| r.kind != boot_kind::DEVICE).any(|r| r.base < end && base < r.base.saturating_add(r.size))
    }

    fn ports(&self, first: u32, count: u32) -> bool {
        self.bus.taken_ports().any(|(from, many)| from < first + count && first < from + many)
    }
}

/// Ports of the tasks and the kernel, as first port and count.
fn hidden_ports(info: &LinuxInfo) -> &[[u32; 2]] {
    info.hidden_ports.get(..info.hidden_port_count as usize).unwrap_or(&info.hidden_ports)
}

/// Linux's memory map: the firmware's, less what is not Linux's. Holes are left out.
fn memory_map(info: &LinuxInfo) -> ([boot::Range; RANGES], usize) {
    let mut map = [boot::Range { base: 0, size: 0, kind: boot::Kind::Reserved }; RANGES];
    let mut count = 0;
    for from in info.ranges.iter().take(info.range_count as usize) {
        let kind = match from.kind {
            boot_kind::RAM => boot::Kind::Ram,
            boot_kind::ACPI => boot::Kind::Acpi,
            boot_kind::HOLE => continue,
            _ => boot::Kind::Reserved,
        };
        map[count] = boot::Range { base: from.base, size: from.size, kind };
        count += 1;
    }
    (map, count)
}

/// A file in the bundle.
///
/// # Safety
/// The resource manager found the file there.
unsafe fn file([offset, size]: [u64; 2]) -> &'static [u8] {
    // SAFETY: the caller vouches for the place; the bundle is mapped in full and never written.
    unsafe { core::slice::from_raw_parts((address::BUNDLE + offset) as *const u8, size as usize) }
}
