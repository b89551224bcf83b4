//! What of the machine Linux may not touch, what it finds instead, and why, in one table.
//!
//! Made from these lines are: fixed ports that are absent, registers that read zero or lose writes,
//! bits of CPUID, PCI functions that are read-only by their kind, and the ACPI tables that the
//! copies leave out. The other lines state what a model or the kernel decides.
//!
//! `tests/withheld.rs` tries what it can on the models and on the kernel's memory map, looks for
//! ports, registers, memory and bits of CPUID that are withheld without a line, and checks
//! `docs/withheld.md` against the table. The other tests there are of the models themselves.

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Withheld<T> {
    /// What Linux may not touch.
    pub what: T,
    /// What happens if it does.
    pub then: Then,
    /// Why.
    pub why: &'static str,
}

/// What happens when Linux accesses something withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// As if nothing were there: a read returns ones, a write is lost.
    Absent,
    /// A read returns zeros, a write is lost.
    Zero,
    /// It can be read; a write is lost.
    ReadOnly,
    /// It can be read; a write is refused.
    Fixed,
    /// What Linux writes is stored and read back, except bits that are always set; the machine's
    /// register is not changed.
    Kept,
    /// The access is refused with a general-protection fault.
    Refused,
    /// A model does what is described.
    Modelled(&'static str),
}

use Then::{Absent, Fixed, Kept, Modelled, ReadOnly, Refused, Zero};

const fn line<T: Copy>(what: T, then: Then, why: &'static str) -> Withheld<T> {
    Withheld { what, then, why }
}

/// Ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// On every PC: first port and count.
    At(u16, u16),
    /// Those of tasks and the kernel.
    RealTime,
    /// The FADT's port for commands to the firmware, and the next port.
    Command,
    /// All of the 128 ports around the FADT's PM1a events that the FADT does not name.
    Management,
    /// The FADT's PM1 control registers.
    Control,
    /// The FADT's reset register.
    Reset,
}

/// Ports that Linux may not touch.
pub const PORTS: [Withheld<Ports>; 19] = [
    line(Ports::RealTime, Absent, "they drive tasks' devices, the log, and the masked 8259s"),
    line(
        Ports::At(0xcf8, 8),
        Modelled("configuration space, as the table of PCI functions says"),
        "tasks' functions can be found and moved there",
    ),
    line(Ports::At(0xe9, 1), Modelled("bytes become notes in the log"), "the log belongs to the monitor"),
    line(
        Ports::At(0x60, 1),
        Modelled("the keyboard; a reset by the controller's output port ends Linux"),
        "the output port can reset the processor and disable address line 20",
    ),
    line(
        Ports::At(0x64, 1),
        Modelled("keyboard and mouse commands only; a reset ends Linux"),
        "commands can reset the processor and disable address line 20",
    ),
    line(
        Ports::At(0x92, 1),
        Modelled("a copy; a reset ends Linux"),
        "can reset the processor and disable address line 20",
    ),
    line(Ports::At(0xcf9, 1), Modelled("a copy; a reset ends Linux"), "resets the machine"),
    line(
        Ports::Reset,
        Modelled("the reset ends Linux; else as if nothing were there, or as another line says"),
        "resets the machine; only the firmware knows what other values do",
    ),
    line(
        Ports::Control,
        Modelled("sleep ends Linux; SCI_EN stays on, GBL_RLS off"),
        "the machine sleeps, or the firmware gets a system management interrupt",
    ),
    line(
        Ports::Management,
        Absent,
        "chipset registers for sleep, throttling, SMI enable and watchdog: nobody knows what all of them do",
    ),
    line(Ports::Command, Absent, "a system management interrupt can take arbitrarily long"),
    line(Ports::At(0xb2, 2), Absent, "firmware commands at their usual ports, as above"),
    line(
        Ports::At(0x2e, 2),
        Absent,
        "Super I/O: can move the log's serial port, and has a watchdog that resets the machine",
    ),
    line(Ports::At(0x4e, 2), Absent, "Super I/O at its other address"),
    line(Ports::At(0xe4, 3), Absent, "IPMI by block transfer: the board's controller can switch the machine off"),
    line(Ports::At(0xca2, 2), Absent, "IPMI, keyboard-controller style"),
    line(Ports::At(0xcd0, 2), Absent, "AMD chipset: power management, second index"),
    line(
        Ports::At(0xcd4, 4),
        Absent,
        "AMD chipset: power management, both indices; resets, SMI, watchdog, register addresses",
    ),
    line(Ports::At(0xc50, 3), Absent, "AMD chipset: general-purpose lines, SMI"),
];

/// First and count of the ports that are absent on every PC. Each access that exits checks them.
pub const ABSENT_PORTS: [(u32, u32); 8] = {
    let (mut absent, mut count, mut i) = ([(0, 0); 8], 0, 0);
    while i < PORTS.len() {
        if let Withheld { what: Ports::At(first, number), then: Absent, .. } = PORTS[i] {
            absent[count] = (first as u32, number as u32);
            count += 1;
        }
        i += 1;
    }
    assert!(count == absent.len());
    absent
};

/// Model-specific registers, first and last number. An empty list is all that no line names.
pub type Registers = &'static [(u32, u32)];

const fn msr(number: u32) -> (u32, u32) {
    (number, number)
}

/// Model-specific registers of the machine that Linux may not touch. The kernel handles those that
/// are Linux's: EFER, PAT, TSC_AUX, SYSENTER's and SYSCALL's, the bases of segments.
pub const REGISTERS: [Withheld<Registers>; 18] = [
    line(
        &[msr(0x1b), msr(0x6e0), (0x800, 0x8ff)],
        Modelled("a virtual local APIC"),
        "the machine's local APIC delivers the tasks' interrupts and has their timer",
    ),
    line(&[msr(0x10)], ReadOnly, "tasks use the same clock"),
    line(&[msr(0x17), msr(0x3a)], Fixed, "processor features: locked, with none enabled"),
    line(&[msr(0x8b)], Zero, "which microcode the processor has is the machine's matter"),
    line(&[msr(0x79), msr(0xc001_0020)], Modelled("a read is refused, a write is lost"), "they load microcode"),
    line(
        &[msr(0x1a0), msr(0xc001_0015), msr(0xc001_001f), msr(0xc001_1029)],
        Kept,
        "features of the processor, on which tasks run too",
    ),
    line(&[msr(0x1d9), (0x1db, 0x1de)], Zero, "debugging and last branches: not switched"),
    line(&[msr(0x179)], Fixed, "machine checks are the kernel's; Linux has one bank that never reports anything"),
    line(&[msr(0x17a), (0x400, 0x403)], Zero, "machine checks are the kernel's"),
    line(&[msr(0xfe)], Fixed, "memory types are the processor's"),
    line(
        &[(0x200, 0x20f), msr(0x250), (0x258, 0x259), (0x268, 0x26f), msr(0x2ff)],
        ReadOnly,
        "memory types apply to tasks too",
    ),
    line(
        &[msr(0xc001_0010), msr(0xc001_001a), msr(0xc001_001d)],
        ReadOnly,
        "the end of memory, and its encryption, are the machine's",
    ),
    line(&[msr(0xc001_0114)], ReadOnly, "virtualisation is the kernel's: for Linux it is off and locked"),
    line(&[msr(0xda0)], Modelled("zero, and nothing else can be written"), "supervisor state is not switched"),
    line(
        &[msr(0x12), msr(0x4b56_4d01)],
        Modelled("a read is refused, and so is a write that switches it on"),
        "KVM's clock, which does not exist here: older versions of Linux switch it off anyway",
    ),
    line(
        &[
            msr(0xc001_0055),
            msr(0xc001_0058),
            (0xc001_0140, 0xc001_0141),
            (0xc001_1004, 0xc001_1005),
            msr(0xc001_100c),
            (0xc001_1021, 0xc001_1023),
            (0xc001_102a, 0xc001_102b),
        ],
        Zero,
        "pending messages, the window of configuration space, errata, CPUID bits, node, caches: \
         on some processors Linux reads them without handling a fault",
    ),
    line(&[msr(0xc001_1020)], Refused, "LS_CFG: Linux would believe that it can disable speculative stores with it"),
    line(
        &[],
        Refused,
        "counters, other machine-check banks, speculation control, P-states, ...: \
         features that CPUID does not report",
    ),
];

/// Whether a register reads zero.
#[must_use]
pub fn is_zero(register: u32) -> bool {
    is_listed(register, &[Zero])
}

/// Whether writes to a register are lost.
#[must_use]
pub fn ignores_writes(register: u32) -> bool {
    is_listed(register, &[Zero, ReadOnly])
}

fn is_listed(register: u32, then: &[Then]) -> bool {
    let mut ranges = REGISTERS.iter().filter(|line| then.contains(&line.then)).flat_map(|line| line.what);
    ranges.any(|(first, last)| (*first..=*last).contains(&register))
}

/// Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// At its usual address: first byte and size. The kernel gives it to no task.
    At(u64, u64),
    /// The I/O APICs.
    IoApics,
    /// Registers that ACPI tables name.
    Named,
    /// What belongs to the real-time side.
    RealTime,
}

/// Memory that Linux may not touch. None of it is mapped in the guest.
pub const MEMORY: [Withheld<Memory>; 8] = [
    line(
        Memory::RealTime,
        Absent,
        "kernel, bundle, tasks and their PCI functions, and RAM that the system file gives to nobody",
    ),
    line(
        Memory::IoApics,
        Modelled("models, in which tasks' lines stay masked; I/O APICs with lines above 63 are absent"),
        "they deliver tasks' lines, and can send the processor any message",
    ),
    line(
        Memory::Named,
        Absent,
        "HPETs can write to any address, IOMMUs can hold up interrupts, configuration space can move devices",
    ),
    line(
        Memory::At(0xfee0_0000, 1 << 20),
        Modelled("a virtual local APIC in the first page if Linux left x2APIC mode; else absent"),
        "the local APIC, and interrupt messages of any vector and kind",
    ),
    line(Memory::At(0xfed0_0000, 0x4000), Absent, "HPET: its timers can write to any address"),
    line(Memory::At(0xfed1_c000, 0x4000), Absent, "ICH: the chipset's registers"),
    line(Memory::At(0xfed8_0000, 0x1000), Absent, "AMD chipset: SMI, power management, watchdog, board control"),
    line(
        Memory::At(0xfd_0000_0000, 12 << 30),
        Absent,
        "HyperTransport: interrupts, system management messages, the processor's own pins",
    ),
];

/// PCI functions, or parts of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Functions {
    /// Functions of tasks, and IOMMUs.
    Hidden,
    /// Bridges on the way to hidden functions.
    AboveHidden,
    /// Headers that are neither a device's nor a bridge's.
    Header,
    /// Devices of a base class.
    Class(u32),
    /// Functions of a class and subclass.
    Subclass(u32),
    /// Functions of a class and subclass with AMD's vendor number.
    SubclassOfAmd(u32),
    /// Registers from 256 on.
    Extended,
    /// Bus numbers of other bridges.
    Numbers,
    /// Base addresses and windows that are decoded.
    Places,
    /// VGA and IDE where PCs always had them.
    Legacy,
}

/// PCI functions that Linux may not touch, or not write.
pub const FUNCTIONS: [Withheld<Functions>; 10] = [
    line(Functions::Hidden, Absent, "tasks drive them; an IOMMU that Linux drives holds up tasks' interrupts"),
    line(Functions::AboveHidden, ReadOnly, "with another bus number they would expose what is hidden"),
    line(
        Functions::Class(0x06),
        ReadOnly,
        "bridges to processor, memory and the board's own devices: they can move windows, \
         raise system management interrupts and access the whole chip",
    ),
    line(Functions::Subclass(0x0806), ReadOnly, "IOMMUs that no table names"),
    line(Functions::SubclassOfAmd(0x0c05), ReadOnly, "AMD's system management bus has chipset registers among its own"),
    line(Functions::Header, ReadOnly, "CardBus and others: nobody knows what they can move"),
    line(Functions::Extended, Absent, "some capabilities there can move what a device decodes"),
    line(
        Functions::Numbers,
        Modelled("a write by which a bridge would begin, end or lie on a bus of a hidden function is lost"),
        "two bridges would respond for that bus",
    ),
    line(
        Functions::Places,
        Modelled("a write that would place them over anything but Linux's devices is lost"),
        "the device would respond there in place of memory, withheld registers or tasks' ports",
    ),
    line(
        Functions::Legacy,
        Modelled(
            "a write that would switch them on over anything but Linux's devices is lost; \
             an IDE channel gets base addresses only while its controller decodes no ports",
        ),
        "the device, or the bridge, would respond there as above",
    ),
];

const AMD: [u32; 2] = [0x1022, 0x1002];

/// Whether a function with that header, vendor, and class (with subclass) is read-only.
pub fn is_read_only(header: u32, vendor: u32, class: u32) -> bool {
    FUNCTIONS.iter().any(|line| match line.what {
        Functions::Header => header > 1,
        Functions::Class(base) => header == 0 && class >> 8 == base,
        Functions::Subclass(wanted) => class == wanted,
        Functions::SubclassOfAmd(wanted) => class == wanted && AMD.contains(&vendor),
        Functions::Hidden
        | Functions::AboveHidden
        | Functions::Extended
        | Functions::Numbers
        | Functions::Places
        | Functions::Legacy => false,
    })
}

/// Bits of a CPUID leaf, in `eax, ebx, ecx, edx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Leaf; subleaf 0.
    pub leaf: u32,
    /// The bits.
    pub bits: [u32; 4],
}

const fn set<const N: usize>(numbers: [u32; N]) -> u32 {
    let (mut set, mut i) = (0, 0);
    while i < N {
        set |= 1 << numbers[i];
        i += 1;
    }
    set
}

const fn ecx<const N: usize>(leaf: u32, numbers: [u32; N]) -> Bits {
    Bits { leaf, bits: [0, 0, set(numbers), 0] }
}

const fn ebx<const N: usize>(leaf: u32, numbers: [u32; N]) -> Bits {
    Bits { leaf, bits: [0, set(numbers), 0, 0] }
}

const fn edx<const N: usize>(leaf: u32, numbers: [u32; N]) -> Bits {
    Bits { leaf, bits: [0, 0, 0, set(numbers)] }
}

const fn whole(leaf: u32) -> Bits {
    Bits { leaf, bits: [u32::MAX; 4] }
}

/// All of a leaf except those bits.
const fn but(leaf: u32, kept: [u32; 4]) -> Bits {
    Bits { leaf, bits: [!kept[0], !kept[1], !kept[2], !kept[3]] }
}

/// What CPUID withholds from Linux. Leaves above [`crate::cpuid::BASIC_LAST`] and
/// [`crate::cpuid::EXTENDED_LAST`] also read as zeros.
pub const LEAVES: [Withheld<&[Bits]>; 14] = [
    line(&[ecx(1, [5, 6]), ecx(0x8000_0001, [2, 12]), whole(0x8000_000a)], Zero, "VMX, SMX, SVM, SKINIT: the kernel's"),
    line(
        &[ecx(1, [3]), whole(5), ecx(7, [5]), ecx(0x8000_0001, [29])],
        Zero,
        "MONITOR, MWAIT, WAITPKG, MONITORX: waits that the kernel does not know of",
    ),
    line(
        &[
            ecx(1, [2, 4, 11, 15]),
            edx(1, [21]),
            ebx(7, [25]),
            ecx(7, [24]),
            edx(7, [19]),
            whole(0xa),
            whole(0x14),
            ecx(0x8000_0001, [10, 15, 23, 24, 26, 27, 28, 30]),
            whole(0x8000_001b),
            whole(0x8000_001c),
        ],
        Zero,
        "counters, IBS, LWP, traces, debug stores, more breakpoints: not switched",
    ),
    line(
        &[
            ecx(1, [7, 8]),
            edx(1, [22, 29, 31]),
            but(6, [1 << 2, 0, 0, 0]),
            ecx(0x8000_0001, [13]),
            but(0x8000_0007, [0, 0, 0, 1 << 8]),
        ],
        Zero,
        "frequency control, thermal sensors, watchdog: they can slow tasks down or reset the machine",
    ),
    line(
        &[
            ecx(1, [10, 14, 18]),
            ebx(7, [12, 15]),
            whole(9),
            whole(0xf),
            whole(0x10),
            ecx(0x8000_0001, [3]),
            whole(0x8000_0020),
        ],
        Zero,
        "L1 contexts, xTPR, DCA, cache allocation, AMD's local APIC extensions: the machine's, for tasks too",
    ),
    line(&[ebx(7, [1])], Zero, "TSC_ADJUST: moves the tasks' clock"),
    line(
        &[ebx(7, [2]), ecx(7, [13, 23, 30]), edx(7, [18]), whole(0x12), whole(0x8000_001f)],
        Zero,
        "SGX, memory encryption, key locker: the machine's keys",
    ),
    line(
        &[ecx(7, [3, 4, 7, 16, 29, 31]), edx(7, [5, 20, 22, 24, 25])],
        Zero,
        "protection keys, CET, five-level page tables, ENQCMD, user interrupts, AMX: not switched",
    ),
    line(&[ebx(7, [4, 11])], Zero, "transactions: their control register is not Linux's"),
    line(
        &[edx(7, [26, 27, 28, 29, 30, 31]), but(0x8000_0008, [!0, 1 << 0 | 1 << 2 | 1 << 9, 0, 0])],
        Zero,
        "speculation control: its registers are not Linux's, so Linux reports that it is vulnerable, \
         which is true. Also the number of processors, while it is one",
    ),
    line(&[ecx(0x8000_0001, [9])], Zero, "OSVW: its registers report nothing"),
    line(
        &[edx(1, [28]), ecx(0x8000_0001, [1, 19]), whole(0x8000_001e)],
        Zero,
        "threads, cores, nodes: Linux has one package, of cores with one thread each",
    ),
    line(
        &[ecx(1, [27])],
        Modelled("as Linux's own CR4 says"),
        "OSXSAVE: the processor shows that of the monitor's CR4",
    ),
    line(&[but(0x8000_0021, [1 << 0 | 1 << 2 | 1 << 6, 0, 0, 0])], Zero, "new features that were not examined"),
];

/// All withheld bits of a leaf.
pub const fn bits(leaf: u32) -> [u32; 4] {
    let (mut all, mut i) = ([0; 4], 0);
    while i < LEAVES.len() {
        let mut j = 0;
        while j < LEAVES[i].what.len() {
            let more = LEAVES[i].what[j];
            let mut k = 0;
            while k < all.len() && more.leaf == leaf {
                all[k] |= more.bits[k];
                k += 1;
            }
            j += 1;
        }
        i += 1;
    }
    all
}

/// ACPI tables that Linux does not find.
pub const TABLES: [Withheld<[u8; 4]>; 9] = [
    line(*b"IVRS", Absent, "an IOMMU: Linux would enable interrupt remapping, and tasks' interrupts would stop"),
    line(*b"DMAR", Absent, "an IOMMU, as above"),
    line(*b"VIOT", Absent, "an IOMMU, as above"),
    line(*b"HPET", Absent, "its timers can write to any address"),
    line(*b"MCFG", Absent, "PCI's configuration space is accessed by ports, where the monitor checks each access"),
    line(*b"WDAT", Absent, "a watchdog that resets the machine when Linux dies"),
    line(*b"WDRT", Absent, "a watchdog, as above"),
    line(*b"EINJ", Absent, "injects machine checks"),
    line(*b"PCCT", Absent, "lets Linux slow the processor down"),
];
