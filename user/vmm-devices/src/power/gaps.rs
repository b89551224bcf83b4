//! The ports around the PM1a event block that the FADT does not name. What they all do is unknown.

use super::Fadt;

/// Power-management ports that a chipset keeps together, in bytes: PM1 blocks, timer, sleep,
/// throttling, SMI enable and watchdog of ICH9 (data sheet 13.8.3) and of AMD's chipsets.
const MANAGEMENT: u32 = 128;

/// The power-management ports that the FADT does not name, in order.
pub(super) struct Gaps {
    named: [(u32, u32); super::fadt::BLOCKS + 2],
    at: u32,
    end: u32,
}

impl Gaps {
    pub(super) fn new(fadt: &Fadt) -> Gaps {
        let control = |port: Option<u16>| port.map_or((0, 0), |port| (port, 2));
        let mut named = [(0, 0); super::fadt::BLOCKS + 2];
        let all = fadt.blocks.into_iter().chain([control(fadt.pm1a_control), control(fadt.pm1b_control)]);
        for (to, (first, count)) in named.iter_mut().zip(all) {
            *to = (u32::from(first), u32::from(first) + u32::from(count));
        }
        // An event block below 0x100 would be among the board's ports, its neighbours unknown.
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
