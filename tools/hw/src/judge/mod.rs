//! What Pillion needs, beside what a machine has.

mod firmware;
mod memory;
mod processor;
mod surroundings;
mod virtualisation;

pub use firmware::LINES;

use crate::machine::Machine;

/// What does not work without something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stakes {
    /// Everything works, but worse.
    Nothing,
    /// Tasks in C, which are those with RTLinux's interface.
    TasksInC,
    /// Linux; real-time tasks run alone.
    Linux,
    /// The kernel stops.
    Everything,
}

/// Whether a machine has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has.
    Ok,
    /// It has not, and something does not work.
    Missing,
    /// It has not, and Pillion does without.
    Without,
    /// Nobody knows.
    Unknown,
}

impl Verdict {
    /// The word in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Missing => "MISSING",
            Verdict::Without => "without",
            Verdict::Unknown => "not known",
        }
    }
}

/// Something that Pillion needs, or uses if it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub what: &'static str,
    /// What the machine has.
    pub here: String,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// What does not work without it.
    pub stakes: Stakes,
    /// Whether it is there.
    pub verdict: Verdict,
    /// What follows, and what can be done.
    pub note: Option<String>,
}

impl Row {
    fn new(what: &'static str, needed_for: &'static str, stakes: Stakes) -> Row {
        Row { what, here: String::new(), needed_for, stakes, verdict: Verdict::Ok, note: None }
    }

    fn ok(self, here: impl Into<String>) -> Row {
        Row { here: here.into(), verdict: Verdict::Ok, ..self }
    }

    /// It is not there: that is [`Verdict::Missing`] if something is at stake.
    fn not(self, here: impl Into<String>, note: impl Into<String>) -> Row {
        let verdict = if self.stakes == Stakes::Nothing { Verdict::Without } else { Verdict::Missing };
        Row { here: here.into(), verdict, note: Some(note.into()), ..self }
    }

    fn unknown(self, why: impl Into<String>) -> Row {
        Row { here: why.into(), verdict: Verdict::Unknown, ..self }
    }

    /// It is there, or it is not.
    fn either(self, is_there: bool, here: &str, without: &str) -> Row {
        if is_there { self.ok(here) } else { self.not("no", without) }
    }

    fn noting(self, note: impl Into<String>) -> Row {
        Row { note: Some(note.into()), ..self }
    }
}

/// What was found out about a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// All rows.
    pub rows: Vec<Row>,
    /// What does not work.
    pub lost: Stakes,
    /// The final line.
    pub verdict: String,
}

impl Judgement {
    /// Whether Pillion runs with Linux on it, for all that is known.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.lost < Stakes::Linux
    }
}

/// Judges a machine.
#[must_use]
pub fn judge(machine: &Machine) -> Judgement {
    let mut rows = processor::rows(machine);
    rows.extend(virtualisation::rows(machine));
    rows.extend(firmware::rows(machine));
    rows.extend(memory::rows(machine));
    rows.extend(surroundings::rows(machine));
    let missing = rows.iter().filter(|row| row.verdict == Verdict::Missing);
    // Of several that are equally grave the first, which often explains the others.
    let gravest = missing.rev().max_by_key(|row| row.stakes);
    let lost = gravest.map_or(Stakes::Nothing, |row| row.stakes);
    let verdict = verdict(&rows, gravest);
    Judgement { rows, lost, verdict }
}

fn verdict(rows: &[Row], gravest: Option<&Row>) -> String {
    let because = |row: &Row| row.note.clone().unwrap_or_else(|| format!("{}: {}", row.what, row.here));
    let stakes = gravest.map_or(Stakes::Nothing, |row| row.stakes);
    let open = rows.iter().filter(|row| row.verdict == Verdict::Unknown && row.stakes > stakes);
    let open: Vec<&str> = open.map(|row| row.what).collect();
    let open = if open.is_empty() { None } else { Some(open.join(", ")) };
    let Some(row) = gravest else {
        return match open {
            None => "Pillion runs here.".into(),
            Some(open) => format!("Pillion runs here if these are as needed, which is not known: {open}."),
        };
    };
    let what = match row.stakes {
        Stakes::Everything => "Pillion does not run here",
        Stakes::Linux => "Pillion does not run with Linux here, only real-time tasks alone",
        Stakes::TasksInC | Stakes::Nothing => "Pillion runs here, but no tasks in C",
    };
    let also = open.map_or(String::new(), |open| format!(" Also needed, and not known: {open}."));
    format!("{what}: {}.{also}", because(row))
}
