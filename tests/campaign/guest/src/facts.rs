//! What the guest determines before its first step: its orders, the memory map, where devices are.

use core::cell::UnsafeCell;

use pillion_abi::{PAGE, channel::cpuid::LEAF};

use crate::{port, processor};

const RANGES: usize = 32;
const DEVICES: usize = 32;
const LINE: usize = 1024;

/// Register of 00:00.0 that holds the address of the memory-mapped configuration window.
const WINDOW_REGISTER: u16 = 0x60;
const CONFIG_ADDRESS: u16 = 0xcf8;
const CONFIG_DATA: u16 = 0xcfc;

/// Number of buses that are searched for functions.
pub const BUSES: u8 = 4;

/// The base address of a PCI function.
#[derive(Clone, Copy)]
pub enum Device {
    Port(u16),
    Memory(u64),
}

/// What is known, as plain integers only, so that it can be read whatever a step has overwritten.
#[derive(Clone, Copy)]
pub struct Facts {
    /// Number of this life, from 1.
    pub life: u32,
    /// Memory that is not RAM: base and size.
    ranges: [(u64, u64); RANGES],
    range_count: usize,
    /// Base address registers of PCI functions.
    devices: [u32; DEVICES],
    device_count: usize,
    /// Memory-mapped configuration.
    pub config: u64,
    /// Window of channels: base and size.
    pub window: (u64, u64),
    line: [u8; LINE],
    line_length: usize,
}

struct Cell(UnsafeCell<Facts>);
// SAFETY: there is one processor; `find` writes before anything reads.
unsafe impl Sync for Cell {}

static FACTS: Cell = Cell(UnsafeCell::new(Facts {
    life: 1,
    ranges: [(0, 0); RANGES],
    range_count: 0,
    devices: [0; DEVICES],
    device_count: 0,
    config: 0,
    window: (0, 0),
    line: [0; LINE],
    line_length: 0,
}));

impl Facts {
    /// The facts as they are now. A copy, since a step may write anywhere, even here.
    pub fn get() -> Facts {
        // SAFETY: they are integers, for which every value is valid; the read is volatile, and
        // nothing refers to them while a step writes.
        unsafe { FACTS.0.get().read_volatile() }
    }

    pub fn command_line(&self) -> &str {
        self.line.get(..self.line_length).and_then(|line| core::str::from_utf8(line).ok()).unwrap_or("")
    }

    /// A range that is not RAM.
    pub fn range(&self, number: u8) -> Option<(u64, u64)> {
        let count = self.range_count.min(RANGES);
        (count > 0).then(|| self.ranges[usize::from(number) % count])
    }

    /// A base address.
    pub fn device(&self, number: u8) -> Option<Device> {
        let count = self.device_count.min(DEVICES);
        let base = *self.devices.get(usize::from(number).checked_rem(count)?)?;
        Some(if base & 1 == 0 { Device::Memory((base & !0xf).into()) } else { Device::Port((base & 0xfffc) as u16) })
    }
}

/// Collects the facts.
pub fn find(parameters: u64) {
    // SAFETY: called once, before the first step.
    let facts = unsafe { &mut *FACTS.0.get() };
    read_parameters(facts, parameters);
    let life = facts.command_line().rsplit("ride.boot=").next().and_then(|text| text.trim().parse().ok());
    facts.life = life.unwrap_or(1);
    facts.config = u64::from(config_read(0, 0, 0, WINDOW_REGISTER, 4) & 0xf000_0000);
    let [_, _, base, size] = processor::identify(LEAF, 0);
    facts.window = (u64::from(base) * PAGE, u64::from(size) * PAGE);
    find_devices(facts);
}

/// The zero page: the memory map and the command line (Linux `zero-page.rst`).
fn read_parameters(facts: &mut Facts, parameters: u64) {
    const COUNT: u64 = 0x1e8;
    const LINE_POINTER: u64 = 0x228;
    const TABLE: u64 = 0x2d0;
    const RAM: u32 = 1;
    // SAFETY: the loader put the page there, and the command line at the address in the page.
    unsafe {
        for at in 0..u64::from(*((parameters + COUNT) as *const u8)) {
            let entry = parameters + TABLE + at * 20;
            let [base, size] = [entry, entry + 8].map(|at| (at as *const u64).read_unaligned());
            let kind = ((entry + 16) as *const u32).read_unaligned();
            if kind != RAM && size != 0 && facts.range_count < RANGES {
                facts.ranges[facts.range_count] = (base, size);
                facts.range_count += 1;
            }
        }
        let line = u64::from(((parameters + LINE_POINTER) as *const u32).read_unaligned());
        while facts.line_length < LINE {
            let byte = *((line + facts.line_length as u64) as *const u8);
            if byte == 0 {
                break;
            }
            facts.line[facts.line_length] = byte;
            facts.line_length += 1;
        }
    }
}

/// Collects the base addresses of all functions. Takes bus mastering from all of them: the
/// documents promise nothing about what devices write by themselves.
fn find_devices(facts: &mut Facts) {
    for bus in 0..BUSES {
        for place in 0..=255 {
            let (device, function) = (place >> 3, place & 7);
            if config_read(bus, device, function, 0, 4) == u32::MAX {
                continue;
            }
            let command = config_read(bus, device, function, 4, 2) & !4;
            config_write(bus, device, function, 4, 2, command | 3);
            find_bases(facts, bus, device, function);
        }
    }
}

fn find_bases(facts: &mut Facts, bus: u8, device: u8, function: u8) {
    const BRIDGE: u32 = 1;
    let is_bridge = config_read(bus, device, function, 0x0e, 1) & 0x7f == BRIDGE;
    for register in 0..if is_bridge { 2 } else { 6 } {
        let base = config_read(bus, device, function, 0x10 + 4 * register, 4);
        if base & !0xf != 0 && facts.device_count < DEVICES {
            facts.devices[facts.device_count] = base;
            facts.device_count += 1;
        }
    }
}

/// Reads configuration space by ports.
pub fn config_read(bus: u8, device: u8, function: u8, register: u16, width: u8) -> u32 {
    let port = select(bus, device, function, register);
    port::read(port, width)
}

/// Writes configuration space by ports.
pub fn config_write(bus: u8, device: u8, function: u8, register: u16, width: u8, value: u32) {
    let port = select(bus, device, function, register);
    port::write(port, width, value);
}

fn select(bus: u8, device: u8, function: u8, register: u16) -> u16 {
    let [bus, device, function] = [bus, device, function].map(u32::from);
    let address = 1 << 31 | bus << 16 | device << 11 | function << 8 | u32::from(register & 0xfc);
    port::write(CONFIG_ADDRESS, 4, address);
    CONFIG_DATA + (register & 3)
}

/// The address of a register in the memory-mapped window.
pub fn config_address(bus: u8, device: u8, function: u8, register: u16) -> u64 {
    let [bus, device, function, register] = [bus.into(), device.into(), function.into(), u64::from(register & 0xfff)];
    Facts::get().config + (bus << 20 | device << 15 | function << 12 | register)
}
