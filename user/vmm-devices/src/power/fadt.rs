//! The FADT (ACPI 6.4, 5.2.9).

use crate::acpi::{Error, Tables, u16_at, u32_at};
use crate::guest_memory::GuestMemory;

/// Number of port blocks that the FADT names.
pub const BLOCKS: usize = 6;

/// The fields of the FADT that matter here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fadt {
    /// Port of the PM1a control register.
    pub pm1a_control: Option<u16>,
    /// Port of the PM1b control register.
    pub pm1b_control: Option<u16>,
    /// Port of the reset register and the value that resets.
    pub reset: Option<(u16, u8)>,
    /// Port for commands to the firmware (SMI_CMD).
    pub command: Option<u16>,
    /// Command for ACPI mode; 0 if the machine is always in it.
    pub enable: u8,
    /// Interrupt line of the system control interrupt.
    pub sci: u16,
    /// First port of the PM1a event block, which chipsets put at the beginning of all
    /// power-management ports.
    pub pm1a_event: Option<u16>,
    /// First port and count of the blocks that are Linux's: events, PM2 control, timer,
    /// general-purpose events.
    pub blocks: [(u16, u16); BLOCKS],
}

impl Fadt {
    /// Reads the FADT. Fails as [`Error`] says.
    pub fn find(memory: &impl GuestMemory, tables: &Tables) -> Result<Fadt, Error> {
        let mut bytes = [0; 256];
        // Fields beyond the end of the table stay zero, which means "not there" in all of them.
        tables.with(memory, *b"FACP")?.read(memory, &mut bytes)?;
        Ok(parse(&bytes))
    }
}

/// Parses the fields (table 5.9). The extended blocks count where they are ports.
fn parse(bytes: &[u8; 256]) -> Fadt {
    let word = |at: usize| u32_at(bytes, at).unwrap_or(0);
    let port = |at: usize| u16::try_from(word(at)).ok().filter(|port| *port != 0);
    let extended = |at: usize| if bytes[at] == 1 && word(at + 8) == 0 { port(at + 4) } else { None };
    let block = |x: usize, at: usize, length: usize| {
        extended(x).or(port(at)).map_or((0, 0), |first| (first, u16::from(bytes[length])))
    };
    let supported = word(112) & 1 << 10 != 0;
    Fadt {
        pm1a_control: extended(172).or(port(64)),
        pm1b_control: extended(184).or(port(68)),
        reset: extended(116).filter(|_| supported).map(|port| (port, bytes[128])),
        command: port(48),
        enable: bytes[52],
        sci: u16_at(bytes, 46).unwrap_or(0),
        pm1a_event: extended(148).or(port(56)),
        blocks: [
            block(148, 56, 88),
            block(160, 60, 88),
            block(196, 72, 90),
            block(208, 76, 91),
            block(220, 80, 92),
            block(232, 84, 93),
        ],
    }
}
