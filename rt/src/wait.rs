//! Waiting and waking.

use crate::cell::Guarded;
use crate::lock::{self, Token};
use crate::thread::{self, Thread};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use pillion_abi::channel::thread_state;
use pillion_rt_core::inherit::bits;

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The thread was woken out of its queue.
    Woken,
    /// The deadline has passed.
    TimedOut,
    /// A signal that the thread listens to is pending.
    Interrupted,
}

/// Values of [`Thread::waiting`].
pub(crate) mod word {
    pub const NOT: u32 = 0;
    pub const WAITING: u32 = 1;
    pub const WOKEN: u32 = 2;
    pub const TIMED_OUT: u32 = 3;
    pub const INTERRUPTED: u32 = 4;
}

/// How a thread waits.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// One of [`thread_state`], for display.
    pub state: u32,
    /// Pending signals that end the wait, as bits.
    pub signals: u64,
}

impl How {
    /// For an object; no signal ends the wait.
    pub const OBJECT: How = How { state: thread_state::BLOCKED, signals: 0 };
    /// For an object, not a cancellation point; signal handlers run meanwhile.
    pub const LOCK: How = How { state: thread_state::BLOCKED, signals: crate::signal::USER_BITS };
    /// For an object, at a cancellation point.
    pub const POINT: How =
        How { state: thread_state::BLOCKED, signals: crate::signal::CANCEL_BIT | crate::signal::USER_BITS };
    /// For a point in time, at a cancellation point.
    pub const SLEEP: How =
        How { state: thread_state::SLEEPING, signals: Self::POINT.signals | crate::signal::WAKEUP_BIT };
    /// For the next period.
    pub const PERIOD: How = How { state: thread_state::PERIODIC, signals: Self::SLEEP.signals };
    /// Until another thread wakes it.
    pub const SUSPENDED: How = How { state: thread_state::SUSPENDED, signals: Self::SLEEP.signals };
}

impl How {
    /// Drops the signals whose handlers cannot run now because the program has interrupts off.
    /// Otherwise a wait that is resumed after its handlers would end at once, over and over.
    pub fn if_handlers_run(self, token: &Token) -> How {
        if lock::is_outermost(token) { self } else { How { signals: self.signals & !crate::signal::USER_BITS, ..self } }
    }
}

/// Threads that wait for something, as bits by thread number. A zeroed queue is empty.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Queue(Guarded<u64>);

impl Queue {
    /// Creates an empty queue.
    pub const fn new() -> Queue {
        Queue(Guarded::new(0))
    }

    /// Returns whether no thread waits.
    #[inline]
    pub fn is_empty(&self, token: &Token) -> bool {
        self.0.get(token) == 0
    }

    /// The waiting threads, as bits.
    pub fn set(&self, token: &Token) -> u64 {
        self.0.get(token)
    }

    /// The most urgent waiting thread; among equals, the one that has waited longest.
    #[inline]
    pub fn first(&self, token: &Token) -> Option<&'static Thread> {
        let set = self.0.get(token);
        if set & set.wrapping_sub(1) == 0 {
            return (set != 0).then(|| thread::by_number(set.trailing_zeros() as usize));
        }
        let key = |t: &Thread| (thread::urgency(token, t), u64::MAX - t.queued.get(token));
        bits(set).map(thread::by_number).max_by_key(|t| key(t))
    }

    /// Wakes the most urgent waiting thread.
    #[inline]
    pub fn wake_one(&self, token: &Token) -> Option<&'static Thread> {
        let first = self.first(token)?;
        wake(token, first, word::WOKEN);
        Some(first)
    }

    /// Wakes all waiting threads; returns whether there were any.
    pub fn wake_all(&self, token: &Token) -> bool {
        let any = !self.is_empty(token);
        while self.wake_one(token).is_some() {}
        any
    }

    fn add(&self, token: &Token, thread: &'static Thread) {
        self.0.set(token, self.0.get(token) | 1 << thread.number());
    }

    fn remove(&self, token: &Token, thread: &Thread) {
        self.0.set(token, self.0.get(token) & !(1 << thread.number()));
    }
}

/// Number of waits so far; orders waiters of equal urgency.
static QUEUED: Guarded<u64> = Guarded::new(0);

/// Releases the lock and waits until another thread wakes the caller out of `queue`, until
/// `deadline` in ticks, or until a signal of `how` is pending. Afterwards the caller holds the lock
/// only as often as it held it besides `token`.
pub fn block(token: Token, queue: Option<&Queue>, how: How, deadline: u64) -> Wake {
    let me = thread::current();
    if crate::signal::deliverable(&token, me) & how.signals != 0 {
        return Wake::Interrupted;
    }
    prepare(&token, me, queue, how);
    // SAFETY: until the lock is taken again, the thread waits here, and uses tokens of its own.
    let depth = unsafe { lock::leave_fully(token) };
    let wake = sleep(me, deadline);
    // SAFETY: `sleep` keeps no token.
    unsafe { lock::restore(depth) };
    wake
}

/// As [`block`], with the lock held again afterwards.
pub fn block_and_return(token: Token, queue: Option<&Queue>, how: How, deadline: u64) -> (Token, Wake) {
    let wake = block(token, queue, how, deadline);
    (lock::enter(), wake)
}

/// Releases the lock, runs the handlers of pending signals, and takes the lock again: for a wait
/// that continues after its handlers.
pub fn run_handlers(token: Token) -> Token {
    drop(token);
    crate::signal::run_handlers();
    lock::enter()
}

/// As [`block`], for an event from outside the task. Returns after any signal to the caller's
/// notification; the caller checks whether it was the expected one.
pub fn block_outside(token: Token, how: How, deadline: u64) -> Wake {
    let me = thread::current();
    if crate::signal::deliverable(&token, me) & how.signals != 0 {
        return Wake::Interrupted;
    }
    prepare(&token, me, None, how);
    // SAFETY: until the lock is taken again, the thread waits here, without a token.
    let depth = unsafe { lock::leave_fully(token) };
    let word = if me.wait_for_signal(deadline) { word::WOKEN } else { word::TIMED_OUT };
    // A signal for the thread may have come first.
    let _ = me.waiting.compare_exchange(word::WAITING, word, Release, Relaxed);
    let wake = finish(me);
    // SAFETY: as above.
    unsafe { lock::restore(depth) };
    wake
}

fn prepare(token: &Token, me: &'static Thread, queue: Option<&Queue>, how: How) {
    if let Some(queue) = queue {
        let order = QUEUED.get(token) + 1;
        QUEUED.set(token, order);
        me.queued.set(token, order);
        queue.add(token, me);
    }
    me.queue.store(queue.map_or(null_mut(), |q| core::ptr::from_ref(q).cast_mut()), Relaxed);
    me.doing.set(token, how.state);
    me.listens.set(token, how.signals);
    me.show_state(how.state);
    me.waiting.store(word::WAITING, Relaxed);
}

fn sleep(me: &'static Thread, deadline: u64) -> Wake {
    loop {
        let in_time = me.wait_for_signal(deadline);
        if me.waiting.load(Acquire) == word::WAITING {
            if in_time {
                continue;
            }
            give_up(me);
        }
        return finish(me);
    }
}

/// Ends a wait whose deadline has passed, unless another thread has just woken the caller.
fn give_up(me: &'static Thread) {
    // If a waker has taken it out of its queue, its word is not WAITING any more.
    if !me.queue.load(Acquire).is_null() {
        lock::with(|token| {
            wake_without_signal(token, me, word::TIMED_OUT);
        });
    } else {
        let _ = me.waiting.compare_exchange(word::WAITING, word::TIMED_OUT, Release, Relaxed);
    }
}

fn finish(me: &'static Thread) -> Wake {
    let word = me.waiting.load(Acquire);
    me.waiting.store(word::NOT, Relaxed);
    me.show_state(thread_state::READY);
    thread::stop_if_asked(me);
    match word {
        word::TIMED_OUT => Wake::TimedOut,
        word::INTERRUPTED => Wake::Interrupted,
        _ => Wake::Woken,
    }
}

/// Takes a thread out of its wait; returns whether it was waiting.
pub(crate) fn wake(token: &Token, thread: &'static Thread, reason: u32) -> bool {
    let was = wake_without_signal(token, thread, reason);
    if was {
        lock::wake_later(token, thread);
    }
    was
}

pub(crate) fn wake_without_signal(token: &Token, thread: &Thread, reason: u32) -> bool {
    let queue = thread.queue.load(Relaxed);
    // SAFETY: a queue outlives its waiters: it is part of an object that the program must not
    // destroy while a thread waits for it. The thread names a queue only while it waits.
    if let Some(queue) = unsafe { queue.as_ref() } {
        queue.remove(token, thread);
    }
    // From here on the thread may run, on another processor or by a timer, and the queue be gone.
    if thread.waiting.compare_exchange(word::WAITING, reason, Release, Relaxed).is_err() {
        return false;
    }
    thread.queue.store(null_mut(), Release);
    true
}
