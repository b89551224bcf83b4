//! Rows during the measurement, as Xenomai's `latency` prints them: a head (`RTH|`) from time to
//! time, a row for each second (`RTD|`), and one for the whole run (`RTS|`). Latencies are in
//! microseconds. An ordinary thread prints them; the measuring threads are not involved.

use super::measuring_thread::Seen;
use anyhow::Result;
use std::io::{Write, stdout};
use std::time::Duration;

/// Rows between two heads.
const ROWS: u64 = 21;

const MODE: &str = "user-mode task";

/// Prints a row each second until `is_over`. Fails if the output is closed.
pub fn print(seen: &[Seen], interval_us: u64, priority: u32, is_over: impl Fn() -> bool) -> Result<()> {
    let mut out = stdout();
    out.write_all(opening(interval_us, MODE).as_bytes())?;
    let (mut all, mut second, mut from) = (Span::default(), 0, vec![0; seen.len()]);
    while !is_over() {
        std::thread::sleep(Duration::from_secs(1));
        if second % ROWS == 0 {
            out.write_all(head(second, interval_us, priority, MODE).as_bytes())?;
        }
        let new = newest(seen, &mut from);
        all.merge(&new);
        second += 1;
        out.write_all(row(&new, &all, overruns(seen)).as_bytes())?;
    }
    out.write_all(closing(&all, overruns(seen), second).as_bytes())?;
    Ok(())
}

fn newest(seen: &[Seen], from: &mut [usize]) -> Span {
    let mut span = Span::default();
    for (seen, from) in seen.iter().zip(from) {
        for latency in seen.since(*from) {
            span.add(latency as i64);
            *from += 1;
        }
    }
    span
}

fn overruns(seen: &[Seen]) -> u64 {
    seen.iter().map(Seen::overruns).sum()
}

/// Latencies within an interval, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    samples: u64,
    sum: i128,
    min: Option<i64>,
    max: Option<i64>,
}

impl Span {
    fn add(&mut self, latency_ns: i64) {
        self.samples += 1;
        self.sum += i128::from(latency_ns);
        self.min = Some(self.min.map_or(latency_ns, |min| min.min(latency_ns)));
        self.max = Some(self.max.map_or(latency_ns, |max| max.max(latency_ns)));
    }

    /// Adds the samples of another interval.
    fn merge(&mut self, other: &Span) {
        let smaller = [self.min, other.min].into_iter().flatten().min();
        self.samples += other.samples;
        self.sum += other.sum;
        (self.min, self.max) = (smaller, self.max.max(other.max));
    }

    /// Minimum, mean and maximum, in microseconds.
    fn figures(&self) -> [f64; 3] {
        let mean = self.sum as f64 / self.samples.max(1) as f64;
        [self.min.unwrap_or(0) as f64, mean, self.max.unwrap_or(0) as f64].map(|nanoseconds| nanoseconds / 1000.0)
    }
}

/// The lines before the first row.
fn opening(period_us: u64, mode: &str) -> String {
    format!("== Sampling period: {period_us} us\n== Test mode: {mode}\n== All results in microseconds\n")
}

/// The head, repeated every 21 rows, after `seconds`.
fn head(seconds: u64, period_us: u64, priority: u32, mode: &str) -> String {
    let time = time(seconds);
    format!(
        "RTT|  {time}  ({mode}, {period_us} us period, priority {priority})\n\
         RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n"
    )
}

/// A second's row. `all` samples and `overruns` are from the start; Linux has no mode switches.
fn row(second: &Span, all: &Span, overruns: u64) -> String {
    let ([min, average, max], [best, _, worst]) = (second.figures(), all.figures());
    format!("RTD|{min:>11.3}|{average:>11.3}|{max:>11.3}|{overruns:>8}|     0|{best:>11.3}|{worst:>11.3}\n")
}

/// The last rows; the run lasted `seconds`.
fn closing(all: &Span, overruns: u64, seconds: u64) -> String {
    let [min, average, max] = all.figures();
    let time = time(seconds);
    format!(
        "---|-----------|-----------|-----------|--------|------|-------------------------\n\
         RTS|{min:>11.3}|{average:>11.3}|{max:>11.3}|{overruns:>8}|     0|    {time}/{time}\n"
    )
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
        assert_eq!(all.samples, 4);
        let head = head(3723, 100, 99, "periodic user-mode task");
        assert!(head.starts_with("RTT|  01:02:03  (periodic user-mode task, 100 us period, priority 99)\nRTH|"));
        let row = row(&second, &all, 2);
        assert_eq!(row, "RTD|     -0.250|    300.417|    900.000|       2|     0|     -0.250|   1200.000\n");
        assert_eq!(head.lines().nth(1).unwrap().len(), row.trim_end().len());
        let bars = |text: &str| text.match_indices('|').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(bars(head.lines().nth(1).unwrap()), bars(&row));
    }

    #[test]
    fn a_run_without_samples_has_zeroes() {
        let text = closing(&Span::default(), 0, 1);
        assert!(
            text.ends_with("RTS|      0.000|      0.000|      0.000|       0|     0|    00:00:01/00:00:01\n"),
            "{text}"
        );
        assert_eq!(opening(100, "x").lines().count(), 3);
    }
}
