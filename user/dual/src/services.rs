//! The system calls of primary mode's own ([`service`]): objects on which threads wait for each
//! other. Their arguments are values, so the process's memory is not read.

use crate::answer::{Answer, Counts, End, Thread, offset, time};
use crate::kept;
use crate::lock;
use crate::place::{self, Offer, Place};
use crate::process::{Process, USER_END};
use crate::queues::Call;
use crate::roster;
use crate::runner;
use core::cell::Cell;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use pillion_abi::NEVER;
use pillion_abi::dual::{flag, object, resume, service};
use pillion_abi::vcpu::{State, gpr};
use pillion_dual::objects::futex::{Present, TO_LINUX};
use pillion_dual::objects::{Cut, Identity, Objects, Outcome, Party, Words, error};
use pillion_runtime::now;

/// Registers of the third and the fourth argument.
const R10: usize = 10;
const R9: usize = 9;

/// Threads that are known among the users of objects, but not in primary mode. Those that enter it
/// do not look whether they are known if there are none.
static AWAY: AtomicU32 = AtomicU32::new(0);

/// What [`place::memories_gone`] was when objects of memories that have gone were last looked for.
static GONE: AtomicU32 = AtomicU32::new(0);
/// What it was when nothing of them was left: there is nothing to do while it has not changed.
static CLEAN: AtomicU32 = AtomicU32::new(0);

/// What Linux does after a wait that it cut short.
#[derive(Clone, Copy)]
pub enum Resume {
    /// It makes the call again, unless a handler ran: then the call's result is EINTR.
    UnlessHandled,
    /// It makes the call again.
    Again,
    /// It continues after the call, whose result is EINTR.
    After,
}

impl<'a> Thread<'a> {
    /// A thread that enters primary mode.
    pub fn new(place: &'a Place, offer: &'a Offer, process: Process<'a>, notification: u32) -> Thread<'a> {
        let mut thread = Thread { place, offer, process, notification, counts: Counts::default(), party: None };
        roster::enter(place.number, offer);
        // Pairs with the one of whoever makes the thread known meanwhile.
        fence(SeqCst);
        if AWAY.load(Relaxed) != 0 {
            let identity = thread.identity();
            // If it cannot be attached, it fails in its next call, and says so there.
            if thread.with(|objects| objects.party_of(identity)).is_some() {
                let _ = thread.party();
            }
        }
        thread
    }

    /// The thread leaves primary mode.
    pub fn leave(&mut self) {
        let runner = self.place.number;
        if roster::leave(runner) {
            self.with(|objects| {
                objects.detach_runner(runner as u8);
                roster::forget(runner);
                // Under the lock, so that a later count is not replaced by an earlier one.
                AWAY.store(objects.away() as u32, Relaxed);
            });
        }
    }

    pub fn identity(&self) -> Identity {
        let memory = u8::try_from(self.offer.memory).unwrap_or(u8::MAX);
        Identity { memory, thread: self.offer.thread }
    }

    /// Does something with the objects.
    pub fn with<R>(&self, f: impl FnOnce(&mut Objects) -> R) -> R {
        // SAFETY: the calling runner runs the thread; what is done with objects is theirs alone.
        unsafe { lock::with(self.place.number, f) }
    }

    /// Who the thread is among the users of objects.
    pub fn party(&mut self) -> Result<Party, i64> {
        if let Some(party) = self.party {
            return Ok(party);
        }
        let (identity, runner) = (self.identity(), self.place.number);
        let number = place::memory(identity.memory.into());
        let priority = self.offer.priority.min(u8::MAX.into()) as u8;
        self.has_dead();
        let attach = || {
            self.with(|objects| {
                roster::know(runner);
                objects.attach(identity, number, runner as u8, priority)
            })
        };
        let party = attach().or_else(|_| {
            // Those of processes that have ended may be in the way.
            self.sweep();
            attach()
        })?;
        self.party = Some(party);
        Ok(party)
    }

    /// Answers one of these calls.
    pub fn serve(&mut self, state: &State, number: u64) -> Answer {
        let [a, b, c, d] = [gpr::RDX, R10, gpr::R8, R9].map(|register| state.gpr[register].get());
        if number == service::NOTHING {
            return Answer::Value(0);
        }
        if !self.may_name(number) {
            return Answer::Linux;
        }
        let party = match self.party() {
            Ok(party) => party,
            Err(error) => return Answer::Value(error),
        };
        if self.has_dead() {
            self.end_their_part(number, [a, b]);
        }
        let value = |done: Result<i64, i64>| Answer::Value(done.unwrap_or_else(|error| error));
        match number {
            service::CREATE if !self.may_rise_to(a, b) => Answer::Value(error::EPERM),
            service::CREATE => Answer::Value(self.create(party, a, b, c, d)),
            service::DESTROY => Answer::Value(self.with(|objects| objects.destroy(party, a, b != 0))),
            service::SEMAPHORE_WAIT => match self.wait_on(party, b, c, Resume::UnlessHandled, |objects, _, may_wait| {
                objects.semaphore_wait(party, a, may_wait)
            }) {
                Answer::Value(error::ELSEWHERE) => self.wait_for_kept(party, a, b, c),
                answer => answer,
            },
            service::SEMAPHORE_POST => value(match self.with(|objects| objects.semaphore_post(party, a, b != 0)) {
                Err(error::ELSEWHERE) => self.post_kept(party, a, b != 0),
                done => done,
            }),
            service::SEMAPHORE_VALUE => value(match self.with(|objects| objects.semaphore_value(party, a)) {
                Err(error::ELSEWHERE) => self.value_of_kept(party, a),
                done => done,
            }),
            service::MUTEX_LOCK if b != service::TRY && self.must_tell_of_owner(party, a) => Answer::Inversion,
            service::MUTEX_LOCK => self.lock_mutex(party, [a, b, c, d]),
            service::MUTEX_CEILING if !self.may_rise_to(object::MUTEX, b) => Answer::Value(error::EPERM),
            service::MUTEX_CEILING => value(self.with(|objects| objects.mutex_ceiling(party, a, b))),
            service::MUTEX_CONSISTENT => value(self.with(|objects| objects.mutex_consistent(party, a))),
            service::MUTEX_UNLOCK => value(self.with_words(|objects, words| {
                objects.claimed(party, a, words, |objects| objects.mutex_unlock(party, a)).flatten()
            })),
            service::CONDITION_WAIT => self.wait_on(party, c, d, Resume::After, |objects, words, _| {
                let waits = objects.claimed(party, b, words, |objects| objects.condition_wait(party, a, b));
                waits.unwrap_or_else(Outcome::Done)
            }),
            service::CONDITION_WAKE => value(self.with_words(|objects, words| match c {
                0 => objects.condition_wake(party, a, b != 0, words),
                thread => objects.condition_wake_thread(party, a, thread, words),
            })),
            service::FLAGS_WAIT => self.wait_on(party, c, d, Resume::UnlessHandled, |objects, _, may_wait| {
                objects.flags_wait(party, a, b, may_wait)
            }),
            service::FLAGS_SET => value(self.with(|objects| objects.flags_set(party, a, b, c != 0))),
            service::FLAGS_CLEAR => value(self.with(|objects| objects.flags_clear(party, a, b))),
            service::PERIOD_SET => Answer::Value(self.period_set(party, a, b, c)),
            service::PERIOD_WAIT => self.period_wait(party),
            service::THREAD_ENDS => Answer::Value(self.end_thread(party)),
            service::OPEN => Answer::Value(self.open(party)),
            service::CLOSE => value(self.close(party, a)),
            service::UNLINK => Answer::Value(self.unlink()),
            service::QUEUE_SEND => self.send(party, &Call::new([a, b, c, d])),
            service::QUEUE_RECEIVE => self.receive(party, &Call::new([a, b, c, d])),
            service::QUEUE_STATE => value(self.queue_state(party, a)),
            _ => Answer::Value(error::EINVAL),
        }
    }

    /// Whether something of processes that have ended is left. Linux signals the runners if one
    /// ends that had opened something by name.
    #[inline]
    fn has_dead(&self) -> bool {
        CLEAN.load(Relaxed) != place::memories_gone() && self.finds_dead()
    }

    #[cold]
    #[inline(never)]
    fn finds_dead(&self) -> bool {
        let gone = place::memories_gone();
        if GONE.load(Relaxed) != gone {
            // SAFETY: the calling runner runs the thread.
            unsafe { kept::miss(self.place.number) };
            GONE.store(gone, Relaxed);
        }
        let has_dead = kept::has_dead();
        if !has_dead {
            CLEAN.store(gone, Relaxed);
        }
        has_dead
    }

    /// Ends what belonged to processes that have ended.
    pub fn sweep(&self) {
        // SAFETY: the calling runner runs the thread.
        unsafe { kept::sweep(self.place.number) };
    }

    /// Ends what processes that have ended have of what a call is about: the objects with its first
    /// arguments as handles, or one with a name.
    #[cold]
    #[inline(never)]
    fn end_their_part(&self, number: u64, handles: [u64; 2]) {
        match number {
            service::OPEN | service::UNLINK => self.sweep(),
            _ => self.with(|objects| objects.bury(handles)),
        }
    }

    /// Ends what processes that have ended have of the object that the thread waits for.
    #[cold]
    #[inline(never)]
    fn end_what_holds_up(&self) {
        if let Some(party) = self.party {
            self.with(|objects| objects.bury_for(party));
        }
    }

    /// Whether the thread goes to Linux before it waits for a mutex, because its process wants to
    /// be told that the owner is there. It comes back for the wait: with its first call.
    fn must_tell_of_owner(&self, party: Party, mutex: u64) -> bool {
        let comes_back = self.counts.calls == 0;
        self.offer.flags & flag::WARNS != 0
            && !comes_back
            && self.with_words(|objects, words| objects.is_owned_in_linux(party, mutex, words))
    }

    /// Whether the process may make an object with that value: how high a ceiling may be is for
    /// Linux to say, as with a priority.
    pub fn may_rise_to(&self, kind: u64, value: u64) -> bool {
        let is_ceiling = kind == object::MUTEX && value <= object::CEILING_MAX;
        !is_ceiling || value <= place::ceiling(self.identity().memory.into()).into()
    }

    /// Locks a mutex: handle, clock, time, whether the thread may be above its ceiling.
    fn lock_mutex(&mut self, party: Party, [mutex, clock, ns, may_be_above]: [u64; 4]) -> Answer {
        let is_told = self.offer.flags & flag::WARNS != 0;
        let answer = self.wait_on(party, clock, ns, Resume::Again, |objects, words, may_wait| {
            let locked = objects.claimed(party, mutex, words, |objects| match may_be_above {
                0 => objects.mutex_lock(party, mutex, may_wait),
                _ => objects.mutex_lock_above(party, mutex, may_wait),
            });
            if is_told && locked == Ok(Outcome::Waits) {
                objects.tell_of_owner(party);
            }
            locked.unwrap_or_else(Outcome::Done)
        });
        match answer {
            Answer::Value(TO_LINUX) | Answer::LastValue(TO_LINUX) => Answer::Inversion,
            answer => answer,
        }
    }

    /// Makes an object, in the place of those of processes that have ended if there is no other.
    fn create(&self, party: Party, kind: u64, value: u64, flags: u64, word: u64) -> i64 {
        let create = |objects: &mut Objects| match (kind, word) {
            (object::MUTEX, 1..USER_END) if value == 0 => objects.create_with_word(party, flags, word),
            (_, 0) => objects.create(party, kind, value, flags),
            _ => error::EINVAL,
        };
        match self.with(create) {
            error::ENOSPC => {
                self.sweep();
                self.with(create)
            }
            result => result,
        }
    }

    /// Ends what a thread has. The lock is free between one mutex and the next.
    fn end_thread(&self, party: Party) -> i64 {
        let mut next = Some(0);
        while let Some(from) = next {
            next = self.with_words(|objects, words| objects.thread_ends_with_word(party, from, words));
        }
        let mut next = Some(0);
        while let Some(from) = next {
            next = self.with(|objects| objects.thread_ends(party, from));
        }
        0
    }

    /// Does something with objects, mutexes with words among them.
    fn with_words<R>(&self, f: impl FnOnce(&mut Objects, &Memory) -> R) -> R {
        self.with(|objects| {
            let memory = Memory { process: &self.process, identity: self.identity(), has_looked: Cell::new(false) };
            let result = f(objects, &memory);
            if memory.has_looked.get() {
                AWAY.store(objects.away() as u32, Relaxed);
            }
            result
        })
    }

    /// An operation that may wait until a time of a clock.
    fn wait_on(
        &mut self,
        party: Party,
        clock: u64,
        ns: u64,
        resume: Resume,
        operation: impl FnOnce(&mut Objects, &Memory, bool) -> Outcome,
    ) -> Answer {
        let end = match End::of(clock, ns) {
            Ok(end) => end,
            Err(error) => return Answer::Value(error),
        };
        match self.with_words(|objects, words| operation(objects, words, clock != service::TRY)) {
            Outcome::Done(result) => Answer::Value(result),
            Outcome::Waits => self.wait_for_result(party, end.as_ref(), resume),
        }
    }

    /// Waits for a signal to the runner, or for the end. Returns whether Linux wants the thread,
    /// and whether it is the end.
    #[inline(always)]
    pub fn pause_until(&mut self, end: Option<&End>) -> (bool, bool) {
        // Linux may set a clock meanwhile, and then signals the runner, or change the rate.
        let wake = |end: &End| end.tick().unwrap_or(0);
        let until = end.map_or(NEVER, wake);
        let has_paused = now() < until;
        if has_paused {
            self.pause(until);
        }
        // The signal may have been for several reasons.
        if self.has_dead() {
            self.end_what_holds_up();
        }
        let is_wanted = runner::is_wanted(self.place, self.offer);
        let is_late = end.is_some_and(|end| now() >= wake(end));
        if is_late && has_paused {
            self.note_latency(until);
        }
        (is_wanted, is_late)
    }

    /// Waits until an operation that waits has a result.
    pub fn wait_for_result(&mut self, party: Party, mut end: Option<&End>, resume: Resume) -> Answer {
        self.counts.waits += 1;
        loop {
            let (is_wanted, is_late) = self.pause_until(end);
            let (mut result, was_cut) = self.with(|objects| match objects.result(party) {
                None if is_wanted => (objects.cut(party, Cut::Recalled), true),
                result => (result, false),
            });
            if result.is_none() && is_late && !was_cut {
                result = self.is_late(party);
            }
            match result {
                Some(_) if was_cut => return cut_short(resume),
                Some(result) if is_wanted => return Answer::LastValue(result),
                Some(result) => return Answer::Value(result),
                // What it waits for now, a mutex after a condition, has no end.
                None if is_late => end = None,
                None => {}
            }
        }
    }

    /// The time of a wait is over: its result, if it has one now.
    #[cold]
    #[inline(never)]
    fn is_late(&self, party: Party) -> Option<i64> {
        self.with_words(|objects, words| match objects.result(party) {
            None => objects.cut_with_words(party, Cut::TimedOut, words),
            result => result,
        })
    }

    fn period_set(&self, party: Party, clock: u64, first: u64, length: u64) -> i64 {
        let (_, clocks) = place::clock();
        let Some(present) = clocks.and_then(|clocks| offset(&clocks, clock).and(time(&clocks, clock, now()))) else {
            return error::EINVAL;
        };
        let first = if first == 0 { present.saturating_add(length) } else { first };
        self.with(|objects| objects.period_set(party, clock, first, length))
    }

    fn period_wait(&mut self, party: Party) -> Answer {
        let Some(period) = self.with(|objects| objects.period(party)) else { return Answer::Value(error::EPERM) };
        let (sequence, clocks) = place::clock();
        let Some(clocks) = clocks else { return Answer::Value(error::EINVAL) };
        let end = End::At { clock: period.clock, time: period.next };
        if let Answer::CutShort { .. } = self.wait_for(&end, sequence, clocks, 0) {
            return cut_short(Resume::UnlessHandled);
        }
        let (_, clocks) = place::clock();
        let present = clocks.and_then(|clocks| time(&clocks, period.clock, now())).unwrap_or(period.next);
        self.counts.waits += 1;
        let missed = self.with(|objects| objects.released(party, present));
        self.note_overruns(missed.max(0).cast_unsigned());
        Answer::Value(missed)
    }
}

/// The memory of a thread's process, for the words of mutexes.
struct Memory<'a> {
    process: &'a Process<'a>,
    identity: Identity,
    /// Somebody may be known from now on who is not in primary mode.
    has_looked: Cell<bool>,
}

impl Words for Memory<'_> {
    fn load(&self, at: u64) -> Option<u32> {
        self.process.word_to_write(at)
    }

    #[inline(always)]
    fn exchange(&self, at: u64, old: u32, new: u32) -> Option<bool> {
        self.process.exchange_word(at, old, new)
    }

    fn present(&self, thread: u32) -> Option<Present> {
        self.has_looked.set(true);
        AWAY.store(AWAY.load(Relaxed).max(1), Relaxed);
        // Pairs with the one of a thread that enters: one of the two sees the other.
        fence(SeqCst);
        roster::hold(Identity { thread, ..self.identity })
    }
}

/// What becomes of a wait that Linux cut short.
pub fn cut_short(resume: Resume) -> Answer {
    match resume {
        Resume::UnlessHandled => Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 },
        Resume::Again => Answer::Again,
        Resume::After => Answer::LastValue(error::EINTR),
    }
}
