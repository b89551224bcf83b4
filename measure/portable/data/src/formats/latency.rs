//! The rows that Xenomai users know from its `latency`: a head (`RTH|`) from time to time, a row
//! for each second (`RTD|`), and one for the whole run (`RTS|`). Latencies are in microseconds.

/// Latencies within an interval, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    samples: u64,
    sum: i128,
    min: Option<i64>,
    max: Option<i64>,
}

impl Span {
    /// Adds a sample.
    pub fn add(&mut self, latency_ns: i64) {
        self.samples += 1;
        self.sum += i128::from(latency_ns);
        self.min = Some(self.min.map_or(latency_ns, |min| min.min(latency_ns)));
        self.max = Some(self.max.map_or(latency_ns, |max| max.max(latency_ns)));
    }

    /// Adds the samples of another interval.
    pub fn merge(&mut self, other: &Span) {
        let smaller = [self.min, other.min].into_iter().flatten().min();
        self.samples += other.samples;
        self.sum += other.sum;
        (self.min, self.max) = (smaller, self.max.max(other.max));
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    fn min(&self) -> f64 {
        microseconds(self.min.unwrap_or(0) as f64)
    }

    fn average(&self) -> f64 {
        microseconds(self.sum as f64 / self.samples.max(1) as f64)
    }

    fn max(&self) -> f64 {
        microseconds(self.max.unwrap_or(0) as f64)
    }
}

/// The lines before the first row.
#[must_use]
pub fn opening(period_us: u64, mode: &str) -> String {
    format!("== Sampling period: {period_us} us\n== Test mode: {mode}\n== All results in microseconds\n")
}

/// The head, repeated every 21 rows, after `seconds`.
#[must_use]
pub fn head(seconds: u64, period_us: u64, priority: u32, mode: &str) -> String {
    let time = time(seconds);
    format!(
        "RTT|  {time}  ({mode}, {period_us} us period, priority {priority})\n\
         RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n"
    )
}

/// The row of a second. `all` has every sample so far; `overruns` and `switches` (mode switches)
/// count from the start.
#[must_use]
pub fn row(second: &Span, all: &Span, overruns: u64, switches: u64) -> String {
    let [min, average, max] = [second.min(), second.average(), second.max()];
    let [best, worst] = [all.min(), all.max()];
    format!("RTD|{min:>11.3}|{average:>11.3}|{max:>11.3}|{overruns:>8}|{switches:>6}|{best:>11.3}|{worst:>11.3}\n")
}

/// The last rows; the run lasted `seconds`.
#[must_use]
pub fn closing(all: &Span, overruns: u64, switches: u64, seconds: u64) -> String {
    let [min, average, max] = [all.min(), all.average(), all.max()];
    let time = time(seconds);
    format!(
        "---|-----------|-----------|-----------|--------|------|-------------------------\n\
         RTS|{min:>11.3}|{average:>11.3}|{max:>11.3}|{overruns:>8}|{switches:>6}|    {time}/{time}\n"
    )
}

fn microseconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1000.0
}

fn time(seconds: u64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_below_their_head() {
        let (mut second, mut all) = (Span::default(), Span::default());
        [1500, -250, 900_000].into_iter().for_each(|sample| second.add(sample));
        all.add(1_200_000);
        all.merge(&second);
        assert_eq!(all.samples(), 4);
        let head = head(3723, 100, 99, "periodic user-mode task");
        assert!(head.starts_with("RTT|  01:02:03  (periodic user-mode task, 100 us period, priority 99)\nRTH|"));
        let row = row(&second, &all, 2, 0);
        assert_eq!(row, "RTD|     -0.250|    300.417|    900.000|       2|     0|     -0.250|   1200.000\n");
        assert_eq!(head.lines().nth(1).unwrap().len(), row.trim_end().len());
        let bars = |text: &str| text.match_indices('|').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(bars(head.lines().nth(1).unwrap()), bars(&row));
    }

    #[test]
    fn a_run_without_samples_has_zeroes() {
        let text = closing(&Span::default(), 0, 0, 1);
        assert!(
            text.ends_with("RTS|      0.000|      0.000|      0.000|       0|     0|    00:00:01/00:00:01\n"),
            "{text}"
        );
        assert_eq!(opening(100, "x").lines().count(), 3);
    }
}
