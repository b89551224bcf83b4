//! The experiments: folders of measure/experiments.

use super::plan::Plan;
use super::plan_check;
use anyhow::{Context as _, Result, ensure};
use pillion_host::file::read_text;
use pillion_host::problem::problem;
use pillion_host::repository::Repository;
use std::fs;

/// Where the experiments are.
pub const FOLDER: &str = "measure/experiments";
/// The name that selects all of them.
const ALL: &str = "all";

/// An experiment.
pub struct Experiment {
    /// Its folder's name.
    pub name: String,
    /// Its folder, relative to the repository.
    pub here: String,
    /// Its plan.
    pub plan: Plan,
    /// Its page of text.
    pub text: String,
}

impl Experiment {
    /// Every experiment, sorted by name.
    pub fn all(repository: &Repository) -> Result<Vec<Experiment>> {
        names(repository)?.iter().map(|name| Experiment::read(repository, name)).collect()
    }

    /// The experiments with these names, each once.
    pub fn named(repository: &Repository, wanted: &[String]) -> Result<Vec<Experiment>> {
        let known = names(repository)?;
        if let Some(lost) = wanted.iter().find(|name| *name != ALL && !known.contains(name)) {
            let why = format!("{FOLDER} has no such folder with a measure.toml");
            return Err(problem(
                format!("there is no experiment {lost}"),
                why,
                format!("choose among {ALL}, {}", known.join(", ")),
            ));
        }
        let is_wanted = |name: &&String| wanted.contains(name) || wanted.iter().any(|name| name == ALL);
        known.iter().filter(is_wanted).map(|name| Experiment::read(repository, name)).collect()
    }

    /// Reads and checks an experiment.
    pub fn read(repository: &Repository, name: &str) -> Result<Experiment> {
        let here = format!("{FOLDER}/{name}");
        let text = |file: &str| read_text(&repository.path(&here).join(file));
        let plan: Plan =
            toml::from_str(&text("measure.toml")?).with_context(|| format!("{here}/measure.toml is no experiment"))?;
        let plan = plan.with_variants();
        let faults = plan_check::faults(&plan);
        ensure!(faults.is_empty(), "{here}/measure.toml: {}", faults.join("; "));
        Ok(Experiment { name: name.to_owned(), text: text("README.md")?, here, plan })
    }
}

fn names(repository: &Repository) -> Result<Vec<String>> {
    let folder = repository.path(FOLDER);
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = folders
        .filter(|folder| folder.join("measure.toml").is_file())
        .filter_map(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::Instrument;

    #[test]
    fn every_experiment_can_be_read_and_has_its_page() {
        let repository = Repository::find().unwrap();
        let experiments = Experiment::all(&repository).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(experiments.len() >= 4);
        for Experiment { name, text, plan, .. } in &experiments {
            for heading in ["# ", "## Method", "## What it shows", "## What it cannot show"] {
                assert!(text.lines().any(|line| line.starts_with(heading)), "{name}/README.md has no {heading:?}");
            }
            assert!(!plan.title.is_empty() && !plan.about.is_empty(), "{name}");
        }
        let covers: usize =
            experiments.iter().map(|one| one.plan.chart.iter().filter(|chart| chart.cover).count()).sum();
        assert_eq!(covers, 1, "the report's first page has one picture");
    }

    fn is_shown(plan: &Plan, system: &str, append: &str) -> bool {
        plan.system.iter().flat_map(|system| &system.like).any(|like| like.system == system && like.append == append)
    }

    /// Experiments that show how Linux responds, beside tasks or for them.
    const RESPONSES: [&str; 6] =
        ["cyclictest", "delay", "dispatch", "latency-under-load", "rhealstone", "timer-latency"];

    #[test]
    fn linux_that_responds_is_shown_without_its_mitigations_too() {
        let repository = Repository::find().unwrap();
        for name in RESPONSES {
            let plan = Experiment::read(&repository, name).unwrap().plan;
            for system in ["linux", "linux-rt"] {
                assert!(is_shown(&plan, system, "mitigations=off"), "{name}: {system}");
            }
        }
    }

    #[test]
    fn what_riding_costs_is_shown_with_the_timer_of_linux_alone_too() {
        let repository = Repository::find().unwrap();
        for name in ["cyclictest", "rhealstone"] {
            let plan = Experiment::read(&repository, name).unwrap().plan;
            assert!(is_shown(&plan, "riding", "nox2apic lapic=notscdeadline"), "{name}");
        }
    }

    #[test]
    fn conclusions_name_figures_that_are_counted() {
        let repository = Repository::find().unwrap();
        let mut places = 0;
        for Experiment { name, plan, .. } in Experiment::all(&repository).unwrap() {
            for place in plan.conclusion.iter().flat_map(|part| part.split('{').skip(1)) {
                let (place, _) = place.split_once('}').unwrap_or_else(|| panic!("{name}: {place} is open"));
                let (system, figure) = place.split_once(':').unwrap_or_else(|| panic!("{name}: {place} has no system"));
                assert!(plan.figure(system, Instrument::Counted, figure).is_some(), "{name}: {place}");
                places += 1;
            }
        }
        assert!(places >= 10, "{places}");
    }

    #[test]
    fn ci_runs_each_experiment_with_a_bar() {
        // Several boots of Linux under load each: for each release.
        const LONG: [&str; 5] = ["cruncher", "dual-latency", "load-4", "periodicity", "riding-cost-4"];
        let repository = Repository::find().unwrap();
        let script = |name: &str| std::fs::read_to_string(repository.path(name)).unwrap();
        let (run, long) = (script(".ci/run"), script(".ci/long"));
        let words: Vec<&str> = run.split_whitespace().collect();
        for Experiment { name, plan, .. } in Experiment::all(&repository).unwrap() {
            let has_bar = plan.figure.iter().any(|figure| figure.bar.is_some());
            assert_eq!(words.contains(&name.as_str()), has_bar && !LONG.contains(&name.as_str()), "{name}");
        }
        assert!(long.contains("./x measure run all --quick\n"));
    }

    #[test]
    fn only_what_is_named_is_run() {
        let repository = Repository::find().unwrap();
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Experiment::named(&repository, &names).map(|found| found.len())
        };
        assert_eq!(named(&["kernel-paths", "kernel-paths"]).unwrap(), 1);
        assert_eq!(named(&["all"]).unwrap(), names(&repository).unwrap().len());
        assert!(named(&["nothing"]).unwrap_err().to_string().contains("kernel-paths"));
    }
}
