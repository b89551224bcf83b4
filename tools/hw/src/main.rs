//! `pillion-hw`: whether Pillion runs on this machine, before anything is installed.
#![forbid(unsafe_code)]

use clap::Parser;
use pillion_hw::collect;
use pillion_hw::files::Files;
use pillion_hw::judge::judge;
use pillion_hw::machine::Machine;
use pillion_hw::{losses, report, show};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says whether Pillion runs on this machine, and what Linux would lose.
///
/// Needs no Pillion and changes nothing. As root, and after `modprobe msr`, it sees more. The exit
/// status is 0 if Pillion runs here with Linux, for all that is known, 1 if not, and 2 if that
/// could not be found out.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Also write what was read into a new folder, to be attached to a report
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Judge another machine, from a folder that --dump wrote or that holds ACPI tables
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("pillion-hw: {problem:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> anyhow::Result<bool> {
    let files = match &options.from {
        Some(folder) => Files::read(folder)?,
        None => collect::this_machine(),
    };
    let machine = Machine::read(&files);
    let (judgement, losses) = (judge(&machine), losses::of(&machine));
    if let Some(folder) = &options.dump {
        files.write(folder)?;
    }
    let text = match options.json {
        true => format!("{:#}\n", report::json(&judgement, &losses)),
        false => show::text(&judgement, &losses),
    };
    // A reader that has seen enough, such as `head`, is no problem.
    let _ = io::stdout().write_all(text.as_bytes());
    if let (Some(folder), false) = (&options.dump, options.json) {
        let _ = writeln!(
            io::stdout(),
            "{} is what to attach to a report; its README says what is in it.",
            folder.display()
        );
    }
    Ok(judgement.runs())
}
