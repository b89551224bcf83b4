//! Exact conversion between ticks of the time-stamp counter and nanoseconds.

const NSECS_PER_SEC: u64 = 1_000_000_000;

/// A ratio `from` to `to` of two rates, applied by multiplication.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    from: u64,
    to: u64,
    whole: u64,
    /// The fraction, in 64 binary places.
    fraction: u64,
}

impl Ratio {
    const fn new(from: u64, to: u64) -> Ratio {
        let fraction = (((to % from) as u128) << 64) / from as u128;
        Ratio { from, to, whole: to / from, fraction: fraction as u64 }
    }

    /// `n * to / from`, rounded down, or the largest number if that does not fit.
    #[inline]
    fn apply(&self, n: u64) -> u64 {
        let product = n as u128 * self.whole as u128 + ((n as u128 * self.fraction as u128) >> 64);
        let Ok(estimate) = u64::try_from(product) else { return u64::MAX };
        // The fraction was rounded down by less than one part in 2^64, so less than 2 is missing.
        let rest = n as u128 * self.to as u128 - estimate as u128 * self.from as u128;
        estimate.saturating_add((rest >= self.from as u128) as u64)
    }
}

/// Converts between ticks and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    to_ns: Ratio,
    to_ticks: Ratio,
}

impl Scale {
    /// For a counter with this many ticks in a second; 0 counts as 1,000,000,000.
    #[must_use]
    pub const fn new(hz: u64) -> Scale {
        let hz = if hz == 0 { NSECS_PER_SEC } else { hz };
        Scale { to_ns: Ratio::new(hz, NSECS_PER_SEC), to_ticks: Ratio::new(NSECS_PER_SEC, hz) }
    }

    /// Nanoseconds that have passed when the counter is at `ticks`.
    #[inline]
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        self.to_ns.apply(ticks)
    }

    /// First tick at which [`Scale::ns`] is at least `ns`.
    #[inline]
    #[must_use]
    pub fn ticks(&self, ns: u64) -> u64 {
        let ticks = self.to_ticks.apply(ns);
        // Rounded up: exact only when nothing was left over.
        let exact = ticks as u128 * NSECS_PER_SEC as u128 >= ns as u128 * self.to_ticks.to as u128;
        if exact { ticks } else { ticks.saturating_add(1) }
    }
}

/// A clock derived from the base clock: with an offset, and perhaps in steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Added to the base clock.
    pub offset: i64,
    /// Length of a step; 0 if the clock runs smoothly.
    pub step: i64,
    /// Base time at which a step begins.
    pub origin: i64,
}

impl Reading {
    /// What the clock shows at base time `base`.
    #[must_use]
    pub fn at(&self, base: i64) -> i64 {
        let stepped = match self.step {
            0 => base,
            step => base.wrapping_sub(base.wrapping_sub(self.origin).rem_euclid(step)),
        };
        stepped.saturating_add(self.offset)
    }

    /// Base time at which the clock first shows at least `shown`.
    #[must_use]
    pub fn base_of(&self, shown: i64) -> i64 {
        let base = shown.saturating_sub(self.offset);
        match self.step {
            0 => base,
            step => match base.wrapping_sub(self.origin).rem_euclid(step) {
                0 => base,
                rest => base.saturating_add(step - rest),
            },
        }
    }

    /// Makes the clock show `shown` at base time `base`.
    pub fn set(&mut self, base: i64, shown: i64) {
        self.offset = 0;
        self.offset = shown.saturating_sub(self.at(base));
    }

    /// Makes the clock advance in steps of `step` from base time `base` on; smoothly if that is 0.
    pub fn set_step(&mut self, base: i64, step: i64) {
        (self.step, self.origin) = (step, base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_rates_are_exact() {
        for hz in [1, 999_999_999, 1_000_000_000, 1_000_000_001, 2_993_208_123, 4_999_999_999] {
            let scale = Scale::new(hz);
            for ticks in [0, 1, 2, hz - 1, hz, hz + 1, hz * 7919, u64::MAX / 3 / NSECS_PER_SEC] {
                let exact = ticks as u128 * NSECS_PER_SEC as u128 / hz as u128;
                assert_eq!(u128::from(scale.ns(ticks)), exact.min(u64::MAX.into()), "{ticks} ticks at {hz} Hz");
            }
        }
        assert_eq!(Scale::new(0).ns(17), 17);
    }

    #[test]
    fn steps_hold_and_settings_count() {
        let mut clock = Reading::default();
        clock.set_step(50, 100);
        assert_eq!([49, 50, 149, 150].map(|b| clock.at(b)), [-50, 50, 50, 150]);
        assert_eq!([50, 51, 150].map(|s| clock.base_of(s)), [50, 150, 150]);
        clock.set(160, 1000);
        assert_eq!([160, 249, 250].map(|b| clock.at(b)), [1000, 1000, 1100]);
    }
}
