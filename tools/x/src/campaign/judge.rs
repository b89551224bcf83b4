//! Judges a run: the watched task must be in time, every task but the hostile ones unharmed, and
//! the guest must see nothing that it must not see.

use super::play::Ran;
use super::scenario::{LEASH_MS, SKINNED, Scenario, TASK};
use crate::run::log_line::{Line, Task, parse};
use std::collections::BTreeMap;

/// Texts that no line of the log may contain, and what they mean.
const FORBIDDEN: [(&str, &str); 7] = [
    ("[fault]", "an exception in the kernel"),
    ("panic", "a panic"),
    ("[watched]", "the watched task complains"),
    ("SEES", "the guest saw what it must not see"),
    ("the guest is broken", "the guest went wrong"),
    ("cannot be started", "the guest could not be started"),
    ("broke its word", "the kernel refused the monitor"),
];

/// Periods of the watched task that may be missing at the start and the end together.
const SLACK_PERIODS: u64 = 20;

/// The monitor's event for a guest that switched the machine off.
const POWER_OFF: &str = "poweroff";

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// What is wrong; empty when nothing is.
    pub wrong: Vec<String>,
    /// Why the emulator itself failed; such a run says nothing about the system.
    pub emulator: Option<String>,
    /// The watched task's figures.
    pub watched: Option<Task>,
    /// How the guest's boots ended, and how often.
    pub ends: BTreeMap<String, u64>,
    /// Exits of the guest.
    pub exits: u64,
    /// Hostile tasks that faulted.
    pub faulted: u64,
}

/// Judges a run.
pub fn judge(scenario: &Scenario, ran: &Ran) -> Judged {
    let mut judged = Judged::default();
    if ran.emulator_died {
        // Warnings that the emulator always prints precede the reason; after it come registers.
        let said = ran.messages.lines().map(str::trim).find(|line| !line.is_empty() && !line.contains("warning: "));
        judged.emulator = Some(said.unwrap_or("it said nothing").to_owned());
    }
    let (mut started, mut ended) = (None, None);
    for line in ran.log.lines() {
        let forbidden = FORBIDDEN.iter().filter(|(text, _)| line.contains(text));
        judged.wrong.extend(forbidden.map(|(_, why)| format!("{why}: {}", line.trim())));
        match parse(line) {
            Some(Line::Linux(linux)) => {
                started = started.or((linux.event == "start").then_some(linux.t_ns));
                if !["start", "note", "init"].contains(&linux.event.as_str()) {
                    *judged.ends.entry(linux.event).or_default() += 1;
                }
            }
            Some(Line::Fault(fault)) if [TASK, SKINNED].contains(&fault.name.as_str()) => judged.faulted += 1,
            Some(Line::Fault(fault)) => judged.wrong.push(format!("{} faulted: {}", fault.name, line.trim())),
            Some(Line::Task(task)) if task.name == "watched" => judged.watched = Some(task),
            Some(Line::Exits { reasons }) => judged.exits = reasons.get("all").copied().unwrap_or(0),
            Some(Line::End { t_ns, .. }) => ended = Some(t_ns),
            _ => {}
        }
    }
    judged.wrong.extend(ran.cut_short.clone());
    let by_limit = ended.is_some_and(|ended| ended >= LEASH_MS * 1_000_000);
    if ended.is_some() && !by_limit && !judged.ends.contains_key(POWER_OFF) {
        judged.wrong.push("the system ended, and neither Linux nor the limit was the reason".into());
    }
    match (started, ended) {
        (Some(started), Some(ended)) => judged.judge_watched(scenario, ended.saturating_sub(started)),
        _ if ran.cut_short.is_some() => {}
        (_, None) => {
            judged.wrong.push(format!("the machine stopped or was reset; the last line is {:?}", last_line(&ran.log)))
        }
        (None, _) => judged.wrong.push("the guest was not started".into()),
    }
    judged
}

impl Judged {
    fn judge_watched(&mut self, scenario: &Scenario, ns: u64) {
        let Some(task) = &self.watched else {
            self.wrong.push("the watched task reported nothing".into());
            return;
        };
        let bound = scenario.bound_ns();
        if task.overruns > 0 || task.max_ns > bound {
            let (longest, overruns) = (task.max_ns, task.overruns);
            self.wrong
                .push(format!("the watched task: {longest} ns at most, {overruns} overruns; {bound} ns are allowed"));
        }
        let Some(periods) = ns.checked_div(task.period_ns) else {
            self.wrong.push("the watched task reports a period of 0".into());
            return;
        };
        let expected = periods.saturating_sub(SLACK_PERIODS);
        if task.samples < expected {
            self.wrong.push(format!("the watched task ran {} times instead of {expected}", task.samples));
        }
    }
}

fn last_line(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    // A hostile task can write lines of the log.

    #[test]
    fn the_largest_numbers_are_added_up() {
        let line = r#"{"pillion":"exits","reasons":{"all":18446744073709551615}}
{"pillion":"task","name":"watched","period_ns":1,"samples":18446744073709551615,"min_ns":1,"avg_ns":2,"p99_ns":3,"p9999_ns":4,"max_ns":5,"overruns":18446744073709551615,"histogram":[]}
"#;
        let ran = Ran { log: line.into(), messages: String::new(), cut_short: None, emulator_died: false };
        let scenario = Scenario::new(1);
        let mut totals = crate::campaign::totals::Totals::default();
        for _ in 0..2 {
            let judged = judge(&scenario, &ran);
            assert_eq!(judged.exits, u64::MAX);
            totals.take(&scenario, &judged);
        }
    }

    #[test]
    fn a_period_of_zero_is_a_finding() {
        let line = r#"{"pillion":"linux","event":"start","t_ns":1}
{"pillion":"task","name":"watched","period_ns":0,"samples":9,"min_ns":1,"avg_ns":2,"p99_ns":3,"p9999_ns":4,"max_ns":5,"overruns":0,"histogram":[[1,8],[4,1]]}
{"pillion":"end","t_ns":1000000000,"status":"ok"}
"#;
        let ran = Ran { log: line.into(), messages: String::new(), cut_short: None, emulator_died: false };
        let judged = judge(&Scenario::new(1), &ran);
        assert!(judged.wrong.iter().any(|wrong| wrong.contains("period")), "{:?}", judged.wrong);
    }
}
