//! The software monitor's picture: for each place at which a path was interrupted, how long the
//! interrupt had to wait.
//!
//! Where the path cannot be preempted, the wait falls with slope 1 up to the place where it can: a
//! triangle as high and as wide as the stretch is long.

use super::curve::Curve;
use super::panels::{self, Style};
use crate::draw::frame::Frame;
use crate::draw::lettering::{Text, over, width};
use crate::draw::path::{path, through};
use crate::draw::scale::Range;
use crate::draw::{Picture, at, dot, line, thin};
use crate::number::{plain, quantity};
use maud::{Markup, html};
use pillion_measure_data::{Chart, Points};

const STYLE: Style = Style {
    empty: "Nothing was interrupted.",
    axes: ["interrupted at", "delay of the interrupt"],
    height: 150.0,
    range: with_words,
    note,
    inside: teeth,
};

pub fn draw(chart: &Chart, curves: &[Curve]) -> Picture {
    panels::draw(chart, curves, &STYLE)
}

/// A range from zero, with room for the text at the highest point.
fn with_words(waits: Range) -> Range {
    let waits = waits.with_zero();
    Range { high: waits.high + (waits.high - waits.low) * 0.18, ..waits }
}

fn note(points: &Points) -> String {
    format!("interrupted at {} places", plain(points.points.len() as f64))
}

/// The points from left to right.
fn sorted(points: &Points) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> =
        points.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    sorted
}

/// The highest point, and the place where the tooth that it begins stops falling.
fn longest(sorted: &[(f64, f64)]) -> Option<((f64, f64), (f64, f64))> {
    let (peak, top) = sorted.iter().enumerate().rev().max_by(|one, other| one.1.1.total_cmp(&other.1.1))?;
    let falls = sorted[peak..].windows(2).take_while(|pair| pair[1].1 < pair[0].1).count();
    let foot = sorted[peak + falls];
    Some((*top, foot))
}

fn teeth(frame: &Frame, curve: &Curve, points: &Points) -> Markup {
    let sorted = sorted(points);
    let places = thin::curve(frame.places(&sorted));
    let outline = through(&places);
    html! {
        @if let (Some(first), Some(last)) = (places.first(), places.last()) {
            @let close = format!("V{}H{}Z", at(frame.area.bottom), at(first.0));
            @if last.0 > first.0 { (path(&format!("area f{}", curve.slot), &(outline.clone() + &close))) }
            (path(&format!("thin l{}", curve.slot), &outline))
        }
        @if let Some((peak, foot)) = longest(&sorted) { (told(frame, curve, points, peak, foot)) }
    }
}

/// Marks the longest stretch: a dot at its top, a bar below it, its length in words.
fn told(frame: &Frame, curve: &Curve, points: &Points, peak: (f64, f64), foot: (f64, f64)) -> Markup {
    let words = format!(
        "longest wait {}, interrupted at {}",
        quantity(peak.1, &points.y_unit),
        quantity(peak.0, &points.x_unit)
    );
    let (x, y) = (frame.x(peak.0), frame.y(peak.1));
    let left = (x + 8.0).min(frame.area.right - width(&words));
    html! {
        (line(&format!("line l{}", curve.slot), (x, frame.area.bottom - 1.5), (frame.x(foot.0), frame.area.bottom - 1.5)))
        (dot(&curve.fill(), (x, y), 3.2))
        (over(&Text::new(left, y - 6.0, &words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_tooth_is_found() {
        let points = [(0.0, 1.0), (1.0, 5.0), (2.0, 4.0), (3.0, 3.0), (4.0, 6.0), (5.0, 2.0), (6.0, 3.0)];
        assert_eq!(longest(&points), Some(((4.0, 6.0), (5.0, 2.0))));
        assert_eq!(longest(&points[..1]), Some(((0.0, 1.0), (0.0, 1.0))));
        assert_eq!(longest(&[]), None);
    }
}
