//! From values to coordinates.

/// Larger values are replaced by this one, so that differences stay finite.
const HUGE: f64 = 1e300;
/// Lower end of a logarithmic scale for data without positive values.
const ONE: f64 = 1.0;

/// The values that an axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest value.
    pub low: f64,
    /// Largest value; larger than `low`.
    pub high: f64,
    /// Whether it is logarithmic; then `low` is above zero.
    pub log: bool,
}

impl Range {
    /// The range of values; if it is logarithmic, of the positive ones. Never empty.
    pub fn over(values: impl IntoIterator<Item = f64>, log: bool) -> Range {
        let fit = values.into_iter().filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (low, high) =
            fit.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        match low <= high {
            true => Range::between(low, high, log),
            false => Range::between(if log { ONE } else { 0.0 }, ONE, log),
        }
    }

    /// The range between two values, widened if they are almost equal.
    pub fn between(low: f64, high: f64, log: bool) -> Range {
        let least = if log { 1.0 / HUGE } else { -HUGE };
        let (low, high) = (low.clamp(least, HUGE), high.clamp(least, HUGE));
        let (low, high) = match (high - low > high.abs().max(low.abs()) * 1e-9, log) {
            (true, _) => (low, high),
            (false, true) => (low / 1.5, high * 1.5),
            (false, false) => (low - (low.abs() / 10.0).max(0.5), high + (high.abs() / 10.0).max(0.5)),
        };
        Range { low, high, log }
    }

    /// The range extended to zero, unless it is logarithmic.
    pub fn with_zero(self) -> Range {
        if self.log { self } else { Range { low: self.low.min(0.0), high: self.high.max(0.0), ..self } }
    }

    /// The range extended to zero if that costs little room.
    pub fn with_near_zero(self) -> Range {
        if self.low > 0.0 && self.low < self.high * 0.4 { self.with_zero() } else { self }
    }

    /// The range widened by a fraction of itself at both ends; zero stays an end.
    pub fn padded(self, part: f64) -> Range {
        if self.log {
            let factor = ((self.high.ln() - self.low.ln()) * part).exp();
            return Range::between(self.low / factor, self.high * factor, true);
        }
        let more = (self.high / 2.0 - self.low / 2.0) * 2.0 * part;
        let stay = |end: f64, moved: f64| if end == 0.0 { end } else { moved };
        Range { low: stay(self.low, self.low - more), high: stay(self.high, self.high + more), ..self }
    }

    /// The position of a value: 0 at the low end, 1 at the high end, never beyond.
    pub fn part(&self, value: f64) -> f64 {
        let part = match self.log {
            true => (value.max(f64::MIN_POSITIVE).ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            false => (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0),
        };
        if part.is_finite() { part.clamp(0.0, 1.0) } else { f64::from(u8::from(value > self.low)) }
    }
}

/// A range mapped to coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The values.
    pub range: Range,
    from: f64,
    to: f64,
}

impl Scale {
    /// Maps a range to the coordinates between `from` and `to`.
    pub fn new(range: Range, from: f64, to: f64) -> Scale {
        Scale { range, from, to }
    }

    /// The coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.from + self.range.part(value) * (self.to - self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_places() {
        let linear = Scale::new(Range::over([10.0, 20.0], false), 0.0, 100.0);
        assert_eq!((linear.at(15.0), linear.at(-5.0), linear.at(99.0)), (50.0, 0.0, 100.0));
        let log = Scale::new(Range::over([0.0, 10.0, 1000.0], true), 100.0, 0.0);
        assert!((log.at(100.0) - 50.0).abs() < 1e-9);
        assert_eq!(log.at(0.0), 100.0);
    }

    #[test]
    fn no_range_is_empty_and_no_place_is_infinite() {
        for values in
            [vec![], vec![7.0], vec![0.0], vec![f64::NAN], vec![-f64::MAX, f64::MAX], vec![f64::MIN_POSITIVE, f64::MAX]]
        {
            for log in [false, true] {
                let range = Range::over(values.iter().copied(), log).with_near_zero().padded(0.05);
                assert!(range.low < range.high && (range.low > 0.0 || !log), "{values:?} {range:?}");
                for value in [f64::NAN, f64::MIN, 0.0, 1.0, f64::MAX, f64::INFINITY] {
                    assert!((0.0..=1.0).contains(&range.part(value)), "{value} in {range:?}");
                }
            }
        }
    }
}
