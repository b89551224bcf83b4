//! What a test expects of a run.

use crate::run::log_line::{self, Line, Lost, Skin};
use crate::run::own_process::Streams;
use crate::tally::Tally;
use pillion_measure_data::Processor as Counted;
use serde::Deserialize;
use serde_json::Value;

/// Instructions of a round in which each processor has a turn, where they are as short as can be:
/// docs/decisions/0050.
const ROUND: u64 = 1_000;

/// What is expected.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    status: i32,
    log: Texts,
    console: Texts,
    message: Texts,
    /// How many tests the booted tasks must report at least.
    tests: u64,
    /// How often Linux must have been started; it also requires that every task was in time
    /// throughout.
    boots: Option<u64>,
    /// The longest latency that a task may have, and the least number of samples.
    max_ns: Option<u64>,
    samples: u64,
    /// How many of the screen's pixels must not be black, at least, when Linux's init begins.
    lit: Option<usize>,
    /// Processors that must belong to real-time tasks alone: nothing may have come there but these
    /// tasks' timers, one interrupt for each of their periods.
    alone: Vec<u32>,
    /// What threads that survive Linux must have done.
    survivor: Option<Survivor>,
}

/// A thread of dual mode, from Linux's death until its memory is used again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Survivor {
    name: String,
    /// How often it must have waited, at least.
    waits: u64,
    /// The longest latency that it may have had, before the death, too.
    max_ns: u64,
}

/// How many of the lines with a text that must not occur are shown.
const SHOWN: usize = 3;

/// Texts that must, and texts that must not, occur within a line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Texts {
    must: Vec<String>,
    must_not: Vec<String>,
}

impl Expect {
    /// The deviations from what is expected.
    pub fn check(&self, streams: &Streams) -> Vec<String> {
        let mut wrong = Vec::new();
        if streams.status != Some(self.status) {
            let found = streams.status.map_or("a signal".into(), |status| status.to_string());
            wrong.push(format!("exit status {found} instead of {}", self.status));
        }
        self.log.check("the log", &streams.log, &mut wrong);
        self.console.check("the console", &streams.console, &mut wrong);
        self.message.check("the message", &streams.message, &mut wrong);
        let reported = streams.reported("").passed;
        if reported < self.tests {
            wrong.push(format!("{reported} tests reported, at least {} expected", self.tests));
        }
        if let Some(least) = self.lit.filter(|least| streams.lit < *least) {
            wrong.push(format!("{} pixels of the screen are lit, at least {least} expected", streams.lit));
        }
        if let Some(survivor) = &self.survivor {
            survivor.check(streams, &mut wrong);
        }
        self.check_result(streams.result.as_ref().unwrap_or(&Value::Null), &mut wrong);
        wrong
    }

    /// Whether a picture of the screen is needed.
    pub fn looks_at_the_screen(&self) -> bool {
        self.lit.is_some()
    }

    /// Allows latencies in which this many processors take turns: virtual time passes for all of
    /// them while one executes. Each gets the same share of a round, so a latency is as many times
    /// as long; and the others' turns of two more rounds come between: the turn of its own
    /// processor may have been over just before it began, and a deadline may have cut one short.
    pub fn allow_turns(&mut self, processors: u64) {
        let others = ROUND - ROUND / processors;
        self.max_ns = self.max_ns.map(|max| max * processors + 2 * others);
    }

    fn check_result(&self, result: &Value, wrong: &mut Vec<String>) {
        if let Some(boots) = self.boots {
            let found = &result["linux"]["boots"];
            if *found != boots {
                wrong.push(format!("Linux was started {found} times instead of {boots}"));
            }
        }
        self.check_alone(result, wrong);
        if let Some(max) = self.max_ns {
            self.check_tasks(max, result["tasks"].as_array().map_or(&[], Vec::as_slice), wrong);
        }
    }

    fn check_alone(&self, result: &Value, wrong: &mut Vec<String>) {
        let all = |key: &str| result[key].as_array().map_or(&[][..], Vec::as_slice);
        for number in &self.alone {
            let Some(one) = all("processors").iter().find(|one| one["cpu"] == *number) else {
                wrong.push(format!("processor {number} has no figures"));
                continue;
            };
            if one["has"] != Counted::ALONE {
                wrong.push(format!("processor {number} has {}", one["has"]));
            }
            for kind in ["messages", "calls", "signals", "flushes", "devices", "linux"] {
                if one[kind] != 0 {
                    wrong.push(format!("processor {number} counted {kind}: {}", one[kind]));
                }
            }
            let is_own = |task: &&Value| one["tasks"].as_array().is_some_and(|own| own.contains(&task["name"]));
            let periods: u64 = all("tasks").iter().filter(is_own).filter_map(|task| task["samples"].as_u64()).sum();
            let timers = one["timers"].as_u64().unwrap_or(u64::MAX);
            // The wait for the next period may have ended, and its figure not be there yet.
            if timers > periods + 1 || periods == 0 {
                wrong.push(format!("processor {number} counted {timers} timer interrupts in {periods} periods"));
            }
        }
    }

    fn check_tasks(&self, max: u64, tasks: &[Value], wrong: &mut Vec<String>) {
        if tasks.is_empty() {
            wrong.push("no task reported what it measured".into());
        }
        for task in tasks {
            let number = |key: &str| task[key].as_u64().unwrap_or(u64::MAX);
            let (name, longest, overruns) = (&task["name"], number("max_ns"), number("overruns"));
            if longest > max || overruns > 0 {
                wrong.push(format!("task {name}: {longest} ns at most, {overruns} overruns; {max} ns are allowed"));
            }
            let samples = task["samples"].as_u64().unwrap_or(0);
            if samples < self.samples {
                wrong.push(format!("task {name}: {samples} samples, at least {} expected", self.samples));
            }
        }
    }
}

impl Survivor {
    fn check(&self, streams: &Streams, wrong: &mut Vec<String>) {
        let Some(lost) = streams.lost().find(|lost| lost.name == self.name) else {
            wrong.push(format!("no thread {} was in primary mode when Linux died", self.name));
            return;
        };
        if lost.waits_dead < self.waits {
            wrong.push(format!("{} waited {} times after Linux died, not {}", self.name, lost.waits_dead, self.waits));
        }
        // A time that has passed is no latency.
        if lost.overruns > 0 {
            wrong.push(format!("{} had {} overruns", self.name, lost.overruns));
        }
        if lost.latency_max_ns > self.max_ns {
            let (found, most) = (lost.latency_max_ns, self.max_ns);
            wrong.push(format!("{} had a latency of {found} ns; {most} ns are allowed", self.name));
        }
    }
}

impl Texts {
    fn check(&self, place: &str, text: &str, wrong: &mut Vec<String>) {
        let has = |wanted: &String| text.lines().any(|line| line.contains(wanted.as_str()));
        wrong.extend(self.must.iter().filter(|wanted| !has(wanted)).map(|wanted| format!("{place} lacks {wanted:?}")));
        for unwanted in &self.must_not {
            let lines = text.lines().filter(|line| line.contains(unwanted.as_str())).take(SHOWN);
            wrong.extend(lines.map(|line| format!("{place} has {unwanted:?}: {}", line.trim())));
        }
    }
}

impl Streams {
    /// The longest latency of each task, for people.
    pub fn figures(&self) -> String {
        let tasks = self.result.as_ref().and_then(|result| result["tasks"].as_array()).map_or(&[][..], Vec::as_slice);
        let figure =
            |task: &Value| format!(" ({}: {} ns at most)", task["name"].as_str().unwrap_or("?"), task["max_ns"]);
        tasks.iter().map(figure).collect()
    }

    /// The tests that the booted tasks report: `test NAME ok` or `test NAME FAILED why`.
    pub fn reported(&self, case: &str) -> Tally {
        let mut tally = Tally::default();
        for line in self.log.lines().filter_map(|line| line.trim().strip_prefix("test ")) {
            match line.split_once(' ') {
                Some((_, "ok")) => tally.passed += 1,
                Some((_, rest)) if rest.starts_with("FAILED") => tally.failed.push(format!("{case}: {line}")),
                _ => {}
            }
        }
        tally.failed.extend(self.closed_badly().map(|line| format!("{case}: {line}")));
        tally
    }

    /// The tasks that faulted.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.lines().filter_map(|line| if let Line::Fault(fault) = line { Some(fault.name) } else { None })
    }

    /// What was reported about RTLinux programs.
    pub fn skins(&self) -> impl Iterator<Item = Skin> {
        self.lines().filter_map(|line| if let Line::Skin(skin) = line { Some(skin) } else { None })
    }

    fn lost(&self) -> impl Iterator<Item = Lost> {
        self.lines().filter_map(|line| if let Line::Dual(lost) = line { Some(lost) } else { None })
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        self.log.lines().filter_map(log_line::parse)
    }

    /// The error if tests were reported and the closing line `tests N passed M failed` is missing.
    fn closed_badly(&self) -> Option<String> {
        let started = self.log.lines().any(|line| line.trim().starts_with("test "));
        let closed = self.log.lines().any(|line| line.trim().starts_with("tests "));
        (started && !closed).then(|| "the tests did not reach their end".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(log: &str) -> Streams {
        Streams { status: Some(0), log: log.into(), ..Streams::default() }
    }

    #[test]
    fn a_survivor_waits_often_and_is_in_time() {
        let line = |waits: u64, overruns: u64, latency: u64| {
            streams(&format!(
                r#"{{"pillion":"dual","event":"lost","thread":1,"process":1,"name":"a","why":"stopped","call":-1,"waits":9,"waits_dead":{waits},"overruns":{overruns},"latency_max_ns":{latency}}}"#
            ))
        };
        let wrong = |streams: Streams| {
            let mut wrong = Vec::new();
            Survivor { name: "a".into(), waits: 5, max_ns: 100 }.check(&streams, &mut wrong);
            wrong.len()
        };
        assert_eq!(wrong(line(5, 0, 100)), 0);
        assert_eq!(wrong(line(4, 0, 100)), 1);
        assert_eq!(wrong(line(5, 1, 100)), 1);
        assert_eq!(wrong(line(5, 0, 101)), 1);
        assert_eq!(wrong(streams("")), 1);
    }

    #[test]
    fn counts_the_tests_of_tasks() {
        let tally = streams("x\ntest a ok\r\ntest b FAILED because\ntests 1 passed 1 failed\n").reported("c");
        assert_eq!((tally.passed, tally.failed), (1, vec!["c: b FAILED because".to_owned()]));
        assert_eq!(streams("test a ok\n").reported("c").failed.len(), 1);
    }

    #[test]
    fn judges_figures() {
        let expect: Expect = toml::from_str("boots = 2\nmax_ns = 1500\nsamples = 100").unwrap();
        let result = |boots: u64, max_ns: u64, samples: u64, overruns: u64| {
            let task = serde_json::json!({ "name": "t", "max_ns": max_ns, "samples": samples, "overruns": overruns });
            Some(serde_json::json!({ "linux": { "boots": boots }, "tasks": [task] }))
        };
        let wrong = |result| expect.check(&Streams { result, ..streams("") }).len();
        assert_eq!(wrong(result(2, 1500, 100, 0)), 0);
        assert_eq!(wrong(result(1, 1501, 99, 0)), 3);
        assert_eq!(wrong(result(2, 900, 100, 1)), 1);
        assert_eq!(wrong(None), 2);
    }

    #[test]
    fn a_processor_that_is_alone_has_its_timer_only() {
        let expect: Expect = toml::from_str("alone = [1]").unwrap();
        let wrong = |change: &dyn Fn(&mut Value)| {
            let mut one = serde_json::json!({ "cpu": 1, "has": "real time", "tasks": ["t"], "timers": 10, "messages": 0,
                "calls": 0, "signals": 0, "flushes": 0, "devices": 0, "linux": 0 });
            change(&mut one);
            let tasks =
                [serde_json::json!({ "name": "t", "samples": 9 }), serde_json::json!({ "name": "u", "samples": 9 })];
            let result = Some(serde_json::json!({ "tasks": tasks, "processors": [one] }));
            expect.check(&Streams { result, ..streams("") })
        };
        assert_eq!(wrong(&|_| ()), Vec::<String>::new());
        assert_eq!(wrong(&|one| one["timers"] = 11.into()), ["processor 1 counted 11 timer interrupts in 9 periods"]);
        for kind in ["messages", "calls", "signals", "flushes", "devices", "linux"] {
            assert_eq!(wrong(&|one| one[kind] = 1.into()), [format!("processor 1 counted {kind}: 1")]);
        }
        assert_eq!(wrong(&|one| one["has"] = "both".into()).len(), 1);
        assert_eq!(wrong(&|one| one["cpu"] = 2.into()), ["processor 1 has no figures"]);
        assert_eq!(wrong(&|one| one["tasks"] = Value::Array(Vec::new())).len(), 1, "no period");
    }

    #[test]
    fn tells_all_that_is_wrong() {
        let text = "status = 2\ntests = 1\nlit = 1\n[log]\nmust = [\"x\"]\nmust_not = [\"y\"]";
        let expect: Expect = toml::from_str(text).unwrap();
        assert_eq!(expect.check(&streams("y\n")).len(), 5);
        let good = Streams { status: Some(2), lit: 1, ..streams("x\ntest a ok\ntests 1 passed 0 failed\n") };
        assert_eq!(expect.check(&good), Vec::<String>::new());
    }

    #[test]
    fn shows_the_lines_that_must_not_be_there() {
        let expect: Expect = toml::from_str("[console]\nmust_not = [\"FAIL\"]").unwrap();
        let console = "ok a\nFAIL b: 3 of 4\r\nFAIL c\nFAIL d\nFAIL e\n".into();
        let wrong = expect.check(&Streams { console, ..streams("") });
        assert_eq!(wrong.len(), SHOWN);
        assert_eq!(wrong[0], "the console has \"FAIL\": FAIL b: 3 of 4");
    }
}
