//! The host tool: builds, boots, tests and measures Pillion.
#![forbid(unsafe_code)]

mod build;
mod campaign;
mod check;
mod cli;
mod deb;
mod debian;
mod doctor;
mod fuzz;
mod headers;
mod hw;
mod measure;
mod run;
mod system_file;
mod tally;
mod task;
mod test;

use clap::Parser as _;
use pillion_host::{file, parallel, problem, progress, qemu, repository, stop, tool};
use pillion_measure_data::plain;
use std::process::ExitCode;

/// Exit status when the work was done and its result is bad.
const FAILED: u8 = 1;
/// Exit status when the work could not be done.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    stop::watch();
    let command = cli::Cli::parse().command;
    match dispatch(command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(error) => {
            eprintln!("x: {}", plain(&problem::text(&error)));
            ExitCode::from(REFUSED)
        }
    }
}

fn dispatch(command: cli::Command) -> anyhow::Result<bool> {
    use cli::Command;
    let repository = repository::Repository::find()?;
    match command {
        Command::Doctor => doctor::report(&repository),
        Command::Deb(arguments) => deb::command(&repository, &arguments),
        Command::Hw => hw::command(&repository),
        Command::Build(arguments) => build::command(&repository, &arguments),
        Command::BuildTask(arguments) => task::command(&repository, &arguments),
        Command::Disk(arguments) => debian::disk::command(&repository, &arguments),
        Command::New(arguments) => task::new::command(&arguments),
        Command::Run(arguments) => run::command(&repository, &arguments),
        Command::Check => check::command(&repository),
        Command::Fuzz(arguments) => fuzz::command(&repository, &arguments),
        Command::Test(arguments) => test::command(&repository, &arguments),
        Command::Measure(command) => measure::command(&repository, &command),
        Command::Headers { check: true } => headers::check(&repository),
        Command::Headers { check: false } => headers::generate(&repository),
    }
}
