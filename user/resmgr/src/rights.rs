//! Which sender may ask the resource manager for what.
//!
//! The badge of the capability that a message came through identifies its sender. The manager makes
//! one for each sender, and a second one for the sender's faults, which only the kernel uses.
//! Nothing in a message itself identifies the sender. The manager refuses everything that is not in
//! this table, from every sender.
//!
//! | what | task | task with a skin | broker | monitor |
//! |---|---|---|---|---|
//! | `LOG` | yes | yes | yes | yes |
//! | `END` | with `may_end_system` | with `may_end_system` | | yes |
//! | `LINUX_START` | with `may_start_linux` | with `may_start_linux` | | |
//! | `FIFO_CLAIM`, `FIFO_RELEASE`, `MBUFF_HOLD`, `MBUFF_RELEASE`, `STARTED`, `ENDED` | | yes | | |
//! | `COMMAND`, `LINUX_GONE` | | | | yes |

use pillion_runtime::info::label;

/// Badge of a sender's messages; the badge of its faults is one higher.
pub fn badge(index: usize) -> u64 {
    2 * (index as u64 + 1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A task without a skin.
    Task(Grants),
    /// A task with a skin.
    Program(Grants),
    Broker,
    Monitor,
}

/// What the system file permits this task beyond what every task may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    pub end_system: bool,
    /// It may start a Linux that is off.
    pub start_linux: bool,
}

impl Grants {
    pub fn of(task: &pillion_system::Task) -> Grants {
        Grants { end_system: task.may_end_system, start_linux: task.may_start_linux }
    }
}

/// The part of a label that names the request. Only `LOG` has a byte count above it.
pub fn kind(label: u64) -> u64 {
    if label & 0xff == label::LOG { label::LOG } else { label }
}

pub fn may(sender: Sender, label: u64) -> bool {
    use Sender::{Monitor, Program, Task};
    match kind(label) {
        label::LOG => true,
        label::END => {
            matches!(sender, Monitor | Task(Grants { end_system: true, .. }) | Program(Grants { end_system: true, .. }))
        }
        label::LINUX_START => {
            matches!(sender, Task(Grants { start_linux: true, .. }) | Program(Grants { start_linux: true, .. }))
        }
        label::FIFO_CLAIM
        | label::FIFO_RELEASE
        | label::MBUFF_HOLD
        | label::MBUFF_RELEASE
        | label::STARTED
        | label::ENDED => matches!(sender, Program(_)),
        label::COMMAND | label::LINUX_GONE => sender == Monitor,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Grants = Grants { end_system: false, start_linux: false };
    const END: Grants = Grants { end_system: true, ..NONE };
    const START: Grants = Grants { start_linux: true, ..NONE };
    const SENDERS: [Sender; 8] = [
        Sender::Task(NONE),
        Sender::Task(END),
        Sender::Task(START),
        Sender::Program(NONE),
        Sender::Program(END),
        Sender::Program(START),
        Sender::Broker,
        Sender::Monitor,
    ];

    /// Each label, and which of the senders above may send it.
    const TABLE: [(u64, [u8; 8]); 11] = [
        (label::LOG, [1, 1, 1, 1, 1, 1, 1, 1]),
        (label::END, [0, 1, 0, 0, 1, 0, 0, 1]),
        (label::FIFO_CLAIM, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::FIFO_RELEASE, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::MBUFF_HOLD, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::MBUFF_RELEASE, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::STARTED, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::ENDED, [0, 0, 0, 1, 1, 1, 0, 0]),
        (label::COMMAND, [0, 0, 0, 0, 0, 0, 0, 1]),
        (label::LINUX_GONE, [0, 0, 0, 0, 0, 0, 0, 1]),
        (label::LINUX_START, [0, 0, 1, 0, 0, 1, 0, 0]),
    ];

    #[test]
    fn every_label_from_every_sender() {
        for label in 0..0x1000u64 {
            let row = TABLE.iter().find(|(known, _)| *known == kind(label)).map_or([0; 8], |(_, row)| *row);
            for (sender, allowed) in SENDERS.into_iter().zip(row) {
                assert_eq!(may(sender, label), allowed != 0, "{sender:?} says {label:#x}");
            }
        }
    }

    #[test]
    fn only_a_text_has_something_above_its_label() {
        assert!(may(Sender::Broker, label::LOG | 64 << 8));
        for (label, _) in TABLE.iter().skip(1) {
            assert!(SENDERS.into_iter().all(|sender| !may(sender, label | 1 << 8) && !may(sender, label | 1 << 63)));
        }
        assert!(SENDERS.into_iter().all(|sender| !may(sender, u64::MAX)));
    }
}
