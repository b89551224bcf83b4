//! `x measure`: calls measure/run, and builds and boots for it.

use crate::build::{cargo, patched};
use crate::cli::MeasureCommand;
use crate::doctor;
use crate::parallel::processors;
use crate::repository::Repository;
use crate::run::own_process::{self, Streams};
use crate::{qemu, run};
use anyhow::{Context as _, Result, ensure};
use pillion_measure_run::{self as measure, Boot, Form, Order, RunOutput, Tool};
use std::path::{Path, PathBuf};

/// Lines shown of a failed run's messages.
const SHOWN: usize = 60;

/// `x measure`.
pub fn command(repository: &Repository, command: &MeasureCommand) -> Result<bool> {
    match command {
        MeasureCommand::List { json } => measure::list(repository, *json),
        MeasureCommand::Run(arguments) => {
            doctor::ensure(repository, true)?;
            let order = Order {
                names: arguments.names.clone(),
                form: Form { instrument: arguments.instrument, quick: arguments.quick, ours: arguments.ours },
                machine: arguments.machine.clone(),
                workers: arguments.jobs.map_or_else(processors, usize::from),
                accept: arguments.accept,
            };
            measure::run(&Here { repository }, &order)
        }
        MeasureCommand::Report { files } => measure::report(repository, files),
        MeasureCommand::Compare { old, new, json } => measure::compare(old, new, *json),
    }
}

/// Builds and boots for measurements.
pub struct Here<'a> {
    /// The sources.
    pub repository: &'a Repository,
}

impl Tool for Here<'_> {
    fn repository(&self) -> &Repository {
        self.repository
    }

    fn kernel(&self, patch: Option<&Path>) -> Result<PathBuf> {
        let folder = match patch {
            Some(patch) => cargo::build(&patched::repository(self.repository, patch)?, &[])?,
            None => cargo::build(self.repository, &[])?,
        };
        Ok(folder.join("pillion-kernel"))
    }

    fn program_for_linux(&self, package: &str) -> Result<PathBuf> {
        cargo::build_static(self.repository, package)
    }

    fn emulator_of_several(&self) -> Result<PathBuf> {
        Ok(run::emulator_that_shares(self.repository, Path::new(qemu::DEFAULT))?.program)
    }

    fn boot(&self, boot: &Boot) -> Result<RunOutput> {
        let options = ["--counted".to_owned()].into_iter().chain(boot.options());
        let Streams { status, message, log, console, result, .. } =
            own_process::run(self.repository, self.repository.root(), options)?;
        ensure!(status == Some(0), "{}", own_process::tail(message.trim_end(), SHOWN));
        let result = result.context("the run left no result")?;
        Ok(RunOutput { log, console, result, ..RunOutput::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{RunArguments, run_arguments};

    fn parsed(boot: &Boot) -> RunArguments {
        run_arguments(&boot.options())
    }

    #[test]
    fn only_the_model_has_machines() {
        let repository = Repository::find().unwrap();
        let form = Form { instrument: pillion_measure_data::Instrument::Counted, quick: true, ours: false };
        let (names, machine) = (vec!["kernel-paths".to_owned()], Some("zen-3".to_owned()));
        let order = Order { names, form, machine, workers: 1, accept: false };
        let said = measure::run(&Here { repository: &repository }, &order).unwrap_err().to_string();
        assert!(said.contains("zen-3") && said.contains("--instrument modelled"), "{said}");
    }

    #[test]
    fn a_boot_s_options_are_those_of_x_run() {
        let text = |word: &str| Some(word.to_owned());
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let run = parsed(&Boot {
            system: text("s.toml"),
            task: words(&["a", "b"]),
            cpus: Some(4),
            patch: text("p.patch"),
            linux: text("rt"),
            append: text("quiet nokaslr"),
            kernel_append: text("trace=1"),
            measure_module: true,
            file: words(&["f", "g"]),
            load: words(&["disk", "net"]),
            seconds: Some(5),
            fault: text("reboot"),
            qemu_arg: words(&["-device", "edu"]),
            isolated: true,
            wire: true,
            card: true,
            timeout: Some(900),
            ..Boot::default()
        });
        let build = &run.build;
        assert_eq!(
            (build.tasks.join(" "), build.files.len(), run.load.join(" ")),
            ("a b".into(), 2, "disk net".into())
        );
        assert_eq!((build.linux.as_str(), build.append.as_deref()), ("rt", Some("quiet nokaslr")));
        assert_eq!((run.kernel_append.as_deref(), run.fault.as_deref()), (Some("trace=1"), Some("reboot")));
        assert_eq!((run.seconds, run.timeout, run.qemu_args), (Some(5), Some(900), words(&["-device", "edu"])));
        assert_eq!(run.cpus, 4);
        assert!(build.system.is_some() && build.patch.is_some() && build.measure_module);
        assert!(run.isolated && build.wire && build.card && !run.direct && !build.no_linux);
        assert!(parsed(&Boot { direct: true, ..Boot::default() }).direct);
        let root = parsed(&Boot { root: text("measure-kernel"), no_linux: true, ..Boot::default() });
        assert_eq!((root.build.root.as_deref(), root.build.no_linux), (Some("measure-kernel"), true));
    }
}
