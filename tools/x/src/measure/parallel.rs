//! Runs jobs side by side, and shows how far they are.

use crate::interrupt;
use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A piece of work and what it is called.
pub struct Work<'a, T> {
    /// For people.
    pub name: String,
    /// What is done.
    pub work: Box<dyn FnOnce() -> Result<T> + Send + 'a>,
}

/// Does everything, up to `workers` pieces at a time; results are in the order of the pieces.
pub fn all<T: Send>(pieces: Vec<Work<T>>, workers: usize) -> Result<Vec<Result<T>>> {
    let count = pieces.len();
    let shown = Shown::new(count);
    let pieces: Vec<Mutex<Option<Work<T>>>> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
    let results: Vec<Mutex<Option<Result<T>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count && !interrupt::wanted())
        {
            let Some(piece) = taken(&pieces[at]) else { continue };
            let result = shown.during(&piece.name, piece.work);
            if let Ok(mut place) = results[at].lock() {
                *place = Some(result);
            }
        }
    };
    thread::scope(|scope| (0..workers.min(count)).for_each(|_| drop(scope.spawn(work))));
    shown.bar.finish_and_clear();
    if interrupt::wanted() {
        bail!("interrupted");
    }
    Ok(results.iter().filter_map(taken).collect())
}

fn taken<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().ok()?.take()
}

/// What is seen meanwhile: a bar on a terminal, else a line for each piece.
struct Shown {
    bar: ProgressBar,
    running: Mutex<Vec<String>>,
}

impl Shown {
    fn new(count: usize) -> Shown {
        let style =
            ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg} ({elapsed})").expect("a constant template");
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(count as u64).with_style(style) } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(200));
        Shown { bar, running: Mutex::new(Vec::new()) }
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

    #[test]
    fn results_keep_their_order_and_failures_stay_apart() {
        let piece = |n: u64| Work {
            name: n.to_string(),
            work: Box::new(move || {
                thread::sleep(Duration::from_millis(20 - 2 * n));
                if n == 3 {
                    bail!("three")
                }
                Ok(n)
            }),
        };
        let results = all((0..8).map(piece).collect(), 4).unwrap();
        let values: Vec<Option<u64>> = results.into_iter().map(Result::ok).collect();
        assert_eq!(values, [Some(0), Some(1), Some(2), None, Some(4), Some(5), Some(6), Some(7)]);
    }
}
