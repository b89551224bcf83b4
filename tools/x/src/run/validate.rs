//! Checks that can refuse a run before anything is built or booted.

use crate::build::{Built, is_program, name_of};
use crate::cli::RunArguments;
use crate::file::read_text;
use crate::problem::problem;
use crate::repository::Repository;
use anyhow::Result;
use std::fs;
use std::io::IsTerminal as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

const MIB: u64 = 1 << 20;
/// Memory that Pillion and a running Linux need on top of the files that they boot from.
const WORKING_MIB: u64 = 192;
/// Linux's own loads for general use; the others in that folder belong to tests.
const LOADS: [&str; 5] = ["hackbench", "disk", "cache", "net", "cpu"];

/// The scripts that make Linux fail.
const FAULTS: &str = "linux/initramfs/lib/fault";

/// Checks the arguments against this machine.
pub fn arguments(repository: &Repository, run: &RunArguments) -> Result<()> {
    terminal(run)?;
    run.load.iter().try_for_each(|name| load(repository, run, name))?;
    if let Some(name) = &run.fault {
        let folder = repository.path(FAULTS);
        let mut known: Vec<String> = fs::read_dir(&folder)?
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        known.sort();
        if !known.contains(name) {
            return Err(unknown("fault", name, &folder, &known));
        }
    }
    if let Some(disk) = &run.disk {
        disk_image(disk)?;
    }
    run.forward.iter().try_for_each(|pair| forward(pair))?;
    let outputs = [&run.json, &run.log, &run.console];
    outputs.into_iter().flatten().try_for_each(|file| output(file))?;
    run.trace.iter().try_for_each(|folder| output_folder(folder))
}

/// Whether only the kernel module can cause the fault of this run.
pub fn needs_fault_module(repository: &Repository, run: &RunArguments) -> Result<bool> {
    let script = run.fault.as_ref().map(|fault| read_text(&repository.path(FAULTS).join(fault))).transpose()?;
    Ok(script.is_some_and(|text| text.contains("modprobe fault")))
}

/// Whether a load is one of the user's own programs.
pub fn is_own(run: &RunArguments, load: &str) -> bool {
    run.build.files.iter().any(|file| is_called(file, load))
}

/// Whether a file is the load of that name.
fn is_called(file: &Path, load: &str) -> bool {
    name_of(file).is_some_and(|name| name == load)
}

/// Checks that what boots fits into the machine's memory.
pub fn memory(run: &RunArguments, built: &Built) -> Result<()> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    let modules = built.modules.iter().map(|module| size(&module.path)).sum::<u64>();
    let bundle = if run.direct { 0 } else { size(&built.bundle) + modules };
    let initrd = built.passenger.as_ref().map_or(0, |passenger| size(&passenger.initrd));
    let least = (bundle + 2 * initrd) / MIB + WORKING_MIB;
    if u64::from(run.memory) >= least {
        return Ok(());
    }
    Err(problem(
        format!("{} MiB of memory do not suffice", run.memory),
        format!(
            "the initrd has {} MiB and is in memory more than once while Linux boots; {least} MiB are needed",
            initrd / MIB
        ),
        format!("give more with --memory {least}"),
    ))
}

fn terminal(run: &RunArguments) -> Result<()> {
    if run.headless || std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    let why = "standard input or output is no terminal, and Linux's shell needs one";
    Err(problem("there is no terminal", why, "add --headless, and --load to give Linux something to do"))
}

/// Refuses a load that is neither one of Linux's own nor a program of `--file`.
fn load(repository: &Repository, run: &RunArguments, name: &str) -> Result<()> {
    if let Some(file) = run.build.files.iter().find(|file| is_called(file, name)) {
        return runs(file);
    }
    let folder = repository.path("linux/initramfs/lib/load");
    if folder.join(name).is_file() {
        return Ok(());
    }
    let given = run.build.files.iter().filter_map(|file| name_of(file));
    Err(unknown("load", name, &folder, &LOADS.map(str::to_owned).into_iter().chain(given).collect::<Vec<_>>()))
}

/// Refuses a file that is neither a source nor executable: only an executable goes to /bin, as a
/// program.
fn runs(file: &Path) -> Result<()> {
    if is_program(file) {
        return Ok(());
    }
    let file = file.display();
    let why = "it is not executable, so Linux gets it as data, in /root";
    Err(problem(format!("{file} is no load"), why, format!("make it executable: chmod +x {file}")))
}

fn unknown(kind: &str, name: &str, folder: &Path, known: &[String]) -> anyhow::Error {
    let remedy = format!("choose among {}", known.join(", "));
    problem(format!("there is no {kind} {name:?}"), format!("{} holds no such file", folder.display()), remedy)
}

fn disk_image(disk: &Path) -> Result<()> {
    let remedy = format!("name a disk image; `./x disk {}` makes one", disk.display());
    let opened = fs::OpenOptions::new().read(true).write(true).open(disk);
    let wrong = match opened.and_then(|file| file.metadata()) {
        Ok(meta) if meta.len() >= MIB => return Ok(()),
        Ok(_) => "it is smaller than 1 MiB".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(problem(format!("{} cannot be Linux's disk", disk.display()), wrong, remedy))
}

fn forward(pair: &str) -> Result<()> {
    let parsed = pair.split_once(':').map(|(here, linux)| (here.parse::<u16>(), linux.parse::<u16>()));
    let Some((Ok(here), Ok(_))) = parsed else {
        let why = "it must be two port numbers";
        return Err(problem(format!("--forward {pair} is wrong"), why, "write, for example, --forward 2222:22"));
    };
    TcpListener::bind((Ipv4Addr::LOCALHOST, here)).map(drop).map_err(|error| {
        let remedy = "choose another port, or end the program that uses it (`ss -ltnp` lists them)";
        problem(format!("port {here} of this machine cannot be used"), error, remedy)
    })
}

/// Refuses a file that cannot be written because of what is there.
pub fn output(file: &Path) -> Result<()> {
    let what = format!("{} cannot be written", file.display());
    if file.is_dir() {
        return Err(problem(what, "it is a folder", "name a file in it"));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() {
        return Ok(());
    }
    let why = format!("{} is no folder to write it into", folder.display());
    Err(problem(what, why, "create the folder first"))
}

/// Refuses a folder that can neither be written into nor be made.
fn output_folder(folder: &Path) -> Result<()> {
    match folder.ancestors().find(|path| path.exists()) {
        Some(path) if !path.is_dir() => {
            let what = format!("{} cannot be written into", folder.display());
            Err(problem(what, format!("{} is no folder", path.display()), "name a folder; it is made if need be"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_source_is_a_load_without_its_ending() {
        let is = |file: &str, load| is_called(Path::new(file), load);
        assert!(is("a/partner.c", "partner") && is("partner.cc", "partner") && is("try.sh", "try.sh"));
        assert!(!is("partner.cc", "partner.cc") && !is("try.sh", "try") && !is("partner.c", "part"));
    }

    #[test]
    fn what_is_in_the_way_of_an_output_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        let refused = |result: Result<()>, why: &str| {
            let said = result.unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        };
        refused(output(folder), "why: it is a folder\n   do:  name a file in it");
        refused(output(&folder.join("new/file")), "new is no folder to write it into");
        output(&file).unwrap();
        output(Path::new("new.json")).unwrap();
        refused(output_folder(&file), "file is no folder");
        refused(output_folder(&file.join("new")), "file is no folder");
        output_folder(folder).unwrap();
        output_folder(&folder.join("new/newer")).unwrap();
        output_folder(Path::new("new")).unwrap();
    }

    #[test]
    fn a_script_that_cannot_be_executed_is_no_load() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("try.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let said = runs(&script).unwrap_err().to_string();
        assert!(said.contains("chmod +x"), "{said}");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        runs(&script).unwrap();
        runs(Path::new("source.c")).unwrap();
    }
}
