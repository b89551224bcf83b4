//! Which of Linux's writes to configuration space are allowed, on a bus made of tables.

use pillion_vmm_devices::pci::{Change, ConfigAccess, ConfigSpace, Filter, Function, Kept, memory_of};
use proptest::prelude::*;
use std::collections::BTreeMap;

const HOST: Function = function(0, 0);
const CARD: Function = function(0, 2);
const ABOVE: Function = function(0, 3);
const BESIDE: Function = function(0, 4);
const IO_MMU: Function = function(0, 5);
const SMBUS: Function = function(0, 6);
const IDE: Function = function(0, 7);
const SCREEN: Function = function(0, 8);
const TASKS: Function = function(1, 0);

const fn function(bus: u8, device: u8) -> Function {
    Function { bus, device, function: 0 }
}

/// Registers, and which of their bits are writable.
#[derive(Clone, Default)]
struct Registers {
    values: BTreeMap<u8, u32>,
    masks: BTreeMap<u8, u32>,
}

#[derive(Clone)]
struct Bus(BTreeMap<Function, Registers>);

impl ConfigAccess for Bus {
    fn read(&mut self, function: Function, register: u8) -> u32 {
        self.0.get(&function).map_or(u32::MAX, |f| f.values.get(&register).copied().unwrap_or(0))
    }
}

impl ConfigSpace for Bus {
    fn write(&mut self, function: Function, register: u8, value: u32) {
        let Some(f) = self.0.get_mut(&function) else { return };
        let mask = f.masks.get(&register).copied().unwrap_or(0);
        let old = f.values.entry(register).or_default();
        *old = *old & !mask | value & mask;
    }
}

fn registers(identity: u32, class: u32, header: u32, more: &[(u8, u32, u32)]) -> Registers {
    let mut f = Registers::default();
    for (at, value, mask) in
        [(0, identity, 0), (4, 3, 0x567), (8, class << 16, 0), (0xc, header << 16, 0xff)].iter().chain(more)
    {
        f.values.insert(*at, *value);
        f.masks.insert(*at, *mask);
    }
    f
}

/// A host bridge; a card with 16 MiB of memory, 1 GiB of 64-bit memory, 256 ports and a ROM; a
/// bridge to a task's function and a bridge beside it; an IDE controller in native mode and a VGA
/// that is off.
fn bus() -> Bus {
    let windows = [
        (0x1c, 0xf0, 0xf0f0),
        (0x20, 0xfff0, 0xfff0_fff0),
        (0x24, 0x1_fff1, 0xfff0_fff0),
        (0x28, 0, u32::MAX),
        (0x2c, 0, u32::MAX),
        (0x3c, 0, 0x1f_00ff),
    ];
    let bridge = |numbers: u32| {
        let mut f = registers(0x8086, 0x0604, 1, &windows);
        f.values.insert(0x18, numbers);
        f.masks.insert(0x18, 0xff_ffff);
        f
    };
    let card = [
        (0x10, 0xf000_0000, 0xff00_0000),
        (0x14, 0xc, 0xc000_0000),
        (0x18, 0x80, u32::MAX),
        (0x1c, 0xc001, 0xff00),
        (0x20, 0, 0),
        (0x24, 0, 0),
        (0x30, 0, 0xffff_0001),
    ];
    let ide = [
        (8, 0x0101_8f00, 0x0500),
        (0x10, 0xc101, 0xfff8),
        (0x14, 0xc109, 0xfffc),
        (0x18, 0xc111, 0xfff8),
        (0x1c, 0xc119, 0xfffc),
    ];
    Bus(BTreeMap::from([
        (HOST, registers(0x1022, 0x0600, 0, &[(0x60, 0, u32::MAX), (0x64, 0, u32::MAX)])),
        (CARD, registers(0x1234, 0x0200, 0, &card)),
        (ABOVE, bridge(0x1_0100)),
        (BESIDE, bridge(0x2_0200)),
        (IO_MMU, registers(0x1022, 0x0806, 0, &[(0x44, 1, u32::MAX)])),
        (SMBUS, registers(0x790b_1022, 0x0c05, 0, &[(0x40, 0, u32::MAX)])),
        (IDE, registers(0x1234, 0x0101, 0, &ide)),
        (SCREEN, registers(0x1234, 0x0300, 0, &[(4, 0, 0x567), (0x10, 0xe000_0000, 0xff00_0000)])),
        (TASKS, registers(0x1234, 0x0200, 0, &[(0x10, 0xfe40_0000, 0xfff0_0000)])),
    ]))
}

fn filter() -> Filter {
    let mut filter = Filter::new();
    assert!(filter.hide(TASKS));
    filter
}

/// Kept are memory, the task's memory and the I/O APIC, and the task's ports.
struct Machine;

const KEPT: [(u64, u64); 5] =
    [(0, 0x10_0000), (0xfe40_0000, 0x10_0000), (0xfec0_0000, 0x1000), HIGH, (0xfd_0000_0000, 12 << 30)];
/// A real-time task's memory above 4 GiB.
const HIGH: (u64, u64) = (0x8_4000_0000, 0x1000);
const PORTS: [(u32, u32); 2] = [(0x300, 8), (0x376, 1)];

fn meets((a, n): (u64, u64), (b, m): (u64, u64)) -> bool {
    u128::from(a) < u128::from(b) + u128::from(m) && u128::from(b) < u128::from(a) + u128::from(n)
}

impl Kept for Machine {
    fn memory(&self, base: u64, size: u64) -> bool {
        KEPT.iter().any(|kept| meets(*kept, (base, size)))
    }
    fn ports(&self, first: u32, count: u32) -> bool {
        PORTS.iter().any(|kept| meets((kept.0.into(), kept.1.into()), (first.into(), count.into())))
    }
}

/// Kept are only these ports and this memory.
struct Only {
    ports: (u32, u32),
    memory: (u64, u64),
}

impl Only {
    const fn ports(first: u32, count: u32) -> Only {
        Only { ports: (first, count), memory: (0, 0xa_0000) }
    }
    fn allows(&self, bus: &mut Bus, function: Function, register: u8, width: u8, value: u32) -> bool {
        filter().allows(bus, self, Change { function, register, width, value })
    }
}

impl Kept for Only {
    fn memory(&self, base: u64, size: u64) -> bool {
        meets(self.memory, (base, size))
    }
    fn ports(&self, first: u32, count: u32) -> bool {
        meets((self.ports.0.into(), self.ports.1.into()), (first.into(), count.into()))
    }
}

/// Writes like Linux. Returns whether the write was allowed.
fn write(bus: &mut Bus, function: Function, register: u8, width: u8, value: u32) -> bool {
    let allowed = filter().allows(bus, &Machine, Change { function, register, width, value });
    if allowed {
        let (at, shift) = (register & !3, u32::from(register & 3) * 8);
        let mask = (pillion_vmm_devices::ones(width) as u32) << shift;
        let old = bus.read(function, at);
        bus.write(function, at, old & !mask | value << shift & mask);
    }
    allowed
}

#[test]
fn the_way_to_a_hidden_function_stays() {
    let mut bus = bus();
    for (register, width, value) in
        [(0x18, 4, 0x40_4000), (0x19, 1, 0x40), (0x1a, 1, 0x40), (0x18, 2, 0), (4, 2, 0), (0x20, 4, 0), (0x3e, 2, 0x40)]
    {
        assert!(!write(&mut bus, ABOVE, register, width, value), "{register:#x}");
    }
    assert!(!write(&mut bus, BESIDE, 0x18, 4, 0x2_0100), "the bus from the other side");
    assert!(!write(&mut bus, BESIDE, 0x19, 1, 0));
    assert!(write(&mut bus, BESIDE, 0x18, 4, 0x5_0300));
}

/// A bridge answers for its secondary bus even if its subordinate bus has a lower number.
#[test]
fn no_other_bridge_gets_the_bus_of_a_hidden_function() {
    let mut bus = bus();
    assert!(write(&mut bus, BESIDE, 0x1a, 1, 0) && !write(&mut bus, BESIDE, 0x19, 1, 1));
    assert!(!write(&mut bus, BESIDE, 0x18, 2, 0x100) && !write(&mut bus, BESIDE, 0x18, 4, 0x100));
    assert!(!write(&mut bus, BESIDE, 0x1a, 1, 1), "as its subordinate bus");
    assert!(!write(&mut bus, BESIDE, 0x18, 1, 1), "as its primary bus, on which it is not");
    assert!(write(&mut bus, BESIDE, 0x18, 4, 0) && write(&mut bus, BESIDE, 0x18, 4, 0x4_0300));
    // A bridge on a hidden function's bus.
    let below = function(1, 1);
    let registers = bus.0[&BESIDE].clone();
    bus.0.insert(below, registers);
    assert!(write(&mut bus, below, 0x18, 4, 0x4_0301));
}

/// VGA's ports in all places that a bridge, or a VGA, takes for them.
#[test]
fn vga_is_switched_on_only_where_nothing_is_kept() {
    const ON: u32 = 8;
    const ALL_BITS: u32 = 16;
    for first in [0x3b0, 0x3bb, 0x3c0, 0x3df, 0x7c0, 0xffdf] {
        let (kept, mut bus) = (Only::ports(first, 1), bus());
        for (register, width, value) in [(0x3e, 1, ON), (0x3e, 2, ON | ALL_BITS), (0x3c, 4, ON << 16 | 0xff)] {
            assert!(!kept.allows(&mut bus, BESIDE, register, width, value), "{first:#x} {register:#x}");
        }
        assert!(!kept.allows(&mut bus, SCREEN, 4, 2, 1) && kept.allows(&mut bus, SCREEN, 4, 2, 2), "{first:#x}");
        // A bridge that has the other bit, and so compares all 16.
        bus.write(BESIDE, 0x3c, ALL_BITS << 16);
        assert_eq!(kept.allows(&mut bus, BESIDE, 0x3e, 1, ON | ALL_BITS), first > 0x3ff, "{first:#x}");
        assert!(!kept.allows(&mut bus, BESIDE, 0x3e, 1, ON), "{first:#x}");
        bus.write(BESIDE, 0x3c, (ON | ALL_BITS) << 16);
        assert!(!kept.allows(&mut bus, BESIDE, 0x3e, 1, ON), "{first:#x}: the other bit goes");
        // What the firmware switched on, Linux can leave on, or switch off.
        assert!(kept.allows(&mut bus, BESIDE, 0x3c, 1, 5) && kept.allows(&mut bus, BESIDE, 0x3e, 1, 0));
    }
    for first in [0x3af, 0x3bc, 0x3bf, 0x3e0, 0x7bc] {
        let (kept, mut bus) = (Only::ports(first, 1), bus());
        assert!(kept.allows(&mut bus, BESIDE, 0x3e, 1, ON) && kept.allows(&mut bus, SCREEN, 4, 2, 3), "{first:#x}");
    }
    for (memory, free) in
        [((0xa_0000, 1), false), ((0xb_ffff, 1), false), ((0x9_f000, 0x1000), true), ((0xc_0000, 1), true)]
    {
        let (kept, mut bus) = (Only { ports: (0, 1), memory }, bus());
        assert_eq!(kept.allows(&mut bus, BESIDE, 0x3e, 1, ON), free, "{memory:x?}");
        assert_eq!(kept.allows(&mut bus, SCREEN, 4, 2, 2), free, "{memory:x?}");
        assert!(kept.allows(&mut bus, SCREEN, 4, 2, 1));
    }
}

/// A bridge can forward writes to VGA's palette alone.
#[test]
fn the_palette_is_forwarded_only_where_nothing_is_kept() {
    for (first, free) in [(0x3c5, true), (0x3c6, false), (0x3c9, false), (0x7c6, false), (0x3ca, true)] {
        let (kept, mut bus) = (Only::ports(first, 1), bus());
        assert_eq!(kept.allows(&mut bus, BESIDE, 4, 2, 0x23), free, "{first:#x}");
        assert!(kept.allows(&mut bus, CARD, 4, 2, 0x23), "a device only watches");
    }
}

#[test]
fn ide_gets_its_legacy_ports_only_where_nothing_is_kept() {
    const FIRST: u32 = 0x8a | 4;
    const SECOND: u32 = 0x8a | 1;
    let channels = [(FIRST, SECOND, [0x1f0, 0x1f7, 0x3f6]), (SECOND, FIRST, [0x170, 0x177, 0x376])];
    for (taken, other, ports) in channels {
        for first in ports {
            let (kept, mut bus) = (Only::ports(first, 1), bus());
            for value in [taken, 0x8a] {
                assert!(!kept.allows(&mut bus, IDE, 9, 1, value), "{first:#x} {value:#x}");
                // The class is read-only here, whatever is written to it.
                for class in [0x0101_0000, 0x0106_0000, 0] {
                    assert!(!kept.allows(&mut bus, IDE, 8, 4, class | value << 8), "{first:#x} {value:#x} {class:#x}");
                }
            }
            assert!(kept.allows(&mut bus, IDE, 9, 1, other) && kept.allows(&mut bus, IDE, 9, 1, 0x8f), "{first:#x}");
            // While it decodes no ports it can be switched, but then ports cannot be switched on.
            assert!(write(&mut bus, IDE, 4, 2, 2));
            assert!(kept.allows(&mut bus, IDE, 9, 1, taken) && write(&mut bus, IDE, 9, 1, taken));
            assert!(!kept.allows(&mut bus, IDE, 4, 2, 3), "{first:#x}");
            assert!(write(&mut bus, IDE, 9, 1, other) && kept.allows(&mut bus, IDE, 4, 2, 3), "{first:#x}");
        }
    }
    // Base addresses that can appear with the mode are checked when ports are switched on.
    let (kept, mut bus) = (Only::ports(0x300, 8), bus());
    assert!(
        kept.allows(&mut bus, IDE, 9, 1, 0x8a) && write(&mut bus, IDE, 4, 2, 2) && write(&mut bus, IDE, 9, 1, 0x8a)
    );
    bus.write(IDE, 4, 3);
    assert!(!kept.allows(&mut bus, IDE, 9, 1, 0x8f) && !kept.allows(&mut bus, IDE, 9, 1, FIRST));
    bus.write(IDE, 4, 2);
    assert!(kept.allows(&mut bus, IDE, 9, 1, 0x8f));
}

/// A function may take any byte of what is written to its class.
#[test]
fn nothing_becomes_ide_or_vga_where_something_is_kept() {
    let mut bus = bus();
    bus.0.get_mut(&IDE).unwrap().values.insert(8, 0x0106_0100);
    for (class, free) in [(0x0101_0100, false), (0x0301_0100, false), (0x0104_0100, true), (0x0300_0100, true)] {
        assert_eq!(Only::ports(0x170, 1).allows(&mut bus, IDE, 8, 4, class), free, "{class:#x}");
        assert!(Only::ports(0x1f0, 1).allows(&mut bus, IDE, 8, 4, class), "{class:#x}: the other channel's");
    }
    assert!(!Only::ports(0x170, 1).allows(&mut bus, IDE, 0xa, 1, 1));
    assert!(!Only::ports(0x3c0, 1).allows(&mut bus, IDE, 0xa, 2, 0x300), "a VGA");
}

#[test]
fn the_chipset_stays() {
    let mut bus = bus();
    assert!(!write(&mut bus, HOST, 0x60, 4, 1) && !write(&mut bus, HOST, 4, 2, 0));
    assert!(!write(&mut bus, IO_MMU, 0x44, 4, 0) && !write(&mut bus, SMBUS, 0x40, 1, 0));
    bus.0.get_mut(&BESIDE).unwrap().values.insert(0xc, 2 << 16);
    assert!(!write(&mut bus, BESIDE, 0x18, 4, 0x5_0300), "a header that nobody knows");
}

#[test]
fn nothing_is_moved_over_what_is_kept() {
    let mut bus = bus();
    let before = bus.0[&CARD].values.clone();
    for (register, value) in [(0x10, 0xfe00_0000), (0x1c, 0x300), (0x18, 0xffff_ffff)] {
        let free = register == 0x18;
        assert_eq!(write(&mut bus, CARD, register, 4, value), free, "{register:#x} {value:#x}");
    }
    assert!(write(&mut bus, CARD, 0x18, 4, 0x80));
    assert_eq!(bus.0[&CARD].values, before, "measuring leaves no trace");
    // 64 bits: 1 GiB at 3 GiB, both halves in turn.
    assert!(write(&mut bus, CARD, 0x14, 4, 0xc000_0000) && !write(&mut bus, CARD, 0x18, 4, 0));
    // With decoding off all can be written, to size it; the check comes when it is switched on.
    assert!(write(&mut bus, CARD, 4, 2, 0));
    assert!(write(&mut bus, CARD, 0x10, 4, u32::MAX) && write(&mut bus, CARD, 0x10, 4, 0xfe00_0000));
    assert!(write(&mut bus, CARD, 4, 2, 1), "ports only");
    assert!(!write(&mut bus, CARD, 4, 2, 3) && !write(&mut bus, CARD, 4, 1, 2));
    assert!(
        write(&mut bus, CARD, 0x10, 4, 0) && write(&mut bus, CARD, 4, 2, 3) && write(&mut bus, CARD, 4, 2, 0),
        "nowhere"
    );
    assert!(write(&mut bus, CARD, 0x10, 4, 0xf000_0000) && write(&mut bus, CARD, 4, 2, 7));
    assert!(!write(&mut bus, CARD, 0x30, 4, 0xfe40_0001) && write(&mut bus, CARD, 0x30, 4, 0xfe30_0001));
    // Windows of a bridge.
    assert!(!write(&mut bus, BESIDE, 0x20, 4, 0xfe40_fe40) && write(&mut bus, BESIDE, 0x20, 4, 0xfe30_fe20));
    assert!(!write(&mut bus, BESIDE, 0x1c, 2, 0x0000) && write(&mut bus, BESIDE, 0x1c, 2, 0x1010));
    // A prefetchable window that only its upper half closes.
    assert!(write(&mut bus, BESIDE, 0x28, 4, 1) && write(&mut bus, BESIDE, 0x24, 4, 0xff01_f001));
    assert!(!write(&mut bus, BESIDE, 0x28, 4, 0));
    // A register without addresses is free to write.
    assert!(write(&mut bus, CARD, 0x3c, 1, 5) && write(&mut bus, CARD, 0x44, 2, 0x8003));
}

/// Address of the card's 64-bit memory.
fn wide(bus: &mut Bus) -> u64 {
    u64::from(bus.read(CARD, 0x18)) << 32 | u64::from(bus.read(CARD, 0x14) & !0xf)
}

/// The bridge's prefetchable window: first byte and size, 0 if it is closed.
fn window(bus: &mut Bus) -> (u64, u64) {
    let low = u64::from(bus.read(BESIDE, 0x24));
    let base = u64::from(bus.read(BESIDE, 0x28)) << 32 | low << 16 & 0xfff0_0000;
    let limit = u64::from(bus.read(BESIDE, 0x2c)) << 32 | low & 0xfff0_0000 | 0xf_ffff;
    (base, (limit + 1).saturating_sub(base))
}

/// The bridge's register says whether a window has an upper half, whatever Linux writes (zeros).
#[test]
fn the_kind_of_a_window_is_the_bridges() {
    for kind in 0..16 {
        let mut bus = bus();
        assert!(write(&mut bus, BESIDE, 0x24, 4, 0xfff0) && write(&mut bus, BESIDE, 0x28, 4, 8));
        assert!(write(&mut bus, BESIDE, 0x2c, 4, 8) && window(&mut bus).1 == 0);
        let over = 0x4000_4000 | kind << 16 | kind;
        assert!(!write(&mut bus, BESIDE, 0x24, 4, over), "{kind}: over a task's memory");
        let beside = 0xfe40_fe40 | kind << 16 | kind;
        assert!(
            write(&mut bus, BESIDE, 0x24, 4, beside),
            "{kind}: what is kept at the same place below 4 GiB does not matter"
        );
        assert_eq!(window(&mut bus), (0x8_fe40_0000, 0x10_0000));
        // Ports without an upper half: a write to it has no effect.
        bus.0.get_mut(&BESIDE).unwrap().masks.insert(0x30, u32::MAX);
        assert!(write(&mut bus, BESIDE, 0x30, 4, 0x1_0001));
        assert!(!write(&mut bus, BESIDE, 0x1c, 2, kind << 8 | kind), "{kind}: over a task's ports");
    }
}

#[test]
fn memory_of_a_function() {
    let mut bus = bus();
    assert_eq!(memory_of(&mut bus, TASKS).into_iter().flatten().collect::<Vec<_>>(), [(0xfe40_0000, 0x10_0000)]);
    let card = memory_of(&mut bus, CARD).into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(card, [(0xf000_0000, 1 << 24), (0x80_0000_0000, 1 << 30)]);
    assert!(memory_of(&mut bus, ABOVE).iter().chain(&memory_of(&mut bus, function(9, 9))).all(Option::is_none));
}

proptest! {
    /// Both halves of a base address in any order and width.
    #[test]
    fn halves(width in prop_oneof![Just(1_u8), Just(2), Just(4)], order in Just((0..8_u8).collect::<Vec<_>>()).prop_shuffle(), place in 0_u64..0x400) {
        let target = place << 30;
        let free = target == 0 || !Machine.memory(target, 1 << 30);
        let mut all = [bus(), bus()];
        prop_assert!(write(&mut all[1], CARD, 4, 2, 0));
        for byte in order.into_iter().filter(|byte| byte % width == 0) {
            let value = (target >> (8 * byte)) as u32 & pillion_vmm_devices::ones(width) as u32;
            let register = 0x14 + byte;
            write(&mut all[0], CARD, register, width, value);
            let base = wide(&mut all[0]);
            prop_assert!(base == 0 || !Machine.memory(base, 1 << 30), "{:x}", base);
            prop_assert!(write(&mut all[1], CARD, register, width, value), "nothing is decoded");
        }
        prop_assert_eq!(wide(&mut all[1]), target);
        prop_assert_eq!(write(&mut all[1], CARD, 4, 2, 2), free, "{:x}", target);
    }

    /// A prefetchable window above 4 GiB, its registers in any order and width.
    #[test]
    fn windows(writes in prop::collection::vec((0x24_u8..0x30, prop_oneof![Just(1_u8), Just(2), Just(4)], prop_oneof![any::<u32>(), Just(8), Just(0xfd), 0_u32..0x100, (0_u32..16).prop_map(|v| v << 28 | v << 12)]), 1..40)) {
        let mut bus = bus();
        for (register, width, value) in writes {
            write(&mut bus, BESIDE, register & !(width - 1), width, value);
            let (base, size) = window(&mut bus);
            prop_assert!(size == 0 || !Machine.memory(base, size), "{:x} {:x}", base, size);
        }
    }

    /// After any writes, bridges above the task's function and the chipset are unchanged, no other
    /// bridge takes its bus, and nothing answers where something is kept.
    #[test]
    fn any_writes(writes in prop::collection::vec((0_u8..9, prop_oneof![Just(4_u8), Just(9), Just(0x3e), 0x10_u8..0x40, any::<u8>()], prop_oneof![Just(1_u8), Just(2), Just(4)], prop_oneof![any::<u32>(), 0xfe00_0000_u32..0xff00_0000, 0_u32..0x1000]), 1..60)) {
        let mut now = bus();
        let fixed = [HOST, ABOVE, IO_MMU, SMBUS].map(|f| now.0[&f].values.clone());
        for (device, register, width, value) in writes {
            let register = register & !(width - 1);
            write(&mut now, function(0, device), register, width, value);
            prop_assert_eq!(&[HOST, ABOVE, IO_MMU, SMBUS].map(|f| now.0[&f].values.clone()), &fixed);
            let numbers = now.read(BESIDE, 0x18);
            prop_assert!(!((numbers >> 8 & 0xff)..=(numbers >> 16 & 0xff)).contains(&1));
            prop_assert!(numbers >> 8 & 0xff != 1, "{:x}", numbers);
            prop_assert!(now.read(BESIDE, 0x3c) >> 16 & 8 == 0 && now.read(SCREEN, 4) & 2 == 0, "VGA's memory");
            let native = now.read(IDE, 8) >> 8 & 4 != 0;
            prop_assert!(native || now.read(IDE, 4) & 1 == 0, "the second channel's ports");
            let command = now.read(CARD, 4);
            let mut copy = now.clone();
            for place in memory_of(&mut copy, CARD).into_iter().flatten() {
                prop_assert!(command & 2 == 0 || !Machine.memory(place.0, place.1), "{:x?}", place);
            }
            let ports = now.read(CARD, 0x1c) & 0xff00;
            prop_assert!(command & 1 == 0 || !Machine.ports(ports, 0x100));
        }
    }
}
