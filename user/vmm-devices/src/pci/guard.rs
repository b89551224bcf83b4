//! Decides which writes to configuration space reach the machine.
//!
//! A function's own registers can move what it decodes over another function's, over the ports of a
//! task, or over an interrupt controller; and a bridge's registers can change the bus number of
//! what is behind it. So the guard checks the registers that set addresses and bus numbers (PCI
//! 3.0, 6.2.5; PCI-to-PCI Bridge Architecture Specification 1.2, 3.2.5). Some functions also answer
//! where PCs always had them, without a base address; the guard checks what switches that on
//! ([`legacy`]). It checks nothing else, and keeps no state: what it needs it reads from the
//! machine.

mod legacy;

use super::{ConfigAccess, Filter, Function};
use crate::{ones, withheld};

/// Configuration space, for reads and writes.
pub trait ConfigSpace: ConfigAccess {
    /// Writes the doubleword at `register` (a multiple of 4, below 256).
    fn write(&mut self, function: Function, register: u8, value: u32);
}

/// What Linux must not move anything over.
pub trait Kept {
    /// Whether any of that memory is kept.
    fn memory(&self, base: u64, size: u64) -> bool;
    /// Whether any of these ports is kept.
    fn ports(&self, first: u32, count: u32) -> bool;
}

/// A write by Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Function.
    pub function: Function,
    /// First register.
    pub register: u8,
    /// Bytes: 1, 2 or 4, within a doubleword.
    pub width: u8,
    /// Value.
    pub value: u32,
}

const COMMAND: u8 = 0x04;
const DECODES: u32 = IO_SPACE | MEMORY_SPACE;
const CLASS: u8 = 0x08;
const HEADER: u8 = 0x0c;
const NUMBERS: u8 = 0x18;
/// A bridge's control register is the upper half.
const CONTROL: u8 = 0x3c;
const BRIDGE: u32 = 1;
const IO_SPACE: u32 = 1;
const MEMORY_SPACE: u32 = 2;
const WIDE: u32 = 4;

impl Filter {
    /// Whether a write reaches the machine. Sizes base address registers on the way, with the
    /// function's decoding off.
    pub fn allows(&self, space: &mut impl ConfigSpace, kept: &impl Kept, change: Change) -> bool {
        let Change { function, register, .. } = change;
        let at = register & !3;
        let header = space.read(function, HEADER) >> 16 & 0x7f;
        if is_chipset(space, function, header) || header == BRIDGE && self.leads_to_hidden(space, function) {
            return false;
        }
        let new = merged(space.read(function, at), change);
        let ends = if header == BRIDGE { BRIDGE_BASES } else { DEVICE_BASES };
        match at {
            COMMAND => {
                let rising = new & !space.read(function, COMMAND);
                (header != BRIDGE || legacy::may_forward_palette(kept, rising))
                    && legacy::is_free(kept, space.read(function, CLASS), rising)
                    && may_decode(space, kept, function, rising & DECODES, ends)
            }
            CLASS => legacy::may_become(kept, space.read(function, CLASS), new, space.read(function, COMMAND)),
            _ if (ends.first..=ends.last).contains(&at) || at == ends.rom => {
                let command = space.read(function, COMMAND);
                bases(space, function, ends).into_iter().flatten().filter(|base| base.has(at)).all(|base| {
                    command & base.decoded_by() == 0 || base.is_free(space, kept, function, Some((at, new)))
                })
            }
            NUMBERS if header == BRIDGE => {
                // Nobody knows what a bridge does with a primary bus on which it is not.
                let primary = new & 0xff;
                let strange = primary != function.bus.into() && self.hidden_on(primary, primary);
                !strange && !self.hidden_on(new >> 8 & 0xff, new >> 16 & 0xff)
            }
            0x1c..=0x30 if header == BRIDGE => {
                !windows(space, function, at, new).into_iter().any(|window| window.touches(kept))
            }
            CONTROL if header == BRIDGE => legacy::may_forward(kept, space.read(function, CONTROL), new),
            _ => true,
        }
    }

    /// Whether a bridge is on the way to a hidden function.
    fn leads_to_hidden(&self, space: &mut impl ConfigSpace, bridge: Function) -> bool {
        let numbers = space.read(bridge, NUMBERS);
        self.hidden_on(numbers >> 8 & 0xff, numbers >> 16 & 0xff)
    }

    /// Whether a hidden function is on a bus from `first` to `last`, or on one of these two: a
    /// bridge answers for its secondary bus even if its subordinate bus has a lower number. No
    /// bridge leads to bus 0.
    fn hidden_on(&self, first: u32, last: u32) -> bool {
        let behind = |bus: u32| bus != 0 && (bus == first || bus == last || (first..=last).contains(&bus));
        self.hidden.iter().flatten().any(|f| behind(f.bus.into()))
    }
}

/// Whether this is one of the table's read-only functions, which have no driver that must write.
fn is_chipset(space: &mut impl ConfigSpace, function: Function, header: u32) -> bool {
    let class = space.read(function, CLASS) >> 16;
    let vendor = space.read(function, 0) & 0xffff;
    withheld::is_read_only(header, vendor, class)
}

/// The doubleword after the write.
fn merged(old: u32, change: Change) -> u32 {
    let shift = u32::from(change.register & 3) * 8;
    let mask = (ones(change.width) as u32) << shift;
    old & !mask | change.value << shift & mask
}

/// Calls `run` with the function's decoding off, then restores it.
fn undecoded<S: ConfigSpace, T>(space: &mut S, function: Function, run: impl FnOnce(&mut S) -> T) -> T {
    // The upper half are status bits, which a one clears.
    let command = space.read(function, COMMAND) & 0xffff;
    space.write(function, COMMAND, command & !DECODES);
    let result = run(space);
    space.write(function, COMMAND, command);
    result
}

/// The bits that a register keeps when ones are written.
fn mask(space: &mut impl ConfigSpace, function: Function, at: u8) -> u32 {
    let old = space.read(function, at);
    space.write(function, at, u32::MAX);
    let mask = space.read(function, at);
    space.write(function, at, old);
    mask
}

/// Where a header's base addresses are.
#[derive(Clone, Copy)]
struct Ends {
    first: u8,
    last: u8,
    rom: u8,
}

const DEVICE_BASES: Ends = Ends { first: 0x10, last: 0x24, rom: 0x30 };
const BRIDGE_BASES: Ends = Ends { first: 0x10, last: 0x14, rom: 0x38 };

#[derive(Clone, Copy)]
struct Base {
    low: u8,
    kind: BaseKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BaseKind {
    Ports,
    Memory,
    /// Takes two registers.
    Wide,
    Rom,
}

/// Most base addresses of a function.
const BASES: usize = 7;

fn bases(space: &mut impl ConfigSpace, function: Function, ends: Ends) -> [Option<Base>; BASES] {
    let mut all = [None; BASES];
    let (mut count, mut low) = (0, ends.first);
    while low <= ends.last {
        let value = space.read(function, low);
        let kind = match value {
            _ if value & IO_SPACE != 0 => BaseKind::Ports,
            _ if value & 6 == WIDE && low < ends.last => BaseKind::Wide,
            _ => BaseKind::Memory,
        };
        all[count] = Some(Base { low, kind });
        count += 1;
        low += if kind == BaseKind::Wide { 8 } else { 4 };
    }
    all[count] = Some(Base { low: ends.rom, kind: BaseKind::Rom });
    all
}

impl Base {
    fn has(&self, register: u8) -> bool {
        self.low == register || self.kind == BaseKind::Wide && self.low + 4 == register
    }

    /// The bit of the command register that lets the function answer there.
    fn decoded_by(&self) -> u32 {
        if self.kind == BaseKind::Ports { IO_SPACE } else { MEMORY_SPACE }
    }

    /// Whether the place where the function would answer, with that value in a register, is free.
    fn is_free(
        self,
        space: &mut impl ConfigSpace,
        kept: &impl Kept,
        function: Function,
        change: Option<(u8, u32)>,
    ) -> bool {
        match self.place(space, function, change) {
            None => true,
            Some(Place { ports: true, base, size }) => !kept.ports(base as u32, size as u32),
            // Base 0 means not yet placed; should the device answer there, RAM takes precedence.
            Some(Place { base, size, .. }) => base == 0 || !kept.memory(base, size),
        }
    }

    /// Where the function answers, given another value in one register. Sizes the registers with
    /// decoding off; `None` if they are not base addresses.
    fn place(self, space: &mut impl ConfigSpace, function: Function, change: Option<(u8, u32)>) -> Option<Place> {
        let value = |space: &mut _, register| match change {
            Some((at, new)) if at == register => new,
            _ => ConfigAccess::read(space, function, register),
        };
        let wide = self.kind == BaseKind::Wide;
        let low = value(space, self.low);
        let high = if wide { value(space, self.low + 4) } else { 0 };
        let (mask_low, mask_high) = undecoded(space, function, |space| {
            let high = if wide { mask(space, function, self.low + 4) } else { u32::MAX };
            (mask(space, function, self.low), high)
        });
        let address_bits: u32 = match self.kind {
            BaseKind::Ports => 0xfffc,
            BaseKind::Rom => !0x7ff,
            BaseKind::Memory | BaseKind::Wide => !0xf,
        };
        if mask_low & address_bits == 0 && (!wide || mask_high == 0) {
            return None;
        }
        if self.kind == BaseKind::Ports {
            let mask = mask_low & address_bits;
            return Some(Place { ports: true, base: (low & mask).into(), size: u64::from(!mask & 0xffff) + 1 });
        }
        let mask = u64::from(mask_high) << 32 | u64::from(mask_low & address_bits);
        let base = (u64::from(high) << 32 | u64::from(low)) & mask;
        Some(Place { ports: false, base, size: (!mask).saturating_add(1) })
    }
}

/// Where a function answers.
struct Place {
    ports: bool,
    base: u64,
    size: u64,
}

/// The memory in which a function that is not a bridge would answer, as first byte and size.
pub fn memory_of(space: &mut impl ConfigSpace, function: Function) -> [Option<(u64, u64)>; BASES] {
    let mut all = [None; BASES];
    let header = space.read(function, HEADER) >> 16 & 0x7f;
    if space.read(function, 0) & 0xffff == 0xffff || header != 0 {
        return all;
    }
    let places = bases(space, function, DEVICE_BASES).into_iter().flatten();
    for (to, base) in all.iter_mut().zip(places.filter(|base| base.kind != BaseKind::Rom)) {
        *to = base.place(space, function, None).filter(|p| !p.ports && p.base != 0).map(|p| (p.base, p.size));
    }
    all
}

/// Whether those bits of the command register may be set: all base addresses that would begin to
/// answer must do so where nothing is kept.
fn may_decode(space: &mut impl ConfigSpace, kept: &impl Kept, function: Function, rising: u32, ends: Ends) -> bool {
    let all = if rising != 0 { bases(space, function, ends) } else { [None; BASES] };
    let answers = |base: &Base| rising & base.decoded_by() != 0;
    all.into_iter().flatten().filter(answers).all(|base| base.is_free(space, kept, function, None))
}

/// What a bridge forwards.
#[derive(Clone, Copy)]
enum Window {
    Memory { base: u64, limit: u64 },
    Ports { base: u32, limit: u32 },
}

impl Window {
    fn touches(self, kept: &impl Kept) -> bool {
        match self {
            Window::Memory { base, limit } => base <= limit && kept.memory(base, (limit - base).saturating_add(1)),
            Window::Ports { base, limit } => base <= limit && kept.ports(base, limit - base + 1),
        }
    }
}

/// The bridge's windows once `at` holds `new`.
fn windows(space: &mut impl ConfigSpace, function: Function, at: u8, new: u32) -> [Window; 3] {
    // The lowest bits say whether the upper halves count. They are read-only, so what Linux writes
    // there means nothing.
    let mut has_upper = |register: u8| space.read(function, register) & 0xf == 1;
    let (ports_upper, prefetched_upper) = (has_upper(0x1c), has_upper(0x24));
    let mut get = |register: u8| if register == at { new } else { space.read(function, register) };
    let (ports, memory, prefetched) = (get(0x1c), get(0x20), get(0x24));
    let (upper_base, upper_limit, upper_ports) = (get(0x28), get(0x2c), get(0x30));
    let upper = |value: u32| if prefetched_upper { u64::from(value) << 32 } else { 0 };
    let wide_ports = if ports_upper { upper_ports } else { 0 };
    let whole = |value: u32| u64::from(value) << 16;
    [
        Window::Ports {
            base: ports << 8 & 0xf000 | wide_ports << 16,
            limit: ports & 0xf000 | 0xfff | wide_ports & 0xffff_0000,
        },
        Window::Memory { base: whole(memory & 0xfff0), limit: u64::from(memory | 0xf_ffff) },
        Window::Memory {
            base: whole(prefetched & 0xfff0) | upper(upper_base),
            limit: u64::from(prefetched | 0xf_ffff) | upper(upper_limit),
        },
    ]
}
