//! Response-time analysis for fixed priorities with deadlines at the ends of the periods (Joseph
//! and Pandya 1986; Audsley et al. 1993).
//!
//! The worst-case response time of a task is the least fixpoint of
//!
//! ```text
//! R = blocking + C + sum over the others of equal or higher priority of (1 + ceil(R / T)) * C
//! ```
//!
//! where `C` is a budget plus the kernel's cost of a release, and `blocking` is the sum of the
//! longest stretch for which the kernel keeps interrupts off on behalf of another thread, of one
//! interrupt for each line of a less urgent task, which comes once before its handler has run, and
//! of the longest request to the broker if a task with a skin can lend that its priority. The
//! resource manager's warden is above all tasks; the manager itself is below them, whatever they
//! ask it for, unless a task has the manager's priority. Linux is below all, but for the budget of
//! its boosts, which counts at their ceiling. Each of the others counts once more: a thread that
//! sleeps in between can use nearly all of a budget late in a period, and the next one at once, as
//! in a deferrable server (Strosnider, Lehoczky and Sha 1995). Equals are served in order of
//! arrival; counting them as more urgent is safe.
//!
//! Nothing else of less urgent tasks and of Linux interrupts a running task: what is due for them
//! waits until the CPU comes down to their priority, and Linux's lines are held back. The analysis
//! holds if no task waits for another one.
//!
//! It is made for each processor, with what can run there: a task with several counts on each of
//! them with all its threads, but dual mode with those that it has there. The resource manager and
//! the broker are on the first one; what the broker does for tasks of others is done there on a
//! budget of its own, at their priorities, which counts like a boost. The warden acts where tasks
//! with a skin are. What other processors send for less urgent threads interrupts a task once for
//! each such matter, which then waits as what is due here does: these interrupts are a part of
//! `blocking`.
use crate::{Boost, Processors, System, Target, Task};
use alloc::vec::Vec;

/// One participant: a job of `cost_ns` every `period_ns` at a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Execution time of a job, including the kernel's cost.
    pub cost_ns: u64,
    /// Period, and deadline; not zero.
    pub period_ns: u64,
    /// Priority; larger is more urgent.
    pub priority: u8,
}

/// The result for a periodic task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Index of the task in [`System::tasks`].
    pub task: usize,
    /// Worst response time, or `None` if it is beyond the period.
    pub response_ns: Option<u64>,
    /// The part of it taken by other tasks' requests to the broker.
    pub broker_ns: u64,
    /// The part of it for tasks of equal and higher priority; without a response, of a period.
    pub others_ns: u64,
    /// The part of it taken by interrupts of less urgent tasks.
    pub lines_ns: u64,
    /// The part of it taken by what other processors send for less urgent threads.
    pub letters_ns: u64,
    /// The period.
    pub period_ns: u64,
}

/// Longest time that the resource manager's warden takes in [`WARDEN_PERIOD_NS`] above all tasks,
/// if there are tasks with a skin: it lowers the priority of one thread of a task that did not end
/// in time.
pub const WARDEN_NS: u64 = 3_000;

/// Longest time of a request to the broker, on its client's time and at the priority of the most
/// urgent waiter.
pub const BROKER_NS: u64 = 25_000;

/// Budget that a thread must have left to call the broker: the longest request, and the interrupts
/// in the meantime. So no budget runs out inside the broker, which would hold up all other callers.
pub const BROKER_NEED_NS: u64 = BROKER_NS + 5_000;

/// Least budget of a thread that calls the broker. It uses some of each budget before it gets to
/// the call, and would forfeit the rest.
pub const SHARE_NS: u64 = BROKER_NEED_NS + 2_000;

/// Longest time that the broker takes in [`VISITORS_PERIOD_NS`] for threads of other processors
/// than its own, at their priorities. A request begins only with [`BROKER_NEED_NS`] of it left.
pub const VISITORS_NS: u64 = 100_000;

/// See [`VISITORS_NS`].
pub const VISITORS_PERIOD_NS: u64 = 1_000_000;

/// See [`WARDEN_NS`].
pub const WARDEN_PERIOD_NS: u64 = 1_000_000;

/// Longest time that the resource manager takes in [`MANAGER_PERIOD_NS`], at its priority just
/// above Linux: its budget.
pub const MANAGER_NS: u64 = 5_000_000;

/// See [`MANAGER_NS`].
pub const MANAGER_PERIOD_NS: u64 = 10_000_000;

/// Rounds after which a response that has not converged is given up. The start is so near to the
/// fixpoint that only loads within about a millionth of 100 % need as many.
const ROUNDS: u32 = 10_000;

const BILLION: u128 = 1_000_000_000;

/// The worst-case response time of `activities[index]`, or `None` if it is beyond the period (or
/// the load is too near 100 % to tell).
#[must_use]
pub fn worst_response(activities: &[Activity], index: usize, blocking_ns: u64) -> Option<u64> {
    let own = activities.get(index)?;
    let limit = u128::from(own.period_ns);
    let base = u128::from(blocking_ns) + u128::from(own.cost_ns);
    let mut response = first_guess(activities, index, base)?;
    for _ in 0..ROUNDS {
        if response > limit {
            return None;
        }
        let next = base.checked_add(interference(activities, index, response)?)?;
        if next <= response {
            return u64::try_from(response).ok();
        }
        response = next;
    }
    None
}

/// A lower bound of the fixpoint: `base / (1 - utilisation of the others)`.
fn first_guess(activities: &[Activity], index: usize, base: u128) -> Option<u128> {
    let mut used: u128 = 0;
    for a in more_urgent(activities, index) {
        used = used.checked_add((u128::from(a.cost_ns) * BILLION).checked_div(u128::from(a.period_ns))?)?;
    }
    let free = BILLION.checked_sub(used).filter(|&f| f > 0)?;
    Some(base * BILLION / free)
}

/// Time that the others take in a span that begins with a job of each.
fn interference(activities: &[Activity], index: usize, span: u128) -> Option<u128> {
    let mut sum: u128 = 0;
    for a in more_urgent(activities, index) {
        let jobs = span.div_ceil(u128::from(a.period_ns).max(1));
        sum = sum.checked_add(jobs.checked_mul(u128::from(a.cost_ns))?)?;
    }
    Some(sum)
}

fn more_urgent(activities: &[Activity], index: usize) -> impl Iterator<Item = &Activity> {
    let own = activities.get(index).map_or(u8::MAX, |a| a.priority);
    activities.iter().enumerate().filter(move |&(i, a)| i != index && a.priority >= own).map(|(_, a)| a)
}

/// A task with a budget.
fn activity(task: &Task, machine: &Target) -> Option<Activity> {
    let time = task.time?;
    let cost_ns = time.budget_ns.saturating_add(machine.release_ns()).saturating_mul(threads_together(task));
    Some(Activity { cost_ns, period_ns: time.period_ns, priority: task.priority })
}

/// What runs on a processor, each task with its index among all.
fn activities(system: &System, machine: &Target, cpu: u8) -> Vec<(Option<usize>, Activity)> {
    let tasks = system.tasks.iter().enumerate().filter(|(_, task)| task.processors.has(cpu));
    let tasks = tasks.filter_map(|(i, task)| Some((Some(i), activity(task, machine)?)));
    let is_first = cpu == 0;
    let manager = is_first.then(|| Activity {
        cost_ns: MANAGER_NS,
        period_ns: MANAGER_PERIOD_NS,
        priority: system.linux.as_ref().map_or(1, |linux| linux.priority.saturating_add(1)),
    });
    let has_warden = system.skins().any(|(task, _)| is_first || task.processors.has(cpu));
    let warden = has_warden.then(|| Activity {
        cost_ns: WARDEN_NS.saturating_add(machine.release_ns()),
        period_ns: WARDEN_PERIOD_NS,
        priority: u8::MAX,
    });
    let others = manager.into_iter().chain(boost(system, machine, cpu)).chain(visitors(system, machine, cpu));
    let others = others.chain(warden);
    tasks.chain(others.map(|activity| (None, activity))).collect()
}

/// Worst-case response times of all periodic tasks, in the order of the file. A task with a skin
/// counts with the budgets of all its threads at the highest priority that they can have; the
/// deadlines of its own threads are not known.
#[must_use]
pub fn responses(system: &System, machine: &Target) -> Vec<Load> {
    let of = |(number, task): (usize, &Task)| {
        let time = task.time.filter(|_| task.skin.is_none())?;
        let (numbers, all): (Vec<_>, Vec<_>) = activities(system, machine, task.cpu).into_iter().unzip();
        let index = numbers.iter().position(|n| *n == Some(number))?;
        let lines_ns = machine.interrupt_ns.saturating_mul(lines_below(system, task));
        let letters_ns = machine.interrupt_ns.saturating_mul(letters(system, task));
        let broker_ns = broker_blocking(system, task);
        // A budget can be used up late in a period, and again early in the next.
        let carried_ns = more_urgent(&all, index).fold(0, |sum: u64, other| sum.saturating_add(other.cost_ns));
        let blocking = [machine.blocking_ns, lines_ns, letters_ns, broker_ns, carried_ns];
        let response_ns = worst_response(&all, index, blocking.into_iter().fold(0, u64::saturating_add));
        let span = response_ns.unwrap_or(time.period_ns);
        let others = interference(&all, index, u128::from(span)).unwrap_or(u128::MAX);
        let others_ns = u64::try_from(others).unwrap_or(u64::MAX).saturating_add(carried_ns);
        let period_ns = time.period_ns;
        Some(Load { task: number, response_ns, broker_ns, others_ns, lines_ns, letters_ns, period_ns })
    };
    system.tasks.iter().enumerate().filter_map(of).collect()
}

/// The broker's requests for threads of other processors than its own: whichever of them are the
/// most urgent, the budget can be used at that priority.
fn visitors(system: &System, machine: &Target, cpu: u8) -> Option<Activity> {
    let callers = system.skins().filter(|(task, _)| cpu == 0 && task.processors != Processors::FIRST);
    let priority = callers.map(|(task, _)| task.priority).max()?;
    let cost_ns = VISITORS_NS.saturating_add(machine.release_ns());
    Some(Activity { cost_ns, period_ns: VISITORS_PERIOD_NS, priority })
}

/// Linux above its own priority, on a processor: where dual mode is.
fn boost(system: &System, machine: &Target, cpu: u8) -> Option<Activity> {
    system.linux.as_ref()?;
    let dual = system.tasks.iter().filter(|task| task.processors.has(cpu)).find_map(Task::dual)?;
    let Boost { ceiling, time, .. } = dual.boost?;
    let cost_ns = time.budget_ns.saturating_add(machine.release_ns());
    Some(Activity { cost_ns, period_ns: time.period_ns, priority: ceiling })
}

/// The tasks that are less urgent than `task` and can be on its processor.
fn below<'a>(system: &'a System, task: &Task) -> impl Iterator<Item = &'a Task> {
    let Task { priority, cpu, .. } = *task;
    system.tasks.iter().filter(move |t| t.priority < priority && t.processors.has(cpu))
}

/// Number of interrupts of `task` on behalf of less urgent threads that other processors can cause
/// while a job of it runs. A notification that was signalled causes no other until its thread has
/// run, a call none until it was served, and neither does its return, or a thread that acts on
/// objects of this processor from elsewhere.
fn letters(system: &System, task: &Task) -> u64 {
    let is_elsewhere = |processors: Processors| processors != Processors::FIRST;
    let linux = system.linux.as_ref().map(|linux| linux.processors);
    if !linux.into_iter().chain(system.tasks.iter().map(|t| t.processors)).any(is_elsewhere) {
        return 0;
    }
    // Of each less urgent thread: its notification, the return of its call; and what it does from
    // another processor.
    let of_tasks = below(system, task).map(|t| threads(t) * if t.processors.count() > 1 { 3 } else { 2 });
    // Each thread elsewhere can call the resource manager, or the broker.
    let calls = system.tasks.iter().filter(|t| task.cpu == 0 && is_elsewhere(t.processors)).map(threads);
    // A monitor's threads, as above.
    let linux = linux.filter(|linux| linux.has(task.cpu)).map_or(0, |linux| u64::from(linux.count()) + 1);
    // What Linux takes elsewhere from a thread in primary mode that stopped here, however urgent.
    let taken = u64::from(
        system.tasks.iter().any(|t| t.dual().is_some() && t.processors.count() > 1 && t.processors.has(task.cpu)),
    );
    // The resource manager's calls, or their returns.
    let manager = 1;
    of_tasks.chain(calls).chain([linux, taken, manager]).fold(0, u64::saturating_add)
}

/// Number of interrupt lines of the less urgent tasks. A task's lines come to the processor that it
/// starts on.
fn lines_below(system: &System, task: &Task) -> u64 {
    below(system, task).filter(|t| t.cpu == task.cpu).map(|t| t.interrupts.len() as u64).sum()
}

/// Blocking by the broker, on its processor. A task with a skin that is at least as urgent can wait
/// for the broker, and lend its priority to any other task's request that is being served. This
/// happens once per job: the thread that made the request does not make another before the job is
/// done.
fn broker_blocking(system: &System, task: &Task) -> u64 {
    let can_wait = system.skins().any(|(other, _)| other.priority >= task.priority);
    if task.cpu == 0 && can_wait { BROKER_NS } else { 0 }
}

/// Number of threads that can be on one of a task's processors: those of dual mode are divided
/// among them for good.
fn threads_together(task: &Task) -> u64 {
    match task.dual() {
        Some(_) => threads(task).div_ceil(task.processors.count().max(1).into()),
        None => threads(task),
    }
}

/// Number of threads that have the task's budget each.
fn threads(task: &Task) -> u64 {
    task.skin.as_ref().map_or(1, |skin| skin.threads.into())
}
