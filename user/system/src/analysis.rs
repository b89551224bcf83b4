//! Response-time analysis for fixed priorities with deadlines at the ends of the periods (Joseph
//! and Pandya 1986; Audsley et al. 1993).
//!
//! The worst response of a task is the least fixpoint of
//!
//! ```text
//! R = blocking + C + sum over the others of equal or higher priority of ceil(R / T) * C
//! ```
//!
//! where `C` is a budget plus what the kernel spends on a release, and `blocking` is the longest
//! stretch for which the kernel keeps interrupts off for somebody else, plus an interrupt for each
//! line of a less urgent task, which comes once before its handler has run, and the longest request
//! to the broker where a task with a skin can lend it a priority. Above all tasks is the resource
//! manager's warden; the manager itself is below them, whatever they ask it for, unless one has its
//! priority. Equals are served in order of arrival; counting them as if they were more urgent is
//! safe.
//!
//! Nothing else of less urgent tasks and of Linux comes while a task runs: what is due for them
//! waits until the CPU comes down to their priority, and Linux's lines are held back. It holds when
//! no task waits for another one and each is released once in a period.
use crate::{Machine, System, Task};
use alloc::vec::Vec;

/// What takes part: a job of `cost_ns` every `period_ns` at a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Execution time of a job, with what the kernel adds.
    pub cost_ns: u64,
    /// Period, and deadline; not zero.
    pub period_ns: u64,
    /// Priority; the larger, the more urgent.
    pub priority: u8,
}

/// The result for a periodic task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Index of the task in [`System::tasks`].
    pub task: usize,
    /// Worst response time, or `None` if it is beyond the period.
    pub response_ns: Option<u64>,
    /// The part of it that a request to the broker takes which is not its own.
    pub broker_ns: u64,
    /// The part of it that tasks of equal and higher priority take; where there is no response,
    /// their part of a period.
    pub others_ns: u64,
    /// The part of it that interrupts of less urgent tasks take.
    pub lines_ns: u64,
    /// The period.
    pub period_ns: u64,
}

/// Most that the resource manager's warden takes in [`WARDEN_PERIOD_NS`] above all tasks, where
/// there are tasks with a skin: it takes the priority of one thread of a task that did not end in
/// time.
pub const WARDEN_NS: u64 = 3_000;

/// Longest time that the broker takes for a request, on its client's time and at the priority of
/// the most urgent one that waits.
pub const BROKER_NS: u64 = 25_000;

/// What a thread must have left of its budget to call the broker: the longest request, and what
/// interrupts take meanwhile. So no budget runs out in there, which would hold up all others that
/// call.
pub const BROKER_NEED_NS: u64 = BROKER_NS + 5_000;

/// See [`WARDEN_NS`].
pub const WARDEN_PERIOD_NS: u64 = 1_000_000;

/// Most that the resource manager takes in [`MANAGER_PERIOD_NS`], at its priority just above Linux:
/// its budget.
pub const MANAGER_NS: u64 = 5_000_000;

/// See [`MANAGER_NS`].
pub const MANAGER_PERIOD_NS: u64 = 10_000_000;

/// Rounds after which a response that has not settled is given up. The start is so near to the
/// fixpoint that only loads within about a millionth of 100 % need as many.
const ROUNDS: u32 = 10_000;

const BILLION: u128 = 1_000_000_000;

/// The worst response of `activities[index]`, or `None` if it is beyond the period (or too near to
/// a full load to tell).
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

/// A value that the fixpoint cannot be below: `base / (1 - utilisation of the others)`.
fn first_guess(activities: &[Activity], index: usize, base: u128) -> Option<u128> {
    let mut used: u128 = 0;
    for a in more_urgent(activities, index) {
        used = used.checked_add((u128::from(a.cost_ns) * BILLION).checked_div(u128::from(a.period_ns))?)?;
    }
    let free = BILLION.checked_sub(used).filter(|&f| f > 0)?;
    Some(base * BILLION / free)
}

/// What the others take in a stretch of `span` that begins with a job of each.
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

/// Worst response times of all periodic tasks, in the order of the file. A task with a skin takes
/// part with the budgets of all its threads at the highest priority that they can have; when its
/// own threads are to be done is not known.
#[must_use]
pub fn responses(system: &System, machine: &Machine) -> Vec<Load> {
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
        .chain(has_skins.then_some(warden))
        .collect();
    let load = |(i, (task, _, time)): (usize, (usize, &Task, crate::Budget))| {
        let lines_ns = machine.interrupt_ns.saturating_mul(lines_below(system, system.tasks.get(task)));
        let broker_ns = broker_blocking(system, task);
        let blocking_ns = machine.blocking_ns.saturating_add(lines_ns).saturating_add(broker_ns);
        let response_ns = worst_response(&activities, i, blocking_ns);
        let span = response_ns.unwrap_or(time.period_ns);
        let others = interference(&activities, i, u128::from(span)).unwrap_or(u128::MAX);
        let others_ns = u64::try_from(others).unwrap_or(u64::MAX);
        Load { task, response_ns, broker_ns, others_ns, lines_ns, period_ns: time.period_ns }
    };
    timed().enumerate().filter(|(_, (_, task, _))| task.skin.is_none()).map(load).collect()
}

/// Interrupt lines of tasks that are less urgent than one.
fn lines_below(system: &System, task: Option<&Task>) -> u64 {
    let below = system.tasks.iter().filter(|t| task.is_some_and(|task| t.priority < task.priority));
    below.map(|t| t.interrupts.len() as u64).sum()
}

/// A task with a skin that is at least as urgent can wait for the broker, and lend its priority to
/// a request of any other that is being served. Once for each job: whoever made that request does
/// not come to make another before the job is done.
fn broker_blocking(system: &System, task: usize) -> u64 {
    let priority = system.tasks.get(task).map_or(0, |task| task.priority);
    if system.skins().any(|(other, _)| other.priority >= priority) { BROKER_NS } else { 0 }
}

/// How many threads have the task's budget each.
fn threads(task: &Task) -> u64 {
    task.skin.as_ref().map_or(1, |skin| skin.threads.into())
}
