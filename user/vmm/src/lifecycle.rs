//! What happens when Linux ends: the system ends with it, or Linux is restarted, after a pause and not too often.

use pillion_runtime::{
    call,
    info::{LinuxInfo, label, slot},
    now,
};
use pillion_vmm_devices::boot;

use crate::{machine::Machine, report};

/// How Linux ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It switched the machine off.
    PowerOff,
    /// It asked for a reset.
    Reboot,
    /// It stopped with interrupts off.
    Halted,
    /// Triple fault.
    TripleFault,
    /// It takes no interrupts any more.
    Hung,
    /// It executes where there is no memory.
    RanAway(u64),
    /// The processor refused its state, or gave a reason that no guest should cause.
    Invalid(u64),
    /// It could not be loaded.
    CannotStart(boot::Error),
    /// The kernel below broke its word.
    Broken(&'static str),
}

impl End {
    /// Name in reports.
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

    fn is_final(&self) -> bool {
        matches!(self, End::PowerOff | End::CannotStart(_) | End::Broken(_))
    }
}

/// Counts the lives of Linux.
pub struct Lifecycle {
    boots: u64,
    limit: u64,
    backoff: u64,
}

/// The pause doubles with each restart, this many times at most.
const DOUBLINGS: u64 = 4;

impl Lifecycle {
    /// With the limits of the system file.
    pub fn new(info: &LinuxInfo) -> Lifecycle {
        Lifecycle { boots: 0, limit: info.restart_limit, backoff: info.restart_backoff }
    }

    /// Number of the life that is to begin, from 1.
    pub fn next(&self) -> u64 {
        self.boots + 1
    }

    /// Linux starts.
    pub fn started(&mut self) {
        self.boots += 1;
        report::event("start", self.boots);
    }

    /// Linux ended. Returns whether it is to be started again; else the system ends.
    pub fn after(&mut self, end: End, machine: &Machine) -> bool {
        report::ended(&end, self.boots);
        if !end.is_final() && self.boots <= self.limit {
            let pause = self.backoff << (self.boots - 1).min(DOUBLINGS);
            let _ = call::sleep(now().saturating_add(pause));
            return true;
        }
        if !end.is_final() {
            report::event("gave-up", self.boots);
        }
        report::exits(&machine.exits);
        let status = u64::from(end != End::PowerOff);
        let _ = call::call(slot::MANAGER, label::END, [status, 0, 0, 0, 0, 0, 0, 0]);
        false
    }
}
