//! Tick marks on an axis, with round numbers.

use super::scale::Range;
use crate::number::{self, Unit};

/// A tick mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its value, in the unit of the data.
    pub value: f64,
    /// Its number; `None` for a small mark.
    pub label: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Axis {
    /// The values.
    pub range: Range,
    /// The marks.
    pub ticks: Vec<Tick>,
    /// Its title, with the unit.
    pub title: String,
}

impl Axis {
    /// An axis with about `numbers` numbers.
    pub fn new(range: Range, unit: &str, title: &str, numbers: f64) -> Axis {
        if range.log {
            let (ticks, title) = (logarithmic(&range, unit), title.to_owned());
            return Axis { range, ticks, title };
        }
        let fitting = Unit::fitting(unit, range.low.abs().max(range.high.abs()));
        let title = match (title, fitting.name.as_str()) {
            (title, "") => title.to_owned(),
            ("", unit) => unit.to_owned(),
            (title, unit) => format!("{title} ({unit})"),
        };
        Axis { range, ticks: linear(&range, fitting.divisor, numbers), title }
    }

    /// The same axis with other labels.
    pub fn labelled(mut self, label: impl Fn(f64) -> String) -> Axis {
        for tick in &mut self.ticks {
            tick.label = tick.label.as_ref().map(|_| label(tick.value));
        }
        self
    }
}

/// Marks at multiples of 1, 2 or 5 times a power of ten, in a unit of `divisor` units of the data.
fn linear(range: &Range, divisor: f64, numbers: f64) -> Vec<Tick> {
    let (low, high) = (range.low / divisor, range.high / divisor);
    let step = nice((high / numbers - low / numbers).max(f64::MIN_POSITIVE));
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let beyond = !(1e-8..1e12).contains(&step);
    let label = |value: f64| if beyond { number::rounded(value, 2) } else { number::fixed(value, decimals) };
    let first = (low / step).ceil();
    let values = (0..=numbers as u32 * 3).map(|n| (first + f64::from(n)) * step);
    values
        .take_while(|value| *value <= high + step * 1e-6)
        .map(|value| Tick { value: value * divisor, label: Some(label(value)) })
        .collect()
}

/// The next larger of 1, 2 or 5 times a power of ten.
pub fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// Numbers at powers of ten, and at multiples if there are few powers; small marks between them.
fn logarithmic(range: &Range, unit: &str) -> Vec<Tick> {
    let (first, last) = (range.low.log10().floor() as i32, range.high.log10().ceil() as i32);
    let decades = range.high.log10() - range.low.log10();
    let every = (decades / 8.0).ceil().max(1.0) as i32;
    let told: &[u32] = match decades {
        d if d < 1.0 => &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        d if d < 2.0 => &[1, 2, 3, 5],
        d if d < 3.5 => &[1, 3],
        _ => &[1],
    };
    let all = (first..=last).flat_map(|exponent| (1..10).map(move |factor| (exponent, factor)));
    all.filter(|(exponent, factor)| every == 1 || (*factor == 1 && exponent.rem_euclid(every) == 0))
        .map(|(exponent, factor)| {
            let value = f64::from(factor) * 10_f64.powi(exponent);
            let tells = told.contains(&factor) && exponent.rem_euclid(every) == 0;
            Tick { value, label: tells.then(|| short(value, unit)) }
        })
        .filter(|tick| tick.value >= range.low * 0.999_999 && tick.value <= range.high * 1.000_001)
        .collect()
}

/// A label of a logarithmic axis: `100 µs`, `10⁶`.
fn short(value: f64, unit: &str) -> String {
    match unit {
        "1" if !(1e-4..1e6).contains(&value) => number::power(value),
        "ns" | "us" | "ms" | "s" => {
            let unit = Unit::fitting(unit, value * 10.0);
            number::exact(value / unit.divisor, &unit.name)
        }
        unit => number::exact(value, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().filter_map(|tick| tick.label.clone()).map(|label| label.replace('\u{202f}', " ")).collect()
    }

    #[test]
    fn linear_numbers_are_round_and_in_a_unit_that_fits() {
        let axis = Axis::new(Range::between(0.0, 41_000.0, false), "ns", "latency", 4.0);
        assert_eq!(labels(&axis), ["0", "20", "40"]);
        assert_eq!((axis.title.as_str(), axis.ticks[1].value), ("latency (µs)", 20_000.0));
        let axis = Axis::new(Range::between(-0.1, 0.32, false), "1", "", 4.0);
        assert_eq!(labels(&axis), ["0.0", "0.2"]);
    }

    #[test]
    fn logarithmic_numbers_carry_their_unit() {
        let axis = Axis::new(Range::between(100.0, 1e6, true), "ns", "", 4.0);
        assert_eq!(labels(&axis), ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]);
        let axis = Axis::new(Range::between(0.5, 1e7, true), "1", "", 4.0);
        assert_eq!(labels(&axis), ["1", "10", "100", "1 000", "10 000", "100 000", "10⁶", "10⁷"]);
    }

    #[test]
    fn huge_ranges_have_a_handful_of_marks() {
        for range in [
            Range::between(-1e300, 1e300, false),
            Range::between(1e-300, 1e300, true),
            Range::over([1e15, 1e15 + 1.0], false),
        ] {
            let axis = Axis::new(range, "ns", "", 6.0);
            assert!((1..90).contains(&axis.ticks.len()), "{range:?} {}", axis.ticks.len());
        }
    }
}
