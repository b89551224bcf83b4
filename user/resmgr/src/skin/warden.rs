//! The warden ends the wait for a task whose `init_module` or `cleanup_module` does not return, or
//! whose threads together leave the manager, and so Linux, no time.
//!
//! Such a task can keep the manager from running, because its threads have a higher priority than
//! the manager. So there is a second thread, the *warden*, with the highest priority of all. It
//! waits for a timer that is armed only while a task starts or stops, or tasks use nearly all of
//! the processor; usually the timer is disarmed before it fires. When it fires, the warden lowers
//! the priority of the task's scheduling contexts for good, one at a time with pauses in between,
//! so that it delays no thread by more than [`pillion_system::WARDEN_NS`] in
//! [`pillion_system::WARDEN_PERIOD_NS`]. The manager, which then gets time again, does the rest at
//! its own priority.
//!
//! The timer is not armed all the time, because a deadline of a more urgent thread costs every
//! release of a task some instructions.
//!
//! The two threads share the tables below. The manager runs only while the warden waits: for its
//! timer, in a pause, after which it reads the tables anew, or for a context of another processor
//! ([`UNDER_WAY`]). The manager removes a task from the tables, and waits for that, before it takes
//! the task apart.

use crate::failure::{Result, While};
use crate::task::{Maker, Urgency};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use pillion_abi::boot::slot;
use pillion_abi::channel::{TASKS, THREADS};
use pillion_abi::object::Kind;
use pillion_abi::{NEVER, PAGE};
use pillion_runtime::{
    Cap, context_configure, context_consumed, now, sleep, thread_configure, thread_resume, thread_set_registers,
    timer_bind, timer_set, wait,
};

/// Pages of the warden's objects.
pub const PAGES: u64 = 3;

/// The warden's priority, which no task has.
const PRIORITY: u8 = 255;

/// Priority left to a task whose time is up.
const LOWEST: u8 = 1;

/// Bytes of the warden's stack.
const STACK: usize = 4096;

/// Seconds that the manager may go without time while tasks use nearly all of it, and Linux on
/// another processor while they use all of that.
pub const PATIENCE: u64 = 2;

/// Deadline of each task, or [`NEVER`].
static DEADLINES: [AtomicU64; TASKS] = [const { AtomicU64::new(NEVER) }; TASKS];

/// The scheduling contexts of each task's threads, terminated by 0.
static CONTEXTS: [[AtomicU32; THREADS]; TASKS] = [const { [const { AtomicU32::new(0) }; THREADS] }; TASKS];

/// Ticks that each context had used when the manager last checked.
static HAD: [[AtomicU64; THREADS]; TASKS] = [const { [const { AtomicU64::new(0) }; THREADS] }; TASKS];

/// Whether a task may be ended because it leaves others no time: one whose budget was not chosen in
/// the system file.
static MAY_END: [AtomicBool; TASKS] = [const { AtomicBool::new(false) }; TASKS];

/// If a task's time is up because it left others none: one more than the number of the processor.
static STARVES: [AtomicU8; TASKS] = [const { AtomicU8::new(0) }; TASKS];

/// Whether the warden is lowering a context, which takes a while if it is another processor's.
static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// When the manager must have had time, or [`NEVER`].
static MANAGER: AtomicU64 = AtomicU64::new(NEVER);

/// Ticks that the manager had used when the warden last checked.
static MANAGER_HAD: AtomicU64 = AtomicU64::new(0);

/// Its processor is the manager's, which it watches.
const CPU: u64 = 0;

/// Ticks in a second.
static SECOND: AtomicU64 = AtomicU64::new(0);

/// The warden's timer and notification, or 0 before they are made.
static TIMER: AtomicU32 = AtomicU32::new(0);
static NOTIFICATION: AtomicU32 = AtomicU32::new(0);

/// Ticks to pause between two contexts.
static PAUSE: AtomicU64 = AtomicU64::new(0);

#[repr(align(16))]
struct Stack(#[expect(dead_code, reason = "it is the thread's")] [u8; STACK]);

static mut WARDEN_STACK: Stack = Stack([0; STACK]);

/// Makes the warden and lets it wait.
pub fn make(maker: &mut Maker<'_>, tsc_hz: u64) -> Result<()> {
    let region = maker.slots.make(maker.pool, Kind::Region, PAGES * PAGE)?;
    let [thread, notification, timer] = [
        maker.slots.make_on(CPU, region, Kind::Thread)?,
        maker.slots.make_on(CPU, region, Kind::Notification)?,
        maker.slots.make_on(CPU, region, Kind::Timer)?,
    ];
    timer_bind(timer, notification, 1).when("binding the warden's timer")?;
    thread_configure(thread, slot::ADDRESS_SPACE, slot::CAP_SPACE, 0, 0).when("configuring the warden")?;
    let top = (&raw mut WARDEN_STACK).addr() + STACK - 8;
    let entry: extern "C" fn(u64) -> ! = watch;
    thread_set_registers(thread, entry as usize as u64, top as u64, 0).when("setting the warden's registers")?;
    maker.give_time_on(CPU, region, thread, Urgency::fixed(PRIORITY, None))?;
    NOTIFICATION.store(notification, Relaxed);
    TIMER.store(timer, Relaxed);
    let pause = u128::from(tsc_hz) * u128::from(pillion_system::WARDEN_PERIOD_NS) / 1_000_000_000;
    PAUSE.store(pause as u64, Relaxed);
    SECOND.store(tsc_hz, Relaxed);
    thread_resume(thread).when("starting the warden")?;
    Ok(())
}

/// Registers a task with its contexts. `may_end`: it may be ended for leaving others no time.
pub fn watch_over(task: usize, may_end: bool, contexts: impl Iterator<Item = Cap>) {
    let none = core::iter::repeat(0);
    CONTEXTS[task].iter().zip(contexts.chain(none)).for_each(|(to, context)| to.store(context, Relaxed));
    HAD[task].iter().for_each(|ticks| ticks.store(0, Relaxed));
    MAY_END[task].store(may_end, Relaxed);
}

/// Sets a task's deadline: its time is up then, unless [`forget`] comes first.
pub fn set(task: usize, deadline: u64) {
    DEADLINES[task].store(deadline, Relaxed);
    arm();
}

/// Cancels a task's deadline: it is done.
pub fn forget(task: usize) {
    STARVES[task].store(0, Relaxed);
    if DEADLINES[task].swap(NEVER, Relaxed) != NEVER {
        arm();
    }
}

/// Has a task's contexts lowered that is to be stopped. The manager's calls about threads of
/// another processor wait there while anything more urgent runs, and that may be the task.
pub fn lower(task: usize) {
    let is_left = || CONTEXTS[task].iter().any(|context| context.load(Relaxed) != 0);
    if is_left() {
        set(task, now());
    }
    while is_left() {
        pause();
    }
}

/// Removes a task that is about to be taken apart.
pub fn leave(task: usize) {
    CONTEXTS[task].iter().for_each(|context| context.store(0, Relaxed));
    forget(task);
    while UNDER_WAY.load(Relaxed) {
        pause();
    }
}

/// Records the ticks that a thread's context has used.
pub fn had(task: usize, thread: usize, ticks: u64) {
    HAD[task][thread].store(ticks, Relaxed);
}

/// Called when the manager has time: it must have some again soon if `watch` is set.
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

/// The processor on which a task left others no time, if that is why its time is up.
pub fn starves(task: usize) -> Option<u8> {
    STARVES[task].load(Relaxed).checked_sub(1)
}

/// Whether a task may be ended because it leaves others no time: one that starts or stops has its
/// grace.
pub fn may_end(task: usize) -> bool {
    MAY_END[task].load(Relaxed) && DEADLINES[task].load(Relaxed) == NEVER
}

/// A task's time is up: it left others none on a processor.
pub fn end(task: usize, cpu: u8) {
    STARVES[task].store(cpu + 1, Relaxed);
    set(task, now());
}

/// The earliest deadline.
pub fn next() -> u64 {
    DEADLINES.iter().map(|deadline| deadline.load(Relaxed)).min().unwrap_or(NEVER)
}

/// A task whose time is up.
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
            let context = CONTEXTS[task][thread].load(Relaxed);
            UNDER_WAY.store(true, Relaxed);
            let _ = context_configure(slot::SCHED_CONTROL, context, LOWEST, NEVER, 0, LOWEST);
            UNDER_WAY.store(false, Relaxed);
            CONTEXTS[task][thread].store(0, Relaxed);
            pause();
        }
        // The tasks that the manager has yet to end must not fire the timer again.
        let time = now();
        let later = DEADLINES.iter().map(|deadline| deadline.load(Relaxed)).filter(|deadline| *deadline > time);
        let _ = timer_set(TIMER.load(Relaxed), later.min().unwrap_or(NEVER).min(MANAGER.load(Relaxed)));
    }
}

fn pause() {
    let _ = sleep(now().saturating_add(PAUSE.load(Relaxed)));
}

/// The manager has had no time: ends the time of the task that has used most since. If that does
/// not help, the next task follows a second later.
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
        if used > most.0 && may_end(task) {
            most = (used, Some(task));
        }
    }
    let time = now();
    MANAGER.store(time.saturating_add(SECOND.load(Relaxed)), Relaxed);
    // The manager may have had time, and be in the middle of something long.
    let had = manager_has_had();
    if MANAGER_HAD.swap(had, Relaxed) != had {
        return;
    }
    if let Some(task) = most.1 {
        STARVES[task].store(CPU as u8 + 1, Relaxed);
        DEADLINES[task].store(time, Relaxed);
    }
}

/// A context of a task whose time is up.
fn next_context() -> Option<(usize, usize)> {
    let task = DEADLINES.iter().zip(&CONTEXTS).position(|(deadline, contexts)| {
        deadline.load(Relaxed) <= now() && contexts.iter().any(|context| context.load(Relaxed) != 0)
    })?;
    let thread = CONTEXTS[task].iter().position(|context| context.load(Relaxed) != 0)?;
    Some((task, thread))
}
