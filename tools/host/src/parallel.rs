//! Runs jobs in parallel, and shows their progress.

use crate::stop;
use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// A piece of work and its name.
pub struct Work<'a, T> {
    /// For people.
    pub name: String,
    /// What is done.
    pub work: Box<dyn FnOnce() -> Result<T> + Send + 'a>,
}

/// The number of processors; 1 if it is unknown.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Runs all pieces, up to `workers` at a time; calls `take` with the number and result of each
/// piece as it ends. An error from `take` ends the rest.
pub fn each<T: Send>(
    pieces: Vec<Work<T>>,
    workers: usize,
    mut take: impl FnMut(usize, Result<T>) -> Result<()>,
) -> Result<()> {
    let count = pieces.len();
    let shown = Display::new(count);
    let queue = Mutex::new(pieces.into_iter().enumerate());
    let (ended, results) = mpsc::channel();
    let work = |ended: Sender<(usize, Result<T>)>| {
        while let Some((at, piece)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            if ended.send((at, shown.during(&piece.name, piece.work))).is_err() {
                break;
            }
        }
    };
    let outcome = thread::scope(|scope| {
        for ended in vec![ended; workers.min(count)] {
            scope.spawn(|| work(ended));
        }
        results.into_iter().try_for_each(|(at, result)| {
            ensure!(!stop::wanted(), "interrupted");
            shown.bar.suspend(|| take(at, result))
        })
    });
    shown.bar.finish_and_clear();
    outcome
}

/// The progress display: a bar on a terminal, otherwise a line for each piece.
struct Display {
    bar: ProgressBar,
    running: Mutex<Vec<String>>,
}

impl Display {
    fn new(count: usize) -> Display {
        let style =
            ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg} ({elapsed})").expect("a constant template");
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(count as u64).with_style(style) } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(200));
        Display { bar, running: Mutex::new(Vec::new()) }
    }

    fn during<T>(&self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        self.change(|running| running.push(name.to_owned()));
        let result = work();
        self.change(|running| {
            let at = running.iter().position(|other| other == name);
            at.map(|at| running.remove(at));
        });
        let end = if result.is_ok() { "" } else { " FAILED" };
        let line = format!("x: {name}: {:.1} s{end}", started.elapsed().as_secs_f32());
        self.bar.inc(1);
        if self.bar.is_hidden() {
            eprintln!("{line}")
        } else {
            self.bar.println(line)
        }
        result
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        if let Ok(mut running) = self.running.lock() {
            change(&mut running);
            self.bar.set_message(running.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use anyhow::bail;

    fn pieces<'a>() -> Vec<Work<'a, usize>> {
        let piece = |n: usize| Work {
            name: n.to_string(),
            work: Box::new(move || {
                thread::sleep(Duration::from_millis(20 - 2 * n as u64));
                if n == 3 {
                    bail!("three")
                }
                Ok(n)
            }),
        };
        (0..8).map(piece).collect()
    }

    #[test]
    fn each_result_comes_with_its_number_and_failures_stay_apart() {
        let mut results = [None; 8];
        let take = |at: usize, result: Result<usize>| {
            results[at] = result.ok();
            Ok(())
        };
        each(pieces(), 4, take).unwrap();
        assert_eq!(results, [Some(0), Some(1), Some(2), None, Some(4), Some(5), Some(6), Some(7)]);
    }

    #[test]
    fn what_cannot_be_taken_ends_the_rest() {
        let mut taken = 0;
        let take = |_, _| {
            taken += 1;
            bail!("the disk is full")
        };
        assert!(each(pieces(), 1, take).is_err());
        assert_eq!(taken, 1);
    }
}
