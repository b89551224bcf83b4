//! What a processor told, where several ran.

use serde::{Deserialize, Serialize};

/// A processor's figures, and what it has counted from when its tasks had been started: a line of
/// the log, and of the result of `x run`; or those of all runs of a system.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Processor {
    /// Name of the [`System`](crate::System) in an experiment, else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// Its number.
    pub cpu: u32,
    /// Who has it: `real time`, `linux`, `both` or `nobody`.
    pub has: String,
    /// Its tasks.
    pub tasks: Vec<String>,
    /// Longest latency of those that are there alone, if any of them has measured one.
    pub max_ns: Option<u64>,
    /// Periods that they missed.
    pub overruns: Option<u64>,
    /// Interrupts of its timer.
    pub timers: u64,
    /// Interrupts by other processors.
    pub messages: u64,
    /// Letters about calls of or to other processors.
    pub calls: u64,
    /// Letters with signals.
    pub signals: u64,
    /// Address spaces that it left because memory was unmapped.
    pub flushes: u64,
    /// Interrupts of its tasks' devices.
    pub devices: u64,
    /// Interrupts of Linux's devices that came while Linux did not run.
    pub linux: u64,
}

impl Processor {
    /// Who has a processor that belongs to real-time tasks alone.
    pub const ALONE: &str = "real time";

    /// What disturbed it, if it did: everything but its timer and the devices of its tasks.
    #[must_use]
    pub fn disturbances(&self) -> u64 {
        // Each letter and each translation that was dropped came with a message.
        self.messages.max(self.calls + self.signals + self.flushes) + self.linux
    }

    /// Adds another run of the same system: the longest latency of both, and the sums of all
    /// else.
    pub fn add(&mut self, other: &Processor) {
        self.max_ns = self.max_ns.max(other.max_ns);
        self.overruns = [self.overruns, other.overruns].into_iter().flatten().reduce(|mine, more| mine + more);
        let mine = [&mut self.timers, &mut self.messages, &mut self.calls, &mut self.signals];
        let further = [&mut self.flushes, &mut self.devices, &mut self.linux];
        let theirs = [other.timers, other.messages, other.calls, other.signals];
        let others = [other.flushes, other.devices, other.linux];
        let (mine, theirs) = (mine.into_iter().chain(further), theirs.into_iter().chain(others));
        mine.zip(theirs).for_each(|(mine, more)| *mine += more);
        let new = other.tasks.iter().filter(|task| !self.tasks.contains(task));
        self.tasks = self.tasks.iter().chain(new).cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_system_add_up() {
        let line = r#"{"cpu":1,"has":"both","tasks":["a"],"max_ns":500,"overruns":1,"timers":2,"messages":3,"calls":4,"signals":5,"flushes":6,"devices":7,"linux":8}"#;
        let one: Processor = serde_json::from_str(line).unwrap();
        let mut both = one.clone();
        both.add(&Processor { max_ns: Some(400), tasks: vec!["a".into(), "b".into()], ..one });
        let counts = [
            both.overruns.unwrap(),
            both.timers,
            both.messages,
            both.calls,
            both.signals,
            both.flushes,
            both.devices,
            both.linux,
        ];
        assert_eq!(
            (both.max_ns, counts, both.tasks.join(" ")),
            (Some(500), [2, 4, 6, 8, 10, 12, 14, 16], "a b".into())
        );
    }
}
