//! The section `[dual]`: a task with a skin, made from few keys.
use crate::{
    Boost, Budget, Dual, Kind, Lines, Problem, Processors, SHARE_NS, Skin, Start, System, Task, limit,
    parse::Reader,
    remedy,
    sections::{self, Number},
};
use alloc::{format, string::String, vec::Vec};
use core::ops::RangeInclusive;
use toml::Spanned;

/// Name and image of the task that runs threads of Linux processes.
pub const DUAL: &str = "dual";

/// Threads in primary mode, where the file says nothing.
const THREADS: u32 = 8;

/// Levels of Linux's FIFO priorities 1 and 99, where the file says nothing.
const LEVELS: [u8; 2] = [101, 199];

/// Budget of each thread, where the file says nothing.
const TIME: Budget = Budget { budget_ns: 100_000, period_ns: 1_000_000 };

/// How long threads outlive Linux, where the file says nothing, in milliseconds.
const LINGER_MS: u32 = 0;

/// How long a thread may compute without waiting, where the file says nothing: as in Xenomai.
const WATCHDOG_MS: u32 = 4_000;

/// How long interrupts of Linux's devices wait for a thread, where the file says nothing, in
/// milliseconds.
const SHIELD_MS: u32 = 10;

/// Group whose members may use it, where the file says nothing: that of all of Pillion's devices.
const GROUP: &str = "pillion";

/// How long the task may take to start and to end.
const GRACE_NS: u64 = 10_000_000_000;

/// The task's own memory, which it hardly uses.
const MEMORY: u64 = limit::SKIN_MEMORY_KIB.start().unsigned_abs() << 10;

impl Reader<'_> {
    /// The task that runs threads in primary mode: a runner for each, and its main thread.
    pub(crate) fn dual(&mut self, dual: Spanned<sections::Dual>) -> Task {
        let section = self.line_of(&dual);
        let dual = dual.into_inner();
        let period = dual.period_us.as_ref().or(dual.period_ns.as_ref());
        let budget = dual.budget_us.as_ref().or(dual.budget_ns.as_ref());
        let has = [period.is_some(), budget.is_some()];
        let lines = Lines {
            section,
            name: section,
            image: section,
            initrd: section,
            priority: self.line_or(dual.priorities.as_ref(), section),
            processors: self.line_or(dual.cpus.as_ref(), section),
            period: self.line_or(period, section),
            budget: self.line_or(budget, section),
            memory: section,
            command_line: section,
        };
        let unlimited = self.unlimited(dual.budget, has[1]);
        let period = self.duration("period", dual.period_us, dual.period_ns, &limit::PERIOD_NS);
        let budget = self.duration("budget", dual.budget_us, dual.budget_ns, &limit::BUDGET_NS);
        // 0 is none, as in a task.
        let or_default = |value, given, default| if given || unlimited { value } else { Some(default) };
        let period = or_default(period, has[0], TIME.period_ns);
        let budget = or_default(budget, has[1], TIME.budget_ns);
        let [first, last] = self.levels(dual.priorities);
        let processors = self.processors(dual.cpus);
        let is_placed = processors.is_some();
        let processors = processors.unwrap_or(Processors::FIRST);
        let threads: u32 = self.number("threads", dual.threads, THREADS, &limit::DUAL_THREADS);
        let linger_ms = self.number("linger_ms", dual.linger_ms, LINGER_MS, &limit::LINGER_MS);
        let watchdog_ms = self.number("watchdog_ms", dual.watchdog_ms, WATCHDOG_MS, &limit::WATCHDOG_MS);
        let boost = self.boost(dual.ceiling, dual.boost_us, period.unwrap_or(TIME.period_ns));
        let shield_ms = self.number("shield_ms", dual.shield_ms, SHIELD_MS, &limit::SHIELD_MS);
        let shield_lines = self.shield_lines(dual.shield_lines);
        let time = self.time("[dual]", period, budget, lines);
        // Threads with less cannot call the broker; they use all else.
        let share = time.is_none_or(|time| time.budget_ns >= SHARE_NS);
        let group = dual.group.map_or_else(|| GROUP.into(), |group| self.name(group));
        let skin = Skin {
            kind: Kind::Dual(Dual {
                is_placed,
                first,
                linger_ms,
                watchdog_ms,
                group: padded(&group),
                boost,
                shield_ms,
                shield_lines,
            }),
            threads: threads.saturating_add(1),
            fifo_bytes: 0,
            start: Start::Boot,
            share,
            mbuff_bytes: 0,
            grace_ns: GRACE_NS,
        };
        Task {
            name: DUAL.into(),
            image: DUAL.into(),
            priority: last,
            cpu: processors.numbers().next().unwrap_or(0),
            processors,
            time,
            unlimited,
            memory_bytes: MEMORY,
            arguments: String::new(),
            skin: Some(skin),
            fpu: true,
            interrupts: Vec::new(),
            ports: Vec::new(),
            devices: Vec::new(),
            may_end_system: false,
            may_start_linux: false,
            lines,
        }
    }

    /// How urgent Linux is for a thread: without a ceiling, as urgent as always.
    fn boost(&mut self, ceiling: Number, boost: Number, period_ns: u64) -> Option<Boost> {
        let Some(ceiling) = ceiling else {
            if let Some(boost) = boost {
                self.problem(self.line_of(&boost), "boost_us is given without a ceiling".into(), remedy::CEILING);
            }
            return None;
        };
        let line = self.line_of(&ceiling);
        let at = self.line_or(boost.as_ref(), line);
        let ceiling = self.number("ceiling", Some(ceiling), 0, &limit::SKIN_PRIORITY);
        let us: u64 = self.number("boost_us", boost, TIME.budget_ns / 1_000, &limit::BOOST_US);
        let budget_ns = us.saturating_mul(1_000);
        if budget_ns > period_ns {
            self.problem(at, format!("boost_us is {us} in a period of {} µs", period_ns / 1_000), remedy::BUDGET);
        }
        Some(Boost { ceiling, time: Budget { budget_ns, period_ns }, line })
    }

    /// Lines that a shield lets through, as bits.
    fn shield_lines(&mut self, lines: Option<Spanned<Vec<i64>>>) -> u64 {
        let Some(lines) = lines else { return 0 };
        let at = self.line_of(&lines);
        lines.into_inner().into_iter().fold(0, |bits, line| {
            if !limit::SHIELD_LINES.contains(&line) {
                self.out_of_limits(at, "a line of shield_lines", line, &limit::SHIELD_LINES);
                return bits;
            }
            bits | 1 << line
        })
    }

    fn levels(&mut self, levels: Option<Spanned<[i64; 2]>>) -> [u8; 2] {
        let Some(levels) = levels else { return LEVELS };
        let (line, [first, last]) = (self.line_of(&levels), levels.into_inner());
        let range: &RangeInclusive<i64> = &limit::SKIN_PRIORITY;
        if !range.contains(&first) || !range.contains(&last) || first > last {
            let message = format!(
                "priorities are [{first}, {last}], not two levels from {} to {}, the lower one first",
                range.start(),
                range.end()
            );
            self.problem(line, message, remedy::RANGE);
            return LEVELS;
        }
        [first, last].map(|level| u8::try_from(level).unwrap_or_default())
    }
}

/// A name, padded with zeros.
fn padded(name: &str) -> [u8; 32] {
    const { assert!(limit::NAME < 32) };
    let mut bytes = [0; 32];
    for (byte, of_name) in bytes.iter_mut().zip(name.bytes()) {
        *byte = of_name;
    }
    bytes
}

/// Problems of dual mode: it is of no use without Linux, and its threads must leave time to Linux,
/// which alone can end them.
pub(crate) fn check(system: &System) -> Vec<Problem> {
    let Some(dual) = system.tasks.iter().find(|task| task.dual().is_some()) else { return Vec::new() };
    let without = system.linux.is_none().then(|| {
        let message = "[dual] is for threads of Linux, but there is no [linux] section".into();
        Problem::new(dual.lines.section, message, remedy::DUAL_LINUX)
    });
    without.into_iter().chain(greed(dual)).collect()
}

/// The threads of a processor together may use nine tenths of each period.
fn greed(dual: &Task) -> Option<Problem> {
    let time = dual.bound()?;
    let runners = dual.skin.as_ref()?.threads.saturating_sub(1);
    let threads = u64::from(runners.div_ceil(dual.processors.count().max(1)));
    let all = time.budget_ns.saturating_mul(threads);
    (time.budget_ns <= time.period_ns && all > time.period_ns / 10 * 9).then(|| {
        let (budget, period) = (time.budget_ns / 1_000, time.period_ns / 1_000);
        let message = format!("[dual] gives {threads} threads {budget} µs each in {period} µs, and Linux too little");
        Problem::new(dual.lines.budget, message, remedy::DUAL_TIME)
    })
}
