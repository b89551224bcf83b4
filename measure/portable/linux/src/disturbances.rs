//! Watches for disturbances of any experiment: time stolen by a hypervisor, a change of the clock
//! source, throttling.

use crate::this_machine::clock_source;
use pillion_measure_data::Instrument;
use std::fs::read_to_string;

/// The state at the start.
pub struct Watch {
    cpu: usize,
    instrument: Instrument,
    before: State,
}

/// The state that must not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Ticks of 10 ms that a hypervisor stole from the processor. An emulator that counts
    /// instructions steals none: there, they are what a real-time task beside Linux took, whose
    /// effect is measured.
    steal: Option<u64>,
    clock_source: String,
    /// How often heat slowed the processor down.
    throttled: Option<u64>,
    /// Processors that are online.
    online: String,
}

impl Watch {
    pub fn begin(cpu: usize, instrument: Instrument) -> Watch {
        Watch { cpu, instrument, before: State::now(cpu, instrument) }
    }

    /// The disturbances since then.
    pub fn end(self) -> Vec<String> {
        differences(&self.before, &State::now(self.cpu, self.instrument))
    }
}

impl State {
    fn now(cpu: usize, instrument: Instrument) -> State {
        let throttle = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count");
        let stat = (instrument == Instrument::Measured).then(|| read_to_string("/proc/stat").ok()).flatten();
        State {
            steal: stat.and_then(|text| steal(&text, cpu)),
            clock_source: clock_source(),
            throttled: read_to_string(throttle).ok().and_then(|text| text.trim().parse().ok()),
            online: read_to_string("/sys/devices/system/cpu/online").unwrap_or_default().trim().into(),
        }
    }
}

/// The steal time of a processor: the eighth number of its line in /proc/stat.
fn steal(stat: &str, cpu: usize) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let line = stat.lines().find(|line| line.split(' ').next() == Some(&name))?;
    line.split_whitespace().nth(8)?.parse().ok()
}

fn differences(before: &State, after: &State) -> Vec<String> {
    let grew = |before: Option<u64>, after: Option<u64>| after.unwrap_or(0).saturating_sub(before.unwrap_or(0));
    let mut found = Vec::new();
    let stolen = grew(before.steal, after.steal);
    if stolen > 0 {
        found.push(format!("a hypervisor took the processor away for {} ms (steal time)", stolen * 10));
    }
    if before.clock_source != after.clock_source {
        found.push(format!("the clock source changed from {} to {}", before.clock_source, after.clock_source));
    }
    let throttled = grew(before.throttled, after.throttled);
    if throttled > 0 {
        found.push(format!("heat slowed the processor down {throttled} times"));
    }
    if before.online != after.online {
        found.push(format!("the processors online changed from {} to {}", before.online, after.online));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_time_is_the_processors_own() {
        let stat = "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu10 1 2 3 4 5 6 7 88 9 10\n";
        assert_eq!((steal(stat, 0), steal(stat, 10), steal(stat, 1)), (Some(8), Some(88), None));
    }

    #[test]
    fn each_change_is_told() {
        let before = State { steal: Some(3), clock_source: "tsc".into(), throttled: None, online: "0-1".into() };
        assert_eq!(differences(&before, &before.clone()), Vec::<String>::new());
        let after = State { steal: Some(5), clock_source: "hpet".into(), throttled: Some(1), online: "0".into() };
        let told = differences(&before, &after);
        assert_eq!(told.len(), 4);
        assert!(told[0].contains("20 ms"), "{told:?}");
    }
}
