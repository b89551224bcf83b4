//! Texts, and estimates of their width.

use super::at;
use maud::{Markup, Render, html};

/// Width of a letter at the usual size of 12, in the widest of the fonts that a browser may choose:
/// a label must not be cut if the first of them is missing.
const LETTER: f64 = 7.6;
/// Width of narrow letters, as a fraction of it.
const NARROW: f64 = 0.55;

/// A text at a position.
#[derive(Debug)]
pub struct Text<'a> {
    place: (f64, f64),
    words: &'a str,
    class: &'a str,
    anchor: &'static str,
}

impl<'a> Text<'a> {
    /// A text that begins at a position, on that baseline.
    pub fn new(x: f64, y: f64, words: &'a str) -> Text<'a> {
        Text { place: (x, y), words, class: "text", anchor: "start" }
    }

    /// The text with classes of the drawing's style.
    pub fn class(self, class: &'a str) -> Text<'a> {
        Text { class, ..self }
    }

    /// The text centred on its position.
    pub fn middle(self) -> Text<'a> {
        Text { anchor: "middle", ..self }
    }

    /// The text ending at its position.
    pub fn end(self) -> Text<'a> {
        Text { anchor: "end", ..self }
    }
}

impl Render for Text<'_> {
    fn render(&self) -> Markup {
        let (x, y) = self.place;
        html! { text class=(self.class) x=(at(x)) y=(at(y)) text-anchor=(self.anchor) { (self.words) } }
    }
}

/// A text over lines of the drawing: a halo in the background colour keeps it readable.
pub fn over(text: &Text) -> Markup {
    let (x, y) = text.place;
    html! {
        text class={ "halo " (text.class) } x=(at(x)) y=(at(y)) text-anchor=(text.anchor) aria-hidden="true" { (text.words) }
        (text)
    }
}

/// Approximate width of a text at the usual size.
pub fn width(words: &str) -> f64 {
    words.chars().map(|letter| if "  \u{202f}.,:;ijl|'".contains(letter) { LETTER * NARROW } else { LETTER }).sum()
}

/// Truncates a text that does not fit.
pub fn fitted(words: &str, room: f64) -> String {
    if width(words) <= room {
        return words.into();
    }
    let letters = (room / LETTER) as usize;
    words.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// Breaks a text into lines that fit.
pub fn wrapped(words: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + LETTER <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, room)),
        }
    }
    lines
}

/// Moves labels of that height apart, as little as necessary, within two bounds and in their order.
pub fn apart(wanted: &[(f64, f64)], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].0.total_cmp(&wanted[*other].0));
    let mut places = vec![0.0; wanted.len()];
    let mut free = top;
    for &label in &order {
        let (place, height) = wanted[label];
        places[label] = (place - height / 2.0).max(free);
        free = places[label] + height;
    }
    let mut free = bottom.max(top + wanted.iter().map(|label| label.1).sum::<f64>());
    for &label in order.iter().rev() {
        let height = wanted[label].1;
        places[label] = places[label].min(free - height);
        free = places[label];
    }
    places.iter().zip(wanted).map(|(place, (_, height))| place + height / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let text = Text::new(1.0, 2.0, "a < b & c").class("bold").end().render().0;
        assert_eq!(text, r#"<text class="bold" x="1" y="2" text-anchor="end">a &lt; b &amp; c</text>"#);
    }

    #[test]
    fn long_texts_are_cut_or_broken() {
        assert_eq!(fitted("short", 100.0), "short");
        assert!(fitted("rather a long text", 50.0).ends_with('…'));
        assert_eq!(wrapped("one two three", 54.0), ["one two", "three"]);
    }

    /// Advances of DejaVu Sans at 12: 7.63 for a figure, 3.81 for a space, 3.33 for i, 7.61 for n.
    #[test]
    fn a_wide_font_fits() {
        assert!(width("1 in 100") >= 4.0 * 7.63 + 2.0 * 3.81 + 3.33 + 7.61);
    }

    #[test]
    fn labels_move_apart() {
        assert_eq!(apart(&[(50.0, 10.0), (50.0, 10.0), (0.0, 10.0)], 0.0, 100.0), [50.0, 60.0, 5.0]);
        assert_eq!(apart(&[(99.0, 10.0), (98.0, 10.0)], 0.0, 100.0), [95.0, 85.0]);
    }
}
