//! Reads the system file, with the same checks as on the host.

use crate::failure::{Failure, Result};
use crate::platform::Platform;
use pillion_abi::bundle::SYSTEM_FILE;
use pillion_runtime::println;
use pillion_system::{Problem, System};

/// The system that the bundle describes. Prints every problem with its line.
pub fn read(machine: &Platform) -> Result<System> {
    let text = machine.text(SYSTEM_FILE)?;
    let mut system = pillion_system::parse(text).map_err(|problems| refuse(&problems))?;
    system.meet(u32::try_from(machine.boot.cpus).unwrap_or(u32::MAX));
    machine.check(&system).map_err(|problems| refuse(&problems))?;
    Ok(system)
}

fn refuse(problems: &[Problem]) -> Failure {
    for problem in problems {
        println!("{SYSTEM_FILE}: {problem}");
    }
    Failure::new("the system file does not fit this machine")
}
