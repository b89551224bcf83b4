//! What the guest does not do, because the documents do not promise that it is held (`CAVEATS.md`, `docs/isolation.md`). The one place for it.
//!
//! | left out | why |
//! |---|---|
//! | the bus master bit of any PCI function | with it a device reads and writes all memory, Pillion's too, and writes interrupt messages: nothing but an IOMMU holds that back |
//! | the emulator's file interface, ports 0x514 to 0x51b | it is a device that writes memory (DMA) without being a PCI function |
//! | registers that move the chipset's own windows: 0x40 to 0xaf of 00:00.0, 0x40 to 0x4b and 0xf0 to 0xf3 of 00:1f.0 | a window over memory or over ports of tasks takes their place |
//! | the chipset's watchdog timer, behind the power-management ports (0x660 to 0x67f) | it resets the machine |
//! | base addresses of PCI functions inside the memory-mapped configuration window | a store to the function would be one to registers above |
//! | switching paging or protected mode off | code goes on through memory that nobody has, for which QEMU 7.2 takes minutes: a run is not over then, and it is nobody's fault |
//! | MOV to CR8 | QEMU 7.2 ends with an assertion (`tcg_handle_interrupt`) when a virtual interrupt is pending; the register is written as the model-specific register 0x808 |
//! | LTR | QEMU 7.2 ends ("invalid tss") at the next exception where the task segment is none |
//! | wide accesses across the end of the console's ports (0x3ff) | QEMU 7.2 ends with an assertion (`serial_ioport_write`) |
//! | an instruction whose second page is device memory | QEMU 7.2 ends with an assertion (`translator_access`) |
//! | an endless loop with interrupts off | it costs the monitor's five seconds each time; `isolation-spin` has it |

use crate::guest::{Control, Step};

/// Ports that are left out: first and last.
pub const PORTS: [(u16, u16); 2] = [(0x514, 0x51b), (0x660, 0x67f)];

/// The port behind those of the console.
const CONSOLE_END: u16 = 0x400;

/// The upper four bits of each address in the memory-mapped configuration window of the emulated machine, in their byte.
const CONFIG_WINDOW: u8 = 0xb0;

/// The command register of a PCI function, and its bit for bus mastering.
pub const COMMAND: u16 = 4;
const BUS_MASTER: u64 = 4;

/// Whether an access to so many ports reaches one that is left out.
#[must_use]
pub const fn port(port: u16, width: u8) -> bool {
    let end = port as u32 + width as u32;
    if port < CONSOLE_END && end > CONSOLE_END as u32 {
        return true;
    }
    let mut i = 0;
    while i < PORTS.len() {
        if end > PORTS[i].0 as u32 && port as u32 <= PORTS[i].1 as u32 {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether a write of so many bytes to a configuration register is left out, whatever its value.
#[must_use]
pub const fn register(device: u8, function: u8, register: u16, width: u8) -> bool {
    let (first, end) = (register & 0xfff, (register & 0xfff) + width as u16);
    match (device, function) {
        (0, 0) => end > 0x40 && first < 0xb0,
        (31, 0) => end > 0x40 && first < 0x4c || end > 0xf0 && first < 0xf4,
        _ => false,
    }
}

/// The value that is written to a register in place of `value`: without the bus master bit, and no base address inside the configuration window.
#[must_use]
pub const fn value(register: u16, width: u8, value: u64) -> u64 {
    let register = register & 0xfff;
    let mut value = value;
    if register <= COMMAND && register + width as u16 > COMMAND {
        value &= !(BUS_MASTER << (8 * (COMMAND - register)));
    }
    if register < 0x38 && register + width as u16 > 0x10 { outside_window(value) } else { value }
}

/// The value with no byte that could be the uppermost of an address in the window.
const fn outside_window(value: u64) -> u64 {
    let mut value = value;
    let mut shift = 0;
    while shift < 64 {
        if value >> shift & 0xf0 == CONFIG_WINDOW as u64 {
            value ^= 0x40 << shift;
        }
        shift += 8;
    }
    value
}

/// The bits of a control register that are flipped in place of `bits`.
#[must_use]
pub const fn control(register: Control, bits: u64) -> u64 {
    const PAGING_AND_PROTECTION: u64 = 1 << 31 | 1;
    match register {
        Control::Cr0 => bits & !PAGING_AND_PROTECTION,
        _ => bits,
    }
}

/// Whether some bytes hold MOV to a control register, one of which is CR8, or LTR.
#[must_use]
pub fn bytes(bytes: &[u8]) -> bool {
    let moves = bytes.windows(2).any(|pair| *pair == [0x0f, 0x22]);
    moves || bytes.windows(3).any(|code| code[..2] == [0x0f, 0x00] && code[2] & 0x38 == 0x18)
}

/// Whether a step is left out as a whole.
#[must_use]
pub fn step(step: &Step) -> bool {
    match *step {
        Step::PortIn { port: first, width } | Step::PortOut { port: first, width, .. } => port(first, width),
        Step::PortString { port: first, width, .. } => port(first, width),
        Step::Config { device, function, register: number, width, value: Some(_), .. } => {
            register(device, function, number, width)
        }
        Step::Run(instruction) => bytes(&instruction.bytes),
        _ => false,
    }
}
