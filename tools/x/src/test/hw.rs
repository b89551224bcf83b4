//! Tests of `pillion-hw` that need more than the host has: another program that reads ACPI tables,
//! and an emulated machine, where the kernel must find what `pillion-hw` found.

use crate::debian::Archive;
use crate::file;
use crate::hw;
use crate::progress::step;
use crate::repository::Repository;
use crate::run::own_process;
use crate::tally::Tally;
use crate::tool;
use anyhow::{Context as _, Result, ensure};

/// The test's name.
pub const NAME: &str = "hw";
/// The package with ACPICA's disassembler, the program in it, and the variable that names it to
/// the test.
const PACKAGE: &str = "acpica-tools";
const PROGRAM: &str = "usr/bin/iasl";
const VARIABLE: &str = "PILLION_IASL";
/// The load that runs the program in Linux.
const LOAD: &str = "look";
const SCRIPT: &str = "#!/bin/sh\npillion-hw >/dev/console 2>&1\necho 1 run\n";

/// What `pillion-hw` must say of the everyday machine, and what the kernel logs there.
const AGREED: [(&str, &str); 6] = [
    ("no, xAPIC", "[boot] local APIC 0 at 0xfee00000, xAPIC"),
    ("0xfec00000 from line 0", "[boot] I/O APIC at 0xfec00000, lines 0 to 23"),
    ("measured with the ACPI timer", "Hz (ACPI timer)"),
    ("16 ASIDs", "asids: 16"),
    ("next RIP         no", "next_rip: false"),
    ("flush by ASID    no", "flush_by_asid: false"),
];

/// Runs both.
pub fn run(repository: &Repository) -> Result<Tally> {
    let mut tally = Tally::default();
    for (name, test) in
        [("disassembled", disassembled as fn(&Repository) -> Result<Vec<String>>), ("emulated", emulated)]
    {
        let name = format!("{NAME}/{name}");
        let wrong = step(&format!("test {name}"), || test(repository));
        tally.take(&name, wrong.unwrap_or_else(|error| vec![format!("{error:#}")]));
    }
    Ok(tally)
}

fn disassembled(repository: &Repository) -> Result<Vec<String>> {
    let program = Archive::new(repository.build("cache"))?.package(PACKAGE)?.root.join(PROGRAM);
    let mut test = repository.cargo();
    test.args(["test", "--quiet", "-p", hw::NAME, "--test", "iasl"]).env(VARIABLE, program);
    tool::quietly(&mut test)?;
    Ok(Vec::new())
}

fn emulated(repository: &Repository) -> Result<Vec<String>> {
    let program = hw::program(repository)?;
    let work = file::temporary()?;
    let script = work.path().join(LOAD);
    file::write_program(&script, SCRIPT.as_bytes())?;
    let boot = |arguments: &[&str]| {
        let run = own_process::run(repository, repository.root(), arguments)?;
        ensure!(run.status == Some(0), "{}", own_process::tail(run.message.trim_end(), 20));
        anyhow::Ok(run)
    };
    let (program, script) = (program.to_str().context("no UTF-8")?, script.to_str().context("no UTF-8")?);
    let alone =
        boot(&["--direct", "--counted", "--seconds", "3", "--file", program, "--file", script, "--load", LOAD])?;
    let kernel = boot(&["--no-linux", "--counted", "--seconds", "1"])?;
    Ok(wrong(&alone.console, &kernel.log))
}

fn wrong(console: &str, log: &str) -> Vec<String> {
    let missing = |what: &str, text: &str, said: &str| (!text.contains(said)).then(|| format!("{what} lacks {said:?}"));
    let verdict = missing("what pillion-hw says", console, "Pillion runs here");
    let agreed = AGREED.iter().flat_map(|(said, logged)| {
        [missing("what pillion-hw says", console, said), missing("the kernel's log", log, logged)]
    });
    verdict.into_iter().chain(agreed.flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_say_so() {
        let (said, logged): (Vec<_>, Vec<_>) = AGREED.into_iter().unzip();
        let console = format!("{}\nPillion runs here.", said.join("\n"));
        assert_eq!(wrong(&console, &logged.join("\n")), Vec::<String>::new());
        assert_eq!(wrong(&console, &logged[1..].join("\n")).len(), 1);
        assert_eq!(wrong(&said.join("\n"), &logged.join("\n")).len(), 1);
    }
}
