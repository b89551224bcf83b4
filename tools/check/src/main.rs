//! `pillion-check`: whether Pillion would boot with a system file.
#![forbid(unsafe_code)]

use clap::Parser;
use pillion_check::{names, refused};
use pillion_host::problem::problem;
use pillion_system::{Problem, Processors, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the boot loader loads beside the bundle.
const MODULES: [&str; 2] = ["vmlinuz", "initrd"];
/// The ending of a task's file.
const TASK: &str = "task";

/// Says whether Pillion would boot with a system file, and if not, what to do about it.
///
/// The exit status is 0 if it would, 1 if not, and 2 if that could not be found out.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The system file
    #[arg(default_value = "/etc/pillion/system.toml")]
    file: PathBuf,
    /// The bundle with the programs that come with Pillion
    #[arg(long, value_name = "FILE", default_value = "/boot/pillion/bundle")]
    bundle: PathBuf,
    /// The folder with the tasks of this machine, NAME.task
    #[arg(long, value_name = "FOLDER", default_value = "/etc/pillion/tasks")]
    tasks: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(found) => {
            say(&options, &found);
            ExitCode::from(u8::from(!found.is_empty()))
        }
        Err(problem) => {
            eprintln!("pillion-check: {problem:#}");
            ExitCode::from(2)
        }
    }
}

fn say(options: &Options, found: &[Problem]) {
    if options.json {
        let problems = found.iter().map(|p| serde_json::json!({"line": p.line, "why": p.message, "do": p.remedy}));
        let all = serde_json::json!({"good": found.is_empty(), "problems": problems.collect::<Vec<_>>()});
        println!("{all:#}");
    } else if found.is_empty() {
        println!("{} is good", options.file.display());
    } else {
        eprintln!("pillion-check: {:#}", refused(&options.file, found));
    }
}

/// What is wrong with the file.
fn run(options: &Options) -> anyhow::Result<Vec<Problem>> {
    let cannot = |path: &Path, why: &dyn std::fmt::Display, remedy: &str| {
        problem(format!("{} cannot be read", path.display()), why, remedy)
    };
    let text = fs::read_to_string(&options.file).map_err(|why| cannot(&options.file, &why, "name a system file"))?;
    let bundle = fs::read(&options.bundle)
        .map_err(anyhow::Error::from)
        .and_then(|bytes| names(&bytes))
        .map_err(|why| cannot(&options.bundle, &why, "install the package pillion, or name another with --bundle"))?;
    let mut system = match pillion_system::parse(&text) {
        Ok(system) => system,
        Err(problems) => return Ok(problems),
    };
    system.meet(processors());
    let tasks = tasks(&options.tasks);
    let images: Vec<&str> = bundle.iter().chain(&tasks).map(String::as_str).chain(MODULES).collect();
    let machine = Target { images: Some(&images), ..Target::default() };
    Ok(pillion_system::check(&system, &machine).err().unwrap_or_default())
}

/// Names of the tasks in a folder; none without it.
fn tasks(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let tasks = files.filter(|path| path.extension().is_some_and(|ending| ending == TASK));
    tasks.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
}

/// Processors of this machine that Pillion would run, as far as Linux knows.
fn processors() -> u32 {
    let present = fs::read_to_string("/sys/devices/system/cpu/present").unwrap_or_default();
    let last = present.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok());
    last.map_or(1, |last| last.saturating_add(1)).min(Processors::ALL.count())
}
