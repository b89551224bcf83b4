//! What this machine needs, and which of it is missing.

pub mod install;
mod needs;
mod processors;

use crate::build::{cargo, space};
use crate::repository::{BARE_TARGET, Repository};
use anyhow::Result;
pub use needs::LIBC;

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
    let missing = needs::packaged().into_iter().filter_map(|need| need.package);
    let packages: Vec<&str> = missing.filter(|package| emulator || *package != needs::EMULATOR_PACKAGE).collect();
    install::packages(&packages)?;
    cargo::ensure(BARE_TARGET)
}
