//! Elements of drawings: scales, axes, paths, texts.

pub mod axis;
pub mod frame;
pub mod lettering;
pub mod path;
pub mod scale;
pub mod thin;

use maud::{Markup, html};

/// Width of every drawing.
pub const WIDTH: f64 = 760.0;

/// A drawing and its height.
#[derive(Debug)]
pub struct Picture {
    /// Height; the width is [`WIDTH`].
    pub height: f64,
    /// SVG elements.
    pub body: Markup,
}

impl Picture {
    /// A picture that says why nothing is drawn.
    pub fn nothing(reason: &str) -> Picture {
        let body = html! { (lettering::Text::new(WIDTH / 2.0, 34.0, reason).class("quiet").middle()) };
        Picture { height: 60.0, body }
    }
}

/// A coordinate, rounded to a tenth of a unit, which is finer than any screen.
pub fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Area {
    /// Whether two overlap.
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

pub fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! { line class=(class) x1=(at(from.0)) y1=(at(from.1)) x2=(at(to.0)) y2=(at(to.1)) {} }
}

pub fn dot(class: &str, place: (f64, f64), radius: f64) -> Markup {
    html! { circle class=(class) cx=(at(place.0)) cy=(at(place.1)) r=(at(radius)) {} }
}

/// A rectangle; a negative width or height becomes zero.
pub fn rectangle(class: &str, area: Area) -> Markup {
    let (width, height) = ((area.right - area.left).max(0.0), (area.bottom - area.top).max(0.0));
    html! { rect class=(class) x=(at(area.left)) y=(at(area.top)) width=(at(width)) height=(at(height)) {} }
}
