//! The log on the second serial port: lines that are a JSON object are for this tool, all others
//! for people.

use pillion_measure_data::Processor as Counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line for this tool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "pillion", rename_all = "lowercase")]
pub enum Line {
    /// The microhypervisor is running.
    Boot {
        /// Since power-on.
        t_ns: u64,
    },
    /// The machine's processors, if there are several.
    Processors {
        /// All that its firmware names, in that order, the one that boots first.
        all: Vec<Processor>,
    },
    /// What a processor has counted so far, if several run.
    Processor(Counted),
    /// A task's figures so far.
    Status(Status),
    /// A task's figures at the end.
    Task(Task),
    /// A task faulted.
    Fault(Fault),
    /// Something about an RTLinux program.
    Skin(Skin),
    /// A thread of dual mode that Linux's death found in primary mode.
    Dual(Lost),
    /// Something about Linux.
    Linux(Linux),
    /// Why Linux left guest mode, and how often.
    Exits {
        /// Counts by reason.
        reasons: BTreeMap<String, u64>,
    },
    /// The last line.
    End {
        /// Since power-on.
        t_ns: u64,
        /// `ok` or `failed`.
        status: String,
    },
}

/// A processor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Processor {
    /// Number of its local APIC.
    pub apic: u32,
    /// Its number, if it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// Why it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A task's figures so far.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Status {
    /// The task.
    pub name: String,
    /// Periods so far.
    pub samples: u64,
    /// Shortest latency.
    pub min_ns: u64,
    /// Mean latency.
    pub avg_ns: u64,
    /// Longest latency.
    pub max_ns: u64,
    /// Missed periods.
    pub overruns: u64,
}

/// A task's figures at the end.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Task {
    /// The task.
    pub name: String,
    /// Period.
    pub period_ns: u64,
    /// Periods.
    pub samples: u64,
    /// Shortest latency.
    pub min_ns: u64,
    /// Mean latency.
    pub avg_ns: u64,
    /// Latency that one in 100 exceeds.
    pub p99_ns: u64,
    /// Latency that one in 10,000 exceeds.
    pub p9999_ns: u64,
    /// Longest latency.
    pub max_ns: u64,
    /// Missed periods.
    pub overruns: u64,
    /// Lower bounds in ns, and how many samples from there to the next.
    pub histogram: Vec<(u64, u64)>,
}

/// A fault of a task. Addresses are hexadecimal, with `0x`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Fault {
    /// The task.
    pub name: String,
    /// Its thread, if the task can have several.
    pub thread: Option<u64>,
    /// Number of the exception.
    pub vector: u64,
    /// The processor's error code.
    pub error: u64,
    /// Address that was accessed.
    pub address: String,
    /// Instruction.
    pub rip: String,
    /// Stack.
    pub rsp: String,
    /// Return addresses, the innermost first.
    #[serde(default)]
    pub calls: Vec<String>,
}

/// Something about an RTLinux program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Skin {
    /// The task.
    pub name: String,
    /// started, ended, forced, unfinished, busy.
    pub event: String,
    /// The thread that it is about.
    pub thread: Option<u64>,
    /// What `init_module` returned, if it ran.
    pub result: Option<i64>,
    /// What is wrong, for people.
    pub why: Option<String>,
}

/// A thread that was in primary mode when Linux died.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Lost {
    /// Its name in Linux.
    pub name: String,
    /// Waits after the death.
    pub waits_dead: u64,
    /// Points of time that it missed.
    pub overruns: u64,
    /// Its longest latency.
    pub latency_max_ns: u64,
}

/// Something about Linux.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Linux {
    /// start, init, note, restart, ...
    pub event: String,
    /// Since power-on.
    #[serde(default)]
    pub t_ns: u64,
    /// Which boot of Linux, from 1.
    pub boot: Option<u64>,
    /// Text of a note.
    pub text: Option<String>,
}

/// The object in a line, if it is one for this tool: what a task or Linux printed stands behind
/// `[NAME] `, whatever it looks like. Firmware may have left bytes before the first.
pub fn parse(line: &str) -> Option<Line> {
    let start = line.find("{\"pillion\"")?;
    let is_printed = line[..start].contains("] ");
    if is_printed { None } else { serde_json::from_str(line[start..].trim_end()).ok() }
}

/// Assembles lines from the bytes that arrive.
#[derive(Default)]
pub struct Splitter {
    rest: Vec<u8>,
}

impl Splitter {
    /// The lines that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_kind_of_line() {
        let task = r#"{"pillion":"task","name":"demo","period_ns":100000,"samples":9,"min_ns":1,"avg_ns":2,"p99_ns":3,
            "p9999_ns":4,"max_ns":5,"overruns":0,"histogram":[[1,8],[4,1]]}"#
            .replace('\n', "");
        let Some(Line::Task(task)) = parse(&task) else { panic!("{task}") };
        assert_eq!((task.samples, task.histogram), (9, vec![(1, 8), (4, 1)]));
        assert_eq!(parse(r#"{"pillion":"boot","t_ns":7,"emulated":true}"#), Some(Line::Boot { t_ns: 7 }));
        let note = parse(r#"{"pillion":"linux","event":"note","t_ns":1,"text":"load a ok 1"}"#);
        assert!(matches!(note, Some(Line::Linux(Linux { text: Some(text), .. })) if text == "load a ok 1"));
        let exits = parse(r#"{"pillion":"exits","reasons":{"port":3}}"#);
        assert_eq!(exits, Some(Line::Exits { reasons: [("port".to_owned(), 3)].into() }));
        assert!(matches!(parse(r#"{"pillion":"end","t_ns":1,"status":"ok"}"#), Some(Line::End { .. })));
        let fault = r#"{"pillion":"fault","name":"t","vector":14,"error":4,"address":"0x0","rip":"0x400010","rsp":"0x3effe0","thread":1,"calls":["0x400020"]}"#;
        let Some(Line::Fault(fault)) = parse(fault) else { panic!("{fault}") };
        assert_eq!((fault.thread, fault.calls.len()), (Some(1), 1));
        let processors =
            r#"{"pillion":"processors","run":1,"all":[{"apic":4,"cpu":0},{"apic":9,"why":"it does not start"}]}"#;
        let Some(Line::Processors { all }) = parse(processors) else { panic!("{processors}") };
        assert_eq!((all[0].cpu, all[1].cpu, all[1].why.as_deref()), (Some(0), None, Some("it does not start")));
        let counted = r#"{"pillion":"processor","cpu":1,"has":"real time","tasks":["a"],"max_ns":5,"overruns":0,"timers":9,"messages":2,"calls":1,"signals":1,"flushes":1,"devices":7,"linux":4}"#;
        let Some(Line::Processor(counted)) = parse(counted) else { panic!("{counted}") };
        assert_eq!((counted.cpu, counted.timers, counted.disturbances()), (1, 9, 3 + 4));
        let skin = parse(r#"{"pillion":"skin","name":"t","event":"started","result":-12}"#);
        assert!(matches!(skin, Some(Line::Skin(Skin { result: Some(-12), .. }))));
        assert_eq!(parse("kernel: {not ours}"), None);
        assert_eq!(parse(r#"{"pillion":"unknown"}"#), None);
    }

    #[test]
    fn what_a_task_prints_is_no_line_for_this_tool() {
        let end = r#"{"pillion":"end","t_ns":1,"status":"ok"}"#;
        assert_eq!(parse(&format!("[t] {end}")), None);
        assert_eq!(parse(&format!("[t] unknown parameter {end}")), None);
        assert!(parse(&format!("\x1b[2J{end}")).is_some(), "after what the firmware left");
    }

    #[test]
    fn splits_at_line_ends_only() {
        let mut splitter = Splitter::default();
        assert!(splitter.push(b"ab").is_empty());
        assert_eq!(splitter.push(b"c\r\nd\ne"), ["abc", "d"]);
        assert_eq!(splitter.push(b"\n"), ["e"]);
    }
}
