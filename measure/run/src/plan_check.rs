//! Checks whether a measure.toml is consistent.

use super::plan::{FigurePlan, Plan};
use pillion_measure_data::lines::UNITS;
use pillion_measure_data::{Chart, Direction, Instrument, Kind};
use std::collections::BTreeSet;

/// The errors of a plan; empty if there are none.
pub fn faults(plan: &Plan) -> Vec<String> {
    let mut faults = systems(plan);
    faults.extend(plan.figure.iter().flat_map(|figure| figure_faults(plan, figure)));
    faults.extend(plan.chart.iter().flat_map(|chart| chart_faults(plan, chart)));
    if plan.run.iter().any(|run| run.instruments.contains(&Instrument::Measured)) {
        faults.push("a run is \"measured\", which an emulator cannot be".into());
    }
    if plan.run.iter().any(|run| run.in_linux.is_some() && run.command.is_some()) {
        faults.push("a run has both in_linux and a command".into());
    }
    let unknown = plan.run.iter().flat_map(|run| {
        let is_known = |name: &&String| run.path.iter().any(|path| path.name == **name);
        run.sum.iter().flat_map(|sum| &sum.of).filter(move |name| !is_known(name))
    });
    faults.extend(unknown.map(|name| format!("a sum names {name}, which is no path of its run")));
    if plan.riding_cost.as_ref().is_some_and(|cost| cost.boots.min(cost.quick_boots) < 2) {
        faults.push("[riding_cost] boots once: a single boot does not show how far boots differ".into());
    }
    faults
}

/// Each system must be named once and have a run, and runs must not name others.
fn systems(plan: &Plan) -> Vec<String> {
    let known: BTreeSet<&str> = plan.system.iter().map(|system| system.name.as_str()).collect();
    let mut faults = Vec::new();
    if known.len() < plan.system.len() {
        faults.push("a system is named twice".into());
    }
    let against = plan.riding_cost.iter().flat_map(|cost| cost.against.iter().flat_map(|(a, b)| [a, b]));
    let named = (plan.run.iter().map(|run| &run.system))
        .chain(plan.figure.iter().flat_map(|figure| &figure.systems))
        .chain(plan.valid.iter().flat_map(|valid| &valid.systems))
        .chain(plan.chart.iter().flat_map(|chart| chart.systems.iter().chain(&chart.normalised)))
        .chain(plan.system.iter().flat_map(|system| &system.like).map(|like| &like.system))
        .chain(against);
    let unknown: BTreeSet<&str> = named.map(String::as_str).filter(|name| !known.contains(name)).collect();
    faults.extend(unknown.into_iter().map(|name| format!("there is no [[system]] {name}")));
    let idle = known.into_iter().filter(|name| plan.run.iter().all(|run| run.system != *name));
    faults.extend(idle.map(|name| format!("system {name} has no [[run]]")));
    faults
}

fn figure_faults(plan: &Plan, figure: &FigurePlan) -> Vec<String> {
    let name = &figure.name;
    let mut faults = Vec::new();
    let limited = figure.bar.is_some() || figure.goal.is_some() || figure.threshold.is_some();
    if limited && figure.direction == Direction::None {
        faults.push(format!("figure {name} has a bar, a goal or a threshold, but no direction"));
    }
    if !UNITS.contains(&figure.unit.as_str()) {
        faults.push(format!("figure {name} is in {}; measure/README.md names the units", figure.unit));
    }
    let twice = |system: &str| {
        let of = |instrument: &Instrument| {
            plan.figure.iter().filter(|f| f.name == *name && f.is_of(system, *instrument)).count() > 1
        };
        figure.instruments.iter().any(of)
    };
    if let Some(system) = plan.system.iter().find(|system| twice(&system.name)) {
        faults.push(format!("figure {name} of {} is described twice", system.name));
    }
    faults
}

/// Bars must be of figures that are described; whether other charts have data is only known from
/// the readings.
fn chart_faults(plan: &Plan, chart: &Chart) -> Vec<String> {
    let title = &chart.title;
    if chart.series.is_empty() {
        return vec![format!("chart {title:?} draws nothing")];
    }
    if chart.kind != Kind::Bars {
        return Vec::new();
    }
    let unknown = chart.series.iter().filter(|name| plan.figure.iter().all(|figure| figure.name != **name));
    unknown.map(|name| format!("chart {title:?}: there is no [[figure]] {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        title = "t"
        about = "a"
        [[system]]
        name = "alone"
        title = "Alone"
        [[run]]
        system = "alone"
        [[figure]]
        name = "f"
        about = "f"
        unit = "ns"
        direction = "smaller"
        bar = 3
        [[chart]]
        kind = "bars"
        title = "c"
        series = ["f"]
    "#;

    fn faults_of(text: &str) -> Vec<String> {
        faults(&toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    #[test]
    fn what_is_consistent_has_no_faults() {
        assert_eq!(faults_of(GOOD), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_told() {
        let riding = |boots| {
            format!(
                "title = \"t\"\nriding_cost = {{ boots = 4, quick_boots = {boots}, rounds = \"a:1\", quick_rounds = \"a:1\", against = {{ }} }}"
            )
        };
        assert_eq!(faults_of(&GOOD.replacen("title = \"t\"", &riding(2), 1)), Vec::<String>::new());
        assert_eq!(faults_of(&GOOD.replacen("title = \"t\"", &riding(1), 1)).len(), 1);
        for (old, new) in [
            ("system = \"alone\"", "system = \"other\""),
            ("direction = \"smaller\"", ""),
            ("unit = \"ns\"", "unit = \"1/h\""),
            ("series = [\"f\"]", "series = [\"g\"]"),
            ("series = [\"f\"]", "series = []"),
            ("series = [\"f\"]", "series = [\"f\"]\nnormalised = \"linux\""),
            ("about = \"f\"", "about = \"f\"\nsystems = [\"linux\"]"),
            ("system = \"alone\"", "system = \"alone\"\ninstruments = [\"measured\"]"),
            ("system = \"alone\"", "system = \"alone\"\nin_linux = \"a\"\ncommand = \"b\""),
            ("[[chart]]", "[[figure]]\nname = \"f\"\nabout = \"\"\nunit = \"ns\"\n[[chart]]"),
            ("[[run]]", "[[system]]\nname = \"alone\"\ntitle = \"again\"\n[[run]]"),
            ("title = \"Alone\"", "title = \"Alone\"\nlike = { system = \"other\", append = \"quiet\" }"),
            ("[[run]]", "[[system]]\nname = \"idle\"\ntitle = \"idle\"\n[[run]]"),
            ("[[figure]]", "[[run.sum]]\nname = \"s\"\nof = [\"p\"]\n[[figure]]"),
        ] {
            assert!(GOOD.contains(old));
            assert!(!faults_of(&GOOD.replacen(old, new, 1)).is_empty(), "{new}");
        }
    }
}
