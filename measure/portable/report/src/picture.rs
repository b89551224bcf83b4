//! A chart as a file of its own, with its title and its instrument.

use crate::draw::lettering::{Text, wrapped};
use crate::draw::{Area, Picture, WIDTH, at, rectangle};
use crate::page::instrument;
use maud::{PreEscaped, html};
use pillion_measure_data::{Chart, Measurement, plain};

/// Room around the drawing.
const MARGIN: f64 = 22.0;
/// Height of a line of the title, and of the lines below it.
const LINES: (f64, f64) = (22.0, 17.0);

/// The text of an SVG file.
pub fn file(measurement: &Measurement, chart: &Chart, picture: &Picture, style: &str) -> String {
    let title = wrapped(&chart.title, WIDTH / 1.4);
    let below = MARGIN + title.len() as f64 * LINES.0;
    let top = below + LINES.1 + 10.0;
    let (width, height) = (WIDTH + 2.0 * MARGIN, top + picture.height + MARGIN);
    let whole = Area { left: 0.0, top: 0.0, right: width, bottom: height };
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(at(width)) height=(at(height)) viewBox={ "0 0 " (at(width)) " " (at(height)) } {
            title { (chart.title) }
            style { (PreEscaped(style)) }
            (rectangle("paper", whole))
            @for (n, line) in title.iter().enumerate() {
                (Text::new(MARGIN, MARGIN + n as f64 * LINES.0 + 14.0, line).class("text bold large"))
            }
            (Text::new(MARGIN, below + 12.0, &source(measurement)).class("quiet"))
            g transform={ "translate(" (at(MARGIN)) " " (at(top)) ")" } { (picture.body) }
        }
    };
    plain(&svg.into_string())
}

/// The source that a picture on its own must name: experiment, instrument, whether it was quick.
fn source(measurement: &Measurement) -> String {
    let quick = if measurement.quick { " · quick run" } else { "" };
    let instrument::Words { name, short, .. } = instrument::words(measurement.instrument);
    format!("{} · {name}: {short}{quick}", measurement.experiment)
}
