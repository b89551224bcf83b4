//! Labels beside a point.

use crate::draw::Area;
use crate::draw::lettering::{Text, over, width};
use maud::Markup;

/// Distance from the point to its label, and half the height of the label with its margin.
const AWAY: f64 = 9.0;
const HALF: f64 = 9.0;

/// A point nearer to the centre than this has no room for a label before it.
const CROWDED: f64 = 110.0;

/// A label beside a point.
#[derive(Debug)]
pub struct Label {
    pub point: (f64, f64),
    /// The area of the label.
    pub area: Area,
    words: String,
}

impl Label {
    /// A label on the line from a centre through the point: behind the point if `side` is 1, before
    /// it if `side` is -1 and there is room.
    pub fn new(point: (f64, f64), centre: (f64, f64), side: f64, words: String) -> Label {
        let crowded = (point.0 - centre.0).hypot(point.1 - centre.1) < CROWDED;
        let side = if crowded { 1.0 } else { side };
        let (right, down) = ((point.0 - centre.0) * side, (point.1 - centre.1) * side);
        let length = right.hypot(down).max(1.0);
        let (x, y) = (point.0 + right / length * AWAY, point.1 + down / length * (AWAY + 3.0));
        let wide = width(&words);
        let left = if right < 0.0 { x - wide } else { x };
        Label { point, area: Area { left, top: y - HALF, right: left + wide, bottom: y + HALF }, words }
    }

    /// The words.
    pub fn text(&self) -> Markup {
        over(
            &Text::new((self.area.left + self.area.right) / 2.0, self.area.top + HALF + 4.0, &self.words)
                .class("text small")
                .middle(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_stands_on_its_side() {
        let label = |side| Label::new((200.0, 50.0), (50.0, 50.0), side, "one".into());
        assert!(label(1.0).area.left > 200.0 && label(-1.0).area.right < 200.0);
        assert!(!label(1.0).area.meets(&label(-1.0).area) && label(1.0).area.meets(&label(1.0).area));
    }
}
