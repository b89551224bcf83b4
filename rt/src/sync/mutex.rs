//! Implementation of mutexes.
//!
//! The word `owner` names the thread that has the mutex. Plain mutexes, with or without
//! inheritance, are taken and released by a compare-and-swap on it when no thread waits; everything
//! else happens with the task's lock held. That does not keep out who takes or releases the mutex
//! by the word alone: `WAITED_FOR` does, so it is set, or another compare-and-swap made, before
//! anything follows from the word. A released mutex is free, and the most urgent waiter is woken to
//! take it: a more urgent thread that comes first may take it instead.
//!
//! Inheritance (`PTHREAD_PRIO_INHERIT`): see [`pillion_rt_core::inherit`]. A thread that becomes
//! less urgent by releasing a mutex keeps its level until the woken waiter, which runs next, lowers
//! it, so no thread of middle urgency can come between. With a ceiling (`PTHREAD_PRIO_PROTECT`) the
//! owner has at least the ceiling's urgency.

use crate::cell::Guarded;
use crate::error::{EAGAIN, EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM, ETIMEDOUT};
use crate::lock::{self, Token};
use crate::thread::{self, Identity, Thread, current};
use crate::wait::{How, Queue, Wake, block_and_return, run_handlers};
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32};
use pillion_rt_core::{inherit::bits, urgency::Urgency};

/// Bits of [`Mutex::flags`]; also in `pthread.h`.
pub(super) mod flag {
    pub const TYPE: u32 = 0xf;
    pub const NORMAL: u32 = 0;
    pub const SPINLOCK: u32 = 1;
    pub const RECURSIVE: u32 = 2;
    pub const ERRORCHECK: u32 = 3;
    pub const INHERIT: u32 = 0x10;
    pub const PROTECT: u32 = 0x20;
    pub const ROBUST: u32 = 0x40;
    pub const DESTROYED: u32 = 0x80;
    /// The owner ended while it held the mutex.
    pub const OWNER_DEAD: u32 = 0x100;
    /// The next owner did not repair what the mutex protects.
    pub const LOST: u32 = 0x200;
}

/// In [`Mutex::owner`]: a thread waits.
const WAITED_FOR: u32 = 0x100;

#[derive(Clone, Copy)]
enum Owner {
    Nobody,
    Thread(&'static Thread),
    /// A thread that has ended.
    Gone,
}

/// `pthread_mutex_t`; also in `pthread.h`. Zeros are a free, normal mutex.
#[repr(C)]
#[derive(Debug)]
pub struct Mutex {
    /// Identity of the owner, or 0; and [`WAITED_FOR`].
    owner: AtomicU32,
    pub(super) flags: AtomicU32,
    pub(super) ceiling: Guarded<u32>,
    /// How often the owner has taken the mutex again.
    depth: Guarded<u32>,
    queue: Queue,
    /// The next mutex in the list of those that the same thread holds.
    next: AtomicPtr<Mutex>,
}

const _: () = assert!(size_of::<Mutex>() == 32);

fn word_of(thread: &Thread) -> u32 {
    thread.identity().word()
}

impl Mutex {
    pub(super) const fn new(flags: u32, ceiling: u32) -> Mutex {
        Mutex {
            owner: AtomicU32::new(0),
            flags: AtomicU32::new(flags),
            ceiling: Guarded::new(ceiling),
            depth: Guarded::new(0),
            queue: Queue::new(),
            next: AtomicPtr::new(null_mut()),
        }
    }

    fn has(&self, flags: u32) -> bool {
        self.flags.load(Relaxed) & flags != 0
    }

    fn kind(&self) -> u32 {
        self.flags.load(Relaxed) & flag::TYPE
    }

    /// Returns whether a compare-and-swap can take the mutex.
    #[inline]
    fn is_plain(&self) -> bool {
        self.flags.load(Relaxed) & !flag::INHERIT == 0
    }

    /// Takes the mutex if it is plain and free.
    #[inline]
    pub(super) fn take_fast(&self) -> bool {
        self.is_plain() && self.owner.compare_exchange(0, word_of(current()), Acquire, Relaxed).is_ok()
    }

    /// Releases the mutex if it is plain, the caller has it, and no thread waits.
    #[inline]
    pub(super) fn release_fast(&self) -> bool {
        self.is_plain() && self.owner.compare_exchange(word_of(current()), 0, Release, Relaxed).is_ok()
    }

    fn owner(&self, token: &Token) -> Owner {
        match self.owner.load(Relaxed) & !WAITED_FOR {
            0 => Owner::Nobody,
            word => Identity::of_word(word).get(token).map_or(Owner::Gone, Owner::Thread),
        }
    }

    fn is_free(&self) -> bool {
        self.owner.load(Relaxed) & !WAITED_FOR == 0
    }

    fn is_own(&self) -> bool {
        self.owner.load(Relaxed) & !WAITED_FOR == word_of(current())
    }

    /// Returns whether a thread has the mutex.
    pub(super) fn is_taken(&self) -> bool {
        self.owner.load(Relaxed) != 0
    }

    /// Makes the caller the owner, unless another thread has taken the mutex since its word was
    /// `free`.
    fn take(&self, token: &Token, free: u32) -> Result<(), c_int> {
        let me = current();
        if self.has(flag::PROTECT) && thread::urgency_of_priority(token, me) > self.ceiling_urgency(token) {
            return Err(EINVAL);
        }
        let waiters = self.queue.set(token);
        let word = word_of(me) | if waiters == 0 { 0 } else { WAITED_FOR };
        self.owner.compare_exchange(free, word, Acquire, Relaxed).map_err(|_| EBUSY)?;
        if self.has(flag::INHERIT) && waiters != 0 {
            thread::with_inheritance(token, |i| bits(waiters).fold(0, |changed, w| changed | i.wait(w, me.number())));
        }
        if self.has(flag::PROTECT | flag::ROBUST) {
            self.next.store(me.held.load(Relaxed), Relaxed);
            me.held.store(core::ptr::from_ref(self).cast_mut(), Relaxed);
            refresh_ceiling(token, me);
        }
        if self.has(flag::OWNER_DEAD) { Err(EOWNERDEAD) } else { Ok(()) }
    }

    fn ceiling_urgency(&self, token: &Token) -> Urgency {
        Urgency::of_priority(self.ceiling.get(token))
    }

    /// Takes the mutex if that is possible without waiting.
    pub(super) fn try_take(&self, token: &Token) -> Result<(), c_int> {
        if self.has(flag::DESTROYED) {
            return Err(EINVAL);
        }
        if self.has(flag::LOST) {
            return Err(ENOTRECOVERABLE);
        }
        let word = self.owner.load(Relaxed);
        if word & !WAITED_FOR == 0 {
            return self.take(token, word);
        }
        if self.kind() == flag::RECURSIVE && self.is_own() {
            let depth = self.depth.get(token);
            self.depth.set(token, depth.checked_add(1).ok_or(EAGAIN)?);
            return Ok(());
        }
        Err(EBUSY)
    }

    /// Takes the mutex, waiting for it if necessary. Releases the task's lock.
    pub(super) fn lock(&self, mut token: Token, deadline: u64) -> Result<(), c_int> {
        let me = current();
        loop {
            let mut result = self.try_take(&token);
            if result == Err(EBUSY) {
                me.claims.mutex.set(self);
                let wake;
                (token, wake) = self.wait(token, deadline)?;
                if wake == Wake::Woken {
                    continue;
                }
                self.forget(&token);
                if wake == Wake::Interrupted {
                    me.claims.mutex.clear();
                    token = run_handlers(token);
                    continue;
                }
                // The mutex may have been released at the same moment.
                result = self.try_take(&token).map_err(|e| if e == EBUSY { ETIMEDOUT } else { e });
            }
            me.claims.mutex.clear();
            return result;
        }
    }

    /// A thread that waited for the mutex, or was woken to take it, has ended.
    pub(super) fn pass_on(&self, token: &Token) {
        if self.is_free() {
            self.queue.wake_one(token);
            if self.queue.is_empty(token) {
                let _ = self.owner.compare_exchange(WAITED_FOR, 0, Relaxed, Relaxed);
            }
        }
    }

    fn wait(&self, token: Token, deadline: u64) -> Result<(Token, Wake), c_int> {
        let me = current();
        if self.kind() == flag::ERRORCHECK && self.is_own() {
            return Err(EDEADLK);
        }
        if self.owner.fetch_or(WAITED_FOR, Relaxed) & !WAITED_FOR == 0 {
            // It was released meanwhile.
            return Ok((token, Wake::Woken));
        }
        let heir = match self.owner(&token) {
            Owner::Thread(owner) if self.has(flag::INHERIT) => Some(owner),
            _ => None,
        };
        if heir.is_some_and(|owner| thread::closes_circle(&token, me, owner)) {
            self.look_for_waiters(&token);
            return Err(EDEADLK);
        }
        if let Some(owner) = heir {
            thread::with_inheritance(&token, |i| i.wait(me.number(), owner.number()));
        }
        let how = How::LOCK.if_handlers_run(&token);
        let result = block_and_return(token, Some(&self.queue), how, deadline);
        me.put_down_lender(&result.0);
        Ok(result)
    }

    /// The caller no longer waits for the mutex.
    fn forget(&self, token: &Token) {
        thread::with_inheritance(token, |i| i.end_wait(current().number()));
        self.look_for_waiters(token);
    }

    fn look_for_waiters(&self, token: &Token) {
        if self.queue.is_empty(token) {
            self.owner.fetch_and(!WAITED_FOR, Relaxed);
        }
    }

    /// Releases the mutex; a kind that does not check its owner even if another thread has it. The
    /// caller then calls [`settle`] without the lock.
    pub(super) fn release(&self, token: &Token) -> Result<(), c_int> {
        let checked = self.kind() == flag::ERRORCHECK || self.kind() == flag::RECURSIVE;
        if self.has(flag::DESTROYED) {
            return Err(EINVAL);
        }
        if !self.is_own() && (checked || self.has(flag::INHERIT | flag::PROTECT | flag::ROBUST)) {
            return Err(EPERM);
        }
        let depth = self.depth.get(token);
        if depth != 0 {
            self.depth.set(token, depth - 1);
            return Ok(());
        }
        if self.has(flag::OWNER_DEAD) {
            self.flags.fetch_or(flag::LOST, Relaxed);
        }
        self.free(token);
        Ok(())
    }

    fn free(&self, token: &Token) {
        let waiters = self.queue.set(token);
        let next = if self.has(flag::LOST) {
            self.queue.wake_all(token);
            None
        } else {
            self.queue.wake_one(token)
        };
        // The next owner looks at the waiters.
        self.owner.store(if self.queue.is_empty(token) { 0 } else { WAITED_FOR }, Release);
        if self.has(flag::INHERIT) && waiters != 0 {
            thread::take_back(token, waiters, next);
        }
        if self.has(flag::PROTECT | flag::ROBUST) {
            self.unlist(current());
            // The woken thread is ready before the caller becomes less urgent.
            lock::wake_now(token);
            refresh_ceiling(token, current());
        }
    }

    fn unlist(&self, me: &Thread) {
        let mut link = &me.held;
        loop {
            let at = link.load(Relaxed);
            if at.is_null() {
                return;
            }
            // SAFETY: mutexes in the list are held; the program must not free them before it has
            // released them.
            let mutex = unsafe { &*at };
            if core::ptr::eq(mutex, self) {
                link.store(self.next.load(Relaxed), Relaxed);
                return;
            }
            link = &mutex.next;
        }
    }

    /// Marks the protected data as repaired; see `pthread_mutex_consistent`.
    pub(super) fn repaired(&self, _: &Token) -> Result<(), c_int> {
        let repairable = self.has(flag::ROBUST) && self.has(flag::OWNER_DEAD) && self.is_own();
        repairable.then(|| self.flags.fetch_and(!flag::OWNER_DEAD, Relaxed)).map(|_| ()).ok_or(EINVAL)
    }

    /// Changes the ceiling; returns the old one.
    pub(super) fn set_ceiling(&self, token: &Token, ceiling: u32) -> u32 {
        let old = self.ceiling.replace(token, ceiling);
        if let Owner::Thread(owner) = self.owner(token) {
            refresh_ceiling(token, owner);
        }
        old
    }
}

/// After a release, without the lock: lets the woken thread lower the caller to its own level.
#[inline]
pub(super) fn settle() {
    let me = current();
    if me.is_lent() {
        thread::settle(me);
    }
}

/// The mutexes that a thread holds, from its list.
fn held(thread: &Thread) -> impl Iterator<Item = &'static Mutex> {
    let mut at = thread.held.load(Relaxed);
    core::iter::from_fn(move || {
        // SAFETY: as in `unlist`.
        let mutex: Option<&'static Mutex> = unsafe { at.as_ref() };
        at = mutex.map_or(null_mut(), |m| m.next.load(Relaxed));
        mutex
    })
}

/// Sets a thread's urgency to that of its priority, or of its mutexes' ceilings if that is more.
pub(crate) fn refresh_ceiling(token: &Token, thread: &'static Thread) {
    let ceilings = held(thread).filter(|m| m.has(flag::PROTECT)).map(|m| m.ceiling_urgency(token));
    let urgency = ceilings.fold(thread::urgency_of_priority(token, thread), Urgency::max);
    thread::set_urgency(token, thread, urgency);
}

/// Frees the robust mutexes of a thread that has ended.
pub(crate) fn owner_ends(token: &Token, thread: &'static Thread) {
    let first = thread.held.swap(null_mut(), Relaxed);
    let mut at = first;
    // SAFETY: as in `unlist`.
    while let Some(mutex) = unsafe { at.as_ref() } {
        at = mutex.next.load(Relaxed);
        if mutex.has(flag::ROBUST) {
            mutex.flags.fetch_or(flag::OWNER_DEAD, Relaxed);
            mutex.depth.set(token, 0);
            mutex.free(token);
        }
    }
}
