//! The table of contents: each experiment, its instruments, a dot for each figure with bar or goal.

use super::instrument::badge;
use super::sections::{Experiment, Report};
use super::verdict::{count, dot};
use maud::{Markup, html};
use pillion_measure_data::Standing;

/// With more figures than this, none has a dot of its own.
const DOTS: usize = 24;

/// The table.
pub fn contents(report: &Report) -> Markup {
    html! {
        nav {
            h2 { "Contents" }
            ol {
                @for experiment in &report.experiments {
                    li {
                        span.number { (experiment.number) }
                        a href={ "#" (experiment.anchor()) } { (experiment.first().title) }
                        span.badges { @for part in &experiment.parts { (badge(part.measurement.instrument)) } }
                        (state(experiment))
                    }
                }
            }
        }
    }
}

fn state(experiment: &Experiment) -> Markup {
    let measurements = || experiment.parts.iter().map(|part| part.measurement);
    let counts =
        [Standing::Goal, Standing::Good, Standing::Beyond].map(|verdict| (verdict, count(verdict, measurements())));
    let disturbed = measurements().filter(|measurement| !measurement.is_valid()).count();
    html! {
        span.state {
            @if counts.iter().map(|(_, count)| count).sum::<usize>() <= DOTS {
                @for (verdict, count) in counts { @for _ in 0..count { (dot(verdict)) } }
            } @else {
                @for (verdict, count) in counts { @if count > 0 { (dot(verdict)) (count) " " } }
            }
            @if disturbed > 0 { span.verdict.beyond { "disturbed" } }
        }
    }
}
