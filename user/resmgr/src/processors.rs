//! The machine's processors: which run, why the others do not, and what each one counts of that
//! which takes its time for others than its tasks.

use crate::{failure::Result, kernel_trace::Buffers, task::Task};
use alloc::{string::String, vec::Vec};
use core::fmt::Write as _;
use pillion_abi::RT_VECTOR_FIRST;
use pillion_abi::boot::{BootInfo, Processor, processor_state as state};
use pillion_abi::trace::{Counts, FIRST_VECTOR, VECTORS};
use pillion_histogram::Histogram;
use pillion_runtime::{log::Log, println};
use pillion_system::System;

/// Vectors of other processors' messages, and of the timer.
const MESSAGE: u8 = 0xfd;
const TIMER: u8 = 0xfe;

/// Reports the processors. A machine with one has nothing to report.
pub fn report(boot: &BootInfo) {
    let is_there = |processor: &&Processor| processor.state != state::NONE;
    if boot.processors.iter().filter(is_there).count() < 2 {
        return;
    }
    let mut log = Log::new();
    let _ = write!(log, "{{\"pillion\":\"processors\",\"run\":{},\"all\":[", boot.cpus);
    for (i, processor) in boot.processors.iter().filter(is_there).enumerate() {
        let Processor { apic_id, state, number } = *processor;
        let _ = write!(log, "{}{{\"apic\":{apic_id},", if i == 0 { "" } else { "," });
        let _ = match state {
            state::RUNS => write!(log, "\"cpu\":{number}}}"),
            _ => write!(log, "\"why\":\"{}\"}}", state::reason(state)),
        };
    }
    let _ = writeln!(log, "]}}");
}

/// Says for people who uses which of the processors that run, where several do.
pub fn say_users(boot: &BootInfo, system: &System) {
    if boot.cpus < 2 {
        return;
    }
    for number in 0..boot.cpus {
        let manager = if number == 0 { " the resource manager," } else { "" };
        let names = names(system, number).replace('"', "").replace(',', ", ");
        let who = match who_has(system, number) {
            "both" => alloc::format!("Linux and {names}"),
            "real time" if number == 0 => names,
            "real time" => alloc::format!("{names} alone"),
            "linux" => String::from("Linux"),
            _ if number == 0 => String::from("no task"),
            _ => String::from("nobody: it sleeps"),
        };
        println!("[resmgr] processor {number}:{manager} {who}");
    }
}

/// The processors that run, where several do.
pub struct Processors {
    all: Vec<One>,
    /// Names of the tasks that are on several of them.
    spread: Vec<String>,
    buffers: Buffers,
}

/// A processor.
struct One {
    /// Who has it.
    has: &'static str,
    /// Names of its tasks, as JSON.
    tasks: String,
    /// What it had counted before: its tasks were made and started meanwhile.
    before: Counts,
}

impl Processors {
    /// The processors of a system that is about to be started. Maps what they count.
    pub fn new(boot: &BootInfo, system: &System) -> Result<Option<Processors>> {
        if boot.cpus < 2 {
            return Ok(None);
        }
        let one =
            |number: u64| One { has: who_has(system, number), tasks: names(system, number), before: Counts::default() };
        let buffers = Buffers::map(boot)?;
        let spread = system.tasks.iter().filter(|task| task.processors.count() > 1);
        let spread = spread.map(|task| task.name.clone()).collect();
        Ok(Some(Processors { all: (0..boot.cpus).map(one).collect(), spread, buffers }))
    }

    /// From now on, counts what comes on these processors, by bit.
    pub fn begin(&mut self, on: u64) {
        for (number, one) in (0..).zip(&mut self.all).filter(|(number, _)| on >> number & 1 != 0) {
            one.before = self.buffers.counts(number);
        }
    }

    /// Reports each processor: what it counted, and the worst of the tasks that are there alone. Of
    /// a task of several processors it is not known on which one it was late.
    pub fn status<'a>(&self, tasks: impl Iterator<Item = &'a Task> + Clone) {
        for (number, one) in (0..).zip(&self.all) {
            let now = self.buffers.counts(number);
            let own =
                tasks.clone().filter(|task| task.cpu == number && self.spread.iter().all(|name| name != task.name));
            let worst = worst(own.filter_map(|task| task.histogram));
            let number_or_null = |number: Option<u64>| number.map_or("null".into(), |n| alloc::format!("{n}"));
            let [max_ns, overruns] = [worst.map(|worst| worst.0), worst.map(|worst| worst.1)].map(number_or_null);
            let Counts { interrupts, calls, signals, flushes } = since(&now, &one.before);
            let of = |vector: u8| interrupts[usize::from(vector - FIRST_VECTOR)];
            let devices: u64 = (RT_VECTOR_FIRST..MESSAGE).map(of).sum();
            let mut log = Log::new();
            let _ = write!(log, "{{\"pillion\":\"processor\",\"cpu\":{number},\"has\":\"{}\",\"tasks\":[", one.has);
            let _ = write!(log, "{}],\"max_ns\":{max_ns},\"overruns\":{overruns},", one.tasks);
            let _ = write!(log, "\"timers\":{},\"messages\":{},\"calls\":{calls},", of(TIMER), of(MESSAGE));
            let _ = write!(log, "\"signals\":{signals},\"flushes\":{flushes},\"devices\":{devices},");
            let _ = writeln!(log, "\"linux\":{}}}", of(FIRST_VECTOR));
        }
    }
}

/// The longest latency and the missed periods of tasks, if any of them has measured one.
fn worst<'a>(tasks: impl Iterator<Item = &'a Histogram>) -> Option<(u64, u64)> {
    tasks
        .filter_map(|histogram| Some((histogram.max_ns()?, histogram.overruns())))
        .reduce(|(max, overruns), (other, more)| (max.max(other), overruns.saturating_add(more)))
}

/// Who has a processor.
fn who_has(system: &System, number: u64) -> &'static str {
    let is_it = |n: u8| u64::from(n) == number;
    let linux = system.linux.as_ref().is_some_and(|linux| linux.processors.numbers().any(is_it));
    match (system.tasks.iter().any(|task| task.processors.numbers().any(is_it)), linux) {
        (true, true) => "both",
        (true, false) => "real time",
        (false, true) => "linux",
        (false, false) => "nobody",
    }
}

/// The names of a processor's tasks, in quotes.
fn names(system: &System, number: u64) -> String {
    let mut names = String::new();
    for task in system.tasks.iter().filter(|task| task.processors.numbers().any(|n| u64::from(n) == number)) {
        let comma = if names.is_empty() { "" } else { "," };
        let _ = write!(names, "{comma}\"{}\"", task.name);
    }
    names
}

/// What was counted in between.
fn since(now: &Counts, before: &Counts) -> Counts {
    let mut interrupts = [0; VECTORS];
    for (i, count) in interrupts.iter_mut().enumerate() {
        *count = now.interrupts[i].wrapping_sub(before.interrupts[i]);
    }
    Counts {
        interrupts,
        calls: now.calls.wrapping_sub(before.calls),
        signals: now.signals.wrapping_sub(before.signals),
        flushes: now.flushes.wrapping_sub(before.flushes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_which() {
        let text = "[system]\nname='s'\n[[task]]\nname='a'\npriority=9\n[[task]]\nname='b'\npriority=9\ncpu=1\n\
                    [[task]]\nname='c'\npriority=9\ncpu=1\n[linux]\ncpus=[0,2]\n";
        let system = pillion_system::parse(text).unwrap();
        assert_eq!([0, 1, 2, 3].map(|n| who_has(&system, n)), ["both", "real time", "linux", "nobody"]);
        assert_eq!([0, 1, 2].map(|n| names(&system, n)), ["\"a\"", "\"b\",\"c\"", ""]);
    }

    #[test]
    fn counts_what_came_since() {
        let of = |n| Counts { interrupts: [n; VECTORS], calls: 2 * n, signals: 3 * n, flushes: 4 * n };
        assert_eq!(since(&of(7), &of(5)), of(2));
    }
}
