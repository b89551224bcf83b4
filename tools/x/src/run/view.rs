//! What the user sees during a run.

use super::observed::Observed;
use super::summary::time;
use super::terminal::Terminal;
use crate::cli::{Clock, RunArguments};
use crate::progress::spinner;
use anyhow::Result;
use indicatif::ProgressBar;
use pillion_measure_data::{Processor as Counted, plain};
use std::io::IsTerminal as _;
use std::time::Duration;

/// A terminal with Linux on it, a progress line, or plain lines for a log.
pub enum View {
    /// Linux's console and a status line, with the remark on units that the status line ends with.
    Shell(Box<Terminal>, &'static str),
    /// One line that is rewritten.
    Line(ProgressBar),
    /// A line whenever something changes.
    Plain(String),
}

impl View {
    /// The view that suits the arguments and the terminal.
    pub fn open(run: &RunArguments) -> Result<View> {
        if !run.headless {
            let unit = if run.clock() == Clock::Wall { "" } else { "   1 ns: 1 instruction" };
            return Ok(View::Shell(Box::new(Terminal::open()?), unit));
        }
        let terminal = std::io::stderr().is_terminal();
        Ok(if terminal { View::Line(spinner("booting")) } else { View::Plain(String::new()) })
    }

    /// Linux wrote to its console.
    pub fn console(&mut self, bytes: &[u8]) {
        if let View::Shell(terminal, _) = self {
            terminal.write(bytes);
        }
    }

    /// Shows how things stand.
    pub fn show(&mut self, observed: &Observed, elapsed: Duration) {
        match self {
            View::Shell(terminal, unit) => {
                terminal.status(&format!(" {}", line(observed, elapsed)), &format!("   Ctrl-] leaves{unit}"))
            }
            View::Line(bar) => bar.set_message(line(observed, elapsed)),
            View::Plain(said) => {
                let now = state(observed);
                if now != *said {
                    eprintln!("x: {:6.1} s  {now}", elapsed.as_secs_f32());
                    *said = now;
                }
            }
        }
    }

    /// Rows and columns of the terminal that belong to Linux.
    pub fn size(&self) -> Option<(u16, u16)> {
        if let View::Shell(terminal, _) = self { Some(terminal.size()) } else { None }
    }

    /// Restores the terminal.
    pub fn close(self) {
        if let View::Line(bar) = &self {
            bar.finish_and_clear();
        }
    }
}

fn line(observed: &Observed, elapsed: Duration) -> String {
    // What matters most comes first: a narrow terminal does not show the rest.
    let mut parts = vec![format!("{} ({:.0} s)", state(observed), elapsed.as_secs_f32())];
    // A line has no room for both.
    let tasks = observed.statuses.values().filter(|_| observed.counted.is_empty());
    for status in tasks {
        let (avg, max) = (time(status.avg_ns), time(status.max_ns));
        parts.push(format!(
            "{}: {} samples, avg {avg}, max {max}, overruns {}",
            status.name, status.samples, status.overruns
        ));
    }
    parts.extend(processors(observed));
    plain(&parts.join("   "))
}

/// The processors, if several run: who has them, the worst of their tasks, and, where these are
/// alone, how often something came that was neither their timer nor one of their devices.
fn processors(observed: &Observed) -> Option<String> {
    let one = |counted: &Counted| {
        let mut text = format!("{} {}", counted.cpu, counted.has);
        if let Some(max_ns) = counted.max_ns {
            text += &format!(" max {}", time(max_ns));
        }
        if let Some(overruns @ 1..) = counted.overruns {
            text += &format!(" LATE {overruns}");
        }
        if counted.has == Counted::ALONE {
            text += &format!(" disturbed {}", counted.disturbances());
        }
        text
    };
    let mut all: Vec<String> = observed.counted.values().map(one).collect();
    let off = observed.off().count();
    if off > 0 && !all.is_empty() {
        all.push(format!("{off} OFF"));
    }
    (!all.is_empty()).then(|| format!("CPUs: {}", all.join(", ")))
}

fn state(observed: &Observed) -> String {
    let skins = observed.skins.iter().map(|(name, event)| format!("{name}: {event}"));
    let faults = observed.faults.iter().map(|fault| format!("{} FAULTED", fault.name));
    let mut parts: Vec<String> = skins.chain(faults).collect();
    if !observed.without_linux {
        parts.push(linux(observed));
    } else if parts.is_empty() {
        parts.push("running".into());
    }
    plain(&parts.join("; "))
}

fn linux(observed: &Observed) -> String {
    let linux = if observed.state.is_empty() { "booting" } else { &observed.state };
    let boots = if observed.boots > 1 { format!(", boot {}", observed.boots) } else { String::new() };
    let loads: Vec<String> = observed.loads.iter().map(load).collect();
    let loads = if loads.is_empty() { String::new() } else { format!("; {}", loads.join(", ")) };
    format!("Linux: {linux}{boots}{loads}")
}

fn load(load: &super::observed::Load) -> String {
    let name = &load.name;
    match (load.ok, load.reason.as_deref()) {
        (true, _) => format!("{name} {} {}", load.units, load.unit),
        (false, Some(super::observed::RUNNING)) => format!("{name} runs"),
        (false, _) => format!("{name} FAILED"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::log_line::parse;

    #[test]
    fn tells_of_programs_and_linux() {
        let mut observed = Observed { without_linux: true, ..Observed::default() };
        assert_eq!(state(&observed), "running");
        observed.take(parse(r#"{"pillion":"skin","name":"t","event":"started","result":0}"#).unwrap());
        assert_eq!(state(&observed), "t: started");
        observed.without_linux = false;
        assert_eq!(state(&observed), "t: started; Linux: booting");
    }

    #[test]
    fn tells_each_processor_s_figures() {
        let mut observed = Observed::default();
        assert_eq!(processors(&observed), None);
        for line in [
            r#"{"pillion":"processor","cpu":0,"has":"linux","tasks":[],"max_ns":null,"overruns":null,"timers":3,"messages":5,"calls":5,"signals":0,"flushes":0,"devices":0,"linux":2}"#,
            r#"{"pillion":"processor","cpu":1,"has":"real time","tasks":["t"],"max_ns":500,"overruns":1,"timers":9,"messages":0,"calls":0,"signals":0,"flushes":0,"devices":3,"linux":0}"#,
        ] {
            observed.take(parse(line).unwrap());
        }
        let said = "CPUs: 0 linux, 1 real time max 500 ns LATE 1 disturbed 0";
        assert_eq!(processors(&observed).as_deref(), Some(said));
        let line = r#"{"pillion":"processors","run":2,"all":[{"apic":0,"cpu":0},{"apic":1,"cpu":1},{"apic":2,"why":"too many"}]}"#;
        observed.take(parse(line).unwrap());
        assert_eq!(processors(&observed), Some(format!("{said}, 1 OFF")));
    }

    /// Linux without Pillion writes the log itself.
    #[test]
    fn a_forged_line_does_not_control_the_terminal() {
        let mut observed = Observed::default();
        for forged in [
            r#"{"pillion":"skin","name":"t\u001b[2J","event":"\u009b31m"}"#,
            r#"{"pillion":"linux","event":"up\r\u0007"}"#,
            r#"{"pillion":"status","name":"s\u001b","samples":1,"min_ns":1,"avg_ns":1,"max_ns":1,"overruns":0}"#,
        ] {
            observed.take(parse(forged).unwrap());
        }
        observed.take_note("load \x1b]0;name failed", 0);
        let shown = line(&observed, Duration::ZERO);
        assert!(shown.contains("t[2J: 31m; Linux: up") && !shown.contains(char::is_control), "{shown:?}");
    }
}
