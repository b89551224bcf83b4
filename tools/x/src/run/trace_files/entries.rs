//! The kernel's trace, as the resource manager prints it at the end of a run with `trace=2`:
//!
//! ```text
//! trace ticks TICKS_PER_SECOND
//! trace NUMBER TIME EVENT FIRST SECOND
//! ```

use pillion_abi::call::Call;
use pillion_abi::trace::Event;

/// The kinds of events: the name of each, and the names of its two words.
pub const KINDS: [(Event, &str, [&str; 2]); 8] = [
    (Event::Syscall, "syscall", ["number", "capability"]),
    (Event::Interrupt, "interrupt", ["vector", "reserved"]),
    (Event::Exception, "exception", ["vector", "address"]),
    (Event::Switch, "switch", ["thread", "reserved"]),
    (Event::GuestEntry, "guest_entry", ["guest", "offered"]),
    (Event::GuestExit, "guest_exit", ["guest", "reserved"]),
    (Event::Idle, "idle", ["reserved", "reserved2"]),
    (Event::Window, "preemption_point", ["reserved", "reserved2"]),
];

/// An entry of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Time-stamp counter, in nanoseconds.
    pub time_ns: u64,
    /// What happened.
    pub event: Event,
    /// See [`Event`].
    pub first: u64,
    /// See [`Event`].
    pub second: u64,
}

/// What the processor did for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The track it belongs to.
    pub track: Track,
    /// What it is.
    pub name: String,
    /// Nanoseconds.
    pub from_ns: u64,
    /// Nanoseconds.
    pub to_ns: u64,
}

/// Who occupies the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The kernel, with interrupts off.
    Kernel,
    /// A thread, by its number.
    Thread(u64),
    /// A guest, by its number.
    Guest(u64),
    /// Nobody.
    Idle,
}

impl Track {
    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Track::Kernel => "kernel, interrupts off".into(),
            Track::Thread(number) => format!("thread {number}"),
            Track::Guest(number) => format!("guest {number}"),
            Track::Idle => "idle".into(),
        }
    }
}

/// Reads the entries of a log; skips other lines and malformed entries.
#[must_use]
pub fn read(log: &str) -> Vec<Entry> {
    let mut ticks_per_second = 1_000_000_000;
    let lines = log.lines().filter_map(|line| line.trim().strip_prefix("trace "));
    lines
        .filter_map(|line| match line.strip_prefix("ticks ") {
            Some(ticks) => {
                ticks_per_second = ticks.trim().parse().ok().filter(|&ticks| ticks > 0).unwrap_or(ticks_per_second);
                None
            }
            None => entry(line, ticks_per_second),
        })
        .collect()
}

fn entry(line: &str, ticks_per_second: u64) -> Option<Entry> {
    let words: Vec<u64> = line.split_whitespace().map(number).collect::<Option<_>>()?;
    let [_, time, event, first, second] = words[..] else { return None };
    let time_ns = u128::from(time) * 1_000_000_000 / u128::from(ticks_per_second);
    let event = KINDS.into_iter().map(|(kind, ..)| kind).find(|kind| *kind as u64 == event)?;
    Some(Entry { time_ns: u64::try_from(time_ns).ok()?, event, first, second })
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

impl Entry {
    /// What happened, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match self.event {
            Event::Syscall => {
                Call::from_raw(self.first).map_or(format!("call {}", self.first), |call| call.name().into())
            }
            Event::Interrupt => format!("interrupt {:#x}", self.first),
            Event::Exception => format!("exception {}", self.first),
            Event::Switch => format!("thread {}", self.first),
            Event::GuestEntry => format!("guest {} entered", self.first),
            Event::GuestExit => format!("guest {} left", self.first),
            Event::Idle => "idle".into(),
            Event::Window => "preemption point".into(),
        }
    }

    /// Who occupies the processor from here on.
    fn track(&self) -> Track {
        match self.event {
            Event::Switch => Track::Thread(self.first),
            Event::GuestEntry => Track::Guest(self.first),
            Event::Idle => Track::Idle,
            Event::Syscall | Event::Interrupt | Event::Exception | Event::GuestExit | Event::Window => Track::Kernel,
        }
    }
}

/// Who occupied the processor from each entry to the next.
#[must_use]
pub fn stretches(entries: &[Entry]) -> Vec<Stretch> {
    let pairs = entries.windows(2).map(|pair| (&pair[0], pair[1].time_ns));
    let stretch = |(entry, to_ns): (&Entry, u64)| {
        let track = entry.track();
        let name = if track == Track::Kernel { entry.name() } else { track.name() };
        Stretch { track, name, from_ns: entry.time_ns, to_ns }
    };
    pairs.filter(|(entry, to)| *to >= entry.time_ns).map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_from_a_log() {
        let log = "boot\r\ntrace ticks 2000000000\ntrace 7 4000 2 0xec 0x0\ntrace 8 4600 4 0x3 0x0\r\ntrace 9 x\ntrace 10 1 99 0x0 0x0\n";
        let entries = read(log);
        assert_eq!(entries.len(), 2);
        assert_eq!((entries[0].time_ns, entries[0].event, entries[0].first), (2000, Event::Interrupt, 0xec));
        assert_eq!((entries[1].time_ns, entries[1].name().as_str()), (2300, "thread 3"));
    }

    #[test]
    fn each_event_is_known_by_its_number() {
        for (event, ..) in KINDS {
            let line = format!("trace 0 5 {} 0x1 0x2", event as u64);
            assert_eq!(read(&line), [Entry { time_ns: 5, event, first: 1, second: 2 }]);
        }
    }

    #[test]
    fn stretches_join_without_gaps() {
        let log = "trace 0 100 2 0xec 0x0\ntrace 1 300 4 0x5 0x0\ntrace 2 350 1 0x2 0x0\ntrace 3 500 7 0x0 0x0\n";
        let stretches = stretches(&read(log));
        let seen: Vec<(Track, u64, u64)> = stretches.iter().map(|s| (s.track, s.from_ns, s.to_ns)).collect();
        assert_eq!(seen, [(Track::Kernel, 100, 300), (Track::Thread(5), 300, 350), (Track::Kernel, 350, 500)]);
        assert_eq!((stretches[0].name.as_str(), stretches[1].name.as_str()), ("interrupt 0xec", "thread 5"));
    }
}
