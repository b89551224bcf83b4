//! The table of threads.

use crate::{cell::Guarded, lock::Token, sync::claim::Claims, wait::Queue};
use core::arch::asm;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
use pillion_abi::{channel::THREADS, status::Error};
use pillion_rt_core::release::Releases;
use pillion_runtime::info::{self, skin};
use pillion_runtime::{Cap, call};

/// [`Thread::magic`] while the thread exists.
pub const MAGIC: u32 = 0x1148_2cbc;

/// Number of values that a thread can store by key.
pub(super) const KEYS: usize = 20;

/// State of a table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Unused.
    Free,
    /// The thread exists.
    Live,
    /// The thread has ended and waits to be joined.
    Ended,
    /// The thread has ended and will not be joined: its stack can be freed.
    Gone,
}

/// Names one thread for good, not the later ones in its place in the table: for references that
/// outlive the thread. It is the thread's number plus one and, from bit [`Identity::BITS`] on, how
/// many threads had the place before. After 8 million threads in one place the count starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u32);

impl Identity {
    /// Bits of the number; one of them is free for the users of [`Identity::word`].
    const BITS: u32 = 9;

    /// The identity as a number other than 0, without the bit `1 << 8`.
    #[inline(always)]
    pub(crate) fn word(self) -> u32 {
        self.0
    }

    /// The identity that [`Identity::word`] came from.
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

/// A thread, as the program and this library see it. The first members are declared in
/// `rtl_sched.h` as well.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    /// Its own address, which is found at FS:0.
    own: AtomicPtr<Thread>,
    /// Words that the C library reads from its own description of a thread, which would lie here.
    c_library: [AtomicUsize; 31],
    /// Pending signals, as bits. Programs may set bits themselves.
    pub pending: AtomicU64,
    /// [`MAGIC`] while the thread exists.
    pub magic: AtomicU32,
    number: AtomicU32,
    /// See [`Identity`].
    identity: AtomicU32,
    /// Storage for the result of `hrt2ts`.
    time: [AtomicI64; 2],

    /// errno.
    pub errno: AtomicI32,
    pub(crate) lock_depth: AtomicU32,
    /// The program has switched interrupts off.
    pub(crate) interrupts_off: AtomicBool,
    /// Threads that this one is about to signal.
    pub(crate) to_signal: AtomicU64,
    /// Above 0 while other threads must not stop this one.
    pub(crate) unstoppable: AtomicU32,
    /// One of `wait::word`.
    pub(crate) waiting: AtomicU32,
    /// One of `stop`'s bits.
    pub(super) stop: AtomicU32,
    /// The kernel has stopped it.
    pub(super) stopped: Guarded<bool>,
    /// Level without what waiters for the task's lock lend.
    pub(super) level: AtomicU8,
    /// The thread still runs at an inherited level, until the thread that lent it lowers it.
    pub(super) lent: AtomicBool,
    /// Number plus one of the thread that this one lowers when it runs, or 0.
    pub(super) lender: Guarded<u32>,
    /// Queue that the thread waits in.
    pub(crate) queue: AtomicPtr<Queue>,
    /// Position among the waiting threads.
    pub(crate) queued: Guarded<u64>,
    /// What the thread last waited for, as [`How::state`].
    pub(crate) doing: Guarded<u32>,
    /// Signals that end the thread's wait.
    pub(crate) listens: Guarded<u64>,
    /// Signals that the thread last waited for in `sigsuspend`, as bits.
    pub(crate) awaits: Guarded<u64>,
    /// Blocked signals.
    pub(crate) masked: AtomicU64,

    pub(crate) life: Guarded<Life>,
    /// Real-time: neither the main thread nor one that runs handlers.
    pub(super) real_time: Guarded<bool>,
    pub(super) detached: Guarded<bool>,
    pub(super) priority: Guarded<u32>,
    pub(super) joiners: Queue,
    pub(super) result: AtomicPtr<c_void>,
    pub(super) entry: AtomicUsize,
    pub(super) argument: AtomicPtr<c_void>,
    /// The thread's stack, if this library allocated it.
    pub(super) stack: AtomicPtr<u8>,

    pub(super) releases: Guarded<Releases>,
    /// The release that `releases` holds as the next one has come.
    pub(super) released: AtomicBool,
    /// Ticks by which the last release was late, plus one, if not yet in the histogram; 0 for none.
    pub(super) late: AtomicU64,
    /// A signal handler runs in the middle of the thread's wait for its release.
    pub(super) between_waits: AtomicBool,
    pub(super) asynchronous: AtomicBool,
    pub(super) ending: AtomicBool,
    pub(super) cleanup: AtomicPtr<super::cleanup::Frame>,
    pub(super) specific: [AtomicPtr<c_void>; KEYS],
    /// Mutexes that the thread holds and that must be told when it ends.
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

    /// The thread's number; 0 is the main thread.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.number.load(Relaxed) as usize
    }

    /// The processor that the thread runs on.
    pub(crate) fn processor(&self) -> u64 {
        info::task().processor_of(self.number() as u32)
    }

    /// Distinguishes the thread from later ones in the same place of the table.
    #[inline(always)]
    pub(crate) fn identity(&self) -> Identity {
        Identity(self.identity.load(Relaxed))
    }

    /// The thread is gone: gives the next one in its place another identity.
    pub(super) fn new_identity(&self) {
        self.identity.fetch_add(1 << Identity::BITS, Relaxed);
    }

    /// Storage for a time that the thread passes to a call.
    pub(crate) fn time(&self) -> &[AtomicI64; 2] {
        &self.time
    }

    /// The thread's `pthread_t`.
    pub fn pointer(&'static self) -> *mut Thread {
        core::ptr::from_ref(self).cast_mut()
    }

    /// The thread's level, without what waiters for the task's lock lend.
    pub(crate) fn level(&self) -> u8 {
        self.level.load(Relaxed)
    }

    /// Runs the thread at `level` from now on.
    pub(crate) fn set_context(&self, level: u8) -> Result<(), Error> {
        call::context_set_priority(self.slot(skin::slot::CONTEXTS), level).map(|_| ())
    }

    /// Ends the thread's [`Thread::wait_for_signal`].
    #[inline]
    pub(crate) fn signal(&self) {
        let _ = call::signal(self.slot(skin::slot::NOTIFICATIONS));
    }

    /// Waits until the thread is signalled; returns false if the deadline came first. It may also
    /// return early, with true. For the thread itself.
    #[inline]
    pub(crate) fn wait_for_signal(&self, deadline: u64) -> bool {
        match call::wait(self.slot(skin::slot::NOTIFICATIONS), deadline) {
            Ok([bits, _]) => {
                if self.number() == 0 {
                    crate::main_thread::note(bits);
                }
                true
            }
            Err(error) => error != Error::Timeout,
        }
    }

    /// One of the thread's capabilities.
    #[inline(always)]
    pub(super) fn slot(&self, first: u32) -> Cap {
        first + self.number.load(Relaxed)
    }
}

static TABLE: [Thread; THREADS] = [const { Thread::new() }; THREADS];

/// The "C" locale for the C library; it has no translations.
static LOCALE: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Word of [`Thread::c_library`] that the C library takes the locale from.
const LOCALE_WORD: usize = 20;

/// All threads that the task may have.
pub fn all() -> &'static [Thread] {
    &TABLE[..(info::task().skin.threads as usize).clamp(1, THREADS)]
}

/// A thread by its number.
#[inline]
pub fn by_number(number: usize) -> &'static Thread {
    &TABLE[number % THREADS]
}

/// Makes the main thread look for software interrupts to handle.
pub(crate) fn nudge_main() {
    by_number(0).signal();
}

/// The thread of a program's `pthread_t`, if that thread exists.
pub fn by_pointer(pointer: *const Thread) -> Option<&'static Thread> {
    let offset = (pointer as usize).checked_sub(TABLE.as_ptr() as usize)?;
    let thread = TABLE.get(offset / size_of::<Thread>())?;
    (offset % size_of::<Thread>() == 0 && thread.magic.load(Relaxed) == MAGIC).then_some(thread)
}

/// The calling thread.
#[inline(always)]
pub fn current() -> &'static Thread {
    let thread: *const Thread;
    // SAFETY: from the thread's first instructions on, FS points to its entry in the table, and the
    // entry begins with its own address.
    unsafe {
        asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, pure, readonly, preserves_flags));
        &*thread
    }
}

/// Initializes the entries, and makes the calling thread the main thread.
///
/// # Safety
/// The task has one thread, which has not called [`current`] yet.
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
