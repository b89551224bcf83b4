//! The first page: what was measured, with which instruments, and on which machines.

use super::conclusion::conclusions;
use super::contents::contents;
use super::html_table::swatch;
use super::instrument::{badge, words};
use super::sections::Report;
use super::verdict;
use crate::number::plain;
use maud::{Markup, html};
use pillion_measure_data::{Instrument, Measurement, Standing, System};
use std::collections::BTreeMap;

/// The first page.
pub fn cover(report: &Report) -> Markup {
    html! {
        header.cover {
            p.kicker { "Pillion · measuring suite" }
            h1 { "What was measured" }
            p.lead { (summary(report)) }
            (warnings(report))
            (conclusions(report))
            (contents(report))
            (instruments(report))
            (systems(report))
            (machines(report))
        }
    }
}

/// How many experiments and figures there are, and how good the figures are.
fn summary(report: &Report) -> String {
    let figures: usize = report
        .measurements()
        .filter(|measurement| measurement.is_valid())
        .map(|measurement| measurement.figures.len())
        .sum();
    let count = |standing| plain(verdict::count(standing, report.measurements()) as f64);
    let said = format!("{}, {}", counted(report.experiments.len(), "experiment"), counted(figures, "figure"));
    match [Standing::Goal, Standing::Good, Standing::Beyond].map(count) {
        [reached, within, beyond] if [&reached, &within, &beyond].iter().any(|count| *count != "0") => {
            format!(
                "{said}. Of those with a bar or a goal, {reached} reach their goal, {within} more stay within their bar, {beyond} {} beyond it.",
                if beyond == "1" { "is" } else { "are" }
            )
        }
        _ => format!("{said}."),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", plain(count as f64), if count == 1 { "" } else { "s" })
}

/// What a reader must know first.
fn warnings(report: &Report) -> Markup {
    let disturbed = report.measurements().filter(|measurement| !measurement.is_valid()).count();
    let quick = report.measurements().filter(|measurement| measurement.quick).count();
    html! {
        @if disturbed > 0 { p.alarm { (counted(disturbed, "measurement")) " disturbed: reasons are shown instead of numbers." } }
        @if quick > 0 { p.quick { (counted(quick, "measurement")) " made by a quick run, whose figures are not those of a full one." } }
    }
}

fn instruments(report: &Report) -> Markup {
    let used = |instrument: &Instrument| report.measurements().any(|measurement| measurement.instrument == *instrument);
    html! {
        section.instruments {
            h2 { "Instruments" }
            p { "Each chart and each table is of one instrument. Figures of different instruments are not compared." }
            dl {
                @for instrument in Instrument::ALL.into_iter().filter(used) {
                    div { dt { (badge(instrument)) } dd { (words(instrument).meaning) } }
                }
            }
        }
    }
}

/// Every system and its colour.
fn systems(report: &Report) -> Markup {
    let mut systems: Vec<&System> = Vec::new();
    for system in report.measurements().flat_map(|measurement| &measurement.systems) {
        if systems.iter().all(|known| known.name != system.name) {
            systems.push(system);
        }
    }
    html! {
        section.systems {
            h2 { "Systems" }
            ul {
                @for system in systems { li { (swatch(report.colours.slot(&system.name))) " " (system.title) " " code { (system.name) } } }
            }
        }
    }
}

fn machines(report: &Report) -> Markup {
    let machines = distinct(report.measurements());
    html! {
        section.machines {
            h2 { (if machines.len() > 1 { "Machines" } else { "Machine" }) }
            @for (machine, experiments) in machines {
                @if !machine.is_empty() {
                    table { tbody {
                        tr { th { "used for" } td { (experiments.join(", ")) } }
                        @for (what, which) in machine { tr { th { (what) } td { (which) } } }
                    } }
                }
            }
        }
    }
}

/// Each machine, with what was measured on it.
fn distinct<'a>(
    measurements: impl Iterator<Item = &'a Measurement>,
) -> Vec<(&'a BTreeMap<String, String>, Vec<String>)> {
    let mut machines: Vec<(&BTreeMap<String, String>, Vec<String>)> = Vec::new();
    for measurement in measurements {
        let name = format!("{} ({})", measurement.experiment, measurement.instrument);
        match machines.iter_mut().find(|(machine, _)| **machine == measurement.machine) {
            Some((_, names)) => names.push(name),
            None => machines.push((&measurement.machine, vec![name])),
        }
    }
    machines
}
