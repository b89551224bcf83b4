//! What ends a headless run. One that nothing ends would be waited for until its limit, and say nothing.

use super::machine::kernel_line;
use crate::cli::RunArguments;
use crate::problem::problem;
use anyhow::Result;
use pillion_system::System;

/// What may end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// There is a Linux.
    pub linux: bool,
    /// Something beside Linux can end it, or start Linux anew.
    pub others: bool,
}

impl Ending {
    /// As the arguments and the system file say; without a file (`--root`) a program of this repository ends it.
    pub fn of(run: &RunArguments, system: Option<&System>) -> Ending {
        let linux = run.direct || system.is_some_and(|system| system.linux.is_some());
        let Some(system) = system.filter(|_| run.headless && run.disk.is_none() && !run.direct) else {
            return Ending { linux, others: true };
        };
        let line = kernel_line(run);
        let limited = line.split(' ').any(|word| word.starts_with("seconds="));
        let with_tasks = line.split(' ').any(|word| word == "until=ended") && system.skins().next().is_some();
        let allowed = system.tasks.iter().any(|task| task.may_end_system || task.may_start_linux);
        Ending { linux, others: limited || with_tasks || allowed }
    }

    /// Refuses a run that nothing ends, whatever happens in it.
    pub fn check(self) -> Result<()> {
        if self.linux || self.others {
            return Ok(());
        }
        let why = "it has no Linux that could switch itself off, no limit, and no task with may_end_system";
        let remedy =
            "add --kernel-append seconds=N, or --no-linux: with RTLinux programs it ends when all of them have";
        Err(problem("nothing ends this run", why, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    fn ending(words: &[&str], file: &str) -> Ending {
        let command = Cli::try_parse_from([&["x", "run"], words].concat());
        let Command::Run(run) = command.unwrap_or_else(|error| panic!("{error}")).command else { panic!("not a run") };
        Ending::of(&run, Some(&pillion_system::parse(&format!("[system]\nname = \"s\"\n{file}")).unwrap()))
    }

    const NATIVE: &str = "[[task]]\nname = \"a\"\npriority = 9\n";
    const SKIN: &str = "[[task]]\nname = \"a\"\nskin = \"rtlinux\"\n";

    #[test]
    fn somebody_must_end_it() {
        let headless = ["--headless"];
        assert_eq!(ending(&headless, "[linux]"), Ending { linux: true, others: false });
        assert!(ending(&headless, NATIVE).check().is_err() && ending(&headless, SKIN).check().is_err());
        assert!(ending(&["--headless", "--no-linux"], NATIVE).check().is_err());
        assert!(ending(&["--headless", "--no-linux"], SKIN).others);
        assert!(ending(&["--headless", "--kernel-append", "trace=1 seconds=3"], NATIVE).others);
        assert!(ending(&headless, &format!("{NATIVE}may_end_system = true")).others);
        assert!(ending(&[], NATIVE).others, "somebody sits before it");
    }
}
