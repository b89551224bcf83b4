//! The table of threads.

use crate::{cell::Guarded, lock::Token, sync::claim::Claims, wait::Queue};
use core::{
    arch::asm,
    ffi::c_void,
    ptr::null_mut,
    sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
    },
};
use pillion_abi::channel::THREADS;
use pillion_rt_core::release::Releases;
use pillion_runtime::{
    Cap, call,
    info::{self, skin},
};

/// What [`Thread::magic`] is while the thread exists.
pub const MAGIC: u32 = 0x1148_2cbc;

/// Number of values that a thread can keep by key.
pub(super) const KEYS: usize = 20;

/// What became of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Nobody uses it.
    Free,
    /// It exists.
    Live,
    /// It has ended and waits to be joined.
    Ended,
    /// It has ended and nobody will join it: its stack can be had back.
    Gone,
}

/// Names one thread for good, and not whoever has its place in the table later: for what outlives
/// the thread. Its number plus one, and above [`Identity::BITS`] how many threads had the place
/// before it. After 8 million threads in one place the count begins anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u32);

impl Identity {
    /// Bits of the number; one more is free for the users of [`Identity::word`].
    const BITS: u32 = 9;

    /// It as a number other than 0, without the bit `1 << 8`.
    #[inline(always)]
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// The one that [`Identity::word`] came from.
    pub(crate) fn of_word(word: u32) -> Identity {
        Identity(word)
    }

    /// The thread, if it has not ended.
    pub(crate) fn get(self, token: &Token) -> Option<&'static Thread> {
        let number = (self.0 & 0xff).checked_sub(1)?;
        let thread = by_number(number as usize);
        (thread.identity() == self && thread.life.get(token) == Life::Live).then_some(thread)
    }
}

/// A thread, as the program and this library see it. The first members stand in `rtl_sched.h` as
/// well.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    /// Its own address, which is found at FS:0.
    own: AtomicPtr<Thread>,
    /// What the C library takes from its own description of a thread, which would lie here.
    c_library: [AtomicUsize; 31],
    /// Signals that wait for it, as bits. Programs may set bits themselves.
    pub pending: AtomicU64,
    /// [`MAGIC`] while it exists.
    pub magic: AtomicU32,
    number: AtomicU32,
    /// As [`Identity`].
    identity: AtomicU32,
    /// Place for `hrt2ts`.
    time: [AtomicI64; 2],

    /// errno.
    pub errno: AtomicI32,
    pub(crate) lock_depth: AtomicU32,
    /// The program has switched interrupts off.
    pub(crate) interrupts_off: AtomicBool,
    /// Threads that it is about to signal.
    pub(crate) to_signal: AtomicU64,
    /// More than 0 while others must not stop it.
    pub(crate) unstoppable: AtomicU32,
    /// One of `wait::word`.
    pub(crate) waiting: AtomicU32,
    /// One of `stop`'s bits.
    pub(super) stop: AtomicU32,
    /// The kernel has stopped it.
    pub(super) stopped: Guarded<bool>,
    /// Level without what is lent by those who wait for the task's lock.
    pub(super) level: AtomicU8,
    /// It still runs at a level that it inherited, until whoever it inherited from lowers it.
    pub(super) lent: AtomicBool,
    /// Number plus one of the thread that it is to put down when it runs, or 0.
    pub(super) lender: Guarded<u32>,
    /// What it waits in.
    pub(crate) queue: AtomicPtr<Queue>,
    /// Place among those who wait.
    pub(crate) queued: Guarded<u64>,
    /// What it last waited for, as [`How::state`].
    pub(crate) doing: Guarded<u32>,
    /// Signals that end its wait.
    pub(crate) listens: Guarded<u64>,
    /// Signals that it last waited for in `sigsuspend`, as bits.
    pub(crate) awaits: Guarded<u64>,
    /// Signals that are held back.
    pub(crate) masked: AtomicU64,

    pub(crate) life: Guarded<Life>,
    /// It is real-time, and not the main thread or one that runs handlers.
    pub(super) real_time: Guarded<bool>,
    pub(super) detached: Guarded<bool>,
    pub(super) priority: Guarded<u32>,
    pub(super) joiners: Queue,
    pub(super) result: AtomicPtr<c_void>,
    pub(super) entry: AtomicUsize,
    pub(super) argument: AtomicPtr<c_void>,
    /// Its stack if this library allocated it.
    pub(super) stack: AtomicPtr<u8>,

    pub(super) releases: Guarded<Releases>,
    /// The release that `releases` has next has come.
    pub(super) released: AtomicBool,
    /// Ticks by which the last release was late, not yet in the histogram; 0 for none.
    pub(super) late: AtomicU64,
    /// It runs a handler of a signal that came while it waits for its release.
    pub(super) between_waits: AtomicBool,
    pub(super) asynchronous: AtomicBool,
    pub(super) ending: AtomicBool,
    pub(super) cleanup: AtomicPtr<super::cleanup::Frame>,
    pub(super) specific: [AtomicPtr<c_void>; KEYS],
    /// Mutexes that it holds and that have to know when it ends.
    pub(crate) held: AtomicPtr<crate::sync::mutex::Mutex>,
    pub(crate) claims: Claims,
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            own: AtomicPtr::new(null_mut()),
            c_library: [const { AtomicUsize::new(0) }; 31],
            pending: AtomicU64::new(0),
            magic: AtomicU32::new(0),
            number: AtomicU32::new(0),
            identity: AtomicU32::new(0),
            time: [const { AtomicI64::new(0) }; 2],
            errno: AtomicI32::new(0),
            lock_depth: AtomicU32::new(0),
            interrupts_off: AtomicBool::new(false),
            to_signal: AtomicU64::new(0),
            unstoppable: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            stop: AtomicU32::new(0),
            stopped: Guarded::new(false),
            level: AtomicU8::new(0),
            lent: AtomicBool::new(false),
            lender: Guarded::new(0),
            queue: AtomicPtr::new(null_mut()),
            queued: Guarded::new(0),
            doing: Guarded::new(0),
            listens: Guarded::new(0),
            awaits: Guarded::new(0),
            masked: AtomicU64::new(0),
            life: Guarded::new(Life::Free),
            real_time: Guarded::new(false),
            detached: Guarded::new(false),
            priority: Guarded::new(0),
            joiners: Queue::new(),
            result: AtomicPtr::new(null_mut()),
            entry: AtomicUsize::new(0),
            argument: AtomicPtr::new(null_mut()),
            stack: AtomicPtr::new(null_mut()),
            releases: Guarded::new(Releases::NONE),
            released: AtomicBool::new(false),
            late: AtomicU64::new(0),
            between_waits: AtomicBool::new(false),
            asynchronous: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            cleanup: AtomicPtr::new(null_mut()),
            specific: [const { AtomicPtr::new(null_mut()) }; KEYS],
            held: AtomicPtr::new(null_mut()),
            claims: Claims::new(),
        }
    }

    /// Its number; 0 is the main thread.
    #[inline(always)]
    #[must_use]
    pub fn number(&self) -> usize {
        self.number.load(Relaxed) as usize
    }

    /// What tells it from later threads in the same place of the table.
    #[inline(always)]
    pub(crate) fn identity(&self) -> Identity {
        Identity(self.identity.load(Relaxed))
    }

    /// It is no more: the next thread in its place is another one.
    pub(super) fn new_identity(&self) {
        self.identity.fetch_add(1 << Identity::BITS, Relaxed);
    }

    /// Place for a time that the thread hands to a call.
    pub(crate) fn time(&self) -> &[AtomicI64; 2] {
        &self.time
    }

    /// As the program knows it.
    #[must_use]
    pub fn pointer(&'static self) -> *mut Thread {
        core::ptr::from_ref(self).cast_mut()
    }

    /// Its level, without what is lent by those who wait for the task's lock.
    pub(crate) fn level(&self) -> u8 {
        self.level.load(Relaxed)
    }

    /// Runs it at a level from now on.
    pub(crate) fn set_context(&self, level: u8) {
        let _ = call::context_set_priority(self.slot(skin::slot::CONTEXTS), level);
    }

    /// Wakes it out of [`Thread::wait_for_signal`].
    #[inline]
    pub(crate) fn signal(&self) {
        let _ = call::signal(self.slot(skin::slot::NOTIFICATIONS));
    }

    /// Waits until it is signalled; false when the deadline came first. For the thread itself.
    /// Returns early, too, and says true then.
    #[inline]
    pub(crate) fn wait_for_signal(&self, deadline: u64) -> bool {
        match call::wait(self.slot(skin::slot::NOTIFICATIONS), deadline) {
            Ok([bits, _]) => {
                if self.number() == 0 {
                    crate::main_thread::note(bits);
                }
                true
            }
            Err(error) => error != pillion_abi::status::Error::Timeout,
        }
    }

    /// One of its capabilities.
    #[inline(always)]
    pub(super) fn slot(&self, first: u32) -> Cap {
        first + self.number.load(Relaxed)
    }
}

static TABLE: [Thread; THREADS] = [const { Thread::new() }; THREADS];

/// What the C library takes for its "C" locale: it names no translations.
static LOCALE: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Word of [`Thread::c_library`] that the C library takes the locale from.
const LOCALE_WORD: usize = 20;

/// All threads that the task may have.
pub fn all() -> &'static [Thread] {
    &TABLE[..(info::task().skin.threads as usize).clamp(1, THREADS)]
}

/// A thread by its number.
#[inline]
#[must_use]
pub fn by_number(number: usize) -> &'static Thread {
    &TABLE[number % THREADS]
}

/// Has the main thread look for handlers of software interrupts.
pub(crate) fn nudge_main() {
    by_number(0).signal();
}

/// The thread that a program's `pthread_t` stands for, if it stands for one that exists.
#[must_use]
pub fn by_pointer(pointer: *const Thread) -> Option<&'static Thread> {
    let offset = (pointer as usize).checked_sub(TABLE.as_ptr() as usize)?;
    let thread = TABLE.get(offset / size_of::<Thread>())?;
    (offset % size_of::<Thread>() == 0 && thread.magic.load(Relaxed) == MAGIC).then_some(thread)
}

/// The calling thread.
#[inline(always)]
#[must_use]
pub fn current() -> &'static Thread {
    let thread: *const Thread;
    // SAFETY: FS points to the thread's entry in the table from its first instructions on, and the
    // entry begins with its own address.
    unsafe {
        asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, pure, readonly, preserves_flags));
        &*thread
    }
}

/// Gives the entries what they need, and makes the calling thread the main thread.
///
/// # Safety
///
/// The task has one thread, which has asked for no [`current`] yet.
pub(crate) unsafe fn adopt_main() -> &'static Thread {
    for (number, thread) in TABLE.iter().enumerate() {
        thread.number.store(number as u32, Relaxed);
        thread.identity.store(number as u32 + 1, Relaxed);
        thread.own.store(thread.pointer(), Relaxed);
        thread.c_library[LOCALE_WORD].store(LOCALE.as_ptr() as usize, Relaxed);
    }
    let main = &TABLE[0];
    // SAFETY: the entry is static and begins with its own address; by the caller's promise nothing
    // has used FS before.
    unsafe { asm!("wrfsbase {}", in(reg) main.pointer(), options(nostack, preserves_flags)) };
    main
}
