//! The lines in which a program reports what it measured:
//!
//! ```text
//! figure NAME VALUE UNIT
//! histogram NAME UNIT LOW:COUNT LOW+WIDTH:COUNT ..
//! points NAME XUNIT YUNIT X:Y X:Y ..
//! invalid REASON
//! ```
//!
//! They may appear among other lines, and after `[TASK] `. Histograms and points spread over
//! several lines add up.

use crate::{Bucket, Data, Histogram, Points};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;

/// Maximum length of a line that a program prints: logs cut longer ones.
pub const LONGEST: usize = 200;

/// Units of figures; `1` is for plain numbers.
pub const UNITS: [&str; 12] =
    ["ns", "us", "ms", "s", "bytes", "MB/s", "%", "instructions", "cycles", "1/s", "1/min", "1"];

/// What a program reported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// Value and unit of each figure.
    pub figures: BTreeMap<String, (f64, String)>,
    /// Histograms and points.
    pub series: BTreeMap<String, Data>,
    /// Reasons for which the run is invalid.
    pub disturbed: Vec<String>,
}

impl Readings {
    /// Reads all lines of a text; each name gets `prefix`. A malformed line makes the run invalid.
    pub fn read(&mut self, text: &str, prefix: &str) {
        for line in text.lines().map(|line| behind_task(line.trim())) {
            if let Some(Err(line)) = self.line(line, prefix) {
                self.disturbed.push(format!("a line that cannot be read: {line}"));
            }
        }
    }

    /// Takes a line; `None` if it is of another kind.
    fn line<'a>(&mut self, line: &'a str, prefix: &str) -> Option<Result<(), &'a str>> {
        let (kind, rest) = line.split_once(' ')?;
        let taken = match kind {
            "figure" => self.figure(rest, prefix),
            "histogram" => self.histogram(rest, prefix),
            "points" => self.points(rest, prefix),
            "invalid" => {
                self.disturbed.push(rest.into());
                Some(())
            }
            _ => return None,
        };
        Some(taken.ok_or(line))
    }

    fn figure(&mut self, rest: &str, prefix: &str) -> Option<()> {
        let mut words = rest.split_whitespace();
        let (name, value, unit) = (name(words.next()?, prefix)?, number(words.next()?)?, words.next()?);
        words.next().is_none().then_some(())?;
        match self.figures.entry(name) {
            Entry::Vacant(place) => {
                place.insert((value, unit.into()));
            }
            Entry::Occupied(place) => self.disturbed.push(format!("figure {} was reported twice", place.key())),
        }
        Some(())
    }

    fn histogram(&mut self, rest: &str, prefix: &str) -> Option<()> {
        let mut words = rest.split_whitespace();
        let (name, unit) = (name(words.next()?, prefix)?, words.next()?);
        let buckets = words.map(bucket).collect::<Option<Vec<Bucket>>>()?;
        let empty = || Data::Histogram(Histogram { unit: unit.into(), buckets: Vec::new() });
        let Data::Histogram(histogram) = self.series.entry(name).or_insert_with(empty) else { return None };
        (histogram.unit == unit).then_some(())?;
        buckets.into_iter().for_each(|bucket| histogram.add(bucket));
        Some(())
    }

    fn points(&mut self, rest: &str, prefix: &str) -> Option<()> {
        let mut words = rest.split_whitespace();
        let (name, x_unit, y_unit) = (name(words.next()?, prefix)?, words.next()?, words.next()?);
        let more = words.map(point).collect::<Option<Vec<(f64, f64)>>>()?;
        let empty = || Data::Points(Points { x_unit: x_unit.into(), y_unit: y_unit.into(), points: Vec::new() });
        let Data::Points(points) = self.series.entry(name).or_insert_with(empty) else { return None };
        (points.x_unit == x_unit && points.y_unit == y_unit).then_some(())?;
        points.points.extend(more);
        Some(())
    }
}

/// The text after `[TASK] `, if the line begins with that.
fn behind_task(line: &str) -> &str {
    line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(line, |(_, said)| said)
}

fn name(text: &str, prefix: &str) -> Option<String> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    (!text.is_empty() && text.chars().all(fits)).then(|| format!("{prefix}{text}"))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn point(text: &str) -> Option<(f64, f64)> {
    let (x, y) = text.split_once(':')?;
    Some((number(x)?, number(y)?))
}

fn bucket(text: &str) -> Option<Bucket> {
    let (values, count) = text.split_once(':')?;
    let (low, width) = values.split_once('+').unwrap_or((values, "1"));
    let width = width.parse().ok().filter(|&width| width > 0)?;
    Some(Bucket { low: low.parse().ok()?, width, count: count.parse().ok()? })
}

/// The line of a figure.
pub fn figure(name: &str, value: f64, unit: &str) -> String {
    format!("figure {name} {value} {unit}\n")
}

/// The lines of a histogram.
pub fn histogram(name: &str, histogram: &Histogram) -> String {
    let words = histogram.buckets.iter().map(|bucket| match bucket.width {
        1 => format!("{}:{}", bucket.low, bucket.count),
        width => format!("{}+{width}:{}", bucket.low, bucket.count),
    });
    wrapped(&format!("histogram {name} {}", histogram.unit), words)
}

/// The lines of points.
pub fn points(name: &str, points: &Points) -> String {
    let words = points.points.iter().map(|(x, y)| format!("{x}:{y}"));
    wrapped(&format!("points {name} {} {}", points.x_unit, points.y_unit), words)
}

/// Lines of words that all begin with `head`.
fn wrapped(head: &str, words: impl Iterator<Item = String>) -> String {
    let mut text = head.to_owned();
    let mut length = head.len();
    for word in words {
        if length + 1 + word.len() > LONGEST {
            let _ = write!(text, "\n{head}");
            length = head.len();
        }
        let _ = write!(text, " {word}");
        length += 1 + word.len();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Readings {
        let mut said = Readings::default();
        said.read(text, "");
        said
    }

    #[test]
    fn what_was_said_is_found_among_other_lines() {
        let said = read(
            "boot\r\n[task] figure call_max 300.5 ns\r\npoints p ms ns 0:1 0.5:-2\n[x] histogram h ns 7:2 40+8:1\npoints p ms ns 1:3\n",
        );
        assert_eq!(said.disturbed, Vec::<String>::new());
        assert_eq!(said.figures["call_max"], (300.5, "ns".into()));
        let Data::Points(points) = &said.series["p"] else { panic!("{said:?}") };
        assert_eq!(points.points, [(0.0, 1.0), (0.5, -2.0), (1.0, 3.0)]);
        let Data::Histogram(histogram) = &said.series["h"] else { panic!("{said:?}") };
        assert_eq!((histogram.samples(), histogram.max()), (3, Some(47)));
    }

    #[test]
    fn names_get_a_prefix() {
        let mut said = Readings::default();
        said.read("figure a 1 ns", "rt_");
        assert!(said.figures.contains_key("rt_a"));
    }

    #[test]
    fn what_cannot_be_read_makes_the_run_invalid() {
        for line in [
            "figure a b ns",
            "figure a 1",
            "figure a nan ns",
            "figure A 1 ns",
            "histogram a ns 1:x",
            "histogram a ns 1+0:1",
            "points a s s 1",
            "invalid because",
            "figure a 1 ns\nfigure a 2 ns",
            "points a s s 1:1\npoints a s ms 1:1",
            "points a s s 1:1\nhistogram a s 1:1",
        ] {
            assert_eq!(read(line).disturbed.len(), 1, "{line}");
        }
        assert_eq!(read("figures are here\nnothing").disturbed.len(), 0);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let wide = Histogram { unit: "ns".into(), buckets: (0..100).map(|n| (n * 1000, 10, n + 1).into()).collect() };
        let curve = Points {
            x_unit: "us".into(),
            y_unit: "1".into(),
            points: (0..100).map(|n| (f64::from(n) / 7.0, f64::from(-n))).collect(),
        };
        let text = histogram("h", &wide) + &points("p", &curve) + &figure("f", 0.1, "s");
        assert!(text.lines().all(|line| line.len() <= LONGEST));
        let said = read(&text);
        assert_eq!(said.series["h"], Data::Histogram(wide));
        assert_eq!(said.series["p"], Data::Points(curve));
        assert_eq!(said.figures["f"], (0.1, "s".into()));
    }
}
