//! The steps of the guest in Linux's place.

use crate::{Actor, LIFE, Orders, Rng, excluded};

mod encoding;
mod places;
mod registers;

/// A class of steps; its number is its bit in a mask of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Reads and writes of ports, any width.
    Ports,
    /// Reads and writes of ports by string instructions.
    Strings,
    /// Model-specific registers, including those of the local APIC.
    Registers,
    /// Configuration space by ports 0xcf8 and 0xcfc and by memory.
    Configuration,
    /// Reads and writes of memory outside the guest's RAM, and of what the firmware left.
    Memory,
    /// Calls to the monitor, and accesses to the window of channels.
    Channels,
    /// CR0, CR4, EFER, debug registers, XCR0.
    Control,
    /// CPUID.
    Identification,
    /// Privileged and rare instructions.
    Instructions,
    /// Memory accesses in odd encodings, and bytes at random.
    Encodings,
    /// Passing time, with interrupts on or off, spinning or halted.
    Time,
    /// A premature end of a life.
    Ends,
}

impl Class {
    /// All classes, by their bits.
    pub const ALL: [Class; 12] = [
        Class::Ports,
        Class::Strings,
        Class::Registers,
        Class::Configuration,
        Class::Memory,
        Class::Channels,
        Class::Control,
        Class::Identification,
        Class::Instructions,
        Class::Encodings,
        Class::Time,
        Class::Ends,
    ];

    /// The class's bit in a mask.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Where memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A physical address.
    At(u64),
    /// An offset into a range of the memory map that is not RAM, given by its number (modulo the
    /// number of ranges); the offset is modulo its size.
    Reserved(u8, u64),
    /// An offset into a PCI function's memory or ports, given by the number of the base address.
    Device(u8, u32),
    /// An offset into the guest's own memory for steps.
    Own(u16),
    /// An offset into the window of channels.
    Window(u32),
}

/// How configuration space is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Ports 0xcf8 and 0xcfc.
    Ports,
    /// The memory-mapped window.
    Memory,
}

/// A register that controls how the processor works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// CR0.
    Cr0,
    /// CR4.
    Cr4,
    /// EFER.
    Efer,
    /// XCR0.
    Xcr0,
    /// DR7.
    Dr7,
    /// CR3.
    Cr3,
}

/// What lies behind the page in which an instruction begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// The rest of the instruction.
    Rest,
    /// Nothing is mapped.
    Nothing,
    /// Memory that is not the guest's.
    Foreign,
}

/// An instruction that runs with the trap flag set, so that nothing after it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The instruction's bytes, and filler after them.
    pub bytes: [u8; 15],
    /// The address in `rax`, `rsi` and `rdi`.
    pub place: Place,
    /// The seed of the other registers.
    pub registers: u64,
    /// Bytes before the end of the page; 0 for all.
    pub split: u8,
    /// What lies behind the page.
    pub behind: Behind,
    /// Whether it runs with interrupts on.
    pub open: bool,
    /// Whether it runs as 32-bit code.
    pub narrow: bool,
}

/// A way to end a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An exception without an interrupt table.
    TripleFault,
    /// HLT with interrupts off.
    Halt,
    /// The reset register of the chipset.
    Reset,
    /// A jump to an address without memory.
    RunAway,
    /// No more steps in this life: the next life begins, or the machine is switched off.
    Done,
}

/// One step of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads ports.
    PortIn {
        /// First port.
        port: u16,
        /// Bytes.
        width: u8,
    },
    /// Writes ports.
    PortOut {
        /// First port.
        port: u16,
        /// Bytes.
        width: u8,
        /// The value written.
        value: u32,
    },
    /// A repeated string instruction.
    PortString {
        /// First port.
        port: u16,
        /// Bytes of a unit.
        width: u8,
        /// OUTS instead of INS.
        out: bool,
        /// Units.
        count: u8,
        /// Where the memory is.
        place: Place,
    },
    /// RDMSR.
    ReadRegister(u32),
    /// WRMSR.
    WriteRegister(u32, u64),
    /// Reads or writes configuration space.
    Config {
        /// Access method.
        way: Way,
        /// Bus.
        bus: u8,
        /// Device.
        device: u8,
        /// Function.
        function: u8,
        /// Register.
        register: u16,
        /// Bytes.
        width: u8,
        /// The value written; `None` reads.
        value: Option<u32>,
    },
    /// Reads memory.
    Load {
        /// Where.
        place: Place,
        /// Bytes.
        width: u8,
    },
    /// Writes memory.
    Store {
        /// Where.
        place: Place,
        /// Bytes.
        width: u8,
        /// The value written.
        value: u64,
    },
    /// VMMCALL.
    Hypercall {
        /// `rax`.
        number: u64,
        /// `rbx`.
        argument: u64,
    },
    /// Flips bits of a register, and flips them back.
    Flip {
        /// Which.
        register: Control,
        /// The bits.
        bits: u64,
    },
    /// CPUID.
    Identify {
        /// `eax`.
        leaf: u32,
        /// `ecx`.
        subleaf: u32,
    },
    /// Runs one instruction.
    Run(Instruction),
    /// Spins.
    Spin {
        /// Nanoseconds.
        ns: u32,
        /// Whether interrupts are on.
        open: bool,
    },
    /// Halts with interrupts on, until a deadline.
    Sleep {
        /// Nanoseconds until the deadline.
        ns: u32,
    },
    /// Ends this life.
    End(End),
}

/// The number of the guest's lives in a seed; lives are numbered from 1.
pub fn lives(seed: u64) -> u32 {
    1 + Rng::new(seed, u64::MAX).below(3) as u32
}

/// The number of steps in each life.
pub fn steps(seed: u64) -> u32 {
    100 + Rng::new(seed, u64::MAX - 1).below(400) as u32
}

/// The step with this number, and its class.
#[must_use]
pub fn step(seed: u64, number: u32) -> (Class, Step) {
    let mut rng = Rng::new(seed, (Actor::Guest as u64) << 32 | u64::from(number));
    loop {
        let drawn = draw(&mut rng);
        if !excluded::step(&drawn.1) {
            return drawn;
        }
    }
}

/// The numbers of all steps of a seed that the orders ask for.
pub fn wanted<'a>(orders: Orders<'a>) -> impl Iterator<Item = u32> + 'a {
    let numbers = (1..=lives(orders.seed)).flat_map(move |life| life * LIFE..life * LIFE + steps(orders.seed));
    numbers.filter(move |number| orders.wants(*number) && step(orders.seed, *number).0.bit() & orders.classes != 0)
}

/// The classes' shares of their sum.
const SHARES: [(Class, u64); 12] = [
    (Class::Ports, 20),
    (Class::Strings, 4),
    (Class::Registers, 20),
    (Class::Configuration, 14),
    (Class::Memory, 16),
    (Class::Channels, 8),
    (Class::Control, 5),
    (Class::Identification, 3),
    (Class::Instructions, 8),
    (Class::Encodings, 14),
    (Class::Time, 6),
    (Class::Ends, 1),
];

fn draw(rng: &mut Rng) -> (Class, Step) {
    let sum = SHARES.iter().map(|(_, share)| share).sum();
    let mut left = rng.below(sum);
    let mut class = Class::Ports;
    for (candidate, share) in SHARES {
        class = candidate;
        match left.checked_sub(share) {
            Some(rest) => left = rest,
            None => break,
        }
    }
    (class, of_class(class, rng))
}

fn of_class(class: Class, rng: &mut Rng) -> Step {
    match class {
        Class::Ports => places::port(rng),
        Class::Strings => places::string(rng),
        Class::Registers => registers::model_specific(rng),
        Class::Configuration => places::config(rng),
        Class::Memory => places::memory(rng),
        Class::Channels => channels(rng),
        Class::Control => registers::control(rng),
        Class::Identification => registers::identify(rng),
        Class::Instructions => encoding::instruction(rng),
        Class::Encodings => encoding::access(rng),
        Class::Time => time(rng),
        Class::Ends if rng.one_in(2) => registers::deadly(rng),
        Class::Ends => Step::End(rng.pick(&[End::TripleFault, End::Halt, End::Reset, End::RunAway])),
    }
}

fn channels(rng: &mut Rng) -> Step {
    use pillion_abi::channel::hypercall::{COMMAND, HELLO, KICK};
    if rng.one_in(2) {
        let number = match rng.below(8) {
            0 | 1 => HELLO,
            2..=4 => KICK,
            5 => COMMAND,
            6 => HELLO + rng.below(16),
            _ => rng.number(),
        };
        return Step::Hypercall { number, argument: if rng.one_in(3) { rng.number() } else { rng.below(4) } };
    }
    let place = Place::Window(rng.next() as u32);
    let width = rng.pick(&[1, 4, 8]);
    if rng.one_in(4) { Step::Load { place, width } } else { Step::Store { place, width, value: rng.number() } }
}

fn time(rng: &mut Rng) -> Step {
    let ns = 200 + (rng.number() % 300_000) as u32;
    match rng.below(3) {
        0 => Step::Sleep { ns },
        _ => Step::Spin { ns: ns / 4, open: rng.one_in(2) },
    }
}
