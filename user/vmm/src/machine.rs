//! The machine as Linux sees it: the models, the memory, and the state that is shared with the kernel.

use pillion_abi::{boot::range_kind as boot_kind, vcpu::State};
use pillion_runtime::{
    call,
    info::{LinuxInfo, RANGES, address, slot, text},
    now,
};
use pillion_vmm_devices::{
    acpi,
    apic::{Effect, LocalApic, Shared},
    boot,
    cpuid::{Context, hypervisor},
    ioapic::IoApics,
    msr::Msrs,
    notes::Notes,
    pci::{Filter, Function},
    port::Ports,
    power::Power,
};

use crate::{
    channel::Channels, command_line::CommandLine, firmware, lifecycle::End, memory::Window, ports, report::Exits,
    watchdog::Watchdog,
};

/// Everything that one run of Linux needs.
pub struct Machine {
    info: &'static LinuxInfo,
    /// Linux's memory.
    pub memory: Window,
    /// What CPUID answers.
    pub cpuid: Context,
    /// Model-specific registers.
    pub msrs: Msrs,
    /// Local APIC.
    pub apic: LocalApic,
    /// I/O APICs.
    pub io_apics: IoApics,
    /// PCI configuration.
    pub pci: Filter,
    /// Reset and power-off.
    pub power: Power,
    /// The ACPI tables that Linux finds.
    pub tables: Option<acpi::Copy>,
    /// Lines written to the debug port.
    pub notes: Notes,
    /// Counts of exits by reason.
    pub exits: Exits,
    /// Looks whether Linux still lives.
    pub watchdog: Watchdog,
    /// Channels to real-time tasks.
    pub channels: Channels,
}

/// The state page.
pub fn state() -> &'static State {
    // SAFETY: the page is mapped for this, for good, and holds cells of integers, which the kernel writes only while this thread is in `vcpu_run`, and
    // atomics, which it writes whenever the guest's timer fires.
    unsafe { &*(address::VCPU_STATE as *const State) }
}

impl Machine {
    /// The machine before Linux is first loaded.
    pub fn new(info: &'static LinuxInfo, tsc_hz: u64) -> Machine {
        let memory = Window::new(info);
        let mut pci = Filter::new();
        for id in info.hidden_devices.iter().take(info.hidden_device_count as usize) {
            let _ = pci.hide(Function::from_id(*id));
        }
        let mut cpuid = Context::from_host(tsc_hz, crate::exits::host_cpuid);
        let [base, size] = info.channel;
        let io_apics = IoApics::new(&info.io_apics, info.hidden_lines, size != 0);
        cpuid.channels = io_apics.doorbell().map(|gsi| hypervisor::Channels { gsi, base, size });
        let found = firmware::find(&memory, info, &io_apics, &mut pci);
        Machine {
            info,
            memory,
            cpuid,
            msrs: Msrs::default(),
            apic: LocalApic::new(),
            io_apics,
            pci,
            power: Power::new(found.fadt),
            tables: found.tables,
            notes: Notes::new(),
            exits: Exits::default(),
            watchdog: Watchdog::new(tsc_hz),
            channels: Channels::new(info.skin_count, size != 0),
        }
    }

    /// Facts from the resource manager.
    pub fn info(&self) -> &'static LinuxInfo {
        self.info
    }

    /// First ports and numbers of what tasks and the kernel have.
    pub fn hidden_ports(&self) -> &'static [[u32; 2]] {
        self.info.hidden_ports.get(..self.info.hidden_port_count as usize).unwrap_or(&self.info.hidden_ports)
    }

    /// Who answers at a port.
    pub fn ports(&mut self) -> Ports<'_> {
        Ports { hidden: self.hidden_ports(), pci: &mut self.pci, power: &mut self.power }
    }

    /// Loads Linux for its `life`th time and sets the state that it begins in.
    pub fn boot(&mut self, life: u64) -> Result<(), boot::Error> {
        let command_line = CommandLine::new(text(&self.info.command_line), life);
        let (ranges, count) = memory_map(self.info);
        let linux = boot::Linux {
            image: file(self.info.kernel),
            initrd: file(self.info.initrd),
            command_line: command_line.as_bytes(),
            ranges: &ranges[..count],
            tables: self.tables.as_ref(),
        };
        boot::load(&linux, &mut self.memory, state())
    }

    /// Takes Linux's devices and interrupts from it and makes everything as new.
    pub fn reset(&mut self) {
        ports::quiesce(&self.pci);
        let _ = call::vcpu_reset(slot::VCPU);
        self.io_apics.reset();
        crate::lines::hand_all(self);
        self.apic = LocalApic::new();
        self.msrs = Msrs::default();
        self.notes = Notes::new();
    }

    /// Work before each entry: a periodic timer is armed again, and the monitor's own timer set.
    pub fn before_entry(&mut self) {
        let state = state();
        let before = self.shared();
        let mut shared = before;
        let effect = self.apic.rearm(now(), &mut shared);
        shared.store(&before, state);
        self.carry_out(effect);
        let wake = self.apic.next_wake().unwrap_or(u64::MAX);
        if let Some(at) = self.watchdog.timer(wake) {
            let _ = call::timer_set(slot::TIMER, at);
        }
    }

    /// What the local APIC's model and the kernel both look at.
    pub fn shared(&self) -> Shared {
        Shared::of(state(), self.io_apics.level_vectors())
    }

    /// Does what the local APIC's model asks for.
    pub fn carry_out(&mut self, effect: Effect) {
        let _ = match effect {
            Effect::Interrupt(vector) => call::vcpu_inject(slot::VCPU, vector),
            Effect::EndOfInterrupt => call::vcpu_end_of_interrupt(slot::VCPU),
            // Linux sends itself an NMI only to look at a CPU that hangs; then the watchdog does its work.
            Effect::None | Effect::Shared | Effect::Nmi => return,
        };
    }

    /// Whether Linux has stopped taking interrupts.
    pub fn hung(&mut self) -> Option<End> {
        self.watchdog.hung(state()).then_some(End::Hung)
    }
}

/// Linux's memory map: as the firmware's, less what is not Linux's. It says nothing of holes.
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

/// A file of the bundle.
fn file([offset, size]: [u64; 2]) -> &'static [u8] {
    // SAFETY: the resource manager found the file in the bundle, which is mapped whole and never written.
    unsafe { core::slice::from_raw_parts((address::BUNDLE + offset) as *const u8, size as usize) }
}
