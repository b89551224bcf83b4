//! The conclusions, for a reader who reads nothing else.

use super::experiment::drawing;
use super::instrument::badge;
use super::sections::{Experiment, Report};
use crate::number::quantity;
use maud::{Markup, html};
use pillion_measure_data::Measurement;

/// The conclusions of the experiments that have one, and their charts.
pub fn conclusions(report: &Report) -> Markup {
    let said: Vec<(&Experiment, &Measurement, String)> = report
        .experiments
        .iter()
        .flat_map(|experiment| experiment.parts.iter().map(move |part| (experiment, part.measurement)))
        .filter_map(|(experiment, measurement)| Some((experiment, measurement, sentence(measurement)?)))
        .collect();
    let shown = report.figures().find(|(_, figure)| figure.chart.cover);
    html! {
        @if !said.is_empty() {
            section.conclusions {
                h2 { "Conclusions" }
                ul {
                    @for (experiment, measurement, sentence) in said {
                        li { (sentence) " " a href={ "#" (experiment.anchor()) } { (measurement.title) } " " (badge(measurement.instrument)) }
                    }
                }
            }
        }
        @if let Some((measurement, figure)) = shown {
            figure {
                figcaption {
                    p.title { (figure.chart.title) }
                    p { (measurement.about) " " a href={ "#figure-" (figure.number) } { "Figure " (figure.number) } " " (badge(measurement.instrument)) }
                }
                (drawing(figure))
            }
        }
    }
}

/// The conclusion of a measurement, without the parts whose figures are missing; `None` if the
/// first part is missing.
fn sentence(measurement: &Measurement) -> Option<String> {
    let (first, others) = measurement.conclusion.split_first()?;
    let others = others.iter().filter_map(|part| filled(part, measurement));
    let parts: Vec<String> = std::iter::once(filled(first, measurement)?).chain(others).collect();
    Some(parts.join(", ") + ".")
}

/// A part with the values of its figures; `None` if one is missing.
fn filled(part: &str, measurement: &Measurement) -> Option<String> {
    let mut pieces = part.split('{');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let (place, rest) = piece.split_once('}')?;
        let (system, name) = place.split_once(':')?;
        let figure = measurement.figures.iter().find(|figure| figure.system == system && figure.name == name)?;
        text += &quantity(figure.value, &figure.unit);
        text += rest;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::{Figure, Instrument};

    #[test]
    fn parts_without_their_figures_are_left_out() {
        let mut measurement = Measurement::new("e", "E", Instrument::Counted);
        let figure = |system: &str, value| Figure {
            system: system.into(),
            name: "max".into(),
            value,
            unit: "ns".into(),
            ..Figure::default()
        };
        assert_eq!(sentence(&measurement), None);
        measurement.conclusion =
            ["At most {own:max}", "{rt:max} in another", "{linux:max} in Linux"].map(String::from).to_vec();
        assert_eq!(sentence(&measurement), None, "nothing to compare with");
        measurement.figures = vec![figure("own", 900.0), figure("linux", 250_000.0)];
        let said = sentence(&measurement).unwrap();
        assert!(said.starts_with("At most 900") && said.ends_with(" in Linux.") && !said.contains("another"), "{said}");
        measurement.conclusion = vec!["{own:max".into()];
        assert_eq!(sentence(&measurement), None, "an open place is no value");
    }
}
