//! Memory that Linux can write: each word is read once, and nothing in it is trusted.

use crate::runner;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use pillion_abi::NEVER;
use pillion_abi::dual::{
    Descriptors, Dual, MEMORIES, Naming, PROCESSORS, Processor, SIGNAL_TIMERS, SignalTimer, Slot, VECTOR_BYTES, futex,
    state,
};
use pillion_channel::event;
use pillion_dual::clock::Clock;
use pillion_dual::latch::stated;
use pillion_dual::vectors::Stated;
use pillion_runtime::info::{self, address, dual, skin};
use pillion_runtime::{signal, vcpu_inject, vcpu_notify, wait};

/// First vector that is no exception.
const VECTOR_FIRST: u8 = 32;

/// Whether Linux has several processors: the others run while this task does.
pub fn has_several() -> bool {
    // SAFETY: this is the task of dual mode.
    unsafe { dual::dual() }.several != 0
}

/// What the manager mapped for good before this task began to run, followed by the slots.
pub fn head() -> *mut Dual {
    address::DUAL as *mut Dual
}

/// The clocks as Linux states them now, and the number of the statement; no clocks if they do not
/// run by the time-stamp counter, or if Linux changes them all the time.
#[inline(always)]
pub fn clock() -> (u64, Option<Clock>) {
    // SAFETY: the resource manager mapped the part for good before this task began to run. Linux
    // may write a copy while it is read, but all of it are integers.
    unsafe {
        let clocks = addr_of_mut!((*head()).clocks);
        stated(sequence(clocks), |copy| Clock::new(addr_of!((*clocks).copies[copy]).read_volatile()))
    }
}

/// What `read` finds in one of the copies of what Linux states about its clocks; see [`stated`].
pub fn stated_at_once<T>(read: impl Fn(usize) -> Option<T>) -> (u64, Option<T>) {
    // SAFETY: as in `clock`.
    stated(unsafe { sequence(addr_of_mut!((*head()).clocks)) }, read)
}

/// The number of Linux's latest statement about its clocks.
pub fn clock_sequence() -> u64 {
    // SAFETY: as in `clock`.
    unsafe { sequence(addr_of_mut!((*head()).clocks)) }.load(Ordering::Acquire)
}

/// The page from which Linux says that its vDSO reads the clocks; 0: none.
pub fn vvar_page() -> u64 {
    // SAFETY: as in `clock`.
    unsafe { addr_of!((*head()).vvar.page).read_volatile() }
}

/// Says which page has copies in its place.
pub fn set_replaced(page: u64) {
    // SAFETY: as in `clock`.
    unsafe { addr_of_mut!((*head()).vvar.replaced).write_volatile(page) };
}

/// The copy of its first bytes that goes with one of the statements about the clocks.
pub fn vvar_copy(copy: usize) -> *const u8 {
    // SAFETY: as in `clock`; nothing is accessed here.
    unsafe { addr_of!((*head()).vvar.copies[copy & 1]).cast() }
}

/// The number of a memory that has objects; 0 if there is none.
pub fn memory(index: usize) -> u64 {
    if index >= MEMORIES {
        return 0;
    }
    // SAFETY: as in `clock`.
    unsafe { addr_of!((*head()).memories[index]).read_volatile() }
}

/// The highest ceiling that threads of a memory may give a mutex.
pub fn ceiling(index: usize) -> u8 {
    if index >= MEMORIES {
        return 0;
    }
    // SAFETY: as in `clock`.
    unsafe { addr_of!((*head()).ceilings[index]).read_volatile() }
}

/// How many memories have gone.
pub fn memories_gone() -> u32 {
    // SAFETY: as in `clock`; all accesses to the word are atomic.
    unsafe { AtomicU32::from_ptr(addr_of_mut!((*head()).memories_gone)) }.load(Ordering::SeqCst)
}

/// How files are found in Linux's memory.
pub fn descriptors() -> Descriptors {
    // SAFETY: as in `clock`; all of it are integers.
    unsafe { addr_of!((*head()).descriptors).read_volatile() }
}

/// # Safety
/// `clocks` is that of [`head`].
unsafe fn sequence(clocks: *mut pillion_abi::dual::Clocks) -> &'static AtomicU64 {
    // SAFETY: the word is mapped for good and aligned, and every access to it here is atomic.
    unsafe { AtomicU64::from_ptr(addr_of_mut!((*clocks).sequence)) }
}

/// A thread that Linux offers, but for its registers: each word was read once.
pub struct Offer {
    pub number: u32,
    pub priority: u32,
    pub cr3: u64,
    pub cr4: u64,
    pub xcr0: u64,
    pub thread: u32,
    pub process: u32,
    pub memory: u32,
    pub flags: u32,
}

/// The registers that are not general ones.
pub struct Special {
    pub rip: u64,
    pub rflags: u64,
    pub fs_base: u64,
    pub gs_base: u64,
}

/// Why a thread goes back to Linux; see the fields of [`Slot`] with the same names.
#[derive(Clone, Copy, Default)]
pub struct End {
    pub reason: u32,
    pub resume: u32,
    pub number: u64,
    pub address: u64,
    pub code: u64,
    pub wake_ns: u64,
}

/// A slot.
#[derive(Clone, Copy)]
pub struct Place {
    pub number: usize,
    slot: *mut Slot,
    /// What is told about the runner's processor.
    told: *mut Processor,
}

impl Place {
    /// The slot of a runner. The manager mapped one for each.
    pub fn of(number: usize) -> Place {
        let first = address::DUAL + size_of::<Dual>() as u64;
        let slot = (first + (number * size_of::<Slot>()) as u64) as *mut Slot;
        let processor = info::task().processor_of(runner::thread(number)) as usize % PROCESSORS;
        // SAFETY: the head is mapped for good; nothing is accessed here.
        let told = unsafe { addr_of_mut!((*head()).processors[processor]) };
        Place { number, slot, told }
    }

    fn state(&self) -> &AtomicU32 {
        // SAFETY: the slot is mapped for good and aligned; every access to the word is atomic.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.slot).state)) }
    }

    /// Whether a thread is in primary mode here.
    pub fn is_primary(&self) -> bool {
        self.state().load(Ordering::Acquire) == state::PRIMARY
    }

    /// Takes the thread that Linux offers: it is in primary mode from now on, and what Linux wrote
    /// before is visible. Returns whether there is one: Linux can withdraw it until then.
    pub fn take(&self) -> bool {
        self.state().compare_exchange(state::OFFERED, state::PRIMARY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether Linux wants that offer back.
    pub fn is_recalled(&self, offer: u32) -> bool {
        // SAFETY: as in `state`.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.slot).recall)).load(Ordering::Acquire) == offer }
    }

    /// What Linux offers.
    pub fn offer(&self) -> Offer {
        let slot = self.slot;
        // SAFETY: the fields lie in the slot, which is mapped; they consist of integers, so that
        // every value is valid.
        unsafe {
            Offer {
                number: addr_of!((*slot).offer).read_volatile(),
                priority: addr_of!((*slot).priority).read_volatile(),
                cr3: addr_of!((*slot).cr3).read_volatile(),
                cr4: addr_of!((*slot).cr4).read_volatile(),
                xcr0: addr_of!((*slot).xcr0).read_volatile(),
                thread: addr_of!((*slot).thread).read_volatile(),
                process: addr_of!((*slot).process).read_volatile(),
                memory: addr_of!((*slot).memory).read_volatile(),
                flags: addr_of!((*slot).flags).read_volatile(),
            }
        }
    }

    /// What the call that Linux offers names.
    pub fn naming(&self) -> Naming {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).naming).read_volatile() }
    }

    /// The time that the call names at which Linux offers the thread.
    pub fn time(&self) -> [u64; 2] {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).time).read_volatile() }
    }

    /// The number of the offer of the thread that computes here.
    pub fn computes(&self) -> Option<u32> {
        let slot = self.slot;
        // SAFETY: as in `offer`.
        let (offer, waiting) =
            unsafe { (addr_of!((*slot).offer).read_volatile(), addr_of!((*slot).waiting).read_volatile()) };
        (self.is_primary() && waiting == 0).then_some(offer)
    }

    /// Where Linux's kernel says which descriptors the thread has: see [`Slot::descriptors`].
    pub fn descriptors(&self) -> u64 {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).descriptors).read_volatile() }
    }

    /// The number that Linux gives the processor which the thread was offered on.
    pub fn processor(&self) -> u32 {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).processor).read_volatile() as u32 }
    }

    /// Signals that the thread can wait for, as bits.
    pub fn signals(&self) -> u64 {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).signals).read_volatile() }
    }

    /// How many timers the thread has whose signals it can wait for.
    pub fn timer_count(&self) -> usize {
        // SAFETY: as in `offer`.
        let count = unsafe { addr_of!((*self.slot).timer_count).read_volatile() };
        count.min(SIGNAL_TIMERS as u64) as usize
    }

    /// One of them, below that.
    pub fn timer(&self, index: usize) -> SignalTimer {
        // SAFETY: as in `offer`; all of it are integers.
        unsafe { addr_of!((*self.slot).timers[index]).read_volatile() }
    }

    /// A signal of it was taken, which stands for so many expirations.
    pub fn take_timer(&self, index: usize, taken: u64, count: u64) {
        // SAFETY: as in `count`.
        unsafe {
            addr_of_mut!((*self.slot).timers[index].taken).write_volatile(taken + count);
            addr_of_mut!((*self.slot).timers[index].overrun).write_volatile(count - 1);
        }
    }

    /// It is set anew.
    pub fn set_timer(&self, index: usize, first: u64, interval: u64) {
        // SAFETY: as in `count`.
        unsafe {
            let timer = addr_of_mut!((*self.slot).timers[index]);
            addr_of_mut!((*timer).first).write_volatile(first);
            addr_of_mut!((*timer).interval).write_volatile(interval);
            addr_of_mut!((*timer).taken).write_volatile(0);
            addr_of_mut!((*timer).overrun).write_volatile(0);
        }
    }

    /// Shows whether the thread waits.
    pub fn set_waiting(&self, waits: bool) {
        // SAFETY: as in `count`.
        unsafe { addr_of_mut!((*self.slot).waiting).write_volatile(waits.into()) };
    }

    /// Shows the longest time from the end of a wait, in ticks.
    pub fn set_latency(&self, ticks: u64) {
        // SAFETY: as in `count`.
        unsafe { addr_of_mut!((*self.slot).latency_max).write_volatile(ticks) };
    }

    /// Shows how many points of time had passed before the thread waited for them.
    pub fn set_overruns(&self, count: u64) {
        // SAFETY: as in `count`.
        unsafe { addr_of_mut!((*self.slot).overruns).write_volatile(count) };
    }

    /// Shows how often the thread was answered, and how often it waited.
    pub fn count(&self, calls: u64, waits: u64) {
        let slot = self.slot;
        // SAFETY: as in `offer`; only this runner writes these while the slot is the task's.
        unsafe {
            addr_of_mut!((*slot).calls).write_volatile(calls);
            addr_of_mut!((*slot).waits).write_volatile(waits);
        }
    }

    /// A general register that Linux offers, by its number in instructions.
    #[inline(always)]
    pub fn gpr(&self, number: usize) -> u64 {
        // SAFETY: as in `offer`.
        unsafe { addr_of!((*self.slot).registers.gpr[number]).read_volatile() }
    }

    /// Writes a general register that Linux gets.
    #[inline(always)]
    pub fn set_gpr(&self, number: usize, value: u64) {
        // SAFETY: as in `count`.
        unsafe { addr_of_mut!((*self.slot).registers.gpr[number]).write_volatile(value) };
    }

    /// The other registers that Linux offers.
    #[inline(always)]
    pub fn special(&self) -> Special {
        // SAFETY: as in `offer`.
        unsafe {
            let registers = addr_of!((*self.slot).registers);
            Special {
                rip: addr_of!((*registers).rip).read_volatile(),
                rflags: addr_of!((*registers).rflags).read_volatile(),
                fs_base: addr_of!((*registers).fs_base).read_volatile(),
                gs_base: addr_of!((*registers).gs_base).read_volatile(),
            }
        }
    }

    /// Writes the other registers that Linux gets.
    #[inline(always)]
    pub fn set_special(&self, special: &Special) {
        // SAFETY: as in `count`.
        unsafe {
            let registers = addr_of_mut!((*self.slot).registers);
            addr_of_mut!((*registers).rip).write_volatile(special.rip);
            addr_of_mut!((*registers).rflags).write_volatile(special.rflags);
            addr_of_mut!((*registers).fs_base).write_volatile(special.fs_base);
            addr_of_mut!((*registers).gs_base).write_volatile(special.gs_base);
        }
    }

    /// Writes why the thread comes back, and what it used.
    pub fn set_end(&self, end: &End, [ticks, exhausted]: [u64; 2]) {
        let slot = self.slot;
        // SAFETY: as in `count`.
        unsafe {
            addr_of_mut!((*slot).reason).write_volatile(end.reason);
            addr_of_mut!((*slot).resume).write_volatile(end.resume);
            addr_of_mut!((*slot).number).write_volatile(end.number);
            addr_of_mut!((*slot).address).write_volatile(end.address);
            addr_of_mut!((*slot).code).write_volatile(end.code);
            addr_of_mut!((*slot).wake_ns).write_volatile(end.wake_ns);
            addr_of_mut!((*slot).ticks).write_volatile(ticks);
            addr_of_mut!((*slot).exhausted).write_volatile(exhausted);
        }
    }

    /// What Linux states of the vector registers.
    #[inline(always)]
    pub fn stated_vectors(&self) -> Stated {
        let [mxcsr, header] = Stated::OFFSETS.map(|offset| self.vectors().cast::<u8>().wrapping_add(offset));
        // SAFETY: as in `offer`; the area is aligned to a page, and both lie in it.
        unsafe {
            Stated { mxcsr: mxcsr.cast::<u32>().read_volatile(), header: header.cast::<[u64; 8]>().read_volatile() }
        }
    }

    /// Where the vector registers are.
    pub fn vectors(&self) -> *mut [u8; VECTOR_BYTES] {
        // SAFETY: the field lies in the slot.
        unsafe { addr_of_mut!((*self.slot).vectors) }
    }

    /// The slot is Linux's again. Returns how Linux knows it.
    pub fn give_back(&self, offer: u32) -> Knows {
        self.state().store(state::RETURNED, Ordering::Release);
        if self.is_recalled(offer) {
            Knows::Itself
        } else if self.raise(1 << self.number) {
            Knows::Not
        } else {
            Knows::Of
        }
    }

    /// Says that Linux has something to look at: a bit of [`Processor::events`]. Returns whether it
    /// has to be told.
    fn raise(&self, event: u64) -> bool {
        // SAFETY: as in `clock`; all accesses to the word are atomic.
        let events = unsafe { AtomicU64::from_ptr(addr_of_mut!((*self.told).events)) };
        event::raise(events, event)
    }

    /// The vCPU of Linux's on the runner's processor.
    fn passenger(&self) -> u32 {
        dual::slot::PASSENGERS + self.number as u32
    }

    /// Has Linux look at what was posted for its threads that wait for futexes.
    pub fn deliver(&self) {
        if self.raise(futex::EVENT) {
            let _ = match vector() {
                Some(vector) => vcpu_inject(self.passenger(), vector),
                None => signal(skin::slot::LINUX),
            };
        }
    }

    /// The shield of a thread that is given back, and how urgent Linux was last said to be.
    fn urgencies(&self) -> [&AtomicU32; 2] {
        // SAFETY: as in `clock`; all accesses to the words are atomic.
        unsafe {
            [addr_of_mut!((*self.told).shield), addr_of_mut!((*self.told).urgency)]
                .map(|word| AtomicU32::from_ptr(word))
        }
    }

    /// Whether Linux is not as urgent as a thread of a level should make it.
    pub fn is_calmer(&self, level: u8) -> bool {
        let [shield, stated] = self.urgencies().map(|word| word.load(Ordering::Relaxed));
        stated & 0xff < level.into() || stated & 0xff00 < shield & 0xff00
    }

    /// What the kernel is told of Linux: that it is at least as urgent as a level, and shielded as
    /// it wants. Linux looks at the word again after it has told the kernel something else.
    fn urgency(&self, level: u8) -> u16 {
        let [shield, stated] = self.urgencies();
        let shield = shield.load(Ordering::Relaxed) & 0xff00;
        if level == 0 && shield == 0 {
            return 0;
        }
        let before = stated.load(Ordering::Relaxed);
        let all = (before & 0xff).max(level.into()) | (before & 0xff00).max(shield);
        stated.store(all, Ordering::Relaxed);
        all as u16
    }

    /// Tells Linux that there is something to take, by ending its wait, with the vector that it
    /// chose, or by the doorbell if it chose none. Then waits for the runner's notification, until
    /// a time if there was nothing to tell.
    pub fn tell_and_wait(&self, told: Told, until: u64) {
        let notification = runner::notification(self.number);
        let _ = match (told, vector()) {
            (Told::Nothing, _) => wait(notification, until),
            (Told::Something, Some(vector)) => vcpu_notify(self.passenger(), vector, notification, 0, 0),
            (Told::Urgent(level), Some(vector)) => {
                let spare = (info::task().tsc_hz / SPARED) as u32;
                vcpu_notify(self.passenger(), vector, notification, self.urgency(level), spare)
            }
            (_, None) => signal(skin::slot::LINUX).and_then(|_| wait(notification, NEVER)),
        };
    }
}

/// Whether Linux lives, as it is said: one of [`pillion_abi::dual::life`].
pub fn life() -> u32 {
    // SAFETY: as in `clock`.
    unsafe { addr_of!((*head()).life).read_volatile() }
}

/// The vector with which Linux is told something; `None`: it chose none.
fn vector() -> Option<u8> {
    // SAFETY: as in `clock`.
    let vector = unsafe { addr_of!((*head()).vector).read_volatile() };
    u8::try_from(vector).ok().filter(|vector| *vector >= VECTOR_FIRST)
}

/// How Linux knows that a thread was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knows {
    /// It looks at the slot itself, since it asked for that offer.
    Itself,
    /// It was told of something else, and has not looked yet.
    Of,
    /// It does not.
    Not,
}

/// Linux's timer waits for this part of a second, 20 µs, when Linux gets a thread that is urgent
/// there, too: its tick takes as long as the switch to the thread, and would come before it.
const SPARED: u64 = 50_000;

/// What Linux is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// That there is something to take.
    Something,
    /// That there is a thread that is urgent in Linux, too: up to a level, if it is not 0.
    Urgent(u8),
}
