//! Boots the machine, shows it, and reports what happened.

mod backtrace;
mod emulated;
pub mod emulator;
mod ending;
mod grub;
pub mod log_line;
mod monitor;
mod observed;
pub mod own_process;
mod printed;
mod requests;
mod result;
mod session;
mod streams;
mod summary;
mod terminal;
mod trace_files;
mod transcript;
mod validate;
mod view;

use crate::build::lock::lock;
use crate::build::{self, Built, Packing, patched};
use crate::cli::RunArguments;
use crate::file::{temporary, write_whole};
use crate::repository::Repository;
use crate::{debian, doctor, qemu, system_file};
use anyhow::Result;
use emulated::{Boot, Folder};
use ending::Ending;
use pillion_measure_data::plain;
use result::RunResult;
use session::Ended;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
pub use streams::follow;
pub use validate::output as check_output;

/// Size of the disk that the disk load writes to.
const SCRATCH: u64 = 256 << 20;

/// `x run`.
pub fn command(repository: &Repository, run: &RunArguments) -> Result<bool> {
    validate::arguments(repository, run)?;
    doctor::ensure(repository, run.qemu.as_os_str() == qemu::DEFAULT)?;
    let run = &*with_turns(repository, run)?;
    let version = qemu::version(&run.qemu)?;
    emulator::check_cpu(&run.qemu, &run.cpu, run.build.root.is_none())?;
    let size = (!run.headless).then(terminal::size).flatten();
    let append = emulated::linux_line(run, size);
    let folder = temporary()?;
    let folder = Folder(folder.path());
    let built = prepare(repository, run, &append, &folder)?;
    validate::memory(run, &built)?;
    let ending = Ending::of(run, built.system.as_ref());
    ending.check()?;
    if let Some(ends) = ending::without_linux(run, built.system.as_ref()) {
        eprintln!("x: {ends}");
    }
    let patched = run.build.patch.as_deref().map(|patch| patched::title(&repository.named(patch))).transpose()?;
    warn(patched.as_deref());
    let ended = boot(repository, run, &built, append, &folder, ending)?;
    let result =
        RunResult { run, observed: &ended.observed, passenger: built.passenger.as_ref(), version: &version.text };
    let faults: Vec<String> = ended.observed.faults.iter().map(|fault| backtrace::text(fault, &built.elves)).collect();
    let tasks = built.system.iter().flat_map(|system| system.skins()).map(|(task, _)| task.name.as_str());
    // A user at Linux's terminal has `pillion dmesg`.
    let unseen = run.headless || run.build.no_linux;
    let printed = if unseen { ended.observed.printed.text(tasks) } else { String::new() };
    conclude(run, &ended, &result, patched.as_deref(), &[faults.concat(), printed].concat())
}

/// An emulator whose processors take turns, this one if its do.
pub fn emulator_that_shares(repository: &Repository, asked: &Path) -> Result<debian::emulator::Emulator> {
    // What is downloaded is shared.
    let _lock = lock(repository)?;
    debian::emulator::that_shares(asked, || repository.build("cache"))
}

/// The arguments, with an emulator whose processors take turns where that matters.
fn with_turns<'a>(repository: &Repository, run: &'a RunArguments) -> Result<Cow<'a, RunArguments>> {
    if !run.takes_turns() {
        return Ok(Cow::Borrowed(run));
    }
    let emulator = emulator_that_shares(repository, &run.qemu)?;
    let mut run = run.clone();
    run.qemu = emulator.program;
    run.qemu_args.extend(emulator.arguments);
    Ok(Cow::Owned(run))
}

/// Warns, before and after a run, that a patch changed the kernel.
fn warn(patched: Option<&str>) {
    if let Some(title) = patched {
        eprintln!("\x1b[1;31m{title}\x1b[0m");
    }
}

/// Builds what boots. The bundle goes into the run's own folder, because concurrent runs have
/// bundles of the same name. Linux alone needs no Pillion.
fn prepare(repository: &Repository, run: &RunArguments, append: &str, folder: &Folder) -> Result<Built> {
    let mut arguments = run.build.clone();
    arguments.fault_module |= validate::needs_fault_module(repository, run)?;
    if !run.direct {
        let on = system_file::Emulated { memory_mib: run.memory, processors: run.cpus };
        let packing = if run.grub || run.uefi { Packing::Apart } else { Packing::Whole };
        return build::build(repository, &arguments, append, Some(on), (folder.0, packing));
    }
    let system = run.build.system.as_deref().unwrap_or(Path::new(build::DEFAULT_SYSTEM));
    let file = system_file::read(&repository.named(system))?;
    let passenger = Some(build::passenger(repository, &arguments, &file.system)?);
    Ok(Built { passenger, ..Built::default() })
}

fn boot(
    repository: &Repository,
    run: &RunArguments,
    built: &Built,
    append: String,
    folder: &Folder,
    ending: Ending,
) -> Result<Ended> {
    fs::File::create(folder.scratch())?.set_len(SCRATCH)?;
    fs::create_dir(folder.served())?;
    fs::write(folder.served().join("payload"), build::payload())?;
    let line = emulated::kernel_line(run, ending.linux);
    let uefi = run.uefi.then(|| uefi(repository, folder)).transpose()?;
    let boot = match &built.passenger {
        Some(linux) if run.direct => Boot::Direct { image: linux.image.clone(), initrd: linux.initrd.clone(), append },
        _ if run.grub || run.uefi => {
            let image = grub::image(folder.0, built, &line, run.uefi)?;
            Boot::Grub { image, uefi }
        }
        _ => Boot::Pillion { kernel: built.kernel.clone(), bundle: built.bundle.clone(), line },
    };
    session::run(run, &emulated::arguments(run, &boot, folder), folder, ending)
}

/// The UEFI for a run.
fn uefi(repository: &Repository, folder: &Folder) -> Result<debian::uefi::Uefi> {
    // What is downloaded is shared.
    let _lock = lock(repository)?;
    debian::uefi::with_variables_in(folder.0, repository.build("cache"))
}

fn conclude(run: &RunArguments, ended: &Ended, result: &RunResult, patched: Option<&str>, said: &str) -> Result<bool> {
    let failures = result.failures();
    print!("{}{}", plain(&summary::text(&ended.observed, run.clock())), plain(said));
    warn(patched);
    print!("{}", ended.transcript.answers());
    if run.headless && !failures.is_empty() {
        eprint!("{}", ended.transcript.tails());
    } else if run.headless && run.load.iter().any(|load| validate::is_own(run, load)) {
        // It shows what the user's programs printed.
        print!("\n{}", ended.transcript.console_end());
    }
    for line in ended.observed.notes.iter().chain(&failures) {
        eprintln!("x: {}", plain(line));
    }
    // Last: an error of these must not hide why the run failed.
    if let Some(file) = &run.json {
        let text = serde_json::to_string_pretty(&result.json())? + "\n";
        let absolute = std::path::absolute(file)?;
        write_whole(&absolute, text.as_bytes())?;
    }
    if let Some(folder) = &run.trace {
        trace_files::write(&std::path::absolute(folder)?, &ended.observed.trace)?;
    }
    Ok(failures.is_empty())
}
