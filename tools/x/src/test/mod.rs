//! `x test`: every test, on the host and in the emulator.

mod case;
mod expect;
mod host;
mod tally;
mod warnings;

use crate::cli::TestArguments;
use crate::doctor;
use crate::repository::Repository;
use anyhow::Result;
use case::Case;
use tally::Tally;

/// Runs the tests, says what failed, and closes with `N passed, N failed`.
pub fn command(repository: &Repository, arguments: &TestArguments) -> Result<bool> {
    doctor::ensure(repository, !arguments.host)?;
    let mut tally = Tally::default();
    if !arguments.system && arguments.name.is_none() {
        tally.add(host::run(repository)?);
    }
    if !arguments.host {
        for case in Case::all(repository, arguments.name.as_deref())? {
            tally.add(case.run(repository)?);
        }
    }
    tally.close()
}
