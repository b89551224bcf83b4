//! Shows that work is in progress, and for how long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Shorter steps leave no line behind.
const WORTH_SAYING: Duration = Duration::from_secs(1);

/// Does `work` under a spinner that shows `what`; without a terminal, prints a line before it.
pub fn step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let started = Instant::now();
    let bar = spinner(what);
    let result = work();
    bar.finish_and_clear();
    if result.is_ok() && started.elapsed() >= WORTH_SAYING {
        eprintln!("x: {what}: {:.1} s", started.elapsed().as_secs_f32());
    }
    result
}

/// A line that is rewritten in place; drawn only on a terminal.
pub fn spinner(what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})").expect("a constant template");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
