//! The I/O APICs: which interrupt line raises which vector.

use core::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::layout::direct;
use super::{apic, code::several, log};
use pillion_abi::boot::{IoApic, Range};
use pillion_firmware::acpi::{IO_APIC_SIZE, IO_APICS, Tables};
use pillion_firmware::ranges::{Cached, cached};

/// Maximum number of lines of all I/O APICs together.
pub const LINES: usize = 240;

const VERSION: u32 = 1;
const FIRST_ENTRY: u32 = 0x10;
const LEVEL: u32 = 1 << 15;
const LOW: u32 = 1 << 13;
const MASKED: u32 = 1 << 16;

/// An I/O APIC: address of its registers in the direct map (0: none), first line and number of
/// lines.
struct Controller {
    registers: AtomicU64,
    first: AtomicU32,
    lines: AtomicU32,
}

static CONTROLLERS: [Controller; IO_APICS] =
    [const { Controller { registers: AtomicU64::new(0), first: AtomicU32::new(0), lines: AtomicU32::new(0) } };
        IO_APICS];

/// Lower half of each line's entry as it was last written, so that masking need not read it.
static ENTRIES: [AtomicU32; LINES] = [const { AtomicU32::new(MASKED) }; LINES];

/// Who uses each line, as a number for the caller; 0 at first.
static USERS: [AtomicU8; LINES] = [const { AtomicU8::new(0) }; LINES];

/// The turn to use the registers, which all processors share, where several run. Whoever waits for
/// it does so for at most seven others, each of which writes six registers.
struct Ticket;

static NEXT: AtomicU32 = AtomicU32::new(0);
static SERVED: AtomicU32 = AtomicU32::new(0);

impl Ticket {
    #[inline]
    fn take() -> Ticket {
        several! {
            let ticket = NEXT.fetch_add(1, Relaxed);
            while SERVED.load(Acquire) != ticket {
                core::hint::spin_loop();
            }
        }
        Ticket
    }
}

impl Drop for Ticket {
    #[inline]
    fn drop(&mut self) {
        several! { SERVED.store(SERVED.load(Relaxed).wrapping_add(1), Release); }
    }
}

/// How a line is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Vector.
    pub vector: u8,
    /// Level-triggered.
    pub level: bool,
    /// Active low.
    pub low: bool,
    /// Masked.
    pub masked: bool,
}

/// The registers of an I/O APIC in the direct map, where the firmware's tables say.
#[derive(Clone, Copy)]
struct Registers(u64);

impl Registers {
    fn write(self, index: u32, value: u32) {
        // SAFETY: that they are there is what the type means; they do not write memory.
        unsafe {
            (self.0 as *mut u32).write_volatile(index);
            ((self.0 + 0x10) as *mut u32).write_volatile(value);
        }
    }

    fn read(self, index: u32) -> u32 {
        // SAFETY: as in `write`.
        unsafe {
            (self.0 as *mut u32).write_volatile(index);
            ((self.0 + 0x10) as *const u32).read_volatile()
        }
    }
}

/// Takes over the I/O APICs and masks all lines. One that the tables place in memory is left out.
///
/// # Safety
/// The registers of I/O APICs are where the tables say; `memory` is the map.
pub unsafe fn init(tables: &Tables, memory: &[Range]) {
    for (controller, found) in CONTROLLERS.iter().zip(tables.io_apics.as_slice()) {
        let base = u64::from(found.address);
        if cached(memory, base, base + u64::from(IO_APIC_SIZE)) != Cached::Nothing {
            log!("[boot] no I/O APIC at {base:#x}, where the ACPI tables name one: there is memory");
            continue;
        }
        let registers = Registers(direct::<u8>(base) as u64);
        let version = registers.read(VERSION);
        if version == u32::MAX {
            continue;
        }
        let lines = (version >> 16 & 0xff) + 1;
        controller.registers.store(registers.0, Relaxed);
        controller.first.store(found.first_line, Relaxed);
        controller.lines.store(lines, Relaxed);
        for i in 0..lines {
            registers.write(FIRST_ENTRY + 2 * i, MASKED);
            registers.write(FIRST_ENTRY + 2 * i + 1, 0);
        }
        let last = found.first_line.saturating_add(lines - 1);
        log!("[boot] I/O APIC at {:#x}, lines {} to {last}", found.address, found.first_line);
    }
}

/// The I/O APICs that are there.
#[must_use]
pub fn all() -> [IoApic; IO_APICS] {
    let mut all = [IoApic::default(); IO_APICS];
    let there = CONTROLLERS.iter().filter(|c| c.registers.load(Relaxed) != 0);
    for (to, c) in all.iter_mut().zip(there) {
        let address = c.registers.load(Relaxed) - super::layout::DIRECT_MAP;
        *to = IoApic { address, first: c.first.load(Relaxed), lines: c.lines.load(Relaxed) };
    }
    all
}

/// Registers and index of the entry of a line.
fn find(line: u32) -> Option<(Registers, u32)> {
    CONTROLLERS.iter().find_map(|c| {
        let offset = line.checked_sub(c.first.load(Relaxed))?;
        (offset < c.lines.load(Relaxed)).then(|| (Registers(c.registers.load(Relaxed)), FIRST_ENTRY + 2 * offset))
    })
}

/// Whether there is such a line.
#[must_use]
pub fn exists(line: u32) -> bool {
    find(line).is_some() && (line as usize) < LINES
}

/// The number of a line's user.
#[must_use]
pub fn user(line: u32) -> u8 {
    USERS.get(line as usize).map_or(0, |user| user.load(Relaxed))
}

/// Notes another user of a line: for one processor at a time.
pub fn set_user(line: u32, number: u8) {
    if let Some(user) = USERS.get(line as usize) {
        user.store(number, Relaxed);
    }
}

/// Routes a line to the running CPU. False when there is no such line.
pub fn program(line: u32, route: Route) -> bool {
    let (Some((registers, index)), Some(entry)) = (find(line), ENTRIES.get(line as usize)) else { return false };
    let mut low = u32::from(route.vector);
    for (set, bit) in [(route.level, LEVEL), (route.low, LOW), (route.masked, MASKED)] {
        if set {
            low |= bit;
        }
    }
    let here = (apic::id() & 0xff) << 24;
    let _ticket = Ticket::take();
    // Masked first, so that half of an old route never meets half of the new one.
    registers.write(index, low | MASKED);
    registers.write(index + 1, here);
    if !route.masked {
        registers.write(index, low);
    }
    entry.store(low, Relaxed);
    true
}

/// Masks or unmasks a line, which keeps the route that it was programmed with.
pub fn mask(line: u32, masked: bool) {
    if let (Some((registers, index)), Some(entry)) = (find(line), ENTRIES.get(line as usize)) {
        let _ticket = Ticket::take();
        let low = entry.load(Relaxed) & !MASKED | if masked { MASKED } else { 0 };
        entry.store(low, Relaxed);
        registers.write(index, low);
    }
}
