//! The machine as Linux sees it, which its processors share: the models, the memory, the channels.

use pillion_abi::boot::{Screen, range_kind as boot_kind};
use pillion_abi::vcpu::State;
use pillion_runtime::info::{LinuxInfo, RANGES, address, monitor::PROCESSORS, text};
use pillion_vmm_devices::answer::Route;
use pillion_vmm_devices::apic::Message;
use pillion_vmm_devices::bus::Bus;
use pillion_vmm_devices::cpuid::hypervisor;
use pillion_vmm_devices::ioapic::{IoApics, LINES};
use pillion_vmm_devices::notes::Notes;
use pillion_vmm_devices::pci::{Change, Filter, Function, Kept};
use pillion_vmm_devices::power::Power;
use pillion_vmm_devices::processors::Set;
use pillion_vmm_devices::{acpi, boot};

use crate::{
    channel::Channels, command_line::CommandLine, end::End, firmware, host, linux_log::Exits, linux_vcpu,
    linux_vcpu::Vcpu, window::Window,
};

/// What Linux's processors share.
pub struct VirtualMachine {
    /// What the resource manager says.
    pub info: &'static LinuxInfo,
    /// Linux's memory.
    pub memory: Window,
    /// Where the channels to real-time tasks are.
    pub window: Option<hypervisor::Channels>,
    /// Maps ports, memory and registers to the models.
    pub bus: Bus<'static>,
    /// The ACPI tables that Linux finds.
    tables: Option<acpi::Copy>,
    /// Lines written to the debug port.
    pub notes: Notes,
    /// Counts of exits by reason.
    pub exits: Exits,
    /// The channels to real-time tasks.
    pub channels: Channels,
    /// How Linux ended, from then until it is loaded again.
    pub ended: Option<End>,
    /// The processors that execute instructions.
    running: Set,
    /// The processor that each line is routed to.
    routed: [usize; LINES],
}

const _: () = assert!(PROCESSORS == pillion_vmm_devices::processors::MOST);

impl VirtualMachine {
    /// The machine before Linux is loaded for the first time.
    pub fn new(info: &'static LinuxInfo) -> VirtualMachine {
        let memory = Window::new(info);
        let mut pci = Filter::new();
        for id in info.hidden_devices.iter().take(info.hidden_device_count as usize) {
            let _ = pci.hide(Function::from_id(*id));
        }
        let [base, size] = info.channel;
        let io_apics = IoApics::new(&info.io_apics, info.hidden_lines, size != 0).letting_through(info.shield_lines);
        let window = io_apics.doorbell().map(|gsi| hypervisor::Channels { gsi, base, size });
        let found = firmware::find(&memory, info, &io_apics, &mut pci);
        VirtualMachine {
            info,
            memory,
            window,
            bus: Bus::new(hidden_ports(info), pci, Power::new(found.fadt), io_apics, info.processors()),
            tables: found.tables,
            notes: Notes::new(),
            exits: Exits::default(),
            channels: Channels::new(info.skin_count, size != 0),
            ended: None,
            running: 0,
            routed: [0; LINES],
        }
    }

    /// Loads Linux for its `life`th time and sets the initial state of its first processor.
    pub fn load(&mut self, life: u64, state: &State) -> Result<(), boot::Error> {
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
            screen: self.screen(),
        };
        boot::load(&linux, &mut self.memory, state)?;
        self.ended = None;
        Ok(())
    }

    /// The screen, unless it belongs to a task's device.
    fn screen(&self) -> Screen {
        let screen = self.info.screen;
        if self.memory(screen.base, screen.size()) { Screen::default() } else { screen }
    }

    /// A processor begins to execute instructions.
    pub fn enter(&mut self, index: usize) {
        self.running |= 1 << index;
    }

    /// A processor executes no more instructions.
    pub fn leave(&mut self, vcpu: &Vcpu) {
        self.running &= !(1 << vcpu.index());
        self.exits.keep(vcpu);
        if self.ended.is_some() && self.running == 0 && vcpu.index() != 0 {
            linux_vcpu::alert(0);
        }
    }

    /// Whether a processor executes instructions.
    pub fn is_running(&self) -> bool {
        self.running != 0
    }

    /// Linux ended, as a processor found: the others have to leave it.
    pub fn end(&mut self, by: usize, end: End) {
        self.ended = Some(end);
        self.alert(self.running & !(1 << by));
    }

    fn alert(&self, all: Set) {
        (0..PROCESSORS).filter(|index| all >> index & 1 != 0).for_each(linux_vcpu::alert);
    }

    /// Delivers a message, from a processor's local APIC or while it handles an exit.
    pub fn send(&mut self, vcpu: &Vcpu, message: Message) {
        let (processors, own) = (&mut self.bus.processors, vcpu.index());
        let reached = processors.send(own, message);
        if reached >> own & 1 != 0 {
            vcpu.interrupt(processors.take_interrupts(own));
        }
        self.alert(reached & !(1 << own));
    }

    /// Passes a route to the kernel: the line is masked where it was routed to before.
    pub fn route(&mut self, route: Route) {
        let to = self.bus.processors.target(route.to);
        if let Some(at) = self.routed.get_mut(usize::from(route.line))
            && *at != to
        {
            linux_vcpu::route(*at, Route { masked: true, ..route });
            *at = to;
        }
        linux_vcpu::route(to, route);
    }

    /// Takes Linux's devices and interrupts from it and resets everything. No processor runs.
    pub fn reset(&mut self) {
        host::quiesce(&self.bus.pci);
        (0..self.info.processors().len()).for_each(linux_vcpu::reset);
        self.bus.reset();
        for route in self.bus.io_apics.routes() {
            linux_vcpu::route(self.routed.get(usize::from(route.line)).copied().unwrap_or(0), route);
        }
        self.notes = Notes::new();
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

/// A file that the boot loader loaded.
///
/// # Safety
/// The resource manager found the file there.
unsafe fn file([offset, size]: [u64; 2]) -> &'static [u8] {
    // SAFETY: the caller vouches for the place; what was loaded is mapped and never written.
    unsafe { core::slice::from_raw_parts((address::BUNDLE + offset) as *const u8, size as usize) }
}
