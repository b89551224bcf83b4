//! Semaphores and message queues with names: the broker keeps them, and RTLinux tasks use the same
//! ones. Each runner is one of the broker's clients, as a thread of a task is.
//!
//! A request takes the broker a bounded time, on the runner's budget, and at the level of whoever
//! waits for the broker meanwhile. So this is the longest that a thread of Linux delays a task.

use crate::answer::{Answer, End, Thread};
use crate::level;
use crate::lock::{self, All};
use crate::place::{self, Place};
use crate::queues;
use crate::runner;
use crate::services::{Resume, cut_short};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use pillion_abi::NEVER;
use pillion_abi::dual::{name, object, service};
use pillion_dual::exclusion::Runners;
use pillion_dual::objects::{Kept, Objects, Origin, Party, Wanted, error};
use pillion_runtime::broker::errno::{EBADF, ECANCELED, EEXIST, ENOENT};
use pillion_runtime::broker::{Answer as Reply, Caller, Request, WAKES, open};
use pillion_runtime::info::{self, skin};
use pillion_runtime::{call, now};

/// How often an open is tried while others make the object or end it.
const TRIES: u32 = 4;

/// Processes that have ended have something left, or had objects open of whose closes the broker
/// has not been told.
static OWES: AtomicBool = AtomicBool::new(false);
/// The former.
static HAS_DEAD: AtomicBool = AtomicBool::new(false);

/// What a request came to that is not refused.
pub enum Accepted {
    Done([u64; 3]),
    /// The caller has to wait.
    Waits,
}

/// An error of the broker's.
fn error_of(errno: i32) -> i64 {
    if errno == EBADF { error::EINVAL } else { -i64::from(errno) }
}

/// Fails if the runners' budgets are too small for the broker.
fn may_share() -> Result<(), i64> {
    if info::task().skin.shares == 0 { Err(error::EOPNOTSUPP) } else { Ok(()) }
}

/// The request that opens an object, if it is there or if not.
fn request_to_open(wanted: &Wanted, flags: u32) -> Request {
    let (low, high) = (wanted.value as u32, (wanted.value / object::QUEUE_SIZE) as u32);
    match wanted.kind {
        object::QUEUE => Request::QueueOpen { name: wanted.name, flags, messages: low, size: high },
        // A value that is too large stays that.
        _ => Request::SemOpen { name: wanted.name, flags, value: if high == 0 { low } else { u32::MAX } },
    }
}

/// Makes a request as a runner, again and again until it is complete.
fn ask(runner: usize, request: Request) -> Result<Accepted, i64> {
    // Runner `n` is thread `n + 1`.
    let caller = Caller { thread: runner as u8 + 1, level: level::of(runner), at: queues::part(runner) as u16 };
    let (label, words) = request.encode(caller);
    loop {
        let Ok(answer) = call::call(skin::slot::BROKER, label, words) else { return Err(error::EIO) };
        All.signal_all((answer.words[WAKES] >> 1) as u32);
        match Reply::decode(&answer.words) {
            Reply::Done(values) => return Ok(Accepted::Done(values)),
            Reply::Wait => return Ok(Accepted::Waits),
            Reply::More => {}
            Reply::Failed(errno) => return Err(error_of(errno)),
        }
    }
}

/// Closes an object in the broker, once.
fn close(runner: usize, kept: Kept) {
    let Kept { is_queue, handle } = kept;
    let request =
        if is_queue { Request::QueueClose { queue: handle } } else { Request::SemClose { semaphore: handle } };
    let _ = ask(runner, request);
}

/// Notes what there is to do for a runner without a thread.
fn note(objects: &Objects) {
    OWES.store(objects.owes(), Relaxed);
    HAS_DEAD.store(objects.has_dead(), Relaxed);
}

/// Finds out, as runner `me`, which processes have ended. What they have is left to a runner
/// without a thread ([`pay_once`]): nobody waits for that, and it can be much.
///
/// # Safety
/// The calling thread is that runner.
pub unsafe fn miss(me: usize) {
    // SAFETY: as the caller says.
    unsafe {
        lock::with(me, |objects| {
            objects.miss(place::memory);
            note(objects);
        });
    }
    if owes() {
        leave_to_idle();
    }
}

/// Ends what belonged to processes that have ended, as runner `me`, which needs the places. The
/// lock is free in between.
///
/// # Safety
/// The calling thread is that runner.
pub unsafe fn sweep(me: usize) {
    // SAFETY: as the caller says.
    unsafe {
        miss(me);
        while lock::with(me, |objects| {
            let more = objects.sweep_some();
            note(objects);
            more
        }) {}
    }
}

/// Signals a runner without a thread, if there is one; else the next that gives its thread back
/// looks.
pub fn leave_to_idle() {
    let idle = (0..runner::count()).rev().find(|number| !Place::of(*number).is_primary());
    if let Some(idle) = idle {
        All.signal(idle);
    }
}

/// Whether something is left for a runner without a thread.
pub fn owes() -> bool {
    OWES.load(Relaxed)
}

/// Whether something of processes that have ended is left.
#[inline]
pub fn has_dead() -> bool {
    HAS_DEAD.load(Relaxed)
}

/// Ends some of what processes that have ended have, or tells the broker of one close, as runner
/// `me`, which has no thread: at the lowest level, and not of more, so that a thread that it gets
/// meanwhile finds its budget. Returns when to go on.
///
/// # Safety
/// The calling thread is that runner.
pub unsafe fn pay_once(me: usize) -> u64 {
    if !owes() {
        return NEVER;
    }
    level::set(me, 0);
    // SAFETY: as the caller says.
    let next = unsafe {
        lock::with(me, |objects| {
            let more = objects.sweep_some();
            note(objects);
            if more { None } else { objects.first_owed() }
        })
    };
    if let Some((index, kept)) = next {
        close(me, kept);
        // SAFETY: as above.
        unsafe { lock::with(me, |objects| objects.paid(index)) };
    }
    now().saturating_add(info::task().tsc_hz / 1_000)
}

impl Thread<'_> {
    fn ask(&self, request: Request) -> Result<Accepted, i64> {
        ask(self.place.number, request)
    }

    /// Makes a request that never has to wait.
    pub fn ask_now(&self, request: Request) -> Result<[u64; 3], i64> {
        match self.ask(request)? {
            Accepted::Done(values) => Ok(values),
            Accepted::Waits => Err(error::EIO),
        }
    }

    /// Opens an object, or makes it, for the thread's process. Returns its handle.
    pub fn open_kept(&self, party: Party, wanted: &Wanted) -> Result<i64, i64> {
        may_share()?;
        if wanted.object_flags() != 0 {
            return Err(error::EINVAL);
        }
        for _ in 0..TRIES {
            let (kept, from) = self.find_or_make(wanted)?;
            let adopted = self.with(|objects| objects.adopt(party, wanted, kept, from));
            if !matches!(adopted, Ok((_, true))) {
                close(self.place.number, kept);
            }
            match adopted {
                // It ends with that close, unless tasks have it open.
                Err(error::FORGOTTEN) => {}
                adopted => return adopted.map(|(handle, _)| handle.into()),
            }
        }
        Err(error::EACCES)
    }

    /// Opens an object in the broker, once more.
    fn find_or_make(&self, wanted: &Wanted) -> Result<(Kept, Origin), i64> {
        let is_queue = wanted.kind == object::QUEUE;
        for _ in 0..TRIES {
            let found = self.ask_now(request_to_open(wanted, 0));
            match found {
                Ok(_) if wanted.flags & name::EXCLUSIVE != 0 => {}
                Ok([handle, ..]) => {
                    let from = if handle & open::PASSES != 0 { Origin::Process } else { Origin::Task };
                    return Ok((Kept { is_queue, handle: handle as u32 }, from));
                }
                Err(why) if why != -i64::from(ENOENT) || wanted.flags & name::CREATE == 0 => return Err(why),
                Err(_) => {}
            }
            if let Ok([handle, ..]) = found {
                close(self.place.number, Kept { is_queue, handle: handle as u32 });
                return Err(error::EEXIST);
            }
            let flags = open::CREATE | open::EXCLUSIVE | open::PASSING;
            match self.ask_now(request_to_open(wanted, flags)) {
                Ok([handle, ..]) => return Ok((Kept { is_queue, handle: handle as u32 }, Origin::Made)),
                Err(why) if why == -i64::from(EEXIST) => {}
                Err(why) => return Err(why),
            }
        }
        Err(error::EAGAIN)
    }

    /// Tells the broker of what processes have closed.
    pub fn pay(&self) {
        while let Some((index, kept)) = self.with(|objects| objects.first_owed()) {
            close(self.place.number, kept);
            self.with(|objects| objects.paid(index));
        }
    }

    /// Removes a name in the broker.
    pub fn unlink_kept(&self, wanted: &Wanted) -> Result<i64, i64> {
        may_share()?;
        let is_queue = wanted.kind == object::QUEUE;
        let [handle, ..] = self.ask_now(request_to_open(wanted, 0))?;
        let kept = Kept { is_queue, handle: handle as u32 };
        let may = self.with(|objects| objects.may_unlink(wanted, kept));
        let name = wanted.name;
        // The name may have been removed, and made anew, since.
        let only = handle as u32;
        let request = if is_queue { Request::QueueUnlink { name, only } } else { Request::SemUnlink { name, only } };
        let result = if may { self.ask_now(request).map(|_| 0) } else { Err(error::EACCES) };
        close(self.place.number, kept);
        result
    }

    /// The broker's handle of a semaphore.
    fn kept_semaphore(&self, party: Party, handle: u64) -> Result<u32, i64> {
        match self.with(|objects| objects.kept(party, handle)) {
            Some(Kept { is_queue: false, handle }) => Ok(handle),
            _ => Err(error::EINVAL),
        }
    }

    pub fn post_kept(&self, party: Party, handle: u64, to_all: bool) -> Result<i64, i64> {
        let semaphore = self.kept_semaphore(party, handle)?;
        if to_all {
            return Err(error::EINVAL);
        }
        self.ask_now(Request::SemPost { semaphore }).map(|_| 0)
    }

    pub fn value_of_kept(&self, party: Party, handle: u64) -> Result<i64, i64> {
        let semaphore = self.kept_semaphore(party, handle)?;
        self.ask_now(Request::SemValue { semaphore }).map(|[value, ..]| value.cast_signed())
    }

    pub fn wait_for_kept(&mut self, party: Party, handle: u64, clock: u64, ns: u64) -> Answer {
        let (semaphore, end) = match self.kept_semaphore(party, handle).and_then(|it| Ok((it, End::of(clock, ns)?))) {
            Ok(found) => found,
            Err(error) => return Answer::Value(error),
        };
        let block = clock != service::TRY;
        match self.wait_for_broker(Request::SemWait { semaphore, block }, (0, 0), end.as_ref()) {
            Ok(_) => self.last(0),
            Err(answer) => answer,
        }
    }

    /// A value, with which the thread leaves if Linux asked for it.
    pub fn last(&self, value: i64) -> Answer {
        if runner::is_wanted(self.place, self.offer) { Answer::LastValue(value) } else { Answer::Value(value) }
    }

    /// Makes a request, and waits as long as the broker asks for it. `message` is what a sender
    /// repeats: length and priority. The thread waits for nothing of the broker's afterwards.
    pub fn wait_for_broker(
        &mut self,
        request: Request,
        message: (u32, u32),
        end: Option<&End>,
    ) -> Result<[u64; 3], Answer> {
        let (length, priority) = message;
        let mut accepted = self.ask(request).map_err(Answer::Value)?;
        self.counts.waits += 1;
        loop {
            if let Accepted::Done(values) = accepted {
                return Ok(values);
            }
            let (is_wanted, is_late) = self.pause_until(end);
            let gives_up = is_wanted || is_late;
            let next =
                if gives_up { Request::Cancel { length, priority } } else { Request::Finish { length, priority } };
            accepted = self.ask(next).map_err(|why| match why {
                _ if why == -i64::from(ECANCELED) && is_wanted => cut_short(Resume::UnlessHandled),
                _ if why == -i64::from(ECANCELED) => Answer::Value(error::ETIMEDOUT),
                error::EINVAL => Answer::Value(error::EIDRM),
                why => Answer::Value(why),
            })?;
        }
    }
}
