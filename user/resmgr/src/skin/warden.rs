//! Ends the patience with a task whose `init_module` or `cleanup_module` does not return, or whose
//! threads together leave the manager, and so Linux, no time.
//!
//! Such a task may keep the manager from running: its threads are above the manager. So there is a
//! second thread, the *warden*, above everything. It waits for a timer that is armed only while a
//! task starts or stops, or tasks use nearly all of the processor, and in the usual case is
//! disarmed before it fires. When it fires, the warden takes the task's contexts their priority,
//! for good, one at a time with pauses in between, so that it delays nobody by more than
//! [`pillion_system::WARDEN_NS`] in [`pillion_system::WARDEN_PERIOD_NS`]. The manager, which gets
//! time again by that, does the rest at its own priority.
//!
//! The timer is not armed all the time, because a deadline of somebody more urgent costs every
//! release of a task some instructions.
//!
//! The two share the tables below. The warden is never interrupted by the manager, and looks anew
//! after each pause; the manager forgets a task here before it takes it apart.

use crate::{
    failure::{Result, While},
    task::{Maker, Urgency},
};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use pillion_abi::{
    NEVER, PAGE,
    boot::slot,
    channel::{TASKS, THREADS},
    object::Kind,
};
use pillion_runtime::{
    Cap, context_configure, context_consumed, now, sleep, thread_configure, thread_resume, thread_set_registers,
    timer_bind, timer_set, wait,
};

/// Pages of its objects.
pub const PAGES: u64 = 3;

/// Its priority: that of no task.
const PRIORITY: u8 = 255;

/// What is left to a task whose time is over.
const LOWEST: u8 = 1;

/// Bytes of its stack.
const STACK: usize = 4096;

/// Seconds for which the manager may have had no time, where tasks use nearly all of it.
const PATIENCE: u64 = 2;

/// When the time of each task is over.
static DEADLINES: [AtomicU64; TASKS] = [const { AtomicU64::new(NEVER) }; TASKS];

/// The contexts of each task's threads, behind the last one 0.
static CONTEXTS: [[AtomicU32; THREADS]; TASKS] = [const { [const { AtomicU32::new(0) }; THREADS] }; TASKS];

/// What each context had had when the manager looked last.
static HAD: [[AtomicU64; THREADS]; TASKS] = [const { [const { AtomicU64::new(0) }; THREADS] }; TASKS];

/// Whether a task may be ended because it leaves others no time: those whose budget nobody chose.
static MAY_END: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];

/// Whether a task's time is over because it left the manager none.
static STARVES: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];

/// When the manager is to have had time, or [`NEVER`].
static MANAGER: AtomicU64 = AtomicU64::new(NEVER);

/// What the manager had had then.
static MANAGER_HAD: AtomicU64 = AtomicU64::new(0);

/// Ticks in a second.
static SECOND: AtomicU64 = AtomicU64::new(0);

/// Its timer and its notification, or 0 before it is there.
static TIMER: AtomicU32 = AtomicU32::new(0);
static NOTIFICATION: AtomicU32 = AtomicU32::new(0);

/// Ticks between two contexts.
static PAUSE: AtomicU64 = AtomicU64::new(0);

#[repr(align(16))]
struct Stack(#[expect(dead_code, reason = "it is the thread's")] [u8; STACK]);

static mut WARDEN_STACK: Stack = Stack([0; STACK]);

/// Makes it, and lets it wait.
pub fn make(maker: &mut Maker<'_>, tsc_hz: u64) -> Result<()> {
    let region = maker.slots.make(maker.pool, Kind::Region, PAGES * PAGE)?;
    let thread = maker.slots.make(region, Kind::Thread, 0)?;
    let notification = maker.slots.make(region, Kind::Notification, 0)?;
    let timer = maker.slots.make(region, Kind::Timer, 0)?;
    timer_bind(timer, notification, 1).when("binding the warden's timer")?;
    thread_configure(thread, slot::ADDRESS_SPACE, slot::CAP_SPACE, 0, 0).when("configuring the warden")?;
    let top = (&raw mut WARDEN_STACK).addr() + STACK - 8;
    let entry: extern "C" fn(u64) -> ! = watch;
    thread_set_registers(thread, entry as usize as u64, top as u64, 0).when("setting the warden's registers")?;
    maker.give_time(region, thread, Urgency::fixed(PRIORITY, None))?;
    NOTIFICATION.store(notification, Relaxed);
    TIMER.store(timer, Relaxed);
    let pause = u128::from(tsc_hz) * u128::from(pillion_system::WARDEN_PERIOD_NS) / 1_000_000_000;
    PAUSE.store(pause as u64, Relaxed);
    SECOND.store(tsc_hz, Relaxed);
    thread_resume(thread).when("starting the warden")?;
    Ok(())
}

/// A task is there, with these contexts. It may be ended if it leaves others no time.
pub fn watch_over(task: usize, may_end: bool, contexts: impl Iterator<Item = Cap>) {
    let none = core::iter::repeat(0);
    CONTEXTS[task].iter().zip(contexts.chain(none)).for_each(|(to, context)| to.store(context, Relaxed));
    HAD[task].iter().for_each(|ticks| ticks.store(0, Relaxed));
    MAY_END[task].store(may_end, Relaxed);
}

/// A task's time is over at that deadline unless it is forgotten before.
pub fn set(task: usize, deadline: u64) {
    DEADLINES[task].store(deadline, Relaxed);
    arm();
}

/// A task has done what it was to do.
pub fn forget(task: usize) {
    STARVES[task].store(false, Relaxed);
    if DEADLINES[task].swap(NEVER, Relaxed) != NEVER {
        arm();
    }
}

/// A task is about to be taken apart.
pub fn leave(task: usize) {
    CONTEXTS[task].iter().for_each(|context| context.store(0, Relaxed));
    forget(task);
}

/// A thread's context has had so many ticks.
pub fn had(task: usize, thread: usize, ticks: u64) {
    HAD[task][thread].store(ticks, Relaxed);
}

/// The manager has time now, and is to have some again soon, or need not.
pub fn watch_over_manager(watch: bool) {
    let patience = PATIENCE * SECOND.load(Relaxed);
    let deadline = if watch { now().saturating_add(patience) } else { NEVER };
    MANAGER_HAD.store(manager_has_had(), Relaxed);
    if MANAGER.swap(deadline, Relaxed) != NEVER || watch {
        arm();
    }
}

fn manager_has_had() -> u64 {
    context_consumed(slot::CONTEXT).unwrap_or_default()[0]
}

/// Whether a task's time is over because it left the manager none.
pub fn starves(task: usize) -> bool {
    STARVES[task].load(Relaxed)
}

/// When the first task's time is over.
pub fn next() -> u64 {
    DEADLINES.iter().map(|deadline| deadline.load(Relaxed)).min().unwrap_or(NEVER)
}

/// A task whose time is over.
pub fn overdue(time: u64) -> Option<usize> {
    DEADLINES.iter().position(|deadline| deadline.load(Relaxed) <= time)
}

fn arm() {
    let _ = timer_set(TIMER.load(Relaxed), next().min(MANAGER.load(Relaxed)));
}

extern "C" fn watch(_: u64) -> ! {
    loop {
        let _ = wait(NOTIFICATION.load(Relaxed), NEVER);
        if MANAGER.load(Relaxed) <= now() {
            end_greediest();
        }
        while let Some((task, thread)) = next_context() {
            let context = CONTEXTS[task][thread].swap(0, Relaxed);
            let _ = context_configure(slot::SCHED_CONTROL, context, LOWEST, NEVER, 0, LOWEST);
            pause();
        }
        // Those that are still to be ended by the manager are not to wake it again.
        let time = now();
        let later = DEADLINES.iter().map(|deadline| deadline.load(Relaxed)).filter(|deadline| *deadline > time);
        let _ = timer_set(TIMER.load(Relaxed), later.min().unwrap_or(NEVER).min(MANAGER.load(Relaxed)));
    }
}

fn pause() {
    let _ = sleep(now().saturating_add(PAUSE.load(Relaxed)));
}

/// The manager has had no time: the time of the task is over that has used most since it had. If
/// that does not help, it is the next one's turn a second later.
fn end_greediest() {
    let mut most = (0, None);
    for task in (0..TASKS).filter(|task| MAY_END[*task].load(Relaxed)) {
        let mut used = 0u64;
        let contexts = CONTEXTS[task].iter().map(|context| context.load(Relaxed)).take_while(|context| *context != 0);
        for (context, had) in contexts.zip(&HAD[task]) {
            let [ticks, _] = context_consumed(context).unwrap_or_default();
            used = used.saturating_add(ticks.saturating_sub(had.load(Relaxed)));
            pause();
        }
        // One that starts or stops has its grace.
        if used > most.0 && DEADLINES[task].load(Relaxed) == NEVER {
            most = (used, Some(task));
        }
    }
    let time = now();
    MANAGER.store(time.saturating_add(SECOND.load(Relaxed)), Relaxed);
    // It may have had time, and be in the middle of something long.
    let had = manager_has_had();
    if MANAGER_HAD.swap(had, Relaxed) != had {
        return;
    }
    if let Some(task) = most.1 {
        STARVES[task].store(true, Relaxed);
        DEADLINES[task].store(time, Relaxed);
    }
}

/// A context of a task whose time is over.
fn next_context() -> Option<(usize, usize)> {
    let task = DEADLINES.iter().zip(&CONTEXTS).position(|(deadline, contexts)| {
        deadline.load(Relaxed) <= now() && contexts.iter().any(|context| context.load(Relaxed) != 0)
    })?;
    let thread = CONTEXTS[task].iter().position(|context| context.load(Relaxed) != 0)?;
    Some((task, thread))
}
