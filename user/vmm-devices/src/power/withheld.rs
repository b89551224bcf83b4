//! Ports of a PC by which the machine is reset, stopped or slowed down, or by which addresses are decoded anew, and which no driver needs.

use super::Fadt;

/// First port, number, and why it is not Linux's.
const WITHHELD: [(u16, u16, &str); 8] = [
    (0x2e, 2, "Super I/O: moves the serial port of the log, and has a watchdog that resets the machine"),
    (0x4e, 2, "Super I/O at its other place"),
    (0xb2, 2, "firmware: a system management interrupt takes as long as it likes"),
    (0xe4, 3, "IPMI by block transfer: the board's controller switches the machine off"),
    (0xca2, 2, "IPMI by keyboard style"),
    (0xcd0, 2, "AMD chipset: power management, second index"),
    (0xcd4, 4, "AMD chipset: power management, both indices; resets, SMI, watchdog, places of registers"),
    (0xc50, 3, "AMD chipset: general-purpose lines, SMI"),
];

/// Ports of power management that a chipset keeps together, in bytes: PM1 blocks, timer, sleep, throttling, SMI enable and watchdog of ICH9
/// (data sheet 13.8.3) and of AMD's chipsets.
const MANAGEMENT: u32 = 128;

/// What of the machine's own ports is not Linux's: the firmware's command port, and around the PM1a event block all that the FADT does not name.
pub(super) fn ranges(fadt: &Fadt) -> impl Iterator<Item = (u32, u32)> + use<> {
    let fixed = WITHHELD.iter().map(|(first, count, _)| (u32::from(*first), u32::from(*count)));
    let command = fadt.command.map(|port| (u32::from(port), 2));
    fixed.chain(command).chain(Gaps::new(fadt))
}

/// The parts of the ports of power management that the FADT does not name, in order.
struct Gaps {
    named: [(u32, u32); super::fadt::BLOCKS + 2],
    at: u32,
    end: u32,
}

impl Gaps {
    fn new(fadt: &Fadt) -> Gaps {
        let control = |port: Option<u16>| port.map_or((0, 0), |port| (port, 2));
        let mut named = [(0, 0); super::fadt::BLOCKS + 2];
        let all = fadt.blocks.into_iter().chain([control(fadt.pm1a_control), control(fadt.pm1b_control)]);
        for (to, (first, count)) in named.iter_mut().zip(all) {
            *to = (u32::from(first), u32::from(first) + u32::from(count));
        }
        // Event blocks below 0x100 would be among the board's own ports: nothing can be said of their neighbours.
        let start = fadt.pm1a_event.filter(|port| *port >= 0x100).map(|port| u32::from(port) & !(MANAGEMENT - 1));
        Gaps { named, at: start.unwrap_or(0), end: start.map_or(0, |start| start + MANAGEMENT) }
    }
}

impl Iterator for Gaps {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        while self.at < self.end {
            let from = self.at;
            if let Some((_, end)) = self.named.iter().find(|(first, end)| (*first..*end).contains(&from)) {
                self.at = *end;
                continue;
            }
            let next = self.named.iter().map(|(first, _)| *first).filter(|first| *first > from).min();
            self.at = next.unwrap_or(self.end).min(self.end);
            return Some((from, self.at - from));
        }
        None
    }
}
