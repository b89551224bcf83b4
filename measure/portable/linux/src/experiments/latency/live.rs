//! Rows during the measurement, as Xenomai's `latency` prints them. An ordinary thread prints them;
//! the measuring threads are not involved.

use super::measuring_thread::Seen;
use anyhow::Result;
use pillion_measure_data::formats::latency::{Span, closing, head, opening, row};
use std::io::{Write, stdout};
use std::time::Duration;

/// Rows between two heads.
const ROWS: u64 = 21;

const MODE: &str = "user-mode task";

/// Prints a row each second until `is_over`.
///
/// # Errors
/// The output is closed.
pub fn rows(seen: &[Seen], interval_us: u64, priority: u32, is_over: impl Fn() -> bool) -> Result<()> {
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
        out.write_all(row(&new, &all, overruns(seen), 0).as_bytes())?;
    }
    out.write_all(closing(&all, overruns(seen), 0, second).as_bytes())?;
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
