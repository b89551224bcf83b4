//! Checks that concern several values of a system file, or the machine.
use crate::{
    KERNEL_PORTS, Linux, Problem, Processors, SHARE_NS, Start, System, Target, Task, dual, limit, passenger,
    processors, remedy, responses, skin,
};
use alloc::{format, string::String, vec::Vec};

/// Entry of the bundle with the server for what tasks with a skin share.
pub const BROKER: &str = "broker";

/// Checks a system against a machine.
///
/// # Errors
/// Everything that is wrong, in the order of the lines.
pub fn check(system: &System, machine: &Target) -> Result<(), Vec<Problem>> {
    let mut checker = Checker { system, machine, problems: Vec::new() };
    checker.names();
    checker.interrupts();
    checker.ports();
    checker.port_counts();
    checker.devices();
    checker.priorities();
    checker.times();
    checker.memory();
    checker.images();
    checker.virtualisation();
    checker.problems.extend(skin::check(system));
    checker.problems.extend(dual::check(system));
    checker.problems.extend(passenger::check(system, machine));
    checker.problems.extend(processors::check(system, machine));
    checker.problems.sort_by_key(|p| p.line);
    if checker.problems.is_empty() { Ok(()) } else { Err(checker.problems) }
}

/// Whether two tasks may have the same resources because Linux loads both. Loading the second while
/// the first is loaded fails with a message.
fn take_turns(one: &Task, other: &Task) -> bool {
    let waits = |task: &Task| task.skin.as_ref().is_some_and(|skin| skin.start == Start::Linux);
    one.name != other.name && waits(one) && waits(other)
}

struct Checker<'a> {
    system: &'a System,
    machine: &'a Target<'a>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn problem(&mut self, line: u32, message: String, remedy: &str) {
        self.problems.push(Problem::new(line, message, remedy));
    }

    fn names(&mut self) {
        for (i, task) in self.system.tasks.iter().enumerate() {
            if self.system.tasks.iter().take(i).any(|t| t.name == task.name) {
                self.problem(task.lines.name, format!("there is already a task {}", task.name), remedy::RENAME);
            }
        }
    }

    fn interrupts(&mut self) {
        let all: Vec<_> = self.system.tasks.iter().flat_map(|t| t.interrupts.iter().map(move |i| (t, i))).collect();
        for (n, (task, interrupt)) in all.iter().enumerate() {
            if let Some((owner, _)) = all.iter().take(n).find(|(t, i)| i.line == interrupt.line && !take_turns(t, task))
            {
                self.given_twice(interrupt.at, &format!("interrupt line {}", interrupt.line), task, owner);
            }
            let there = |apics: &[(u32, u32)]| {
                apics.iter().any(|(first, count)| (interrupt.line.wrapping_sub(*first)) < *count)
            };
            if self.machine.lines.is_some_and(|apics| !there(apics)) {
                let message = format!("the machine has no interrupt line {} for task {}", interrupt.line, task.name);
                self.problem(interrupt.at, message, remedy::LINE);
            }
        }
        if let Some((_, extra)) = all.get(limit::INTERRUPTS) {
            let message = format!("the tasks have {} interrupt lines, more than {}", all.len(), limit::INTERRUPTS);
            self.problem(extra.at, message, remedy::FEWER);
        }
    }

    fn ports(&mut self) {
        let all: Vec<_> = self.system.tasks.iter().flat_map(|t| t.ports.iter().map(move |p| (t, p))).collect();
        for (n, (task, ports)) in all.iter().enumerate() {
            if let Some((owner, _)) =
                all.iter().take(n).find(|(t, p)| p.overlaps(ports.first, ports.last) && !take_turns(t, task))
            {
                self.given_twice(ports.at, &format!("a port of {ports}"), task, owner);
            }
            if KERNEL_PORTS.iter().any(|&(first, last)| ports.overlaps(first, last)) {
                let message = format!("{ports} for task {} include ports of the kernel", task.name);
                self.problem(ports.at, message, remedy::KERNEL_PORTS);
            }
        }
    }

    /// Checks the number of port ranges: a task has slots for so many, and Linux's monitor has room
    /// for so many that are kept from Linux.
    fn port_counts(&mut self) {
        let all: Vec<_> = self.system.tasks.iter().flat_map(|task| &task.ports).collect();
        let (most, beside) =
            if self.system.linux.is_some() { (limit::HIDDEN_PORTS, " beside Linux") } else { (limit::ALL_PORTS, "") };
        if let Some(extra) = all.get(most) {
            let message = format!("the tasks have {} ranges of ports, more than {most}{beside}", all.len());
            self.problem(extra.at, message, remedy::FEWER);
        }
        for task in &self.system.tasks {
            let most = if task.skin.is_some() { limit::SKIN_PORTS } else { limit::PORTS };
            if let Some(extra) = task.ports.get(most) {
                self.problem(
                    extra.at,
                    format!("task {} has more than {most} ranges of ports", task.name),
                    remedy::FEWER,
                );
            }
        }
    }

    fn devices(&mut self) {
        let all: Vec<_> = self.system.tasks.iter().flat_map(|t| t.devices.iter().map(move |d| (t, d))).collect();
        for (n, (task, device)) in all.iter().enumerate() {
            let same = |d: &crate::PciFunction| d.requester_id() == device.requester_id();
            if let Some((owner, _)) = all.iter().take(n).find(|(t, d)| same(d) && !take_turns(t, task)) {
                self.given_twice(device.at, &format!("PCI function {device}"), task, owner);
            }
        }
    }

    fn given_twice(&mut self, line: u32, what: &str, task: &Task, owner: &Task) {
        let message = format!("{what} for task {} already belongs to task {}", task.name, owner.name);
        self.problem(line, message, remedy::TAKE_AWAY);
    }

    fn priorities(&mut self) {
        for task in &self.system.tasks {
            if !limit::PRIORITY.contains(&i64::from(task.priority)) {
                let message = format!("task {} has priority {}, outside 2 to 254", task.name, task.priority);
                self.problem(task.lines.priority, message, remedy::RANGE);
            }
            if task.may_start_linux && self.system.linux.is_none() {
                let message = format!("task {} may start Linux, but there is no [linux] section", task.name);
                self.problem(task.lines.section, message, remedy::MAY_START);
            }
            let linux = self.system.linux.as_ref().filter(|l| l.processors.meets(task.processors));
            if let Some(linux) = linux.filter(|l| task.priority <= l.priority) {
                let message =
                    format!("task {} has priority {}, not above Linux's {}", task.name, task.priority, linux.priority);
                self.problem(task.lines.priority, message, remedy::ABOVE_LINUX);
            }
            self.unbounded(task);
        }
    }

    /// A task without a budget must not be able to hold up a periodic task.
    fn unbounded(&mut self, task: &Task) {
        let is_periodic = |t: &Task| t.time.is_some() && t.skin.is_none();
        let held_up = |t: &&Task| is_periodic(t) && t.priority <= task.priority && t.processors.meets(task.processors);
        if task.time.is_some() {
            return;
        }
        if let Some(other) = self.system.tasks.iter().find(held_up) {
            let message = format!(
                "task {} (priority {}) has no budget and can hold up the periodic task {} (priority {})",
                task.name, task.priority, other.name, other.priority
            );
            self.problem(task.lines.priority, message, remedy::UNBOUNDED);
        }
    }

    fn times(&mut self) {
        let before = self.problems.len();
        for task in &self.system.tasks {
            self.budget(&task.name, task.time, task.lines);
            self.enough_to_share(task);
        }
        if let Some(linux) = &self.system.linux {
            self.budget("linux", linux.time, linux.lines);
        }
        // For a budget above its period, the other checks would only repeat the problem.
        if self.problems.len() == before {
            Processors::ALL.numbers().for_each(|cpu| self.utilisation(cpu));
            self.response_times();
        }
    }

    fn budget(&mut self, name: &str, time: Option<crate::Budget>, lines: crate::Lines) {
        let Some(time) = time else { return };
        if time.budget_ns > time.period_ns {
            let message = format!("{name} has a budget of {} ns in {} ns", time.budget_ns, time.period_ns);
            self.problem(lines.budget, message, remedy::BUDGET);
        }
    }

    /// A thread with a smaller budget could never call the broker.
    fn enough_to_share(&mut self, task: &Task) {
        let shares = task.skin.as_ref().is_some_and(|skin| skin.share);
        if let Some(time) = task.time
            && shares
            && time.budget_ns < SHARE_NS
        {
            let message = format!(
                "task {} has a budget of {} ns: a thread needs {SHARE_NS} ns to use what tasks share",
                task.name, time.budget_ns
            );
            self.problem(task.lines.budget, message, remedy::SHARE_BUDGET);
        }
    }

    fn utilisation(&mut self, cpu: u8) {
        let overhead = self.machine.release_ns();
        // The budgets of a skin's threads are upper bounds that are rarely used up: only the
        // response times of other tasks count them.
        let tasks = self.system.tasks.iter().filter(|t| t.skin.is_none() && t.cpu == cpu);
        let tasks = tasks.filter_map(|t| Some((t.time?, overhead, t.lines.budget)));
        let linux = self.system.linux.iter().filter(|l| l.processors.has(cpu));
        let linux = linux.filter_map(|l| Some((l.time?, 0, l.lines.budget)));
        let (mut billionths, mut last) = (0u128, 1);
        for (time, overhead, line) in tasks.chain(linux) {
            let cost = u128::from(time.budget_ns) + u128::from(overhead);
            billionths = billionths.saturating_add(cost * 1_000_000_000 / u128::from(time.period_ns.max(1)));
            last = line;
        }
        if billionths > 1_000_000_000 {
            let tenths = billionths / 1_000_000;
            let message = format!(
                "the budgets, each with {overhead} ns in the kernel for a release, add up to {}.{} % of processor {cpu}",
                tenths / 10,
                tenths % 10
            );
            self.problem(last, message, remedy::OVERLOAD);
        }
    }

    fn response_times(&mut self) {
        let (release_ns, blocking_ns) = (self.machine.release_ns(), self.machine.blocking_ns);
        for load in responses(self.system, self.machine) {
            let (Some(task), None) = (self.system.tasks.get(load.task), load.response_ns) else { continue };
            let budget_ns = task.time.map_or(0, |t| t.budget_ns);
            let parts = [
                (budget_ns, "its budget"),
                (release_ns, "a release"),
                (blocking_ns, "interrupts off"),
                (load.lines_ns, "interrupts of less urgent tasks"),
                (load.letters_ns, "what other processors send"),
                (load.broker_ns, "other tasks' requests to the broker"),
                (load.others_ns, "tasks of its priority and above"),
            ];
            let mut message = format!(
                "task {} can finish after its period of {} ns on processor {}",
                task.name, load.period_ns, task.cpu
            );
            for (i, (ns, what)) in parts.into_iter().filter(|(ns, _)| *ns != 0).enumerate() {
                message += &format!("{} {ns} ns for {what}", if i == 0 { ":" } else { "," });
            }
            self.problem(task.lines.period, message, remedy::LATE);
        }
    }

    fn memory(&mut self) {
        let Some(total) = self.machine.memory_bytes else { return };
        let mut free = total.checked_sub(self.machine.reserved_bytes);
        for task in &self.system.tasks {
            let fifos = task.skin.as_ref().map_or(0, |skin| skin.fifo_bytes);
            free = self.take(free, task.memory_bytes.saturating_add(fifos), &task.name, task.lines.memory);
        }
        if let Some((first, _)) = self.system.skins().next() {
            free = self.take(free, self.system.pool_bytes(), "mbuff_kib", first.lines.section);
        }
        if let Some(Linux { memory_bytes, lines, .. }) = &self.system.linux {
            let least = limit::MEMORY_MIB.start().unsigned_abs() << 20;
            self.take(free, memory_bytes.unwrap_or(least), "linux", lines.memory);
        }
    }

    /// Takes `bytes` of what is free and returns what is left.
    fn take(&mut self, free: Option<u64>, bytes: u64, name: &str, line: u32) -> Option<u64> {
        let left = free.and_then(|free| free.checked_sub(bytes));
        if left.is_none() {
            let message = format!(
                "{name} needs {} KiB, but {} KiB of the machine's {} KiB are left",
                bytes >> 10,
                free.unwrap_or(0) >> 10,
                self.machine.memory_bytes.unwrap_or(0) >> 10
            );
            self.problem(line, message, remedy::MEMORY);
        }
        // After a problem, the rest is checked as if this one took nothing, so that the problem is
        // not reported for each that follows.
        left.or(free)
    }

    fn images(&mut self) {
        for task in &self.system.tasks {
            self.image(&task.image, task.lines.image, remedy::MISSING);
        }
        if let Some((first, _)) = self.system.skins().next() {
            self.image(BROKER, first.lines.section, remedy::MISSING);
        }
        if let Some(linux) = &self.system.linux {
            self.image(&linux.kernel, linux.lines.image, remedy::LINUX_FILES);
            self.image(&linux.initrd, linux.lines.initrd, remedy::LINUX_FILES);
        }
    }

    fn image(&mut self, name: &str, line: u32, remedy: &str) {
        let Some(images) = self.machine.images else { return };
        if !images.contains(&name) {
            self.problem(line, format!("the bundle has no file {name}"), remedy);
        }
    }

    fn virtualisation(&mut self) {
        if let (Some(linux), Some(false)) = (&self.system.linux, self.machine.virtualisation) {
            let message = "Linux needs a processor with virtualisation".into();
            self.problem(linux.lines.section, message, remedy::VIRTUALISATION);
        }
    }
}
