//! What the kernel hands to the first task.
//!
//! When the first task starts, its `rdi` holds the address of a read-only [`BootInfo`].

/// Slots of the first task's capability space at boot.
pub mod slot {
    /// Its own capability space.
    pub const CAP_SPACE: u32 = 1;
    /// Its own address space.
    pub const ADDRESS_SPACE: u32 = 2;
    /// Its own thread.
    pub const THREAD: u32 = 3;
    /// Its own scheduling context.
    pub const CONTEXT: u32 = 4;
    /// Authority over priorities and budgets.
    pub const SCHED_CONTROL: u32 = 5;
    /// Authority over interrupt lines.
    pub const IRQ_CONTROL: u32 = 6;
    /// All I/O ports but those that the kernel keeps.
    pub const PORTS: u32 = 7;
    /// Trace buffer and log.
    pub const TRACE: u32 = 8;
    /// The bundle, as read-only memory.
    pub const BUNDLE: u32 = 9;
    /// The trace buffers, one after the other for each processor that runs, as read-only memory;
    /// see [`crate::trace`].
    pub const TRACE_BUFFER: u32 = 10;
    /// What the kernel logged while it booted, as read-only memory: a [`super::LogBuffer`].
    pub const LOG_BUFFER: u32 = 11;
    /// First of the [`super::MODULES`] modules, as read-only memory.
    pub const MODULES: u32 = 16;
    /// First of the regions, in the order of [`super::BootInfo::regions`].
    pub const REGIONS: u32 = 32;
    /// Number of slots in all.
    pub const COUNT: u32 = 8192;
}

/// Where the kernel maps [`BootInfo`] in the first task.
pub const BOOT_INFO_ADDRESS: u64 = 0x10_0000;

/// Bytes of text that a [`LogBuffer`] holds.
pub const LOG_TEXT: usize = (16 << 10) - 8;

/// What the kernel logged, from the first line on, as far as there is room.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LogBuffer {
    /// Bytes of text.
    pub written: u64,
    /// The text.
    pub text: [u8; LOG_TEXT],
}

/// Maximum number of regions that are handed over.
pub const REGIONS: usize = 112;

/// Maximum number of files that the boot loader loads beside the bundle.
pub const MODULES: usize = 16;

/// Bytes of a module's name.
pub const MODULE_NAME: usize = 24;

/// Bytes of the words that follow modules' names: what Linux takes at most, and a zero.
pub const MODULE_WORDS: usize = 2048;

const _: () = assert!(slot::MODULES as usize + MODULES <= slot::REGIONS as usize);

/// Maximum number of I/O APICs.
pub const IO_APICS: usize = 8;

/// A stretch of physical memory and what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Range {
    /// First byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// One of [`range_kind`].
    pub kind: u64,
}

/// Kinds of physical memory.
pub mod range_kind {
    /// RAM, free for use.
    pub const RAM: u64 = 1;
    /// Reserved by the firmware: its tables, or devices. Handed over as device memory.
    pub const DEVICE: u64 = 2;
    /// ACPI tables.
    pub const ACPI: u64 = 3;
    /// Kept by the kernel: image, page tables, CPU data. Not handed over.
    pub const KERNEL: u64 = 4;
    /// The bundle.
    pub const BUNDLE: u64 = 5;
    /// Claimed by nobody: devices may answer there. Handed over as device memory. Above 4 GiB it
    /// can be hundreds of GiB, and exists only if the processor has pages of 1 GiB.
    pub const HOLE: u64 = 6;
    /// Registers that can send interrupts of any kind, write any memory or change the chipset. Not
    /// handed over.
    pub const WITHHELD: u64 = 7;
}

/// A file that the boot loader loaded beside the bundle, which goes before one of the same name
/// there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Module {
    /// Physical base and size, to the byte; size 0 for none.
    pub range: Range,
    /// Its name, padded with zeros.
    pub name: [u8; MODULE_NAME],
}

/// An I/O APIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct IoApic {
    /// Physical address.
    pub address: u64,
    /// Number of its first line among all lines.
    pub first: u32,
    /// Number of its lines; 0 if there is no such I/O APIC.
    pub lines: u32,
}

/// How the machine switches itself off, by its tables: the PM1a and PM1b control registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PowerOff {
    /// Their ports; 0 for none.
    pub ports: [u16; 2],
    /// The sleep type that each takes for `\_S5`.
    pub types: [u16; 2],
}

/// The screen as the boot loader left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Screen {
    /// Physical address of its first pixel or character.
    pub base: u64,
    /// Bytes from one line to the next.
    pub pitch: u32,
    /// Pixels, or characters, in a line.
    pub width: u32,
    /// Lines.
    pub height: u32,
    /// One of [`screen_kind`].
    pub kind: u16,
    /// Bits of a pixel, or of a character with its attributes.
    pub bits: u16,
    /// Position and number of bits of red, green and blue in a pixel; the last pair is zero.
    pub colours: [[u8; 2]; 4],
}

impl Screen {
    /// Bytes of its memory.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.pitch as u64 * self.height as u64
    }
}

/// Kinds of screens.
pub mod screen_kind {
    /// None that is known.
    pub const NONE: u16 = 0;
    /// A frame buffer of pixels.
    pub const PIXELS: u16 = 1;
    /// A VGA's text.
    pub const TEXT: u16 = 2;
}

/// Maximum number of processors in the table.
pub const PROCESSORS: usize = 32;

/// A processor that the firmware's tables call enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Processor {
    /// Number of its local APIC.
    pub apic_id: u32,
    /// One of [`processor_state`].
    pub state: u32,
    /// If it runs, its number: those that run are numbered from 0, the one that boots, on.
    pub number: u32,
}

/// Whether a processor runs, or why it does not.
pub mod processor_state {
    /// There is no such processor: the entry is free.
    pub const NONE: u32 = 0;
    /// It runs.
    pub const RUNS: u32 = 1;
    /// It did not answer when it was started.
    pub const ABSENT: u32 = 2;
    /// It lacks something that the first one has.
    pub const DIFFERS: u32 = 3;
    /// It stopped while it started.
    pub const STUCK: u32 = 4;
    /// It was not tried, since another one had stopped while it started.
    pub const NOT_TRIED: u32 = 5;
    /// The kernel has no room for more.
    pub const TOO_MANY: u32 = 6;
    /// The interrupt controller cannot name it.
    pub const OUT_OF_REACH: u32 = 7;
    /// There is no memory below 640 KiB to start it in, or none for its trace.
    pub const NO_MEMORY: u32 = 8;
    /// Its clocks differ from those of the first one.
    pub const CLOCKS_DIFFER: u32 = 9;

    /// Why a processor in that state does not run, for people; empty if it runs.
    #[must_use]
    pub const fn reason(state: u32) -> &'static str {
        match state {
            NONE | RUNS => "",
            ABSENT => "it does not start",
            DIFFERS => "it lacks features of the first one",
            STUCK => "it stopped while it started",
            NOT_TRIED => "another one stopped while it started",
            TOO_MANY => "there are too many",
            OUT_OF_REACH => "its number is out of this interrupt controller's reach",
            NO_MEMORY => "there is no memory for its start or its trace",
            CLOCKS_DIFFER => "its clocks differ from those of the first one",
            _ => "for a reason that is not known",
        }
    }
}

/// What the processor offers, as bits of [`BootInfo::features`].
pub mod feature {
    /// AMD virtualisation with nested paging.
    pub const SVM: u64 = 1;
    /// A UART takes the log.
    pub const LOG_DEVICE: u64 = 32;
}

/// What the kernel hands to the first task.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BootInfo {
    /// [`crate::VERSION`].
    pub abi_version: u32,
    /// Number of entries in [`BootInfo::regions`].
    pub region_count: u32,
    /// Ticks of the time-stamp counter in a second.
    pub tsc_hz: u64,
    /// See [`feature`].
    pub features: u64,
    /// Physical address of the ACPI root pointer, or 0.
    pub rsdp: u64,
    /// Number of CPUs that run.
    pub cpus: u64,
    /// Physical base and size of the bundle.
    pub bundle: Range,
    /// The files beside it, those that there are first.
    pub modules: [Module; MODULES],
    /// The I/O APICs, for tasks that must hide them.
    pub io_apics: [IoApic; IO_APICS],
    /// The bytes of the ACPI root pointer; zeros without one. It may lie where only the kernel can
    /// read.
    pub root_pointer: [u8; 40],
    /// Physical memory. Entry `i` is the capability in slot [`slot::REGIONS`]` + i`, unless its
    /// kind is `KERNEL`, `BUNDLE` or `WITHHELD`.
    pub regions: [Range; REGIONS],
    /// The screen; zeros without one.
    pub screen: Screen,
    /// How to switch it off; without ports, its tables do not say.
    pub power_off: PowerOff,
    /// The processors: the one that boots, then the others in the order of the firmware's tables.
    pub processors: [Processor; PROCESSORS],
    /// Kernel command line, ended by a zero.
    pub command_line: [u8; 256],
    /// What follows the modules' names, ended by a zero: words for Linux.
    pub module_words: [u8; MODULE_WORDS],
}

const _: () = assert!(size_of::<BootInfo>() <= 2 * 4096);
