//! Processors: their sets, the keys that name them, and the checks of what they name.
use crate::{Dual, Kind, Problem, Skin, System, Target, Task, limit, parse::Reader, remedy, sections};
use alloc::{format, vec::Vec};
use core::fmt;
use toml::Spanned;

/// A set of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors(u8);

impl Processors {
    /// The first one alone: the resource manager, the broker and the log are there.
    pub const FIRST: Processors = Processors(1);

    /// As many as there can be.
    pub const ALL: Processors = Processors(u8::MAX);

    /// One alone; of a number beyond [`limit::PROCESSOR`], none.
    #[must_use]
    pub fn one(number: u8) -> Processors {
        Processors(1u8.checked_shl(number.into()).unwrap_or(0))
    }

    /// The processors of both sets.
    #[must_use]
    pub fn and(self, other: Processors) -> Processors {
        Processors(self.0 | other.0)
    }

    /// Whether some processor is in both sets.
    #[must_use]
    pub fn meets(self, other: Processors) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the processor is one of them.
    #[must_use]
    pub fn has(self, number: u8) -> bool {
        self.numbers().any(|n| n == number)
    }

    /// Those of them that a test accepts.
    #[must_use]
    pub fn those(self, accepts: impl Fn(u8) -> bool) -> Processors {
        self.numbers().filter(|number| accepts(*number)).collect()
    }

    /// How many there are.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Their numbers, the lowest one first.
    pub fn numbers(self) -> impl Iterator<Item = u8> {
        (0..8u8).filter(move |n| self.0 >> n & 1 != 0)
    }

    /// Bit `n` for processor `n`.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0.into()
    }
}

const _: () = assert!(*limit::PROCESSOR.start() == 0 && *limit::PROCESSOR.end() == 7);

impl FromIterator<u8> for Processors {
    fn from_iter<T: IntoIterator<Item = u8>>(numbers: T) -> Processors {
        numbers.into_iter().fold(Processors(0), |all, number| all.and(Processors::one(number)))
    }
}

impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.numbers().enumerate() {
            write!(f, "{}{number}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// `cpus`; `None` if it is absent.
    pub(crate) fn processors(&mut self, key: sections::Numbers) -> Option<Processors> {
        let key = key?;
        let line = self.line_of(&key);
        let mut all = Processors(0);
        let is_empty = key.get_ref().is_empty();
        for one in key.into_inner() {
            let line = self.line_of(&one);
            if !limit::PROCESSOR.contains(one.get_ref()) {
                self.out_of_limits(line, "a processor of cpus", one.get_ref(), &limit::PROCESSOR);
                continue;
            }
            let number = one.into_inner() as u8;
            if all.has(number) {
                self.problem(line, format!("cpus names processor {number} twice"), remedy::ONCE);
            }
            all = all.and(Processors::one(number));
        }
        if is_empty {
            self.problem(line, "cpus names no processor".into(), remedy::PROCESSORS);
        }
        (all.count() != 0).then_some(all)
    }

    /// Where a task's threads start, and where they may be.
    pub(crate) fn places(&mut self, task: &sections::Task) -> (u8, Processors) {
        let all = self.processors(task.cpus.clone());
        let least = all.and_then(|all| all.numbers().next()).unwrap_or(0);
        let cpu = self.number("cpu", task.cpu.clone(), least, &limit::PROCESSOR);
        let all = all.unwrap_or(Processors::one(cpu));
        let is_known = |key: &&Spanned<i64>| limit::PROCESSOR.contains(key.get_ref());
        if let Some(key) = task.cpu.as_ref().filter(is_known).filter(|_| !all.has(cpu)) {
            let message = format!("cpu is {cpu}, which is not one of the task's cpus, {all}");
            self.problem(self.line_of(key), message, remedy::OWN_PROCESSORS);
        }
        (cpu, all)
    }
}

impl System {
    /// Where the file does not name Linux's processors, gives it all that are used of a machine
    /// that runs so many. Beside a task with the skin "psc" it keeps the first. Where it does not
    /// name those of dual mode, that is on as many of Linux's as it has threads.
    pub fn meet(&mut self, running: u32) {
        let is_alone = self.skins().any(|(_, skin)| skin.kind == Kind::Psc);
        let used = self.processors.unwrap_or(Processors::ALL);
        let Some(linux) = self.linux.as_mut() else { return };
        if !linux.is_placed && !is_alone {
            linux.processors = used.those(|number| u32::from(number) < running).and(Processors::FIRST);
        }
        let has = linux.processors;
        for task in &mut self.tasks {
            if let Some(Skin { kind: Kind::Dual(Dual { is_placed: false, .. }), threads, .. }) = task.skin {
                // One thread more is the task's own.
                task.processors = has.numbers().take(threads.saturating_sub(1) as usize).collect();
                task.cpu = has.numbers().next().unwrap_or(0);
            }
        }
    }
}

/// The problems of a system's processors.
pub(crate) fn check(system: &System, machine: &Target) -> Vec<Problem> {
    let mut problems = Vec::new();
    let used = system.processors.unwrap_or(Processors::ALL);
    if !used.has(0) {
        let message = format!("cpus of [system] is {used}, without processor 0");
        problems.push(Problem::new(system.processors_at, message, remedy::FIRST_PROCESSOR));
    }
    let mut of = |whose: &str, wanted: Processors, line: u32| {
        let is_absent = |number| machine.processors.is_some_and(|count| u32::from(number) >= count);
        let absent = wanted.those(is_absent);
        let mut tell = |these: Processors, why: &str, remedy| {
            if these.count() != 0 {
                let noun = if these.count() == 1 { "processor" } else { "processors" };
                problems.push(Problem::new(line, format!("{whose} is to run on {noun} {these}, but {why}"), remedy));
            }
        };
        let count = machine.processors.unwrap_or_default();
        tell(absent, &format!("the machine runs {count}, from 0 on"), remedy::ABSENT_PROCESSOR);
        let unused = wanted.those(|number| !is_absent(number) && !used.has(number));
        tell(unused, &format!("cpus of [system] is {used}"), remedy::UNUSED_PROCESSOR);
    };
    if let Some(named) = system.processors {
        of("the system", named, system.processors_at);
    }
    for task in &system.tasks {
        of(&format!("task {}", task.name), task.processors, task.lines.processors);
    }
    if let Some(linux) = &system.linux {
        of("Linux", linux.processors, linux.lines.processors);
    }
    problems.extend(system.skins().filter_map(|(task, skin)| beside_linux(system, task, skin)));
    problems
}

/// What runs code of Linux's processes has to be where Linux is, and functions of processes rely on
/// Linux's standing still meanwhile.
fn beside_linux(system: &System, task: &Task, skin: &Skin) -> Option<Problem> {
    let linux = system.linux.as_ref()?.processors;
    let astray = task.processors.numbers().find(|n| !linux.has(*n));
    let what = format!("task {} runs code of Linux's processes", task.name);
    let (message, remedy) = match astray {
        _ if skin.kind == Kind::RtLinux => return None,
        Some(astray) => (format!("{what} on processor {astray}, but Linux is on {linux}"), remedy::BESIDE_LINUX),
        None if linux.count() > 1 && skin.kind == Kind::Psc => {
            (format!("{what}, which several processors of Linux, {linux}, could change"), remedy::ALONE_IN_LINUX)
        }
        None => return None,
    };
    Some(Problem::new(task.lines.processors, message, remedy))
}
