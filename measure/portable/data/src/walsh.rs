//! Orthogonal Walsh correlations: how reliably, and how late, a system answers a square wave.
//!
//! The system toggles its output `x` at each rising edge of its input; edges come every period `T`.
//! The output of an ideal system, which answers at once, is the fundamental wave `w(t)`: 1 for a
//! period, -1 for the next one. The real part of the response is the mean of `x(t) w(t)`, the
//! imaginary part that of `x(t) w(t - T/2)`, the degree of reliability that of `x(t) w(t - τ)`,
//! where τ is the mean delay (Heursch 2006, 3.9, equations 3.7 to 3.9).
//!
//! All three are values of one function of the delay. Between two toggles the output is constant,
//! so the integral is a sum over toggles of the integral of `w`: a triangle wave that depends only
//! on a toggle's place in the wave. It is therefore enough to count the toggles at each place, and
//! the delay need not be known until the end. Times are whole nanoseconds; the triangle is computed
//! in halves of them, because periods may be odd.

/// The most places in a wave that are distinguished. For longer waves, adjacent nanoseconds are
/// merged, less than a part in 4,000.
const PLACES: u64 = 8192;

/// A system's response to one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Correlation with the fundamental wave, -1 to 1.
    pub real: f64,
    /// Correlation with the orthogonal wave, -1 to 1.
    pub imaginary: f64,
    /// The degree of reliability, 0 to 1: 1 if every answer comes, and all are equally late.
    pub reliability: f64,
}

/// Counts an output's toggles by their place in the wave. Times count from the input's first edge.
#[derive(Clone, Debug)]
pub struct Correlation {
    period: u64,
    /// Width of a place in ns, as a power of two.
    width: u32,
    /// For each place, toggles from 1 to -1 minus those from -1 to 1.
    places: Vec<i32>,
    output: i32,
}

impl Correlation {
    /// The correlation with a wave whose edges come every `period`, for an output that is low.
    pub fn new(period: u64) -> Correlation {
        let mut width = 0;
        while (2 * period) >> width >= PLACES {
            width += 1;
        }
        Correlation { period, width, places: vec![0; PLACES as usize], output: -1 }
    }

    /// Records that the output toggles at `time`.
    pub fn toggle(&mut self, time: u64) {
        self.places[((time % (2 * self.period)) >> self.width) as usize] += self.output;
        self.output = -self.output;
    }

    /// The system's response up to `time`, which must be an even number of periods, so that waves
    /// are whole; `delay` is the mean delay of its answers.
    pub fn end(&self, time: u64, delay: f64) -> Response {
        let at = |halves: u64| self.correlation(time, halves);
        // A delay wrong by a period, as if half of the edges were lost, shows as a negative sign.
        Response { real: at(0), imaginary: at(self.period), reliability: at((2.0 * delay).round() as u64).abs() }
    }

    /// Correlation with the wave delayed by `late` half nanoseconds.
    fn correlation(&self, time: u64, late: u64) -> f64 {
        let ends = if self.output == 1 { 2 * self.triangle(0, late) } else { 0 };
        let toggle = |(place, count): (usize, &i32)| i64::from(*count) * 2 * self.triangle(self.middle(place), late);
        let sum: i64 = self.places.iter().enumerate().filter(|(_, count)| **count != 0).map(toggle).sum();
        (sum + ends) as f64 / (2 * time) as f64
    }

    /// The middle of a place, in half nanoseconds.
    fn middle(&self, place: usize) -> u64 {
        ((2 * place as u64) << self.width) + ((1 << self.width) - 1)
    }

    /// The integral from 0 on of `w` delayed by `late`: up for a period, then down. All in half ns.
    fn triangle(&self, time: u64, late: u64) -> i64 {
        let (period, wave) = (2 * self.period, 4 * self.period);
        let place = (time % wave + wave - late % wave) % wave;
        place.min(2 * period - place) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 50;
    const EDGES: u64 = 1000;

    /// The response of a system whose answers are `late`.
    fn response_of(period: u64, late: impl Fn(u64) -> Option<u64>) -> Response {
        let mut correlation = Correlation::new(period);
        let answers: Vec<(u64, u64)> = (0..EDGES).filter_map(|edge| Some((edge, late(edge)?))).collect();
        answers.iter().for_each(|(edge, late)| correlation.toggle(edge * period + late));
        let sum: u64 = answers.iter().map(|(_, late)| late).sum();
        correlation.end(EDGES * period, sum as f64 / answers.len().max(1) as f64)
    }

    fn response(late: impl Fn(u64) -> Option<u64>) -> Response {
        response_of(PERIOD, late)
    }

    fn near(value: f64, known: f64) -> bool {
        (value - known).abs() < 0.002
    }

    #[test]
    fn an_ideal_system_equals_the_wave() {
        assert_eq!(response(|_| Some(0)), Response { real: 1.0, imaginary: 0.0, reliability: 1.0 });
    }

    #[test]
    fn a_constant_delay_turns_the_response_and_keeps_it_reliable() {
        // At f = 0.5 / delay the real part is 0, at the cut-off f = 1 / delay it is -1.
        for (late, real, imaginary) in [(10, 0.6, 0.4), (25, 0.0, 1.0), (40, -0.6, 0.4), (49, -0.96, 0.04)] {
            let response = response(|_| Some(late));
            assert!(near(response.real, real) && near(response.imaginary, imaginary), "{late}: {response:?}");
            assert!(near(response.reliability, 1.0), "{response:?}");
        }
    }

    #[test]
    fn jitter_makes_it_less_reliable_wherever_it_is() {
        // The degree falls by twice the mean distance from the mean delay, in periods: within a
        // quadrant, where both parts still add up to 1, as well as across quadrants.
        for (early, late, known) in [(1, 24, 0.54), (0, 24, 0.52), (26, 49, 0.54), (0, 49, 0.02), (20, 30, 0.8)] {
            let response = response(|edge| Some(if edge % 2 == 0 { early } else { late }));
            assert!(near(response.reliability, known), "{early} and {late}: {response:?}");
        }
        let rare = response(|edge| Some(if edge % 100 == 0 { 49 } else { 1 }));
        assert!(near(rare.reliability, 1.0 - 2.0 * (0.99 * 0.48 + 0.01 * 47.52) / 50.0), "{rare:?}");
    }

    #[test]
    fn nothing_is_more_reliable_than_a_reliable_system() {
        for period in [49, 51, 3_333, 1_999_999, 2_000_001] {
            for late in [0, 1, 3, period / 3, period / 2, period - 1] {
                let reliability = response_of(period, |_| Some(late)).reliability;
                assert!((0.9995..=1.0).contains(&reliability), "{late} of {period}: {reliability}");
            }
        }
    }

    #[test]
    fn a_lost_answer_turns_all_that_follow() {
        let once = response(|edge| (edge != EDGES / 2).then_some(0));
        assert!(once.real.abs() < 0.01 && once.reliability < 0.01, "{once:?}");
        let early = response(|edge| (edge != EDGES / 10).then_some(0));
        assert!(near(early.reliability, 0.8), "{early:?}");
        assert!(response(|_| None).reliability < 1e-9);
    }
}
