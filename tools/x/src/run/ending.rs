//! What ends a headless run. A run that nothing can end would only run into its time limit, without
//! a word on why.

use super::emulated::kernel_line;
use crate::cli::{Clock, RunArguments};
use crate::problem::problem;
use anyhow::Result;
use pillion_system::System;
use std::time::Duration;

/// What can end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// There is a Linux.
    pub linux: bool,
    /// Something other than Linux can end it, or start Linux again.
    pub others: bool,
}

impl Ending {
    /// What the arguments and the system file provide; without a system file (`--root`), a program
    /// of this repository ends the run.
    pub fn of(run: &RunArguments, system: Option<&System>) -> Ending {
        let linux = run.direct || system.is_some_and(|system| system.linux.is_some());
        let Some(system) = system.filter(|_| run.headless && run.disk.is_none() && !run.direct) else {
            return Ending { linux, others: true };
        };
        let line = kernel_line(run, linux);
        let limited = line.split(' ').any(|word| word.starts_with("seconds="));
        let with_tasks = line.split(' ').any(|word| word == "until=ended") && system.skins().next().is_some();
        let allowed = system.tasks.iter().any(|task| task.may_end_system || task.may_start_linux);
        let from_outside = run.when.iter().any(|(_, command)| command == "quit");
        Ending { linux, others: limited || with_tasks || allowed || from_outside }
    }

    /// Refuses a run that nothing can end.
    pub fn check(self) -> Result<()> {
        if self.linux || self.others {
            return Ok(());
        }
        let why = "it has no Linux that could switch itself off, no limit, and no task with may_end_system";
        let remedy = "add --seconds N, or --no-linux: with RTLinux programs it ends when all of them have";
        Err(problem("nothing ends this run", why, remedy))
    }
}

/// The time limit of a run; a shell has none by default.
pub fn limit(run: &RunArguments) -> Option<Duration> {
    let slower = if run.clock() == Clock::Wall { 1 } else { 3 };
    let default = run.headless.then_some(slower * (120 + 6 * u64::from(run.load_seconds())));
    run.timeout.or(default).map(Duration::from_secs)
}

/// What ends a headless run without Linux, for the user who waits for it: a program stays loaded,
/// as a module does, and nothing unloads it there.
pub fn without_linux(run: &RunArguments, system: Option<&System>) -> Option<String> {
    let system = system.filter(|system| run.headless && system.linux.is_none())?;
    let line = kernel_line(run, false);
    let word = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let mut ends = Vec::new();
    let programs: Vec<&str> = system.skins().map(|(task, _)| task.name.as_str()).collect();
    if word("until") == Some("ended") && !programs.is_empty() {
        let have = if programs.len() == 1 { "has" } else { "have all" };
        ends.push(format!("when {} {have} called pillion_unload() or faulted", programs.join(", ")));
    }
    if system.tasks.iter().any(|task| task.may_end_system) {
        ends.push("when a task ends the system".into());
    }
    let seconds = word("seconds");
    ends.extend(seconds.map(|seconds| format!("after {seconds} s of the machine's time")));
    let ends = format!("this run ends {}", ends.join(", or "));
    let given_up = limit(run).filter(|_| seconds.is_none());
    Some(
        ends + &given_up.map_or(String::new(), |limit| {
            format!("; else it is given up after {} s (--seconds N ends it earlier, as a success)", limit.as_secs())
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::run_arguments;

    fn system(file: &str) -> System {
        pillion_system::parse(&format!("[system]\nname = \"s\"\n{file}")).unwrap()
    }

    fn ending(words: &[&str], file: &str) -> Ending {
        Ending::of(&run_arguments(words), Some(&system(file)))
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
        assert!(ending(&["--headless", "--when", "[resmgr]=quit"], NATIVE).others);
        assert!(!ending(&["--headless", "--when", "[resmgr]=info pic"], NATIVE).others);
        assert!(ending(&[], NATIVE).others, "somebody sits before it");
    }

    #[test]
    fn who_waits_without_linux_is_told_for_what() {
        let said = |words: &[&str], file: &str| without_linux(&run_arguments(words), Some(&system(file)));
        let alone = ["--headless", "--no-linux"];
        let stays = said(&alone, SKIN).unwrap();
        assert!(
            stays.contains("when a has called pillion_unload() or faulted; else it is given up after 540 s"),
            "{stays}"
        );
        let limited = said(&[&alone[..], &["--seconds", "3"]].concat(), SKIN).unwrap();
        assert!(limited.ends_with("or faulted, or after 3 s of the machine's time"), "{limited}");
        assert!(said(&["--headless", "--seconds", "3"], NATIVE).unwrap().contains("after 3 s"));
        assert_eq!(said(&["--headless"], "[linux]"), None);
        assert_eq!(said(&["--no-linux"], SKIN), None, "somebody sits before it");
    }

    #[test]
    fn seconds_end_a_run_without_linux() {
        let line = |words: &[&str], linux| kernel_line(&run_arguments(words), linux);
        assert!(!line(&["--seconds", "3"], true).contains("seconds"));
        assert!(!line(&[], false).contains("seconds"));
        assert!(line(&["--seconds", "3"], false).ends_with("seconds=3"));
        let both = line(&["--seconds", "3", "--kernel-append", "seconds=5"], false);
        assert!(both.find("seconds=5") < both.find("seconds=3"), "the first counts: {both}");
        assert!(ending(&["--headless", "--seconds", "3"], NATIVE).check().is_ok());
    }
}
