//! What Linux may not touch: lines of the table hold, everything withheld has a line, and the
//! document matches the table. Of lines that a model decides it tries a few; `acpi.rs`, `bus.rs`,
//! `guard.rs` and `power.rs` test the models.

mod common;

use common::at;
use pillion_abi::{boot::range_kind, vcpu::State};
use pillion_core::x86_64::svm::{GUEST_MSRS, READABLE_MSRS};
use pillion_firmware::{acpi, bytes::Memory as Bytes, params::BootParams};
use pillion_vmm_devices::answer::{Answer, Effect};
use pillion_vmm_devices::apic::has_msr;
use pillion_vmm_devices::bus::{Bus, Local};
use pillion_vmm_devices::cpuid::{Context, Registers as Words, Topology, cpuid};
use pillion_vmm_devices::ioapic::IoApics;
use pillion_vmm_devices::ones;
use pillion_vmm_devices::pci::{Change, ConfigAccess, ConfigSpace, Filter, Function, Kept};
use pillion_vmm_devices::power::{Fadt, Power};
use pillion_vmm_devices::withheld::{
    self, Bits, FUNCTIONS, Functions, LEAVES, MEMORY, Memory, PORTS, Ports, REGISTERS, Registers, TABLES, Then,
    Withheld,
};

/// As on QEMU's q35, but with an unusual reset register and command port.
fn fadt() -> Fadt {
    Fadt {
        pm1a_control: Some(0x604),
        reset: Some((0x3ec, 0x0f)),
        command: Some(0xbe),
        pm1a_event: Some(0x600),
        blocks: [(0x600, 4), (0, 0), (0, 0), (0x608, 4), (0x620, 16), (0, 0)],
        ..Fadt::default()
    }
}

/// A task's ports.
const HIDDEN: [[u32; 2]; 1] = [[0x300, 8]];

fn bus() -> Bus<'static> {
    Bus::new(&HIDDEN, Filter::new(), Power::new(fadt()), IoApics::new(&Default::default(), 0, false), &[0])
}

#[test]
fn ports() {
    let mut bus = bus();
    let mut has_line = vec![false; 0x1_0000];
    for line in PORTS {
        let ports: Vec<u16> = match line.what {
            Ports::At(first, count) => (first..first + count).collect(),
            Ports::RealTime => (0x300..0x308).collect(),
            Ports::Command => vec![0xbe, 0xbf],
            Ports::Management => [0x606..0x608, 0x60c..0x620, 0x630..0x680].into_iter().flatten().collect(),
            Ports::Control => vec![0x604, 0x605],
            Ports::Reset => vec![0x3ec],
        };
        for port in ports {
            has_line[usize::from(port)] = true;
            for (first, width) in [(port, 1), (port, 2), (port, 4), (port - 1, 2), (port - 3, 4)] {
                let answers = [bus.read_port(at(first, width)), bus.write_port(at(first, width), 0)];
                match line.then {
                    Then::Absent => assert_eq!(answers, [Answer::Value(ones(width)); 2], "{first:#x}"),
                    Then::Modelled(_) => {}
                    other => panic!("{other:?} of ports"),
                }
            }
        }
    }
    for port in 0..=u16::MAX {
        let exits = bus.taken_ports().any(|(first, count)| (first..first + count).contains(&port.into()));
        assert_eq!(exits, has_line[usize::from(port)], "{port:#x}");
    }
}

/// Bits of a register that stay set, whatever Linux writes.
fn always_set(register: u32) -> u64 {
    match register {
        0xc001_0015 => 1 << 24, // HWCR: the time-stamp counter counts at the frequency of P0
        0xc001_1029 => 1 << 1,  // DE_CFG: LFENCE serialises
        _ => 0,
    }
}

#[test]
fn registers() {
    let state = State::default();
    let within = |ranges: &[(u32, u32)], number: u32| ranges.iter().any(|(a, b)| (*a..=*b).contains(&number));
    for line in REGISTERS {
        for number in line.what.iter().flat_map(|(first, last)| *first..=*last) {
            let (mut bus, mut local) = (bus(), Local::new(0, 0));
            let before = bus.read_msr(&local, number, 0, &state);
            let other = before.unwrap_or(0) ^ 1 << 12 ^ always_set(number);
            let written = bus.write_msr(&mut local, number, other, 0, &state);
            let after = bus.read_msr(&local, number, 0, &state);
            let passed = within(&READABLE_MSRS, number);
            assert!(!passed || before.is_err() && after.is_err(), "{number:#x} is read without an exit");
            match line.then {
                Then::Zero => assert_eq!((before, written, after), (Ok(0), Ok(Effect::None), Ok(0)), "{number:#x}"),
                Then::ReadOnly if passed => assert!(written.is_ok(), "{number:#x}"),
                Then::ReadOnly => assert!(written.is_ok() && before.is_ok() && before == after, "{number:#x}"),
                Then::Fixed if passed => assert!(written.is_err(), "{number:#x}"),
                Then::Fixed => assert!(written.is_err() && before.is_ok() && before == after, "{number:#x}"),
                Then::Kept => {
                    assert!(!passed && written.is_ok() && after == Ok(other | always_set(number)), "{number:#x}");
                }
                Then::Refused => assert!(before.is_err() && written.is_err(), "{number:#x}"),
                Then::Absent => panic!("{number:#x}"),
                Then::Modelled(_) if has_msr(number) => {}
                Then::Modelled(_) => match number {
                    0x79 | 0xc001_0020 => assert!(before.is_err() && written.is_ok()),
                    0xda0 => {
                        assert!(
                            before == Ok(0)
                                && written.is_err()
                                && bus.write_msr(&mut local, number, 0, 0, &state).is_ok()
                        );
                    }
                    0x12 | 0x4b56_4d01 => {
                        let mut write = |value| bus.write_msr(&mut local, number, value, 0, &state);
                        assert!(before.is_err() && write(0).is_ok() && write(1).is_err());
                    }
                    _ => panic!("nobody looks at {number:#x}"),
                },
            }
        }
    }
    for number in [0..0x1_0000, 0x4b56_0000..0x4b57_0000, 0xc000_0000..0xc002_0000].into_iter().flatten() {
        let named = REGISTERS.iter().any(|line| within(line.what, number));
        let (mut bus, mut local) = (bus(), Local::new(0, 0));
        let refused = bus.read_msr(&local, number, 0, &state).is_err()
            && bus.write_msr(&mut local, number, 1, 0, &state).is_err();
        assert!(named || refused && !within(&READABLE_MSRS, number), "{number:#x}");
        assert!(!(named && GUEST_MSRS.contains(&number)), "{number:#x} is Linux's");
    }
}

struct Nothing;

impl Bytes for Nothing {
    fn bytes(&self, _: u64, _: usize) -> Option<&[u8]> {
        None
    }
}

/// The kernel's map has these ranges, and no others unless a table names them. Where no table does,
/// the kernel assumes one I/O APIC.
#[test]
fn memory() {
    let mut params = BootParams::new();
    params.draw_map(0x20_0000, 0x60_0000, 1 << 40);
    params.withhold(&acpi::read(&Nothing, 0));
    assert_eq!(params.finish(), (0, 0));
    let map = params.memory().iter().filter(|range| range.kind == range_kind::WITHHELD);
    let mut table = vec![(0xfec0_0000, 0x1000)];
    let (mut bus, mut local, state) = (bus(), Local::new(0, 0), State::default());
    for line in MEMORY {
        let Memory::At(base, size) = line.what else { continue };
        table.push((base, size));
        for address in [base, base + size - 8] {
            assert_eq!(bus.read_memory(&local, address, 8, 0, &state), u64::MAX, "{address:#x}");
            assert_eq!(bus.write_memory(&mut local, address, 8, 0, 0, &state), Effect::None, "{address:#x}");
        }
    }
    table.sort_unstable();
    assert_eq!(map.map(|range| (range.base, range.size)).collect::<Vec<_>>(), table);
}

/// A function of that header, class and vendor: with 1 MiB of memory, or a bridge to buses 1 to 3.
struct One(u32, u32, u32);

impl ConfigAccess for One {
    fn read(&mut self, _: Function, register: u8) -> u32 {
        match register {
            0 => self.2,
            4 => 7,
            8 => self.1 << 16,
            0xc => self.0 << 16,
            0x10 => 0xfff0_0000,
            0x18 if self.0 == 1 => 0x03_0100,
            _ => 0,
        }
    }
}

impl ConfigSpace for One {
    fn write(&mut self, _: Function, _: u8, _: u32) {}
}

/// Memory from 0xf000_0000 on, and the first port of IDE.
struct High;

impl Kept for High {
    fn memory(&self, base: u64, size: u64) -> bool {
        base + size > 0xf000_0000
    }
    fn ports(&self, first: u32, count: u32) -> bool {
        (first..first + count).contains(&0x1f0)
    }
}

#[test]
fn functions() {
    const HIDDEN: Function = Function { bus: 2, device: 0, function: 0 };
    const SEEN: Function = Function { bus: 0, device: 1, function: 0 };
    let mut bus = bus();
    assert!(bus.pci.hide(HIDDEN));
    let writes = |bus: &Bus, mut function: One, register, value| {
        bus.pci.allows(&mut function, &High, Change { function: SEEN, register, width: 4, value })
    };
    let mut data = |address| {
        bus.write_port(at(0xcf8, 4), address);
        bus.read_port(at(0xcfc, 4))
    };
    let (absent, there) = (Answer::Value(ones(4)), SEEN.address(0));
    assert_eq!(data(there), Answer::Config { address: there, port: 0xcfc });
    assert_eq!((data(HIDDEN.address(0)), data(there | 1 << 24)), (absent, absent));
    assert!(writes(&bus, One(0, 0x0200, 0x8086), 0x40, 0) && writes(&bus, One(0, 0x0c05, 0x8086), 0x40, 0));
    assert!(writes(&bus, One(0, 0x0200, 0x8086), 0x10, 0xe010_0000));
    for line in FUNCTIONS {
        let function = match line.what {
            Functions::Hidden | Functions::Extended => {
                assert_eq!(line.then, Then::Absent, "as above");
                continue;
            }
            Functions::Numbers => {
                let mut beside = self::bus();
                assert!(beside.pci.hide(Function { bus: 4, ..HIDDEN }));
                for (numbers, free) in [(0x00_0400, false), (0x05_0300, false), (0x04_0300, false), (0x06_0500, true)] {
                    assert_eq!(writes(&beside, One(1, 0x0604, 0x8086), 0x18, numbers), free, "{numbers:#x}");
                }
                continue;
            }
            Functions::Legacy => {
                assert!(!writes(&bus, One(0, 0x0101, 0x8086), 8, 0x0101_0000));
                continue;
            }
            Functions::Places => {
                assert!(!writes(&bus, One(0, 0x0200, 0x8086), 0x10, 0xf010_0000));
                continue;
            }
            Functions::AboveHidden => One(1, 0x0604, 0x8086),
            Functions::Header => One(2, 0x0607, 0x8086),
            Functions::Class(class) => One(0, class << 8 | 1, 0x8086),
            Functions::Subclass(class) => One(0, class, 0x8086),
            Functions::SubclassOfAmd(class) => One(0, class, 0x1022),
        };
        assert_eq!((line.then, writes(&bus, function, 0x40, 0)), (Then::ReadOnly, false), "{:?}", line.what);
    }
}

/// On a machine in which every bit is set.
#[test]
fn leaves() {
    let host = |leaf: u32, _| if leaf & 0xffff == 0 { [leaf | 0x30; 4] } else { [u32::MAX; 4] };
    let context = Context::from_host(0, Topology::new(0, &[0]), host);
    let ask = |leaf| cpuid([u32::MAX; 4], leaf, 0, &context);
    for line in LEAVES {
        for Bits { leaf, bits } in line.what {
            let left = core::array::from_fn::<u32, 4, _>(|i| ask(*leaf)[i] & bits[i]);
            assert_eq!(left, [0; 4], "{leaf:#x} {bits:x?}");
        }
    }
    // Leaves that describe caches, topology, state and frequencies report no features.
    let described = |leaf| matches!(leaf, 0 | 4 | 0xb | 0xd | 0x15 | 0x8000_0000 | 0x8000_001d);
    for leaf in (0..=0x14).chain(0x8000_0000..=0x8000_0021).filter(|leaf| !described(*leaf)) {
        let lost = ask(leaf).map(|word| !word);
        // Neither do brand and APIC ID, nor the number of subleaves.
        let beside: Words = match leaf {
            1 => [0, !0, 0, 0],
            7 => [!0, 0, 0, 0],
            _ => [0; 4],
        };
        let table = withheld::bits(leaf);
        let missing: Words = core::array::from_fn(|i| lost[i] & !table[i] & !beside[i]);
        // Leaves that no manual documents are all zeros.
        assert!(missing == [0; 4] || ask(leaf) == [0; 4] && table == [0; 4], "{leaf:#x}: {missing:x?}");
    }
}

#[test]
fn the_document_is_the_table() {
    let document = include_str!("../../../docs/withheld.md");
    let tables = [
        show("ports", &PORTS, |ports| match ports {
            Ports::At(first, count) => span((*first).into(), u64::from(first + count - 1)),
            Ports::RealTime => "those of tasks and of the kernel".into(),
            Ports::Command => "the FADT's firmware command port, and the next one".into(),
            Ports::Management => "those of the 128 around the FADT's PM1a events that it does not name".into(),
            Ports::Control => "the FADT's PM1 control registers".into(),
            Ports::Reset => "the FADT's reset register".into(),
        }),
        show("registers", &REGISTERS, |registers: &Registers| match registers {
            [] => "all others that are not Linux's own".into(),
            some => join(", ", some.iter().map(|(first, last)| span((*first).into(), (*last).into()))),
        }),
        show("memory", &MEMORY, |memory| match memory {
            Memory::At(base, size) => span(*base, base + size - 1),
            Memory::IoApics => "the I/O APICs".into(),
            Memory::Named => "HPETs, IOMMUs and windows of configuration space that a table names".into(),
            Memory::RealTime => "the real-time side's".into(),
        }),
        show("PCI functions", &FUNCTIONS, |functions| match functions {
            Functions::Hidden => "those of tasks, and IOMMUs that a table names".into(),
            Functions::AboveHidden => "bridges on the way to them".into(),
            Functions::Header => "headers that are neither a device's nor a bridge's".into(),
            Functions::Class(class) => format!("devices of class {class:02x}"),
            Functions::Subclass(class) => format!("class {class:04x}"),
            Functions::SubclassOfAmd(class) => format!("class {class:04x} of AMD"),
            Functions::Extended => "registers from 256 on, of all functions".into(),
            Functions::Numbers => "bus numbers of all other bridges".into(),
            Functions::Places => "base addresses and windows, of all other functions".into(),
            Functions::Legacy => {
                "VGA and IDE at the ports and the memory that PCs always had for them, and bridges that forward those \
                 of VGA"
                    .into()
            }
        }),
        show("leaves of CPUID", &LEAVES, |leaves| join("; ", leaves.iter().map(leaf))),
        show("ACPI tables", &TABLES, |name| String::from_utf8_lossy(name).into_owned()),
    ];
    for table in &tables {
        assert!(document.contains(table.as_str()), "docs/withheld.md is to have this, and has not:\n\n{table}");
    }
    let lines = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
    let known: usize = tables.iter().map(|table| lines(table)).sum();
    assert_eq!(lines(document), known, "docs/withheld.md has lines of tables that are not here");
}

fn show<T>(title: &str, lines: &[Withheld<T>], name: impl Fn(&T) -> String) -> String {
    let mut table = format!("| {title} | then | why |\n|---|---|---|\n");
    for line in lines {
        let then = match line.then {
            Then::Absent => "absent",
            Then::Zero => "zero",
            Then::ReadOnly => "read-only",
            Then::Fixed => "fixed",
            Then::Kept => "kept",
            Then::Refused => "refused",
            Then::Modelled(how) => how,
        };
        table += &format!("| {} | {then} | {} |\n", name(&line.what), line.why);
    }
    table
}

fn span(first: u64, last: u64) -> String {
    if first == last { format!("{first:#x}") } else { format!("{first:#x} to {last:#x}") }
}

fn join(between: &str, parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(between)
}

/// A leaf with its bits, or, if most are withheld, with those that are left.
fn leaf(bits: &Bits) -> String {
    let most = bits.bits.iter().map(|word| word.count_ones()).sum::<u32>() > 64;
    let named = bits.bits.map(|word| if most { !word } else { word });
    let word = |(name, word): (&str, u32)| match word {
        0 => None,
        u32::MAX => Some(name.into()),
        _ => Some(format!("{name} {}", join(", ", (0..32).filter(|i| word >> i & 1 != 0).map(|i| i.to_string())))),
    };
    let words: Vec<String> = ["eax", "ebx", "ecx", "edx"].into_iter().zip(named).filter_map(word).collect();
    let but = if !most {
        " "
    } else if words.is_empty() {
        ""
    } else {
        " but "
    };
    format!("{:#x}{but}{}", bits.leaf, words.join(" "))
}
