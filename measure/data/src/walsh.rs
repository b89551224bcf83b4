//! Orthogonal Walsh correlations: how reliably, and how late, a system answers a square wave.
//!
//! The system toggles its output at each rising edge of its input, which come every `period`. The output of an ideal system is the fundamental wave `w`: 1 for
//! a period, -1 for the next one. The real part of the response is the mean of the output times `w`, the imaginary part that of the output times `w` half a
//! period later (Heursch 2006, 3.9, equations 3.8 and 3.9).

/// A system's response to one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Correlation with the fundamental wave, -1 to 1.
    pub real: f64,
    /// Correlation with the orthogonal wave, -1 to 1.
    pub imaginary: f64,
}

impl Response {
    /// The degree of reliability, 0 to 1: 1 if every answer comes, and all equally late.
    #[must_use]
    pub fn reliability(&self) -> f64 {
        self.real.abs() + self.imaginary.abs()
    }

    /// How late the answers are on average, in periods, below 2. It is right only for a reliable system.
    #[must_use]
    pub fn delay(&self) -> f64 {
        let late = (1.0 - self.real / self.reliability()) / 2.0;
        if self.imaginary < 0.0 { 2.0 - late } else { late }
    }
}

/// Adds up an output that is told by the times at which it toggles. Times are from the first edge of the input on.
#[derive(Clone, Debug)]
pub struct Correlation {
    period: f64,
    output: f64,
    since: f64,
    real: f64,
    imaginary: f64,
}

impl Correlation {
    /// Of a wave whose edges come every `period`, and an output that is low.
    #[must_use]
    pub fn new(period: f64) -> Correlation {
        Correlation { period, output: -1.0, since: 0.0, real: 0.0, imaginary: 0.0 }
    }

    /// The output toggles at a time, which is not before the last one.
    pub fn toggle(&mut self, time: f64) {
        self.until(time);
        self.output = -self.output;
    }

    /// What the system answered until the end: an even number of periods, so that waves are whole.
    #[must_use]
    pub fn end(mut self, time: f64) -> Response {
        self.until(time);
        Response { real: self.real / time, imaginary: self.imaginary / time }
    }

    /// The output stays as it is up to a time: the integral of it times `w` grows by a difference of the integral of `w`.
    fn until(&mut self, time: f64) {
        let later = self.period / 2.0;
        self.real += self.output * (self.triangle(time) - self.triangle(self.since));
        self.imaginary += self.output * (self.triangle(time - later) - self.triangle(self.since - later));
        self.since = time;
    }

    /// The integral of `w` from 0 on: up for a period, down for the next.
    fn triangle(&self, time: f64) -> f64 {
        let place = time.rem_euclid(2.0 * self.period);
        place.min(2.0 * self.period - place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: f64 = 10.0;
    const EDGES: u32 = 1000;

    /// The response to answers that are so late.
    fn response(late: impl Fn(u32) -> Option<f64>) -> Response {
        let mut correlation = Correlation::new(PERIOD);
        for edge in 0..EDGES {
            if let Some(late) = late(edge) {
                correlation.toggle(f64::from(edge) * PERIOD + late);
            }
        }
        correlation.end(f64::from(EDGES) * PERIOD)
    }

    fn near(value: f64, known: f64) -> bool {
        (value - known).abs() < 0.005
    }

    #[test]
    fn an_ideal_system_equals_the_wave() {
        let ideal = response(|_| Some(0.0));
        assert_eq!((ideal.real, ideal.imaginary), (1.0, 0.0));
    }

    #[test]
    fn a_constant_delay_turns_the_response_and_keeps_it_reliable() {
        // At f = 0.5 / delay the real part is 0, at the cut-off f = 1 / delay it is -1.
        for (late, real, imaginary) in [(2.5, 0.5, 0.5), (5.0, 0.0, 1.0), (7.5, -0.5, 0.5), (9.999, -1.0, 0.0)] {
            let response = response(|_| Some(late));
            assert!(near(response.real, real) && near(response.imaginary, imaginary), "{late}: {response:?}");
            assert!(near(response.reliability(), 1.0) && near(response.delay(), late / PERIOD), "{response:?}");
        }
    }

    #[test]
    fn jitter_around_the_quarter_makes_it_less_reliable() {
        // Equally often on time and a whole period late, nearly: the output is right half of the time.
        let response = response(|edge| Some(if edge % 2 == 0 { 0.0 } else { 9.999 }));
        assert!(response.reliability() < 0.51, "{response:?}");
    }

    #[test]
    fn a_lost_answer_turns_all_that_follow() {
        let once = response(|edge| (edge != EDGES / 2).then_some(0.0));
        assert!(once.real.abs() < 0.01 && once.reliability() < 0.01, "{once:?}");
        assert!(response(|_| None).reliability() < 1e-9);
    }
}
