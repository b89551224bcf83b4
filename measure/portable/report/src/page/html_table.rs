//! The table of figures: value, goal, bar, verdict, and what others reach.

use super::bullet::bullet;
use super::sections::Report;
use super::verdict::{mark, verdict};
use crate::number::{exact, plain};
use maud::{Markup, html};
use pillion_measure_data::{Figure, Measurement, Standing};

/// The columns of the table.
struct Columns {
    systems: bool,
    limits: bool,
    field: bool,
}

/// The tables: first the figures that are explained, then all others.
pub fn figures(report: &Report, measurement: &Measurement) -> Markup {
    let (told, others): (Vec<&Figure>, Vec<&Figure>) = measurement.figures.iter().partition(|figure| is_told(figure));
    html! {
        @if !told.is_empty() { (main(report, measurement, &told)) }
        @if !others.is_empty() { (rest(measurement, &others)) }
    }
}

/// Whether the figure has a description, a goal or a bar.
fn is_told(figure: &Figure) -> bool {
    !figure.about.is_empty() || figure.bar.is_some() || figure.goal.is_some()
}

fn main(report: &Report, measurement: &Measurement, told: &[&Figure]) -> Markup {
    let columns = Columns {
        systems: measurement.systems.len() > 1,
        limits: told.iter().any(|figure| verdict(figure).is_some()),
        field: told.iter().any(|figure| !figure.field.is_empty()),
    };
    html! {
        div.wide { table.figures {
            thead { tr {
                th { "figure" }
                @if columns.systems { th { "system" } }
                th.value { "value" }
                @if columns.limits { th {} th.value { "goal" } th.value { "bar" } th { "verdict" } }
                @if columns.field { th { "the field" } }
            } }
            @for name in names(told) {
                tbody {
                    @let same: Vec<&Figure> = told.iter().copied().filter(|figure| figure.name == name).collect();
                    @for (n, figure) in same.iter().enumerate() {
                        tr {
                            @if n == 0 { th rowspan=(same.len()) { (about(figure)) } }
                            (row(report, measurement, figure, &columns))
                        }
                    }
                }
            }
        } }
    }
}

/// Names in the order in which they first appear.
fn names<'a>(figures: &[&'a Figure]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in figures {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

fn about(figure: &Figure) -> Markup {
    html! {
        @if !figure.about.is_empty() { (figure.about) " " }
        code { (figure.name) }
    }
}

fn row(report: &Report, measurement: &Measurement, figure: &Figure, columns: &Columns) -> Markup {
    let verdict = verdict(figure);
    let limit = |limit: Option<f64>| limit.map_or(String::new(), plain);
    let slot = report.colours.slot(&figure.system);
    html! {
        @if columns.systems { td.system { (swatch(slot)) " " (title(measurement, &figure.system)) } }
        td.value.beyond[verdict == Some(Standing::Beyond)] {
            (exact(figure.value, &figure.unit))
            @if let Some(chance) = figure.chance { span.chance { " ± " (plain(chance)) } }
        }
        @if columns.limits {
            td.small-picture { (bullet(figure, slot)) }
            td.value { (limit(figure.goal)) }
            td.value { (limit(figure.bar)) }
            td { @if let Some(verdict) = verdict { (mark(verdict)) } }
        }
        @if columns.field { td.field { (figure.field) } }
    }
}

/// A system's name for readers.
pub fn title<'a>(measurement: &'a Measurement, system: &'a str) -> &'a str {
    measurement.systems.iter().find(|known| known.name == system).map_or(system, |known| &known.title)
}

/// All other figures: one row for each name, one column for each system.
fn rest(measurement: &Measurement, others: &[&Figure]) -> Markup {
    let has = |system: &str| others.iter().any(|figure| figure.system == system);
    let systems: Vec<&str> =
        measurement.systems.iter().map(|system| system.name.as_str()).filter(|system| has(system)).collect();
    html! {
        details {
            summary { (plain(others.len() as f64)) " further numbers" }
            div.wide { table.rest {
                thead { tr { th {} @for system in &systems { th.value { (system) } } } }
                tbody {
                    @for name in names(others) {
                        tr {
                            th { code { (name) } }
                            @for system in &systems {
                                @let figure = others.iter().find(|figure| figure.system == *system && figure.name == name);
                                td.value { @if let Some(figure) = figure { (exact(figure.value, &figure.unit)) } }
                            }
                        }
                    }
                }
            } }
        }
    }
}

/// A small square in a system's colour.
pub fn swatch(slot: usize) -> Markup {
    html! { svg.swatch width="11" height="11" viewBox="0 0 11 11" aria-hidden="true" { rect class=(format!("f{slot}")) width="11" height="11" {} } }
}
