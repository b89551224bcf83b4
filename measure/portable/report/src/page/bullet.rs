//! A figure's value as a small bar with marks for its goal and its bar: how near it is.

use crate::draw::scale::{Range, Scale};
use crate::draw::{Area, line, rectangle};
use maud::{Markup, html};
use pillion_measure_data::Figure;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 16.0;

/// The picture; empty if there is nothing to compare the value with.
pub fn bullet(figure: &Figure, slot: usize) -> Markup {
    let limits: Vec<f64> = [figure.goal, figure.bar].into_iter().flatten().collect();
    if limits.is_empty() {
        return html! {};
    }
    let range = Range::over(limits.iter().copied().chain([figure.value, 0.0]), false);
    let scale = Scale::new(range, 1.0, WIDTH - 2.0);
    let (zero, end) = (scale.at(0.0), scale.at(figure.value));
    let value = Area { left: zero.min(end), top: 4.0, right: zero.max(end), bottom: HEIGHT - 4.0 };
    let mark = |class: &str, limit: Option<f64>| {
        html! {
            @if let Some(limit) = limit { (line(class, (scale.at(limit), 0.0), (scale.at(limit), HEIGHT))) }
        }
    };
    html! {
        svg.bullet width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            (rectangle(&format!("f{slot}"), value))
            (mark("goal", figure.goal))
            (mark("limit", figure.bar))
        }
    }
}
