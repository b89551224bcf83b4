//! Ticks of the time-stamp counter and the time of Linux's clocks.
//!
//! Linux states the conversion, so any value can be in it: a wrong one gives wrong times, and
//! nothing else.

use pillion_abi::dual::Conversion;

/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000_000_000;

/// A conversion that has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Conversion);

impl Clock {
    /// `None` if Linux's clocks do not run by the time-stamp counter.
    #[must_use]
    #[inline(always)]
    pub fn new(conversion: Conversion) -> Option<Clock> {
        let Conversion { valid, mult, shift, .. } = conversion;
        (valid == 1 && mult != 0 && shift < 64).then_some(Clock(conversion))
    }

    /// The conversion.
    #[must_use]
    pub const fn facts(&self) -> &Conversion {
        &self.0
    }

    /// Time of the monotonic clock in nanoseconds.
    #[must_use]
    #[inline]
    pub fn monotonic(&self, tsc: u64) -> u64 {
        let Conversion { base_ns, mult, shift, fraction, .. } = self.0;
        base_ns.wrapping_add(self.since_base(tsc, mult, shift, fraction))
    }

    /// Time of the raw clock in nanoseconds.
    #[must_use]
    pub fn raw(&self, tsc: u64) -> u64 {
        let Conversion { raw_base_ns, raw_mult, shift, raw_fraction, .. } = self.0;
        raw_base_ns.wrapping_add(self.since_base(tsc, raw_mult, shift, raw_fraction))
    }

    #[inline]
    fn since_base(&self, tsc: u64, mult: u32, shift: u32, fraction: u64) -> u64 {
        let ticks = tsc.saturating_sub(self.0.tsc_base);
        let short =
            u32::try_from(ticks).ok().and_then(|ticks| (u64::from(ticks) * u64::from(mult)).checked_add(fraction));
        match short {
            Some(product) => product >> shift,
            None => ((u128::from(ticks) * u128::from(mult) + u128::from(fraction)) >> shift) as u64,
        }
    }

    /// The first tick at which the monotonic clock shows that time or a later one.
    #[must_use]
    #[inline]
    pub fn ticks_at(&self, monotonic_ns: u64) -> u64 {
        let Conversion { tsc_base, base_ns, mult, shift, fraction, .. } = self.0;
        let Some(ahead) = monotonic_ns.checked_sub(base_ns) else { return tsc_base };
        if ahead.leading_zeros() > shift {
            let ticks = (ahead << shift).saturating_sub(fraction).div_ceil(u64::from(mult));
            return tsc_base.saturating_add(ticks);
        }
        let ticks = (u128::from(ahead) << shift).saturating_sub(fraction.into()).div_ceil(mult.into());
        u64::try_from(ticks).map_or(u64::MAX, |ticks| tsc_base.saturating_add(ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of a processor with 2.5 GHz, as Linux chooses them.
    const USUAL: Conversion = Conversion {
        valid: 1,
        mult: 3_355_443,
        shift: 23,
        raw_mult: 3_355_443,
        tsc_base: 1_000_000_000_000,
        base_ns: 400_000_000_000,
        fraction: 12_345,
        raw_base_ns: 400_000_100_000,
        raw_fraction: 77,
        to_realtime_ns: 0,
        to_boottime_ns: 0,
        to_tai_ns: 0,
    };

    fn usual() -> Clock {
        Clock::new(USUAL).unwrap()
    }

    #[test]
    fn invalid_conversions_are_refused() {
        for wrong in [
            Conversion { valid: 0, ..USUAL },
            Conversion { valid: 2, ..USUAL },
            Conversion { mult: 0, ..USUAL },
            Conversion { shift: 64, ..USUAL },
        ] {
            assert!(Clock::new(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_second_is_a_second() {
        let second = usual().monotonic(USUAL.tsc_base + 2_500_000_000) - usual().monotonic(USUAL.tsc_base);
        assert!(second.abs_diff(SECOND) < 200, "{second}");
        assert_eq!(usual().monotonic(0), USUAL.base_ns, "before the base, the time of the base");
        assert_eq!(usual().raw(USUAL.tsc_base), USUAL.raw_base_ns);
    }

    /// The definition, in numbers that cannot overflow.
    fn defined(c: &Conversion, tsc: u64) -> u128 {
        let ticks = u128::from(tsc.saturating_sub(c.tsc_base));
        u128::from(c.base_ns) + ((ticks * u128::from(c.mult) + u128::from(c.fraction)) >> c.shift)
    }

    proptest! {
        #[test]
        fn the_time_is_as_defined(mult in 1..u32::MAX, shift in 0..64_u32, base: u64, ns: u64, fraction: u64, after: u64) {
            let c = Conversion { valid: 1, mult, shift, tsc_base: base, base_ns: ns, fraction, ..USUAL };
            let tsc = base.saturating_add(after);
            prop_assert_eq!(Clock::new(c).unwrap().monotonic(tsc), defined(&c, tsc) as u64);
        }

        #[test]
        fn a_deadline_is_the_first_tick_that_is_not_early(
            mult in 1_u32 << 16..u32::MAX, shift in 16..32_u32, fraction in 0..1_u64 << 31, ahead in 0..1_u64 << 50,
        ) {
            let fraction = fraction & ((1 << shift) - 1);
            let c = Conversion { valid: 1, mult, shift, fraction, ..USUAL };
            let wanted = c.base_ns + ahead;
            let tick = Clock::new(c).unwrap().ticks_at(wanted);
            prop_assert!(defined(&c, tick) >= u128::from(wanted));
            prop_assert!(tick == c.tsc_base || defined(&c, tick - 1) < u128::from(wanted));
        }

        #[test]
        fn no_value_of_linux_is_a_panic(words: [u64; 6], numbers: [u32; 2], shift in 0..64_u32) {
            let [tsc_base, base_ns, fraction, raw_base_ns, raw_fraction, at] = words;
            let [mult, raw_mult] = numbers;
            let c = Conversion { valid: 1, mult: mult.max(1), shift, raw_mult, tsc_base, base_ns, fraction, raw_base_ns, raw_fraction, ..USUAL };
            let clock = Clock::new(c).unwrap();
            let _ = (clock.monotonic(at), clock.raw(at), clock.ticks_at(at));
        }
    }
}
