//! Makes a measurement from the readings of an experiment's runs.

use super::experiment::Experiment;
use super::job::Finished;
use super::plan::{FigurePlan, Form, Plan};
use super::readings::{self, SystemReadings};
use super::system_name;
use super::validity::complaints;
use super::{erlang_fits, processors, riding};
use pillion_measure_data::{Figure, Instrument, Measurement, Series};
use std::collections::BTreeMap;

/// Makes the measurement from the systems that were not disturbed; it is invalid if one was.
/// `titles` are those of the model's machines.
pub fn measurement(
    experiment: &Experiment,
    form: Form,
    finished: &[Finished],
    titles: &BTreeMap<String, String>,
    machine: BTreeMap<String, String>,
) -> Measurement {
    let plan = &experiment.plan;
    let mut all = readings::systems(plan, finished, titles);
    match &plan.riding_cost {
        None => readings::read(&mut all, plan, form, finished),
        Some(cost) => riding::read(&mut all, cost, form, finished),
    }
    all.iter_mut().for_each(|one| erlang_fits::add(&mut one.readings, &plan.erlang));
    let systems = all.iter().map(|one| one.system.clone()).collect();
    let mut disturbed = Vec::new();
    all.retain(|one| {
        let wrong = [failures(&one.system.name, finished), complaints(plan, form, one)].concat();
        let good = wrong.is_empty();
        disturbed.extend(wrong);
        good
    });
    let quick = if form.quick { " --quick" } else { "" };
    let ours = if form.ours { " --ours" } else { "" };
    Measurement {
        about: plan.about.clone(),
        paper: plan.paper.clone(),
        text: experiment.text.clone(),
        conclusion: plan.conclusion.clone(),
        command: format!("./x measure run {} --instrument {}{quick}{ours}", experiment.name, form.instrument),
        quick: form.quick,
        machine,
        systems,
        disturbed,
        charts: plan.chart.clone(),
        figures: figures(plan, form.instrument, &all),
        processors: all.iter().flat_map(|one| processors::told(&one.system.name, finished)).collect(),
        series: all.into_iter().flat_map(series).collect(),
        ..Measurement::new(&experiment.name, &plan.title, form.instrument)
    }
}

fn failures(system: &str, finished: &[Finished]) -> Vec<String> {
    let failed = finished.iter().filter(|one| one.job.system == system && one.output.is_err());
    failed.map(|one| format!("{system}: a run failed: {}", one.job.command())).collect()
}

/// The figures of the plan first, in its order; then the others that programs reported.
fn figures(plan: &Plan, instrument: Instrument, all: &[SystemReadings]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for planned in &plan.figure {
        for SystemReadings { system, readings, chance } in all {
            let (name, of) = (&planned.name, system_name::planned(&system.name));
            let is_planned = planned.is_of(of, instrument);
            let Some((value, _)) = readings.figures.get(name).filter(|_| is_planned) else { continue };
            let chance = chance.get(name).copied();
            figures.push(Figure { chance, ..planned.figure(&system.name, *value) });
        }
    }
    for SystemReadings { system, readings, .. } in all {
        for (name, (value, unit)) in &readings.figures {
            if plan.figure(system_name::planned(&system.name), instrument, name).is_none() {
                let (system, name, unit) = (system.name.clone(), name.clone(), unit.clone());
                figures.push(Figure { system, name, value: *value, unit, ..Figure::default() });
            }
        }
    }
    figures
}

impl FigurePlan {
    fn figure(&self, system: &str, value: f64) -> Figure {
        Figure {
            system: system.to_owned(),
            name: self.name.clone(),
            about: self.about.clone(),
            value,
            unit: self.unit.clone(),
            direction: self.direction,
            threshold: self.threshold,
            chance: None,
            bar: self.bar,
            goal: self.goal,
            field: self.field.clone(),
        }
    }
}

fn series(of: SystemReadings) -> impl Iterator<Item = Series> {
    let system = of.system.name;
    of.readings.series.into_iter().map(move |(name, data)| Series { system: system.clone(), name, data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot_options::Boot;
    use crate::job::Job;
    use crate::tool::RunOutput;
    use crate::validity::missing;
    use anyhow::{Result, anyhow};

    const PLAN: &str = r#"
        title = "t"
        about = "a"
        [[system]]
        name = "linux"
        title = "Linux"
        [[system]]
        name = "alone"
        title = "Alone"
        [[run]]
        system = "alone"
        [[run]]
        system = "linux"
        [[run]]
        system = "linux"
        prefix = "again_"
        [[figure]]
        name = "f"
        about = "f"
        unit = "ns"
        direction = "smaller"
        bar = 3
        [[figure]]
        name = "samples"
        systems = ["linux"]
        about = "s"
        unit = "1"
        [[valid]]
        figure = "samples"
        least = 100
        quick_least = 10
        systems = ["linux"]
    "#;
    const COUNTED: Form = Form { instrument: Instrument::Counted, quick: false, ours: false };

    fn experiment() -> Experiment {
        let plan = toml::from_str(PLAN).unwrap_or_else(|error| panic!("{error}"));
        Experiment { name: "e".into(), here: "measure/experiments/e".into(), plan, text: "# E".into() }
    }

    fn finished(system: &str, run: usize, console: Result<&str>) -> Finished {
        let boot = Boot { load: vec!["a b".into()], ..Boot::default() };
        let job = Job { system: system.into(), run, boot, plugin: None };
        let output = |console: &str| RunOutput { console: console.into(), ..RunOutput::default() };
        Finished { job, output: console.map(output) }
    }

    fn measured(form: Form, finished: &[Finished]) -> Measurement {
        measurement(&experiment(), form, finished, &BTreeMap::new(), BTreeMap::new())
    }

    #[test]
    fn runs_of_a_system_add_up_in_the_plans_order() {
        let said = "figure f 2 ns\nfigure samples 100 1\npoints p s s 1:1\n";
        let runs = [
            finished("alone", 0, Ok("[t] figure f 1 ns")),
            finished("linux", 1, Ok(said)),
            finished("linux", 2, Ok("figure f 4 ns")),
        ];
        let measured = measured(COUNTED, &runs);
        assert_eq!(measured.disturbed, Vec::<String>::new());
        let figures: Vec<(&str, &str, f64)> =
            measured.figures.iter().map(|figure| (&*figure.system, &*figure.name, figure.value)).collect();
        let expected =
            [("linux", "f", 2.0), ("alone", "f", 1.0), ("linux", "samples", 100.0), ("linux", "again_f", 4.0)];
        assert_eq!(figures, expected);
        assert_eq!((measured.figures[0].bar, measured.figures[3].bar), (Some(3.0), None));
        assert_eq!(measured.systems[0].commands.len(), 2);
        assert!(measured.systems[0].commands[0].ends_with("--load 'a b'"));
        assert_eq!((measured.series.len(), missing(&experiment().plan, &measured).len()), (1, 0));
    }

    #[test]
    fn a_disturbed_run_has_no_numbers() {
        let good = "figure f 2 ns\nfigure samples 99 1\n";
        for (said, why) in [
            (Ok("figure f 2 ns\nfigure samples 100 1\ninvalid a page fault\n"), "a page fault"),
            (Ok(good), "samples is 99, and must be 100 or more"),
            (Ok("figure f 2 ns\n"), "samples was not reported"),
            (Ok("no line\n"), "it reported nothing"),
            (Ok("figure f 2 us\nfigure samples 100 1\n"), "f was reported in us, not in ns"),
            (Ok("figure f 2\nfigure samples 100 1\n"), "cannot be read"),
            (Err(anyhow!("it hung")), "a run failed"),
        ] {
            let measured = measured(COUNTED, &[finished("linux", 1, said)]);
            assert!(measured.disturbed.iter().any(|text| text.contains(why)), "{why}: {:?}", measured.disturbed);
            assert!(measured.figures.is_empty() && measured.series.is_empty());
        }
        assert!(measured(Form { quick: true, ..COUNTED }, &[finished("linux", 1, Ok(good))]).is_valid());
    }

    #[test]
    fn what_disturbed_one_system_takes_nothing_from_another() {
        let good = "figure f 2 ns\nfigure samples 100 1\npoints p s s 1:1\n";
        for wrong in [Err(anyhow!("it hung")), Ok("figure f 1 ns\ninvalid a page fault\n")] {
            let measured = measured(COUNTED, &[finished("linux", 1, Ok(good)), finished("alone", 0, wrong)]);
            assert!(!measured.is_valid() && measured.disturbed.iter().all(|why| why.starts_with("alone: ")));
            assert!(measured.figure("linux", "f").is_some() && measured.figure("alone", "f").is_none());
            assert_eq!((measured.systems.len(), measured.series.len()), (2, 1));
        }
    }

    #[test]
    fn what_must_be_said_and_was_not_is_missing() {
        let measured = measured(COUNTED, &[finished("linux", 1, Ok("figure samples 100 1\n"))]);
        assert_eq!(missing(&experiment().plan, &measured), [("any".to_owned(), "f".to_owned())]);
    }

    #[test]
    fn machines_of_the_model_are_systems_of_their_own() {
        let output = RunOutput { plugin: "figure f 9 ns\nfigure samples 1 1\n".into(), ..RunOutput::default() };
        let job = Job { system: "alone@old".into(), run: 0, boot: Boot::default(), plugin: None };
        let titles = [("old".to_owned(), "Old machine, 100 MHz".to_owned())].into();
        let form = Form { instrument: Instrument::Modelled, ..COUNTED };
        let measured =
            measurement(&experiment(), form, &[Finished { job, output: Ok(output) }], &titles, BTreeMap::new());
        assert_eq!((&*measured.systems[0].name, &*measured.systems[0].title), ("alone@old", "Alone, Old machine"));
        let figure = measured.figure("alone@old", "f").unwrap();
        assert_eq!((figure.value, figure.bar), (9.0, None), "a bar is of what is counted");
    }
}
