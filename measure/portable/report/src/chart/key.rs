//! The key of a chart: the look of each curve, and its numbers in columns.

use super::curve::Curve;
use crate::draw::lettering::{Text, fitted};
use crate::draw::{Area, WIDTH, line, rectangle};
use maud::{Markup, html};

/// Height of a row.
pub const ROW: f64 = 19.0;
/// Width of a column of numbers.
const COLUMN: f64 = 76.0;
/// Width of the sample of a look, with the gap after it.
const SAMPLE: f64 = 34.0;

pub fn heads(heads: &[&str], top: f64) -> Markup {
    html! {
        @for (column, head) in heads.iter().enumerate() {
            (Text::new(right(column, heads.len()), top + 13.0, head).class("quiet small").end())
        }
    }
}

/// A row: look, name, numbers.
pub fn row(sample: Markup, label: &str, cells: &[String], top: f64) -> Markup {
    // Bold letters are a little wider, and the label must end before the first number begins.
    let room = (WIDTH - SAMPLE - COLUMN * cells.len() as f64) * 0.96;
    html! {
        (sample)
        (Text::new(SAMPLE, top + 13.0, &fitted(label, room)).class("text bold"))
        @for (column, cell) in cells.iter().enumerate() {
            (Text::new(right(column, cells.len()), top + 13.0, cell).end())
        }
    }
}

pub fn line_sample(curve: &Curve, top: f64) -> Markup {
    line(&curve.stroke(), (0.0, top + 9.0), (SAMPLE - 8.0, top + 9.0))
}

pub fn area_sample(fill: &str, stroke: &str, top: f64) -> Markup {
    let area = Area { left: 0.0, top: top + 3.0, right: SAMPLE - 8.0, bottom: top + 14.0 };
    html! { (rectangle(fill, area)) (line(stroke, (area.left, area.top), (area.right, area.top))) }
}

pub fn right(column: usize, columns: usize) -> f64 {
    WIDTH - COLUMN * (columns - 1 - column) as f64
}
