//! The keys of tasks with a skin, and of what those tasks share.
use crate::{Channels, DUAL, Kind, Problem, Skin, Start, System, Task, limit, parse::Reader, remedy, sections};
use alloc::{format, string::String, vec::Vec};
use toml::Spanned;

/// The skin of the task that runs Linux processes' handlers, and the name that Linux finds it by.
const PSC: &str = "psc";

impl Reader<'_> {
    /// The skin of a task, if it has one.
    pub(crate) fn skin(&mut self, keys: &sections::Task) -> Option<Skin> {
        let Some(name) = &keys.skin else {
            self.no_skin(keys);
            return None;
        };
        let kind = match name.get_ref().as_str() {
            "rtlinux" => Kind::RtLinux,
            PSC => Kind::Psc,
            DUAL => {
                self.problem(self.line_of(name), "skin is \"dual\"".into(), remedy::DUAL_SECTION);
                Kind::RtLinux
            }
            other => {
                self.problem(self.line_of(name), format!("there is no skin {other:?}"), remedy::SKIN);
                Kind::RtLinux
            }
        };
        Some(Skin {
            kind,
            threads: self.number("threads", keys.threads.clone(), 16, &limit::THREADS),
            fifo_bytes: self.memory("fifo_kib", keys.fifo_kib.clone(), Some(256), &limit::FIFO_KIB, 4).unwrap_or(0)
                << 10,
            start: self.start(keys.start.as_ref()),
            share: keys.share.as_ref().is_some_and(|share| *share.get_ref()),
            mbuff_bytes: self.memory("mbuff_kib", keys.mbuff_kib.clone(), Some(16), &limit::KEPT_KIB, 4).unwrap_or(0)
                << 10,
            grace_ns: self
                .number("grace_ms", keys.grace_ms.clone(), 10_000_u64, &limit::GRACE_MS)
                .saturating_mul(1_000_000),
        })
    }

    fn no_skin(&mut self, keys: &sections::Task) {
        let lines = [
            ("threads", keys.threads.as_ref().map(|k| self.line_of(k))),
            ("fifo_kib", keys.fifo_kib.as_ref().map(|k| self.line_of(k))),
            ("start", keys.start.as_ref().map(|k| self.line_of(k))),
            ("share", keys.share.as_ref().map(|k| self.line_of(k))),
            ("mbuff_kib", keys.mbuff_kib.as_ref().map(|k| self.line_of(k))),
            ("grace_ms", keys.grace_ms.as_ref().map(|k| self.line_of(k))),
            ("cpus", keys.cpus.as_ref().map(|k| self.line_of(k))),
        ];
        for (key, line) in lines {
            if let Some(line) = line {
                self.problem(line, format!("{key} is for tasks with a skin"), remedy::SKIN_KEY);
            }
        }
    }

    fn start(&mut self, start: Option<&Spanned<String>>) -> Start {
        let Some(start) = start else { return Start::Boot };
        match start.get_ref().as_str() {
            "boot" => Start::Boot,
            "linux" => Start::Linux,
            other => {
                self.problem(self.line_of(start), format!("start is {other:?}"), remedy::START);
                Start::Boot
            }
        }
    }

    /// What tasks with a skin share.
    pub(crate) fn channels(&mut self, channels: sections::Channels) -> Channels {
        let bytes = self.memory("mbuff_kib", channels.mbuff_kib, Some(1024), &limit::MBUFF_KIB, 4);
        let shared_fifos = channels.shared_fifos.into_iter().fold(0, |all, fifo| {
            let line = self.line_of(&fifo);
            let number: u32 = self.number("a shared FIFO", Some(fifo), 0, &limit::FIFO);
            let bit = 1u64.checked_shl(number).unwrap_or(0);
            if all & bit != 0 {
                self.problem(line, format!("FIFO {number} is shared twice"), remedy::ONCE);
            }
            all | bit
        });
        Channels { mbuff_bytes: bytes.unwrap_or(0) << 10, shared_fifos }
    }
}

/// Problems that concern all tasks with a skin together.
pub(crate) fn check(system: &System) -> Vec<Problem> {
    let mut problems = Vec::new();
    if let Some((extra, _)) = system.skins().nth(limit::SKINS) {
        let message = format!("more than {} tasks with a skin", limit::SKINS);
        problems.push(Problem::new(extra.lines.section, message, remedy::FEWER));
    }
    problems.extend(system.skins().filter_map(|(task, _)| ceiling(task)));
    problems.extend(room(system));
    problems.extend(buffers(system));
    problems.extend(system.skins().filter_map(|(task, skin)| start(system, task, skin)));
    problems.extend(
        system.skins().filter(|(_, skin)| skin.kind == Kind::Psc).filter_map(|(task, skin)| psc(system, task, skin)),
    );
    problems
}

/// Lower levels belong to the manager, the main threads and Linux.
fn ceiling(task: &Task) -> Option<Problem> {
    let low = i64::from(task.priority) < *limit::SKIN_PRIORITY.start();
    low.then(|| {
        let message = format!("task {} has a skin and priority {}, outside 16 to 254", task.name, task.priority);
        Problem::new(task.lines.priority, message, remedy::RANGE)
    })
}

/// The resource manager and the main threads need levels between Linux and the least urgent
/// real-time thread.
fn room(system: &System) -> Option<Problem> {
    let linux = system.linux.as_ref()?;
    system.skins().next()?;
    let least = *limit::SKIN_PRIORITY.start();
    (i64::from(linux.priority) + 2 >= least).then(|| {
        let message = format!("Linux's priority {} leaves no room below tasks with a skin", linux.priority);
        Problem::new(linux.lines.priority, message, remedy::SKIN_ROOM)
    })
}

/// The buffers' total size is limited, because programs keep pointers into the pool in integers.
fn buffers(system: &System) -> Option<Problem> {
    let (first, _) = system.skins().next()?;
    let (wanted, most) = (system.pool_bytes() >> 10, *limit::MBUFF_KIB.end() as u64);
    (wanted > most).then(|| {
        let message = format!("shared buffers take {wanted} KiB, more than {most}");
        Problem::new(first.lines.section, message, remedy::FEWER)
    })
}

/// The task that runs handlers: Linux's module finds it by its name. It is of no use without Linux,
/// and its priority is only admissible with a budget.
fn psc(system: &System, task: &Task, skin: &Skin) -> Option<Problem> {
    let good =
        task.name == PSC && system.linux.is_some() && skin.start == Start::Boot && skin.threads <= limit::PSC_THREADS;
    (!good || task.time.is_none()).then(|| {
        let message = format!("task {} cannot run handlers of Linux processes as it is written", task.name);
        Problem::new(task.lines.section, message, remedy::PSC)
    })
}

fn start(system: &System, task: &Task, skin: &Skin) -> Option<Problem> {
    (skin.start == Start::Linux && system.linux.is_none()).then(|| {
        let message = format!("Linux is to start task {}, but there is no [linux] section", task.name);
        Problem::new(task.lines.section, message, remedy::START_LINUX)
    })
}
