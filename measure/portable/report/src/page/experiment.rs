//! The section of an experiment.

use super::commands::commands;
use super::instrument::{badge, words};
use super::sections::{Experiment, Figure, Part, Report};
use super::{html_table, processors, prose};
use crate::draw::{WIDTH, at};
use maud::{Markup, html};
use pillion_measure_data::Measurement;

pub fn section(report: &Report, experiment: &Experiment) -> Markup {
    let first = experiment.first();
    html! {
        section.experiment id=(experiment.anchor()) {
            p.kicker { "Experiment " (experiment.number) " · " code { (first.experiment) } }
            h2 { (first.title) }
            p.lead { (first.about) }
            @if !first.paper.is_empty() { p.paper { "After " cite { (first.paper) } } }
            @for part in &experiment.parts { (measurement(report, part)) }
            @if !first.text.trim().is_empty() { div.prose { (prose::html(&first.text)) } }
        }
    }
}

fn measurement(report: &Report, part: &Part) -> Markup {
    let measurement = part.measurement;
    html! {
        article class=(measurement.instrument.name()) {
            (strip(measurement))
            @if measurement.is_valid() {
                @for figure in &part.figures { (chart(measurement, figure)) }
                (html_table::figures(report, measurement))
            } @else {
                (disturbed(measurement))
                @if !measurement.figures.is_empty() { (html_table::figures(report, measurement)) }
            }
            (processors::table(report, measurement))
            (commands(measurement))
        }
    }
}

/// A prominent strip that names the instrument.
fn strip(measurement: &Measurement) -> Markup {
    html! {
        div.strip {
            h3 { (badge(measurement.instrument)) }
            p {
                (words(measurement.instrument).meaning)
                @if measurement.quick { " " span.badge.quick { "quick run" } " Its figures are not those of a full one." }
            }
        }
    }
}

fn disturbed(measurement: &Measurement) -> Markup {
    let rest =
        if measurement.figures.is_empty() { "there are no numbers" } else { "the numbers are of the other systems" };
    html! {
        div.disturbed {
            h4 { "Disturbed: " (rest) }
            ul { @for reason in &measurement.disturbed { li { (reason) } } }
        }
    }
}

fn chart(measurement: &Measurement, figure: &Figure) -> Markup {
    let name = format!("figures/{}", figure.file);
    html! {
        figure id={ "figure-" (figure.number) } {
            figcaption {
                p.title { span.number { "Figure " (figure.number) } " " (figure.chart.title) }
                @if !figure.chart.about.is_empty() { p { (figure.chart.about) } }
                p.instrument { (badge(measurement.instrument)) " " (words(measurement.instrument).short) @if measurement.quick { " · quick run" } }
            }
            (drawing(figure))
            p.source {
                code { (measurement.command) }
                span.links {
                    a href={ (name) ".svg" } { "SVG" }
                    @if cfg!(feature = "png") { " " a href={ (name) ".png" } { "PNG" } }
                    " " a href="data.json" { "data" }
                }
            }
        }
    }
}

/// The chart. On a narrow screen it keeps its size and scrolls: its letters would become too small.
pub fn drawing(figure: &Figure) -> Markup {
    html! {
        div.wide {
            svg.chart viewBox={ "0 0 " (at(WIDTH)) " " (at(figure.picture.height)) } preserveAspectRatio="xMinYMin" role="img" aria-label=(figure.chart.title) {
                (figure.picture.body)
            }
        }
    }
}
