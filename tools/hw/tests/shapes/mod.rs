//! Machines of different makers' shapes, written by the specifications: ACPI 6.4, 5.2; VT-d 4.0,
//! 8.1; AMD's IOMMU (48882), 5.2.2; CPUID by AMD's and Intel's manuals.

#![allow(dead_code, reason = "each test program uses its part")]

use pillion_hw::files::{Files, name};
use std::fmt::Write as _;

/// A machine to be described.
#[derive(Clone, Default)]
pub struct Shape(pub Files);

/// A table with its header, checksum right.
pub fn table(signature: &[u8; 4], revision: u8, body: &[u8]) -> Vec<u8> {
    let mut table = Vec::from(*signature);
    table.extend((36 + body.len() as u32).to_le_bytes());
    table.extend([revision, 0]);
    table.extend(b"VENDOR");
    table.extend(b"A SHAPE ");
    table.extend(1_u32.to_le_bytes());
    table.extend(b"TEST");
    table.extend(1_u32.to_le_bytes());
    table.extend(body);
    let sum = table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    table[9] = 0_u8.wrapping_sub(sum);
    table
}

/// Entries of a MADT.
pub mod madt {
    pub fn processor(id: u8, enabled: bool) -> Vec<u8> {
        [vec![0, 8, id, id], u32::from(enabled).to_le_bytes().to_vec()].concat()
    }

    pub fn x2apic(id: u32, enabled: bool) -> Vec<u8> {
        [
            vec![9, 16, 0, 0],
            id.to_le_bytes().to_vec(),
            u32::from(enabled).to_le_bytes().to_vec(),
            id.to_le_bytes().to_vec(),
        ]
        .concat()
    }

    pub fn io_apic(id: u8, address: u32, first: u32) -> Vec<u8> {
        [vec![1, 12, id, 0], address.to_le_bytes().to_vec(), first.to_le_bytes().to_vec()].concat()
    }

    pub fn overridden(isa: u8, line: u32, flags: u16) -> Vec<u8> {
        [vec![2, 10, 0, isa], line.to_le_bytes().to_vec(), flags.to_le_bytes().to_vec()].concat()
    }

    /// LINT1 of all is the NMI.
    pub fn nmi() -> Vec<u8> {
        vec![4, 6, 0xff, 5, 0, 1]
    }
}

/// Where the reset register is.
#[derive(Clone, Copy)]
pub enum Reset {
    None,
    Port(u16),
    Memory(u64),
}

/// What varies among FADTs.
#[derive(Clone, Copy)]
pub struct Fadt {
    pub revision: u8,
    pub length: usize,
    pub command: u16,
    pub power_base: u16,
    pub timer: u16,
    pub legacy: bool,
    pub reset: Reset,
}

pub const PC: Fadt = Fadt {
    revision: 6,
    length: 276,
    command: 0xb2,
    power_base: 0x800,
    timer: 0x808,
    legacy: true,
    reset: Reset::Port(0xcf9),
};

impl Fadt {
    pub fn table(self) -> Vec<u8> {
        let mut all = vec![0; self.length];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(to) = all.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        };
        let port = |port: u16| u32::from(port).to_le_bytes();
        put(46, &9_u16.to_le_bytes());
        put(48, &port(self.command));
        put(52, &[0xa0, 0xa1]);
        put(56, &port(self.power_base));
        put(64, &port(if self.power_base == 0 { 0 } else { self.power_base + 4 }));
        put(76, &port(self.timer));
        put(88, &[4, 2, 0, if self.timer == 0 { 0 } else { 4 }]);
        put(96, &[101, 0, 0xe9, 3]);
        put(109, &u16::from(self.legacy).to_le_bytes());
        let (space, address) = match self.reset {
            Reset::None => (0, 0),
            Reset::Port(port) => (1, u64::from(port)),
            Reset::Memory(address) => (0, address),
        };
        let supported = u32::from(!matches!(self.reset, Reset::None)) << 10;
        put(112, &(0xa5 | supported).to_le_bytes());
        put(116, &[space, 8, 0, 1]);
        put(120, &address.to_le_bytes());
        put(128, &[6]);
        table(b"FACP", self.revision, &all[36..])
    }
}

/// CPUID of a processor with all that Pillion uses, of AMD.
pub const ZEN: &[(u32, [u32; 4])] = &[
    (0, [0xd, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
    (1, [0x0080_0f12, 0x0010_0800, 0x7ef8_320b, 0x178b_fbff]),
    (6, [4, 0, 0, 0]),
    (7, [0, 0x209c_01a9, 4, 0]),
    (0x8000_0000, [0x8000_001f, 0, 0, 0]),
    (0x8000_0001, [0x0080_0f12, 0, 0x35c2_33ff, 0x2fd3_fbff]),
    (0x8000_0007, [0, 0, 0, 0x6799]),
    (0x8000_0008, [0x3030, 0x1007, 0x501f, 0]),
    (0x8000_000a, [1, 0x8000, 0, 0x1_bcff]),
];

/// The same of Intel, with VMX and a known frequency.
pub const SKYLAKE: &[(u32, [u32; 4])] = &[
    (0, [0x16, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]),
    (1, [0x0005_06e3, 0x0010_0800, 0x7ffa_fbff, 0xbfeb_fbff]),
    (6, [0x77, 2, 9, 0]),
    (7, [0, 0x029c_6fbf, 4, 0]),
    (0x15, [2, 284, 24_000_000, 0]),
    (0x8000_0000, [0x8000_0008, 0, 0, 0]),
    (0x8000_0001, [0, 0, 0x121, 0x2c10_0800]),
    (0x8000_0007, [0, 0, 0, 0x100]),
    (0x8000_0008, [0x3027, 0, 0, 0]),
];

impl Shape {
    pub fn cpuid(mut self, base: &[(u32, [u32; 4])], changes: &[(u32, [u32; 4])]) -> Self {
        let mut text = String::from("CPU 0:\n");
        for (leaf, [a, b, c, d]) in changes.iter().chain(base) {
            writeln!(text, "   {leaf:#010x} 0x00: eax={a:#010x} ebx={b:#010x} ecx={c:#010x} edx={d:#010x}").unwrap();
        }
        self.0.put(name::CPUID, text);
        self
    }

    pub fn registers(mut self, text: &str) -> Self {
        self.0.put(name::REGISTERS, text);
        self
    }

    pub fn table(mut self, name: &str, table: Vec<u8>) -> Self {
        self.0.say(name::TABLE_NAMES, name);
        self.0.put(format!("acpi/{name}"), table);
        self
    }

    /// A table that is known by its name only.
    pub fn named(mut self, name: &str) -> Self {
        self.0.say(name::TABLE_NAMES, name);
        self
    }

    pub fn madt(self, entries: &[Vec<u8>]) -> Self {
        let body = [0xfee0_0000_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
        self.table("APIC", table(b"APIC", 5, &[body, entries.concat()].concat()))
    }

    pub fn fadt(self, fadt: Fadt) -> Self {
        self.table("FACP", fadt.table())
    }

    pub fn mcfg(self, base: u64) -> Self {
        self.table(
            "MCFG",
            table(b"MCFG", 1, &[&[0; 8][..], &base.to_le_bytes(), &[0, 0, 0, 0xff, 0, 0, 0, 0]].concat()),
        )
    }

    pub fn hpet(self) -> Self {
        let body =
            [&0x8086_a201_u32.to_le_bytes()[..], &[0, 64, 0, 0], &0xfed0_0000_u64.to_le_bytes(), &[0, 0x80, 0, 0]];
        self.table("HPET", table(b"HPET", 1, &body.concat()))
    }

    /// AMD's IOMMUs: blocks of each kind for each.
    pub fn ivrs(self, bases: &[u64]) -> Self {
        let mut body = vec![0; 12];
        for base in bases {
            for (kind, length) in [(0x10, 24_u16), (0x11, 40)] {
                let mut block = vec![0; length.into()];
                block[0] = kind;
                block[2..4].copy_from_slice(&length.to_le_bytes());
                block[4..6].copy_from_slice(&2_u16.to_le_bytes());
                block[8..16].copy_from_slice(&base.to_le_bytes());
                body.extend(block);
            }
        }
        self.table("IVRS", table(b"IVRS", 2, &body))
    }

    /// Intel's IOMMU, and whether the firmware asks for protection.
    pub fn dmar(self, bases: &[u64], opt_in: bool) -> Self {
        let mut body = vec![38, if opt_in { 5 } else { 1 }];
        body.extend([0; 10]);
        for base in bases {
            body.extend([0, 0, 16, 0, 1, 0, 0, 0]);
            body.extend(base.to_le_bytes());
        }
        self.table("DMAR", table(b"DMAR", 1, &body))
    }

    pub fn memory(mut self, ranges: &[(u64, u64, &str)]) -> Self {
        let lines = ranges.iter().map(|(base, end, kind)| format!("{base:#x} {:#x} {kind}\n", end - 1));
        self.0.put(name::MEMORY, lines.collect::<String>());
        self
    }

    pub fn uarts(mut self, ports: &[u64]) -> Self {
        let line = |port: &u64| format!("{port:#X} {}\n", 4);
        self.0.put(name::UARTS, ports.iter().map(line).collect::<String>() + "0x3E8 0\n");
        self
    }

    pub fn firmware(mut self, text: &str) -> Self {
        self.0.put(name::FIRMWARE, text);
        self
    }

    pub fn stolen(mut self, gaps: u32, counted: Option<u32>) -> Self {
        let counted = counted.map_or(String::new(), |count| format!("counted {count}\n"));
        self.0.put(name::STOLEN, format!("looked_us 800000\ngaps {gaps}\nlongest_ns {}\n{counted}", gaps * 9000));
        self
    }

    pub fn functions(mut self, text: &str) -> Self {
        self.0.put(name::FUNCTIONS, text);
        self
    }
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const RAM: &str = "System RAM";

/// The map of a PC with so much memory below and above 4 GiB.
pub fn pc_map(low: u64, high: u64) -> Vec<(u64, u64, &'static str)> {
    let mut map = vec![
        (0, 0x9_fc00, RAM),
        (0x9_fc00, MIB, "Reserved"),
        (MIB, low - 4 * MIB, RAM),
        (low - 4 * MIB, low - 2 * MIB, "ACPI Tables"),
        (low - 2 * MIB, low, "ACPI Non-volatile Storage"),
        (0xe000_0000, 0xf000_0000, "Reserved"),
    ];
    if high != 0 {
        map.push((4 * GIB, 4 * GIB + high, RAM));
    }
    map
}

fn processors(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|id| madt::processor(id, true)).collect()
}

const IO_APIC: u32 = 0xfec0_0000;

/// A desktop with an AMD processor: two I/O APICs, IOMMU, HPET, a serial port, processors that are
/// named but not there.
pub fn desktop() -> Shape {
    let mut entries = processors(16);
    entries.extend((16..32).map(|id| madt::processor(id, false)));
    entries.extend([madt::io_apic(17, IO_APIC, 0), madt::io_apic(18, IO_APIC + 0x1000, 24)]);
    entries.extend([madt::overridden(0, 2, 0), madt::overridden(9, 9, 0xf), madt::nmi()]);
    Shape::default()
        .cpuid(ZEN, &[])
        .registers("0x1b 0xfee00900\n0xc0010114 0x0\n")
        .madt(&entries)
        .fadt(PC)
        .mcfg(0xf000_0000)
        .hpet()
        .ivrs(&[0xfeb8_0000])
        .memory(&pc_map(3 * GIB, 29 * GIB))
        .uarts(&[0x3f8])
        .firmware("boot bios\nkvm yes\n")
        .functions("0000:00:00.0 0x1022 0x1450 0x060000 0x80\n0000:00:14.0 0x1022 0x790b 0x0c0500 0x80\n0000:01:00.0 0x1002 0x67df 0x030000 0x80\n")
        .stolen(0, None)
}

/// A server with two AMD processors: x2APIC numbers of 255 and above, disabled entries among them,
/// five I/O APICs, IOMMUs of which one is above 4 GiB, memory with holes, a management controller's
/// serial port.
pub fn server() -> Shape {
    let mut entries: Vec<_> = (0..4).map(|id| madt::processor(id, true)).collect();
    entries.extend((0..4).map(|id| madt::x2apic(id, true)));
    entries.extend((254..260).map(|id| madt::x2apic(id, id != 257)));
    let first = [0, 24, 56, 88, 120];
    entries.extend((0..5).map(|i| madt::io_apic(240 + i, IO_APIC + 0x10_0000 * u32::from(i), first[usize::from(i)])));
    let mut map = pc_map(2 * GIB, 998 * GIB);
    map.extend([(0xfd_0000_0000, 0x100_0000_0000, "Reserved"), (0x100_0000_0000, 0x110_0000_0000, RAM)]);
    map.push((0x8000_0000_0000, 0x8000_4000_0000, RAM));
    Shape::default()
        .cpuid(ZEN, &[])
        .registers("0xc0010114 0x8\n")
        .madt(&entries)
        .fadt(PC)
        .mcfg(0xe000_0000)
        .hpet()
        .ivrs(&[0xf3f0_0000, 0xe710_0000, 0x20_f000_0000])
        .table(
            "SPCR",
            table(b"SPCR", 2, &[&[0, 0, 0, 0, 1, 8, 0, 1, 0xf8, 2, 0, 0, 0, 0, 0, 0][..], &[0; 28]].concat()),
        )
        .memory(&map)
        .uarts(&[0x3f8, 0x2f8])
        .firmware("boot bios\nkvm no\n")
        .stolen(0, None)
}

/// A laptop: UEFI with secure boot, no serial port, virtualisation switched off, ten processors in
/// x2APIC entries only.
pub fn laptop() -> Shape {
    let entries: Vec<_> = (0..8).map(|id| madt::x2apic(id, true)).chain([madt::io_apic(1, IO_APIC, 0)]).collect();
    Shape::default()
        .cpuid(ZEN, &[])
        .registers("0xc0010114 0x18\n")
        .madt(&entries)
        .fadt(PC)
        .mcfg(0xe000_0000)
        .named("MSDM")
        .named("IVRS")
        .memory(&pc_map(3 * GIB, 12 * GIB))
        .uarts(&[])
        .firmware("boot uefi\nsecure-boot on\nkvm no\n")
        .stolen(3, None)
}

/// A desktop with an Intel processor: VMX, IOMMU with protection at boot, counted SMIs.
pub fn intel() -> Shape {
    let entries = [processors(8), vec![madt::io_apic(2, IO_APIC, 0)]].concat();
    Shape::default()
        .cpuid(SKYLAKE, &[])
        .registers(
            "0x1b 0xfee00900\n0x3a 0x5\n0x480 0xda040000000004\n0x481 0x7f00000016\n0x482 0xfff9fffe0401e172\n\
             0x48b 0x5fbcff00000000\n0x48c 0xf0106734141\n0x48d 0x7f00000016\n0x48e 0xfff9fffe04006172\n",
        )
        .madt(&entries)
        .fadt(Fadt { power_base: 0x1800, timer: 0x1808, ..PC })
        .mcfg(0xe000_0000)
        .hpet()
        .dmar(&[0xfed9_0000, 0xfed9_1000], true)
        .memory(&pc_map(2 * GIB, 14 * GIB))
        .uarts(&[0x3f8])
        .firmware("boot bios\nkvm yes\n")
        .stolen(2, Some(2))
}

/// A small computer without what old PCs had: no serial port, no ACPI timer, no HPET; it is reset
/// through memory.
pub fn legacy_free() -> Shape {
    let entries = [processors(4), vec![madt::io_apic(1, IO_APIC, 0)]].concat();
    let fadt = Fadt { power_base: 0, timer: 0, command: 0, legacy: false, reset: Reset::Memory(0xfed8_0cf9), ..PC };
    Shape::default()
        .cpuid(ZEN, &[])
        .registers("0xc0010114 0x0\n")
        .madt(&entries)
        .fadt(fadt)
        .mcfg(0xe000_0000)
        .memory(&pc_map(3 * GIB, 0))
        .uarts(&[])
        .firmware("boot bios\nkvm yes\n")
        .stolen(0, None)
}

/// A server of 2009: FADT of ACPI 1.0, without reset register; no FSGSBASE, no x2APIC, no ARAT.
pub fn old_server() -> Shape {
    let entries = [processors(6), vec![madt::io_apic(6, IO_APIC, 0), madt::io_apic(7, 0xfec8_0000, 24)]].concat();
    let changes = [
        (0, [5, 0x6874_7541, 0x444d_4163, 0x6974_6e65]),
        (1, [0x0010_0f91, 0x0006_0800, 0x0080_2009, 0x178b_fbff]),
        (0x8000_0000, [0x8000_001b, 0, 0, 0]),
        (0x8000_0001, [0x0010_0f91, 0, 0x37ff, 0xefd3_fbff]),
        (0x8000_000a, [1, 64, 0, 0xf]),
    ];
    Shape::default()
        .cpuid(ZEN, &changes)
        .registers("0xc0010114 0x0\n")
        .madt(&entries)
        .fadt(Fadt { revision: 1, length: 116, reset: Reset::None, ..PC })
        .hpet()
        .memory(&pc_map(2 * GIB, 6 * GIB))
        .uarts(&[0x2f8])
        .firmware("boot bios\nkvm yes\n")
        .stolen(0, None)
}

/// A virtual machine whose hypervisor offers SVM and tells the frequency.
pub fn virtual_with_svm() -> Shape {
    let entries = [processors(2), vec![madt::io_apic(0, IO_APIC, 0)]].concat();
    let changes = [
        (1, [0x0080_0f12, 0x0010_0800, 0xfef8_320b, 0x178b_fbff]),
        (0x4000_0000, [0x4000_0010, 0x4b4d_564b, 0x564b_4d56, 0x4d]),
        (0x4000_0010, [2_400_000, 1_000_000, 0, 0]),
        (0x8000_0007, [0, 0, 0, 0]),
    ];
    Shape::default()
        .cpuid(ZEN, &changes)
        .registers("0xc0010114 0x0\n")
        .madt(&entries)
        .fadt(Fadt { revision: 3, length: 244, power_base: 0x600, timer: 0x608, ..PC })
        .mcfg(0xb000_0000)
        .hpet()
        .memory(&pc_map(2 * GIB, 2 * GIB))
        .uarts(&[0x3f8, 0x2f8])
        .firmware("boot bios\nkvm yes\n")
        .stolen(7, None)
}

/// A virtual machine in a cloud: no SVM for its guests.
pub fn virtual_without_svm() -> Shape {
    let (leaf, [a, b, c, d]) = ZEN[5];
    let machine = virtual_with_svm();
    let hypervisor = (1, [0x0080_0f12, 0x0010_0800, 0xfef8_320b, 0x178b_fbff]);
    machine.cpuid(ZEN, &[hypervisor, (leaf, [a, b, c & !4, d])])
}

/// Firmware with damaged tables: a wrong checksum, a length beyond the end, an entry of length 0.
pub fn damaged() -> Shape {
    let mut machine = desktop();
    let mut madt = table(b"APIC", 5, &[&[0; 8][..], &[0, 0, 0, 0], &madt::io_apic(1, IO_APIC, 0)].concat());
    madt[40] ^= 1;
    let mut mcfg = table(b"MCFG", 1, &[0; 24]);
    mcfg[4] = 0xff;
    machine.0.put("acpi/APIC", madt);
    machine.0.put("acpi/MCFG", mcfg);
    machine
}

/// A machine with a hole where the kernel is loaded, no memory below 640 KiB and a long map.
pub fn torn() -> Shape {
    let mut map = vec![(MIB, 4 * MIB, RAM), (4 * MIB, 5 * MIB, "Reserved"), (5 * MIB, GIB, RAM)];
    map.extend((0..600).map(|i| (2 * GIB + i * 0x2000, 2 * GIB + i * 0x2000 + 0x1000, RAM)));
    desktop().memory(&map)
}

/// A machine whose firmware switched NX off.
pub fn without_nx() -> Shape {
    let (leaf, [a, b, c, d]) = ZEN[5];
    desktop().cpuid(ZEN, &[(leaf, [a, b, c, d & !(1 << 20)])])
}

/// What a user who is not root gets: no tables but their names, no registers.
pub fn not_root() -> Shape {
    let mut machine = Shape::default()
        .cpuid(ZEN, &[])
        .memory(&pc_map(3 * GIB, 5 * GIB))
        .uarts(&[0x3f8])
        .firmware("boot bios\nkvm no\n")
        .stolen(0, None);
    for table in ["APIC", "DSDT", "FACP", "HPET", "IVRS", "MCFG"] {
        machine = machine.named(table);
    }
    machine.0.say(name::NOT_READ, "acpi: needs root");
    machine.0.say(name::NOT_READ, "msr: needs root, and `modprobe msr`");
    machine
}

/// All of them.
pub fn all() -> Vec<(&'static str, Shape)> {
    vec![
        ("desktop", desktop()),
        ("server", server()),
        ("laptop", laptop()),
        ("intel", intel()),
        ("legacy-free", legacy_free()),
        ("old-server", old_server()),
        ("virtual-with-svm", virtual_with_svm()),
        ("virtual-without-svm", virtual_without_svm()),
        ("damaged", damaged()),
        ("torn", torn()),
        ("without-nx", without_nx()),
        ("not-root", not_root()),
    ]
}
