//! What the guest does not do: what the documents do not promise to withstand (`CAVEATS.md`,
//! `docs/isolation.md`), and what the emulator does not survive. All exclusions are in this file.
//!
//! | left out | why |
//! |---|---|
//! | the bus master bit of any PCI function | with it a device reads and writes all memory, Pillion's too, and writes interrupt messages: only an IOMMU can prevent that |
//! | the emulator's file interface, ports 0x514 to 0x51b | it is a device that writes memory (DMA) without being a PCI function |
//! | switching paging or protected mode off | code runs on through unbacked memory, for which QEMU 7.2 takes minutes: the run does not finish, and nothing is at fault |
//! | MOV to CR8 | QEMU 7.2 ends with an assertion (`tcg_handle_interrupt`) when a virtual interrupt is pending; the register is written as the model-specific register 0x808 |
//! | LTR | QEMU 7.2 ends ("invalid tss") at the next exception if the task segment is invalid |
//! | wide accesses across the end of the console's ports (0x3ff) | QEMU 7.2 ends with an assertion (`serial_ioport_write`) |
//! | an instruction whose second page is device memory | QEMU 7.2 ends with an assertion (`translator_access`) |
//! | an endless loop with interrupts off | it costs the monitor's five seconds each time; `isolation-spin` tests it |

use crate::guest::{Control, Step};

/// Ports that are left out: first and last of each range.
pub const PORTS: [(u16, u16); 1] = [(0x514, 0x51b)];

/// The first port after those of the console.
const CONSOLE_END: u16 = 0x400;

/// The command register of a PCI function, and its bit for bus mastering.
pub const COMMAND: u16 = 4;
const BUS_MASTER: u64 = 4;

/// Returns whether an access to `width` ports from `port` on reaches one that is left out.
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

/// What to write to a register of configuration space for `value`: without the bus master bit.
pub const fn value(register: u16, width: u8, value: u64) -> u64 {
    let register = register & 0xfff;
    if register <= COMMAND && register + width as u16 > COMMAND {
        value & !(BUS_MASTER << (8 * (COMMAND - register)))
    } else {
        value
    }
}

/// The bits of a control register to flip in place of `bits`.
pub const fn control(register: Control, bits: u64) -> u64 {
    const PAGING_AND_PROTECTION: u64 = 1 << 31 | 1;
    match register {
        Control::Cr0 => bits & !PAGING_AND_PROTECTION,
        _ => bits,
    }
}

/// Returns whether the bytes contain MOV to a control register, one of which is CR8, or LTR.
#[must_use]
pub fn bytes(bytes: &[u8]) -> bool {
    let moves = bytes.windows(2).any(|pair| *pair == [0x0f, 0x22]);
    moves || bytes.windows(3).any(|code| code[..2] == [0x0f, 0x00] && code[2] & 0x38 == 0x18)
}

/// Returns whether a step is left out as a whole.
#[must_use]
pub fn step(step: &Step) -> bool {
    match *step {
        Step::PortIn { port: first, width } | Step::PortOut { port: first, width, .. } => port(first, width),
        Step::PortString { port: first, width, .. } => port(first, width),
        Step::Run(instruction) => bytes(&instruction.bytes),
        _ => false,
    }
}
