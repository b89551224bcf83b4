//! Checks that the table of docs/measuring.md agrees with the baselines and the experiments.

use super::baseline::Baseline;
use super::experiment::Experiment;
use pillion_host::repository::Repository;
use pillion_measure_data::Instrument;
use std::fs;

const PAGE: &str = "docs/measuring.md";

/// A row with the figure in its second cell: `EXPERIMENT/FIGURE`.
struct Row<'a> {
    experiment: &'a str,
    figure: &'a str,
    value: Option<f64>,
    bar: Option<f64>,
    goal: Option<f64>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim).skip(1);
    let (experiment, figure) = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.split_once('/')?;
    let mut next = || number(cells.next()?);
    Some(Row { experiment, figure, value: next(), bar: next(), goal: next() })
}

/// The number at the start of a cell.
fn number(cell: &str) -> Option<f64> {
    cell.split(' ').next()?.replace(',', "").parse().ok()
}

/// The cells in which a row differs.
fn faults(repository: &Repository, row: &Row<'_>) -> Vec<String> {
    let Row { experiment, figure, value, bar, goal } = *row;
    let plan = Experiment::read(repository, experiment).unwrap().plan;
    let Some(planned) = plan.figure.iter().find(|planned| planned.name == figure) else {
        return vec![format!("{experiment} has no figure {figure}")];
    };
    let baseline = Baseline::read(repository, experiment, Instrument::Counted).unwrap();
    // A figure without a baseline is of a long form, which only this table records.
    let counted = plan.system.iter().find_map(|system| baseline.value(&system.name, figure)).or(value);
    let pairs = [("value", value, counted), ("bar", bar, planned.bar), ("goal", goal, planned.goal)];
    let wrong = pairs.into_iter().filter(|(_, said, is)| said != is);
    wrong.map(|(what, said, is)| format!("{experiment}/{figure}: {what} {said:?}, but is {is:?}")).collect()
}

#[test]
fn the_table_is_that_of_the_baselines_and_bars() {
    let repository = Repository::find().unwrap();
    let text = fs::read_to_string(repository.path(PAGE)).unwrap();
    let rows: Vec<Row<'_>> = text.lines().filter_map(row).collect();
    assert!(rows.len() > 15 && rows.iter().all(|row| row.value.is_some()), "{PAGE}: rows or values are missing");
    let faults: Vec<String> = rows.iter().flat_map(|row| faults(&repository, row)).collect();
    assert!(faults.is_empty(), "{PAGE} and measure/ differ:\n{}", faults.join("\n"));
}
