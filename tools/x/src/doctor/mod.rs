//! What this machine needs, and which of it is missing.

pub mod install;
mod needs;

use crate::build::{cargo, space};
use crate::repository::{BARE_TARGET, Repository};
use anyhow::Result;
pub use needs::{LIBC, Need};

/// `x doctor`.
pub fn report(repository: &Repository) -> Result<bool> {
    let needs = needs::all(repository);
    for need in &needs {
        match &need.missing {
            None => println!("ok       {:<24} {}", need.name, need.found),
            Some(remedy) => println!("MISSING  {:<24} {}\n         {:<24} do: {remedy}", need.name, need.found, ""),
        }
    }
    let missing = needs.iter().filter(|need| need.missing.is_some()).count();
    match missing {
        0 => println!("\nThis machine has everything it needs."),
        count => println!("\n{count} missing. `./x run` and `./x test` install packages by themselves."),
    }
    Ok(missing == 0)
}

/// Installs what is missing, or tells the user what to do.
pub fn ensure(repository: &Repository, emulator: bool) -> Result<()> {
    space::check(repository)?;
    let needs = needs::all(repository);
    let missing: Vec<Need> = needs.into_iter().filter(|need| need.missing.is_some()).collect();
    let wanted = |need: &&Need| emulator || need.package != Some(needs::EMULATOR_PACKAGE);
    let packages: Vec<&str> = missing.iter().filter(wanted).filter_map(|need| need.package).collect();
    install::packages(&packages)?;
    cargo::ensure(BARE_TARGET)
}
