//! What is known of a run, collected from its lines.

use super::log_line::{Fault, Line, Linux, Processor, Skin, Status, Task};
use super::printed::Printed;
use pillion_measure_data::Processor as Counted;
use serde::Serialize;
use std::collections::BTreeMap;

/// Reason given for a load that has not ended (yet).
pub const RUNNING: &str = "it did not end";

/// The task that looks after Linux.
const MONITOR: &str = "vmm";

/// What is known of a run.
#[derive(Default)]
pub struct Observed {
    /// The machine's processors, if it has several.
    pub processors: Vec<Processor>,
    /// What each of those that run has counted, by number.
    pub counted: BTreeMap<u32, Counted>,
    /// Final figures.
    pub tasks: Vec<Task>,
    /// Latest figures.
    pub statuses: BTreeMap<String, Status>,
    /// There is no Linux.
    pub without_linux: bool,
    /// Faults of tasks.
    pub faults: Vec<Fault>,
    /// What became of the RTLinux programs: started, ended.
    pub skins: BTreeMap<String, String>,
    /// Loads that Linux ran, in the order of their starts.
    pub loads: Vec<Load>,
    /// Exits of the guest by reason.
    pub exits: BTreeMap<String, u64>,
    /// The status of the last line.
    pub end: Option<String>,
    /// When Linux was started for the first time.
    pub start_ns: Option<u64>,
    /// When it reached its init for the first time.
    pub init_ns: Option<u64>,
    /// How often it reached its init.
    pub inits: u64,
    /// How often it was started.
    pub boots: u64,
    /// Linux reported that it is done.
    pub done: bool,
    /// A full system asked for a login.
    pub login: bool,
    /// What Linux is doing.
    pub state: String,
    /// Linux was given up.
    pub gave_up: bool,
    /// Time-stamp counter values that Linux notes when it runs without Pillion.
    pub ticks: BTreeMap<String, u64>,
    /// What tasks printed.
    pub printed: Printed,
    /// Lines of the kernel's trace.
    pub trace: String,
    /// Events that nobody asked for.
    pub complaints: Vec<String>,
    /// Events that may be intended.
    pub notes: Vec<String>,
    /// Why the run was ended early, if it was.
    pub cut_short: Option<String>,
}

/// A load inside Linux.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Load {
    /// Name.
    pub name: String,
    /// It ended well.
    pub ok: bool,
    /// Work done.
    pub units: u64,
    /// What is counted.
    pub unit: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Observed {
    /// Takes a line that is not for this tool: of the trace, or of a task.
    pub fn take_text(&mut self, line: &str) {
        self.printed.take(line);
        if line.starts_with("trace ") {
            self.trace.push_str(line);
            self.trace.push('\n');
        }
    }

    /// Takes a line of the log.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Boot { .. } => self.state = "booting".into(),
            Line::Processors { all } => self.processors = all,
            Line::Processor(counted) => self.take_counted(counted),
            Line::Status(status) => drop(self.statuses.insert(status.name.clone(), status)),
            Line::Task(task) => self.tasks.push(task),
            Line::Fault(fault) => self.faults.push(fault),
            Line::Skin(skin) => self.take_skin(&skin),
            Line::Linux(linux) => self.take_linux(linux),
            // For tests; people read it in the log.
            Line::Dual(_) => {}
            Line::Exits { reasons } => self.exits = reasons,
            Line::End { status, .. } => self.end = Some(status),
        }
    }

    /// The processors that do not run, by the numbers of their local APICs, each with the reason.
    pub fn off(&self) -> impl Iterator<Item = (u32, &str)> {
        self.processors.iter().filter_map(|one| Some((one.apic, one.why.as_deref()?)))
    }

    /// Takes what a processor has counted. A task that has ended is not in its figures any more.
    fn take_counted(&mut self, mut counted: Counted) {
        if let Some(before) = self.counted.get(&counted.cpu) {
            counted.max_ns = counted.max_ns.max(before.max_ns);
            counted.overruns = counted.overruns.max(before.overruns);
        }
        self.counted.insert(counted.cpu, counted);
    }

    fn take_skin(&mut self, skin: &Skin) {
        let name = &skin.name;
        let event = match (skin.event.as_str(), skin.thread) {
            ("busy", Some(thread)) => format!("thread {thread} uses all its time"),
            (event, _) => event.to_owned(),
        };
        let before = self.skins.insert(name.clone(), event);
        match (skin.event.as_str(), &skin.why, skin.result) {
            ("forced", Some(why), _) => self.complaints.push(format!("task {name} was ended by force: {why}")),
            // It may be intended.
            ("busy", Some(why), _) => self.notes.push(format!("task {name}: {why}")),
            (_, Some(why), _) => self.complaints.push(format!("task {name}: {why}")),
            // The report of its end by force explains more.
            (_, None, Some(result)) if result != 0 && before.as_deref() != Some("forced") => {
                // What it printed last explains more, if it printed anything: above all a refused
                // parameter.
                self.complaints.push(match self.printed.last(name) {
                    Some(line) => format!("task {name} did not start ({result}): {line}"),
                    None => format!("task {name}: its init_module returned {result}"),
                });
            }
            _ => {}
        }
    }

    fn take_linux(&mut self, linux: Linux) {
        match linux.event.as_str() {
            "note" => return self.take_note(linux.text.as_deref().unwrap_or_default(), linux.t_ns),
            "init" => return self.reached_init(linux.t_ns),
            "start" => {
                self.start_ns.get_or_insert(linux.t_ns);
                self.boots += 1;
            }
            "invalid" => self.complaints.push("Linux: invalid".into()),
            "gave-up" => {
                self.gave_up = true;
                self.complaints.push("Linux: gave-up".into());
            }
            _ => {}
        }
        self.boots = self.boots.max(linux.boot.unwrap_or(0));
        self.state.clone_from(&linux.event);
    }

    fn reached_init(&mut self, t_ns: u64) {
        if self.init_ns.is_none() {
            self.init_ns = Some(t_ns);
        }
        self.inits = self.boots.max(1);
        self.state = "up".into();
    }

    /// Takes a line that Linux's init wrote.
    pub fn take_note(&mut self, text: &str, t_ns: u64) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["init"] => self.reached_init(t_ns),
            ["done"] => self.done = true,
            ["tsc", name, ticks] => drop(self.ticks.insert((*name).into(), ticks.parse().unwrap_or(0))),
            ["load", name, "start"] => self.load(name, |load| load.reason = Some(RUNNING.into())),
            ["load", name, "ok", units, unit @ ..] => self.load(name, |load| {
                load.units = units.parse().unwrap_or(0);
                load.unit = unit.join(" ");
                load.ok = load.units > 0;
                load.reason = (!load.ok).then(|| "it did nothing".into());
            }),
            ["load", name, "failed", reason @ ..] => self.load(name, |load| {
                load.ok = false;
                load.reason = Some(reason.join(" "));
            }),
            ["root", "failed", reason @ ..] => self.complaints.push(format!("the disk: {}", reason.join(" "))),
            _ => {}
        }
    }

    fn load(&mut self, name: &str, change: impl FnOnce(&mut Load)) {
        let at = self.loads.iter().position(|load| load.name == name).unwrap_or_else(|| {
            let load = Load { name: name.into(), ok: false, units: 0, unit: String::new(), reason: None };
            self.loads.push(load);
            self.loads.len() - 1
        });
        change(&mut self.loads[at]);
    }

    /// Why Linux can no longer end the run, and what to do about it. It does not consider tasks
    /// that could start Linux again.
    pub fn off_for_good(&self) -> Option<&'static str> {
        let lost = self.state == "gave-up" && self.faults.iter().any(|fault| fault.name == MONITOR);
        match (self.state.as_str(), self.gave_up) {
            _ if lost => Some(
                "Linux's monitor faulted, so that Linux stays off, and nothing else ends this run: add --kernel-append seconds=N",
            ),
            ("off", false) => Some(
                "Linux has switched itself off and stays off, as the system file says, and nothing else ends this run: write \
                 after_poweroff = \"end\" into [linux], or add --kernel-append seconds=N",
            ),
            ("off", true) => Some(
                "Linux was given up and stays off, as the system file says, and nothing else ends this run: write \
                 after_limit = \"end\" (where the file has after_crash = \"off\", that one) into [linux], or add --kernel-append seconds=N",
            ),
            _ => None,
        }
    }

    /// Missed periods of all tasks.
    pub fn overruns(&self) -> BTreeMap<String, u64> {
        let mut all: BTreeMap<String, u64> =
            self.statuses.values().map(|status| (status.name.clone(), status.overruns)).collect();
        all.extend(self.tasks.iter().map(|task| (task.name.clone(), task.overruns)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::log_line::parse;

    fn observed(lines: &[&str]) -> Observed {
        let mut observed = Observed::default();
        lines.iter().filter_map(|line| parse(line)).for_each(|line| observed.take(line));
        observed
    }

    #[test]
    fn follows_linux_through_a_restart() {
        let observed = observed(&[
            r#"{"pillion":"linux","event":"start","t_ns":10,"boot":1}"#,
            r#"{"pillion":"linux","event":"note","t_ns":30,"text":"init"}"#,
            r#"{"pillion":"linux","event":"init","t_ns":31,"boot":1}"#,
            r#"{"pillion":"linux","event":"panic","t_ns":40,"boot":1}"#,
            r#"{"pillion":"linux","event":"restart","t_ns":50,"boot":2}"#,
            r#"{"pillion":"linux","event":"note","t_ns":70,"text":"init"}"#,
            r#"{"pillion":"end","t_ns":90,"status":"ok"}"#,
        ]);
        assert_eq!((observed.start_ns, observed.init_ns), (Some(10), Some(30)));
        assert_eq!((observed.boots, observed.inits), (2, 2));
        assert_eq!(observed.end.as_deref(), Some("ok"));
    }

    #[test]
    fn a_processor_keeps_the_worst_of_tasks_that_have_ended() {
        let line = |max_ns: u64, messages: u64| {
            format!(
                r#"{{"pillion":"processor","cpu":2,"has":"both","tasks":[],"max_ns":{max_ns},"overruns":0,"timers":0,"messages":{messages},"calls":0,"signals":0,"flushes":0,"devices":0,"linux":0}}"#
            )
        };
        let observed = observed(&[&line(700, 1), &line(0, 3)]);
        assert_eq!((observed.counted[&2].max_ns, observed.counted[&2].messages), (Some(700), 3));
    }

    #[test]
    fn a_program_that_does_not_start_is_a_complaint() {
        let start = |result| format!(r#"{{"pillion":"skin","name":"t","event":"started","result":{result}}}"#);
        assert!(observed(&[&start(0), r#"{"pillion":"skin","name":"t","event":"ended"}"#]).complaints.is_empty());
        assert_eq!(observed(&[&start(-16)]).complaints, ["task t: its init_module returned -16"]);
        let mut refused = Observed::default();
        refused.take_text("[t] unknown parameter perod");
        refused.take(super::super::log_line::parse(&start(-22)).unwrap());
        assert_eq!(refused.complaints, ["task t did not start (-22): unknown parameter perod"]);
        let said = |event: &str| format!(r#"{{"pillion":"skin","name":"t","event":"{event}","why":"it hangs"}}"#);
        assert_eq!(observed(&[&said("forced"), &start(-110)]).complaints, ["task t was ended by force: it hangs"]);
        assert_eq!(observed(&[&said("unfinished")]).complaints, ["task t: it hangs"]);
    }

    #[test]
    fn a_thread_that_uses_all_its_time_is_shown_and_no_complaint() {
        let busy = r#"{"pillion":"skin","name":"t","event":"busy","thread":2,"why":"it loops"}"#;
        let observed = observed(&[r#"{"pillion":"skin","name":"t","event":"started","result":0}"#, busy]);
        assert_eq!((observed.skins["t"].as_str(), observed.complaints.len()), ("thread 2 uses all its time", 0));
        assert_eq!(observed.notes, ["task t: it loops"]);
    }

    #[test]
    fn knows_which_loads_ran() {
        let mut observed = Observed::default();
        for note in ["load a start", "load b start", "load c start", "load a ok 12 MiB", "load b failed no disk"] {
            observed.take_note(note, 0);
        }
        let ok: Vec<bool> = observed.loads.iter().map(|load| load.ok).collect();
        assert_eq!(ok, [true, false, false]);
        assert_eq!((observed.loads[0].units, observed.loads[0].unit.as_str()), (12, "MiB"));
        assert_eq!(observed.loads[1].reason.as_deref(), Some("no disk"));
        assert_eq!(observed.loads[2].reason.as_deref(), Some("it did not end"));
    }
}
