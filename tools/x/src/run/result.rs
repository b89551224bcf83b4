//! The machine-readable result of a run, and whether it is good.

use super::observed::Observed;
use crate::build::passenger::Passenger;
use crate::cli::{Clock, RunArguments};
use serde_json::{Value, json};

/// Everything that decides whether a run is good.
pub struct RunResult<'a> {
    /// What was asked for.
    pub run: &'a RunArguments,
    /// What happened in it.
    pub observed: &'a Observed,
    /// The Linux that rode.
    pub passenger: Option<&'a Passenger>,
    /// Version of the emulator.
    pub version: &'a str,
}

impl RunResult<'_> {
    /// The result as a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "machine": self.machine(),
            "processors": Vec::from_iter(self.observed.counted.values()),
            "tasks": self.observed.tasks,
            "faults": self.observed.faults,
            "linux": self.linux(),
            "ok": self.failures().is_empty(),
            "failures": self.failures(),
            "notes": self.observed.notes,
        })
    }

    fn machine(&self) -> Value {
        json!({
            "emulator": "QEMU",
            "version": self.version,
            "time": if self.run.clock() == Clock::Wall { "wall-clock" } else { "counted" },
            "repeatable": self.run.counted,
            "accelerator": "tcg",
            "cpu": self.run.cpu,
            "memory_mib": self.run.memory,
            "processors": self.observed.processors,
            "direct": self.run.direct,
            "patch": self.run.build.patch,
        })
    }

    fn linux(&self) -> Value {
        let Some(passenger) = self.passenger else { return Value::Null };
        let observed = self.observed;
        json!({
            "release": passenger.release,
            "vmlinuz_sha256": passenger.vmlinuz_sha256,
            "boot_ns": self.boot_ns(),
            "boots": observed.boots.max(observed.inits),
            "exits_by_reason": observed.exits,
            "loads": observed.loads,
            "ticks": observed.ticks,
        })
    }

    /// Time from Linux's start to its init. Without Pillion and counted, Linux reports the
    /// time-stamp counter, which starts with the machine; 1 tick is 1 ns.
    fn boot_ns(&self) -> Option<u64> {
        let observed = self.observed;
        if self.run.direct && self.run.counted {
            return observed.ticks.get("init").copied();
        }
        observed.init_ns.map(|init| init.saturating_sub(observed.start_ns.unwrap_or(0)))
    }

    /// Why the run is not good; empty when it is.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = self.observed.complaints.clone();
        failures.extend(self.observed.faults.iter().map(|fault| format!("task {}: it faulted", fault.name)));
        failures.extend(self.observed.cut_short.clone());
        if self.passenger.is_some() {
            failures.extend(self.linux_failures());
        }
        if !self.run.direct {
            failures.extend(self.pillion_failures());
        }
        failures
    }

    fn linux_failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        if self.observed.init_ns.is_none() {
            return vec!["Linux did not reach its init".to_owned()];
        }
        if self.run.headless && self.run.disk.is_none() && !self.observed.done {
            failures.push("Linux did not reach the end of its script".to_owned());
        }
        if self.run.headless && self.run.disk.is_some() && !self.observed.login {
            failures.push("Linux did not ask for a login".to_owned());
        }
        for name in self.run.load.iter().filter(|_| self.run.headless && self.run.disk.is_none()) {
            match self.observed.loads.iter().find(|load| load.name == *name) {
                Some(load) if load.ok => {}
                Some(load) => failures.push(format!("load {name}: {}", load.reason.as_deref().unwrap_or("failed"))),
                None => failures.push(format!("load {name}: it did not start")),
            }
        }
        failures
    }

    fn pillion_failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for (name, overruns) in self.observed.overruns() {
            if overruns > 0 {
                failures.push(format!("task {name}: {overruns} overruns"));
            }
        }
        match self.observed.end.as_deref() {
            Some("ok") => {}
            Some(status) => failures.push(format!("Pillion ended with status {status}")),
            None if self.run.headless && self.run.disk.is_none() => {
                failures.push("Pillion did not come to its end".to_owned())
            }
            None => {}
        }
        failures
    }
}
