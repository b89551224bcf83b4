//! How a life of Linux ends.

use pillion_vmm_devices::{boot, life::Death};

/// How Linux ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It switched the machine off.
    PowerOff,
    /// It asked for a reset.
    Reboot,
    /// It stopped with interrupts off.
    Halted,
    TripleFault,
    /// It takes no interrupts any more.
    Hung,
    /// It executes at an address where it has no memory.
    RanAway(u64),
    /// The processor refused its state, or gave a reason that no guest should cause.
    Invalid(u64),
    /// It could not be loaded.
    CannotStart(boot::Error),
    /// The kernel below violated its contract.
    Broken(&'static str),
}

impl End {
    pub fn name(&self) -> &'static str {
        match self {
            End::PowerOff => "poweroff",
            End::Reboot => "reboot",
            End::Halted => "halted",
            End::TripleFault => "shutdown",
            End::Hung => "hung",
            End::RanAway(_) => "ran-away",
            End::Invalid(_) => "invalid",
            End::CannotStart(_) => "cannot-start",
            End::Broken(_) => "broken",
        }
    }

    /// How the end counts for what follows.
    pub fn death(&self) -> Death {
        match self {
            End::PowerOff => Death::PowerOff,
            End::CannotStart(_) | End::Broken(_) => Death::Hopeless,
            _ => Death::Crash,
        }
    }
}
