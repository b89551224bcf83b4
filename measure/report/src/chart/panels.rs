//! Plots below each other over the same axes, a curve each.

use super::curve::Curve;
use crate::draw::axis::Axis;
use crate::draw::frame::{AXIS_BELOW, Frame, NUMBERS_BELOW};
use crate::draw::text::{Text, fitted, width};
use crate::draw::{Area, Picture, WIDTH};
use maud::{Markup, html};

/// Height of the line above a plot that names it.
const NAME: f64 = 24.0;
/// From a plot to the name of the next.
const BETWEEN: f64 = 12.0;
/// Room above all for the title of the vertical axis.
const TITLE: f64 = 16.0;

/// A curve with a note that stands at the right above its plot.
pub struct Panel<'a> {
    /// What is drawn.
    pub curve: &'a Curve<'a>,
    /// The note.
    pub note: String,
}

/// Draws plots of a height; `inside` draws what is in each.
pub fn stacked(
    panels: &[Panel],
    x: &Axis,
    y: &Axis,
    height: f64,
    inside: impl Fn(&Frame, &Curve) -> Markup,
) -> Picture {
    let room = Frame::room(y);
    let untitled = Axis { title: String::new(), ..y.clone() };
    let top = |n: usize| TITLE + n as f64 * (NAME + height + BETWEEN);
    let frame = |n: usize| {
        let begin = top(n) + NAME;
        Frame::new(
            Area { left: room, top: begin, right: WIDTH - 8.0, bottom: begin + height },
            x.clone(),
            untitled.clone(),
        )
    };
    let body = html! {
        (Text::new(0.0, 11.0, &y.title).class("quiet"))
        @for (n, panel) in panels.iter().enumerate() {
            @let frame = frame(n);
            (name(panel, &frame, top(n) + 15.0))
            (frame.grid())
            (inside(&frame, panel.curve))
            (frame.base())
            @if n + 1 == panels.len() { (frame.numbers(NUMBERS_BELOW)) }
        }
    };
    Picture { height: top(panels.len()) - BETWEEN + AXIS_BELOW, body }
}

fn name(panel: &Panel, frame: &Frame, y: f64) -> Markup {
    let room = frame.area.right - frame.area.left - width(&panel.note) - 10.0;
    html! {
        (Text::new(frame.area.left, y, &fitted(&panel.curve.label, room)).class("text bold"))
        (Text::new(frame.area.right, y, &panel.note).class("quiet").end())
    }
}
