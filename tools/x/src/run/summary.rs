//! The result of a run, for people.

use super::log_line::Task;
use super::observed::Observed;
use crate::cli::Clock;
use pillion_measure_data::Processor as Counted;
use std::fmt::Write as _;

/// Width of the longest bar.
const BAR: f64 = 40.0;

/// Histograms of latencies, then the tables, which stay in sight at the end.
pub fn text(observed: &Observed, clock: Clock) -> String {
    let mut out = String::new();
    for task in observed.tasks.iter().filter(|task| !task.histogram.is_empty()) {
        histogram(&mut out, task);
    }
    tasks(&mut out, observed, clock);
    processors(&mut out, observed);
    off(&mut out, observed);
    linux(&mut out, observed);
    out
}

fn tasks(out: &mut String, observed: &Observed, clock: Clock) {
    if observed.tasks.is_empty() && observed.statuses.is_empty() {
        return;
    }
    out.push('\n');
    let mut row = |cells: [&str; 9]| {
        let [name, period, samples, min, avg, p99, p9999, max, overruns] = cells;
        let _ = writeln!(
            out,
            "{name:<12} {period:>10} {samples:>12} {min:>10} {avg:>10} {p99:>10} {p9999:>10} {max:>10} {overruns:>9}"
        );
    };
    row(["task", "period", "samples", "min", "avg", "p99", "p99.99", "max", "overruns"]);
    for task in &observed.tasks {
        let [min, avg, p99, p9999, max] = [task.min_ns, task.avg_ns, task.p99_ns, task.p9999_ns, task.max_ns].map(time);
        // Threads of an RTLinux program may have different periods.
        let period = if task.period_ns == 0 { "-".into() } else { time(task.period_ns) };
        let [samples, overruns] = [task.samples, task.overruns].map(|count| count.to_string());
        row([&task.name, &period, &samples, &min, &avg, &p99, &p9999, &max, &overruns]);
    }
    for status in observed.statuses.values().filter(|status| observed.tasks.iter().all(|task| task.name != status.name))
    {
        let [min, avg, max] = [status.min_ns, status.avg_ns, status.max_ns].map(time);
        let [samples, overruns] = [status.samples, status.overruns].map(|count| count.to_string());
        row([&status.name, "-", &samples, &min, &avg, "-", "-", &max, &overruns]);
    }
    if clock != Clock::Wall {
        let _ = writeln!(out, "times are counted: 1 ns is one executed instruction");
    }
}

/// What each processor counted, if several run.
fn processors(out: &mut String, observed: &Observed) {
    if observed.counted.is_empty() {
        return;
    }
    let heads = ["max", "overruns", "timers", "messages", "calls", "signals", "flushes", "devices", "tasks"];
    let _ = write!(out, "\n{:<9} {:<9}", "processor", "has");
    let [max, heads @ .., tasks] = heads;
    let _ = write!(out, " {max:>10}");
    heads.iter().for_each(|head| _ = write!(out, " {head:>8}"));
    let _ = writeln!(out, "  {tasks}");
    for Counted {
        cpu, has, tasks, max_ns, overruns, timers, messages, calls, signals, flushes, devices, linux, ..
    } in observed.counted.values()
    {
        let max = max_ns.map_or("-".into(), time);
        let overruns = overruns.map_or("-".into(), |overruns| overruns.to_string());
        let _ = write!(out, "{cpu:<9} {has:<9} {max:>10} {overruns:>8}");
        for count in [*timers, *messages, *calls, *signals, *flushes, devices + linux] {
            let _ = write!(out, " {count:>8}");
        }
        let _ = writeln!(out, "  {}", tasks.join(", "));
    }
}

/// The processors that do not run, and why: one line for each reason.
fn off(out: &mut String, observed: &Observed) {
    let mut reasons: Vec<(&str, Vec<u32>)> = Vec::new();
    for (apic, why) in observed.off() {
        match reasons.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, of)) => of.push(apic),
            None => reasons.push((why, vec![apic])),
        }
    }
    for (why, of) in reasons {
        let numbers: Vec<String> = of.iter().map(u32::to_string).collect();
        let _ = writeln!(
            out,
            "\n{} of {} processors stay off: {why} (local APIC {})",
            of.len(),
            observed.processors.len(),
            numbers.join(", ")
        );
    }
}

/// A histogram with bars on a logarithmic scale, so that one sample in a million is visible.
fn histogram(out: &mut String, task: &Task) {
    let most = task.histogram.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let _ = writeln!(out, "\nlatency of {} (bars are logarithmic)", task.name);
    for (from, count) in task.histogram.iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(out, "{:>12} {count:>10} {}", time(*from), bar(*count, most));
    }
}

fn bar(count: u64, most: u64) -> String {
    let share = (1.0 + count as f64).ln() / (1.0 + most as f64).ln();
    "█".repeat((share * BAR).ceil().max(1.0) as usize)
}

fn linux(out: &mut String, observed: &Observed) {
    if let (Some(init), start) = (observed.init_ns, observed.start_ns.unwrap_or(0)) {
        let _ = writeln!(
            out,
            "\nLinux        to its init in {}, boots: {}",
            time(init - start.min(init)),
            observed.boots.max(1)
        );
    }
    for load in &observed.loads {
        let result = match &load.reason {
            None => format!("{} {}", load.units, load.unit),
            Some(reason) => format!("FAILED: {reason}"),
        };
        let _ = writeln!(out, "{:<12} {result}", load.name);
    }
    let exits = observed.exits.iter().filter(|(_, count)| **count > 0);
    if exits.clone().count() > 0 {
        let exits: Vec<String> = exits.map(|(reason, count)| format!("{reason} {count}")).collect();
        let _ = writeln!(out, "exits        {}", exits.join(", "));
    }
}

/// A time, in the unit that needs few digits.
pub fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_behind_the_histogram_and_says_what_a_nanosecond_is() {
        let line = r#"{"pillion":"task","name":"demo","period_ns":100000,"samples":9,"min_ns":1,"avg_ns":2,"p99_ns":3,"p9999_ns":4,"max_ns":5,"overruns":0,"histogram":[[1,8],[4,1]]}"#;
        let mut observed = Observed::default();
        observed.take(crate::run::log_line::parse(line).unwrap());
        let said = text(&observed, Clock::Paced);
        assert!(said.find("bars are logarithmic") < said.find("overruns"), "{said}");
        assert!(said.contains("1 ns is one executed instruction"), "{said}");
        assert!(!text(&observed, Clock::Wall).contains("instruction"));
    }

    #[test]
    fn processors_have_a_table_where_several_run() {
        let line = r#"{"pillion":"processor","cpu":1,"has":"real time","tasks":["a","b"],"max_ns":541,"overruns":2,"timers":31,"messages":41,"calls":51,"signals":61,"flushes":71,"devices":80,"linux":1}"#;
        let mut observed = Observed::default();
        assert!(!text(&observed, Clock::Wall).contains("processor"));
        observed.take(crate::run::log_line::parse(line).unwrap());
        let said = text(&observed, Clock::Wall);
        let row = said.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(row, ["1", "real", "time", "541", "ns", "2", "31", "41", "51", "61", "71", "81", "a,", "b"]);
    }

    #[test]
    fn processors_that_stay_off_are_told_with_the_reason() {
        let line = r#"{"pillion":"processors","run":2,"all":[{"apic":0,"cpu":0},{"apic":1,"cpu":1},{"apic":6,"why":"too many"},{"apic":8,"why":"too many"},{"apic":9,"why":"it has other features"}]}"#;
        let mut observed = Observed::default();
        observed.take(crate::run::log_line::parse(line).unwrap());
        let said = text(&observed, Clock::Wall);
        assert!(said.contains("2 of 5 processors stay off: too many (local APIC 6, 8)"), "{said}");
        assert!(said.contains("1 of 5 processors stay off: it has other features (local APIC 9)"), "{said}");
    }

    #[test]
    fn one_sample_is_seen_beside_a_million() {
        assert_eq!(bar(1_000_000, 1_000_000).chars().count(), 40);
        assert_eq!(bar(1, 1_000_000).chars().count(), 3);
    }

    #[test]
    fn times_have_fitting_units() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(100_000), "100.0 µs");
        assert_eq!(time(4_500_000_000), "4500.0 ms");
    }
}
