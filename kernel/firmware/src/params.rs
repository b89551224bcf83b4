//! What the boot loader handed over, whichever it was.

use pillion_abi::boot::{
    MODULE_NAME, MODULE_WORDS, MODULES, Module, PROCESSORS, PowerOff, Processor, REGIONS, Range, Screen,
    processor_state, range_kind,
};

use crate::acpi::{IO_APICS, REGISTERS, Tables};
use crate::bytes::until_zero;
use crate::ranges::{CAPACITY, Ranges};
use crate::{ALWAYS_MAPPED, PHYSICAL_LIMIT};

/// Kinds of memory in the firmware's numbering.
mod firmware_kind {
    pub const RAM: u32 = 1;
    pub const ACPI: u32 = 3;
    pub const ACPI_NVS: u32 = 4;
}

/// Maximum number of entries of the firmware's memory map that are read.
const FIRMWARE_ENTRIES: usize = 512;

// Each entry adds two ranges at most; so do bundle and modules, and the three pieces that the
// kernel keeps.
const _: () = assert!(2 * (FIRMWARE_ENTRIES + IO_APICS + REGISTERS + CUSTOMARY.len() + MODULES) + 16 <= CAPACITY);

const PAGE: u64 = pillion_abi::PAGE;

/// The local APIC and the addresses of interrupt messages, where a write is an interrupt of any
/// vector and kind; the HPET, whose timers write anywhere; the ICH's chipset registers; the first
/// page of AMD's: SMI, power management, watchdog, board control; the last 12 GiB of
/// HyperTransport's first TiB, where a write is an interrupt, a system management message or a
/// change of the processor's own pins.
const CUSTOMARY: [(u64, u64); 5] = [
    (0xfee0_0000, 1 << 20),
    (0xfed0_0000, 4 * PAGE),
    (0xfed1_c000, 4 * PAGE),
    (0xfed8_0000, PAGE),
    (0xfd_0000_0000, 12 << 30),
];

const NO_SCREEN: Screen = Screen { base: 0, pitch: 0, width: 0, height: 0, kind: 0, bits: 0, colours: [[0; 2]; 4] };

/// Maximum number of bytes of the command line that are kept.
const COMMAND_LINE: usize = 255;

#[derive(Clone, Copy)]
struct FirmwareRange {
    base: u64,
    size: u64,
    kind: u32,
}

/// What the boot loader handed over.
pub struct BootParams {
    firmware: [FirmwareRange; FIRMWARE_ENTRIES],
    firmware_count: usize,
    /// Entries of the firmware's map that there was no room for.
    unread: usize,
    ranges: Ranges,
    /// The first module, to the byte; size 0 without one.
    pub bundle: Range,
    /// The others, those that there are first.
    pub modules: [Module; MODULES],
    /// Modules after the first that there was no place for, or that have no name.
    pub ignored_modules: usize,
    module_words: [u8; MODULE_WORDS],
    /// Physical address of the ACPI root pointer, or 0.
    pub rsdp: u64,
    /// The screen; zeros without one.
    pub screen: Screen,
    /// How to switch the machine off, once the tables are read.
    pub power_off: PowerOff,
    /// The processors, once they were started.
    pub processors: [Processor; PROCESSORS],
    command_line: [u8; COMMAND_LINE],
    command_line_length: usize,
}

impl Default for BootParams {
    fn default() -> BootParams {
        BootParams::new()
    }
}

impl BootParams {
    /// Parameters before anything is known.
    #[must_use]
    pub const fn new() -> BootParams {
        BootParams {
            firmware: [FirmwareRange { base: 0, size: 0, kind: 0 }; FIRMWARE_ENTRIES],
            firmware_count: 0,
            unread: 0,
            ranges: Ranges::new(),
            bundle: Range { base: 0, size: 0, kind: range_kind::BUNDLE },
            modules: [Module { range: Range { base: 0, size: 0, kind: 0 }, name: [0; MODULE_NAME] }; MODULES],
            ignored_modules: 0,
            module_words: [0; MODULE_WORDS],
            rsdp: 0,
            screen: NO_SCREEN,
            power_off: PowerOff { ports: [0; 2], types: [0; 2] },
            processors: [Processor { apic_id: 0, state: processor_state::NONE, number: 0 }; PROCESSORS],
            command_line: [0; COMMAND_LINE],
            command_line_length: 0,
        }
    }

    /// Physical memory: sorted, page-aligned, without overlaps, at most [`REGIONS`] ranges.
    /// Addresses that nobody claims and at which devices may answer are `HOLE`.
    #[must_use]
    pub fn memory(&self) -> &[Range] {
        self.ranges.as_slice()
    }

    /// The kernel's command line.
    #[must_use]
    pub fn command_line(&self) -> &[u8] {
        self.command_line.get(..self.command_line_length).unwrap_or(&[])
    }

    /// Notes an entry of the firmware's memory map. One that continues the entry before it is
    /// joined to it: a UEFI's map has hundreds, most of them neighbours that are the same here.
    pub fn add_range(&mut self, base: u64, size: u64, kind: u32) {
        let last = self.firmware_count.checked_sub(1).and_then(|last| self.firmware.get_mut(last));
        if let Some(last) = last
            && last.kind == kind
            && last.base.checked_add(last.size) == Some(base)
            && let Some(joined) = last.size.checked_add(size)
        {
            last.size = joined;
        } else if let Some(free) = self.firmware.get_mut(self.firmware_count) {
            *free = FirmwareRange { base, size, kind };
            self.firmware_count += 1;
        } else {
            self.unread = self.unread.saturating_add(1);
        }
    }

    /// Notes a module with the text that the boot loader has for it, up to its first zero. The
    /// first is the bundle; the name of another is the first word, and what follows is for Linux.
    pub fn add_module(&mut self, base: u64, size: u64, text: &[u8]) {
        let in_reach = base.checked_add(size).is_some_and(|end| end <= PHYSICAL_LIMIT);
        let range = Range { base, size, kind: range_kind::BUNDLE };
        if self.bundle.size == 0 && in_reach {
            self.bundle = range;
            return;
        }
        let text = until_zero(text).trim_ascii();
        let (name, words) = text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()));
        let free = self.modules.iter_mut().find(|module| module.range.size == 0);
        match free.filter(|_| in_reach && size != 0 && !name.is_empty() && name.len() < MODULE_NAME) {
            Some(free) => {
                free.range = range;
                free.name.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
                self.add_words(words.trim_ascii());
            }
            None => self.ignored_modules = self.ignored_modules.saturating_add(1),
        }
    }

    /// Notes more words for Linux. One that does not fit with its end would mean something else,
    /// and would not be missed: so the place for them is filled, which nobody takes for their end.
    fn add_words(&mut self, words: &[u8]) {
        let used = until_zero(&self.module_words).len();
        let space: &[u8] = if used == 0 || words.is_empty() { b"" } else { b" " };
        let free = self.module_words.iter_mut().skip(used);
        free.zip(space.iter().chain(words)).for_each(|(to, from)| *to = *from);
    }

    /// What follows the modules' names. Without a zero at the end, there was more.
    #[must_use]
    pub fn module_words(&self) -> &[u8; MODULE_WORDS] {
        &self.module_words
    }

    /// Notes the command line, up to its first zero.
    pub fn set_command_line(&mut self, text: &[u8]) {
        let text = until_zero(text);
        self.command_line_length = text.len().min(COMMAND_LINE);
        for (to, from) in self.command_line.iter_mut().zip(text) {
            *to = *from;
        }
    }

    /// Draws the memory map from what was noted; the kernel's image is from `start` to `end`,
    /// devices may answer below `reach`.
    pub fn draw_map(&mut self, start: u64, end: u64, reach: u64) {
        // If not all of the firmware's map was read, what looks like a hole may be memory. Below
        // 4 GiB it is a hole all the same, since devices cannot do without.
        let reach = if self.unread == 0 { reach.min(PHYSICAL_LIMIT) } else { 0 };
        self.ranges.paint_outside(0, reach.max(ALWAYS_MAPPED), range_kind::HOLE);
        self.paint_firmware(|kind| (kind == firmware_kind::RAM).then_some(range_kind::RAM));
        let acpi = |kind| kind == firmware_kind::ACPI || kind == firmware_kind::ACPI_NVS;
        self.paint_firmware(|kind| (kind != firmware_kind::RAM && !acpi(kind)).then_some(range_kind::DEVICE));
        self.paint_firmware(|kind| acpi(kind).then_some(range_kind::ACPI));
        for Range { base, size, .. } in self.modules.iter().map(|module| module.range).chain([self.bundle]) {
            self.ranges.paint_outside(base, base.saturating_add(size), range_kind::BUNDLE);
        }
        self.keep(start, end);
    }

    fn paint_firmware(&mut self, choose: impl Fn(u32) -> Option<u64>) {
        for range in self.firmware.iter().take(self.firmware_count) {
            let base = range.base.min(PHYSICAL_LIMIT);
            let end = range.base.saturating_add(range.size).min(PHYSICAL_LIMIT);
            match choose(range.kind) {
                Some(range_kind::RAM) => self.ranges.paint_inside(base, end, range_kind::RAM),
                Some(kind) if base < end => self.ranges.paint_outside(base, end, kind),
                _ => {}
            }
        }
    }

    /// Reserves memory for the kernel.
    pub fn keep(&mut self, base: u64, end: u64) {
        self.ranges.paint_outside(base, end, range_kind::KERNEL);
    }

    /// Notes what the tables say: how to switch the machine off, and the registers that nobody may
    /// have, which are withheld together with those that have the same place on every PC.
    pub fn withhold(&mut self, tables: &Tables) {
        self.power_off = tables.power_off;
        let io_apics = tables.io_apics.as_slice().iter().map(|found| (u64::from(found.address), PAGE));
        let named = tables.registers.as_slice().iter().map(|range| (range.base, range.size));
        for (base, size) in io_apics.chain(named).chain(CUSTOMARY) {
            let end = base.saturating_add(size).min(PHYSICAL_LIMIT);
            self.ranges.paint_devices(base.min(end), end, range_kind::WITHHELD);
        }
    }

    /// Finds free RAM, from an address on and below 4 GiB.
    #[must_use]
    pub fn find_ram(&self, size: u64, from: u64) -> Option<u64> {
        self.ranges.find_ram(size, from, ALWAYS_MAPPED)
    }

    /// Finds a free page of RAM below an address.
    #[must_use]
    pub fn find_ram_below(&self, end: u64) -> Option<u64> {
        // The first page is left alone: zero is an address like no other.
        self.ranges.find_ram(PAGE, PAGE, end)
    }

    /// Number of entries of the firmware's map that there was no room for: nobody gets what they
    /// name.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Reduces the map to the number of ranges that the binary interface has room for. Returns how
    /// many ranges were forgotten, and their bytes: nobody gets them. Forgotten memory is no memory
    /// to [`cached`](crate::ranges::cached) any more. A screen that is not wholly where devices
    /// answer is forgotten too.
    pub fn finish(&mut self) -> (usize, u64) {
        let forgotten = self.ranges.limit(REGIONS);
        if !self.is_at_devices(self.screen.base, self.screen.size()) {
            self.screen = NO_SCREEN;
        }
        forgotten
    }

    fn is_at_devices(&self, base: u64, size: u64) -> bool {
        let end = base.saturating_add(size);
        let device = |r: &&Range| matches!(r.kind, range_kind::DEVICE | range_kind::HOLE);
        let inside = |r: &Range| end.min(r.base + r.size).saturating_sub(base.max(r.base));
        self.memory().iter().filter(device).map(inside).sum::<u64>() == size
    }
}
