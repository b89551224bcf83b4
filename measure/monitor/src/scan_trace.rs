//! Trace and log.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{boot::slot, call::Call};
use pillion_runtime::{log_put, trace_control};
use pillion_test_kit::{Checked, Kit};

pub const CASES: &[Case] = &[control, put];

fn control(kit: &mut Kit) -> Checked {
    let trial =
        Trial::new(|| Ok(()), |()| trace_control(slot::TRACE, true), |()| trace_control(slot::TRACE, false).map(drop));
    trial.scan(kit, Name::of(Call::TraceControl))
}

fn put(kit: &mut Kit) -> Checked {
    let trial = Trial::new(|| Ok(()), |()| log_put(slot::TRACE, b'\n'), |()| Ok(()));
    trial.scan(kit, Name::of(Call::LogPut))
}
