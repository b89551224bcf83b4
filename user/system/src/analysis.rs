//! Response-time analysis for fixed priorities with deadlines at the ends of the periods (Joseph
//! and Pandya 1986; Audsley et al. 1993).
//!
//! The worst-case response time of a task is the least fixpoint of
//!
//! ```text
//! R = blocking + C + sum over the others of equal or higher priority of ceil(R / T) * C
//! ```
//!
//! where `C` is a budget plus the kernel's cost of a release, and `blocking` is the sum of the
//! longest stretch for which the kernel keeps interrupts off on behalf of another thread, of one
//! interrupt for each line of a less urgent task, which comes once before its handler has run, and
//! of the longest request to the broker if a task with a skin can lend that its priority. The
//! resource manager's warden is above all tasks; the manager itself is below them, whatever they
//! ask it for, unless a task has the manager's priority. Linux is below all, but for the budget of
//! its boosts, which counts at their ceiling, and once more: a boost begins when Linux asks for it,
//! so two can follow each other. Equals are served in order of arrival; counting them as more
//! urgent is safe.
//!
//! Nothing else of less urgent tasks and of Linux interrupts a running task: what is due for them
//! waits until the CPU comes down to their priority, and Linux's lines are held back. The analysis
//! holds if no task waits for another one and each is released once in a period.
use crate::{Boost, System, Target, Task};
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

/// Worst-case response times of all periodic tasks, in the order of the file. A task with a skin
/// counts with the budgets of all its threads at the highest priority that they can have; the
/// deadlines of its own threads are not known.
#[must_use]
pub fn responses(system: &System, machine: &Target) -> Vec<Load> {
    let timed = || system.tasks.iter().enumerate().filter_map(|(i, t)| t.time.map(|time| (i, t, time)));
    let has_skins = system.skins().next().is_some();
    let warden = Activity {
        cost_ns: WARDEN_NS.saturating_add(machine.release_ns()),
        period_ns: WARDEN_PERIOD_NS,
        priority: u8::MAX,
    };
    let manager = Activity {
        cost_ns: MANAGER_NS,
        period_ns: MANAGER_PERIOD_NS,
        priority: system.linux.as_ref().map_or(1, |linux| linux.priority.saturating_add(1)),
    };
    let activities: Vec<Activity> = timed()
        .map(|(_, task, time)| Activity {
            cost_ns: time.budget_ns.saturating_add(machine.release_ns()).saturating_mul(threads(task)),
            period_ns: time.period_ns,
            priority: task.priority,
        })
        .chain([manager])
        .chain(boost(system, machine))
        .chain(has_skins.then_some(warden))
        .collect();
    let load = |(i, (task, _, time)): (usize, (usize, &Task, crate::Budget))| {
        let lines_ns = machine.interrupt_ns.saturating_mul(lines_below(system, system.tasks.get(task)));
        let broker_ns = broker_blocking(system, task);
        // A boost can be used up late in a period, and again early in the next.
        let is_above = |boost: &Activity| system.tasks.get(task).is_some_and(|t| boost.priority >= t.priority);
        let carried_ns = boost(system, machine).filter(is_above).map_or(0, |boost| boost.cost_ns);
        let blocking_ns = machine.blocking_ns.saturating_add(lines_ns).saturating_add(broker_ns);
        let blocking_ns = blocking_ns.saturating_add(carried_ns);
        let response_ns = worst_response(&activities, i, blocking_ns);
        let span = response_ns.unwrap_or(time.period_ns);
        let others = interference(&activities, i, u128::from(span)).unwrap_or(u128::MAX);
        let others_ns = u64::try_from(others).unwrap_or(u64::MAX);
        Load { task, response_ns, broker_ns, others_ns, lines_ns, period_ns: time.period_ns }
    };
    timed().enumerate().filter(|(_, (_, task, _))| task.skin.is_none()).map(load).collect()
}

/// Linux above its own priority.
fn boost(system: &System, machine: &Target) -> Option<Activity> {
    let Boost { ceiling, time, .. } = system.dual()?.boost?;
    let cost_ns = time.budget_ns.saturating_add(machine.release_ns());
    Some(Activity { cost_ns, period_ns: time.period_ns, priority: ceiling })
}

/// Number of interrupt lines of the tasks that are less urgent than `task`.
fn lines_below(system: &System, task: Option<&Task>) -> u64 {
    let below = system.tasks.iter().filter(|t| task.is_some_and(|task| t.priority < task.priority));
    below.map(|t| t.interrupts.len() as u64).sum()
}

/// Blocking by the broker. A task with a skin that is at least as urgent can wait for the broker,
/// and lend its priority to any other task's request that is being served. This happens once per
/// job: the thread that made the request does not make another before the job is done.
fn broker_blocking(system: &System, task: usize) -> u64 {
    let priority = system.tasks.get(task).map_or(0, |task| task.priority);
    if system.skins().any(|(other, _)| other.priority >= priority) { BROKER_NS } else { 0 }
}

/// Number of threads that have the task's budget each.
fn threads(task: &Task) -> u64 {
    task.skin.as_ref().map_or(1, |skin| skin.threads.into())
}
