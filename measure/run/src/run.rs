//! Runs experiments.

use super::assemble;
use super::baseline::Baseline;
use super::experiment::Experiment;
use super::job::{Finished, Job};
use super::plan::Form;
use super::planner::Planner;
use super::tool::{RunOutput, Tool};
use super::{emulated_machine, measurement_files, text_table, validity};
use anyhow::Result;
use pillion_host::parallel::{self, Work};
use pillion_host::problem::problem;
use pillion_host::repository::Repository;
use pillion_measure_data::{Measurement, plain};
use std::collections::BTreeMap;

/// What to run.
pub struct Order {
    /// Experiments, or `all`.
    pub names: Vec<String>,
    /// The form.
    pub form: Form,
    /// Restricts the model to this machine of measure/machines.
    pub machine: Option<String>,
    /// Number of concurrent emulators.
    pub workers: usize,
    /// Whether the figures become the baseline.
    pub accept: bool,
}

/// `x measure run`: runs experiments, writes and prints their results; returns whether all is good.
pub fn run(tool: &dyn Tool, order: &Order) -> Result<bool> {
    let Order { names, form, machine, workers, accept } = order;
    let repository = tool.repository();
    let experiments = Experiment::named(repository, names)?;
    let mut faults = None;
    measure(tool, &experiments, *form, machine.as_deref(), *workers, |experiment, measurement| {
        let of_one = conclude(repository, experiment, &measurement, *form, *accept)?;
        faults
            .get_or_insert_with(Vec::new)
            .extend(of_one.into_iter().map(|fault| format!("{}: {fault}", experiment.name)));
        Ok(())
    })?;
    let Some(faults) = faults else {
        let why = format!("none of these experiments has a run with the instrument {}", form.instrument);
        return Err(problem("there is nothing to run", why, "`./x measure list` lists the instruments of each"));
    };
    println!(
        "\nmeasurements are in {}; `./x measure report` draws them",
        measurement_files::folder(repository).display()
    );
    print!("{}", plain(&text_table::faults(&faults)));
    Ok(faults.is_empty())
}

/// Runs experiments in one form; calls `take` with each measurement as soon as its last run has
/// ended. Skips experiments without a run in this form.
pub fn measure(
    tool: &dyn Tool,
    experiments: &[Experiment],
    form: Form,
    machine: Option<&str>,
    workers: usize,
    mut take: impl FnMut(&Experiment, Measurement) -> Result<()>,
) -> Result<()> {
    let planner = Planner::new(tool, form, machine)?;
    let titles = planner.titles();
    let mut jobs: Vec<(&Experiment, Job)> = Vec::new();
    for experiment in experiments {
        jobs.extend(planner.jobs(experiment)?.into_iter().map(|job| (experiment, job)));
    }
    let piece = |(experiment, job): &(&Experiment, Job)| {
        let (name, job) = (format!("{}, {}", experiment.name, job.system), job.clone());
        Work { name, work: Box::new(move || job.run(tool)) }
    };
    let mut outputs: BTreeMap<usize, Result<RunOutput>> = BTreeMap::new();
    parallel::each(jobs.iter().map(piece).collect(), workers, |at, output| {
        outputs.insert(at, output);
        let experiment = jobs[at].0;
        let is_own = |at: &usize| jobs[*at].0.name == experiment.name;
        let own: Vec<usize> = (0..jobs.len()).filter(is_own).collect();
        if own.iter().any(|at| !outputs.contains_key(at)) {
            return Ok(());
        }
        let finished = |at: usize| Some(Finished { job: jobs[at].1.clone(), output: outputs.remove(&at)? });
        let finished: Vec<Finished> = own.into_iter().filter_map(finished).collect();
        tell_failures(experiment, &finished);
        let mut machine = emulated_machine::describe(tool.repository(), &finished);
        if !titles.is_empty() {
            machine.insert("model".into(), titles.values().cloned().collect::<Vec<_>>().join("; "));
        }
        take(experiment, assemble::measurement(experiment, form, &finished, &titles, machine))
    })
}

fn tell_failures(experiment: &Experiment, finished: &[Finished]) {
    for Finished { job, output } in finished {
        let Err(error) = output else { continue };
        let why = plain(&format!("{error:#}"));
        eprintln!("\nx: {}, {}: a run failed\n   {}\n{why}", experiment.name, job.system, job.command());
    }
}

/// Writes, prints and judges a measurement; returns its faults, one a line.
fn conclude(
    repository: &Repository,
    experiment: &Experiment,
    measurement: &Measurement,
    form: Form,
    accept: bool,
) -> Result<Vec<String>> {
    measurement_files::write(repository, measurement)?;
    if !measurement.is_valid() {
        // The figures of the other systems.
        print!("{}", plain(&text_table::text(measurement, &Baseline::default())));
        let faults: Vec<String> = measurement.disturbed.iter().map(|why| format!("INVALID {why}")).collect();
        faults.iter().for_each(|fault| println!("{}", plain(fault)));
        return Ok(faults);
    }
    let compared = measurement.quick;
    if accept
        && compared
        && let Some(path) = Baseline::of(measurement).write(repository, &experiment.name, measurement.instrument)?
    {
        eprintln!("x: {} is the baseline", path.display());
    }
    let mut baseline = match compared {
        true => Baseline::read(repository, &experiment.name, measurement.instrument)?,
        false => Baseline::default(),
    };
    if form.ours {
        baseline.retain(|system| measurement.systems.iter().any(|measured| measured.name == system));
    }
    print!("{}", plain(&text_table::text(measurement, &baseline)));
    let faults = faults(experiment, measurement, &baseline);
    faults.iter().for_each(|fault| println!("{}", plain(fault)));
    for what in baseline.differences(measurement).iter().filter(|_| !faults.is_empty()) {
        println!("the baseline was made on a different machine: {}", plain(what));
    }
    Ok(faults)
}

/// The faults of a valid measurement.
fn faults(experiment: &Experiment, measurement: &Measurement, baseline: &Baseline) -> Vec<String> {
    let mut lost = validity::missing(&experiment.plan, measurement);
    lost.extend(baseline.lost(measurement));
    lost.sort();
    lost.dedup();
    let mut faults: Vec<String> = lost.iter().map(|(system, name)| format!("MISSING {system}: {name}")).collect();
    for figure in &measurement.figures {
        let standing = figure.standing(baseline.value(&figure.system, &figure.name));
        if standing.fails() {
            let said = text_table::against(figure, baseline);
            faults.push(format!("{} {}: {}, {}: {said}", standing.text(), figure.system, figure.name, figure.about));
        }
    }
    faults
}
