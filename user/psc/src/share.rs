//! What Linux can write: each word of it is read once, and nothing in it is believed.
//!
//! Which code runs on which page tables, and every request, stand in [`Psc`], which no process of
//! Linux maps. Processes have their FIFOs, in the share, and nothing else of it.

use core::{
    ptr::{addr_of, addr_of_mut},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};
use pillion_abi::channel::{FIFOS, Psc, PscFifo, PscSlot, Share, psc::SLOTS};
use pillion_channel::event;
use pillion_runtime::{
    info::{address, skin},
    signal,
};

fn psc() -> *mut Psc {
    address::PSC as *mut Psc
}

/// Has Linux look at a FIFO, if there is one of that number.
pub fn tell_fifo(number: u64) {
    if number >= FIFOS as u64 {
        return;
    }
    let share = address::SHARE as *mut Share;
    // SAFETY: the share is mapped for good, and all accesses to this word are atomic.
    let events = unsafe { AtomicU64::from_ptr(addr_of_mut!((*share).events[0])) };
    if event::raise(events, 1 << number) {
        let _ = signal(skin::slot::LINUX);
    }
}

/// A slot. Out of range: the last one.
fn words(number: usize) -> *mut PscSlot {
    // SAFETY: it is mapped for good, which the resource manager does before this task runs; the
    // number is in range.
    unsafe { addr_of_mut!((*psc()).slots[number.min(SLOTS - 1)]) }
}

fn fifo() -> *mut PscFifo {
    // SAFETY: as in `words`.
    unsafe { addr_of_mut!((*psc()).fifo) }
}

/// A word that both sides use.
///
/// # Safety
/// The word is in what Linux's kernel shares.
unsafe fn atomic<'a>(word: *mut u64) -> &'a AtomicU64 {
    // SAFETY: that is mapped for good, its words are aligned, and all accesses to this one are
    // atomic.
    unsafe { AtomicU64::from_ptr(word) }
}

/// A request: its number, and what it is about.
pub struct Request<T> {
    pub number: u64,
    pub what: T,
}

/// What is asked for a handler, if that is new.
pub fn handler(number: usize) -> Option<Request<PscSlot>> {
    let slot = words(number);
    // SAFETY: the word is in there; the acquire pairs with Linux's release, so that the rest is
    // there. The copy may be of bytes that Linux writes at the same time: all of them are integers.
    unsafe {
        let request = atomic(addr_of_mut!((*slot).request)).load(Ordering::Acquire);
        let answer = atomic(addr_of_mut!((*slot).answer)).load(Ordering::Relaxed);
        (request != answer).then(|| Request { number: request, what: slot.read_volatile() })
    }
}

/// Answers it.
pub fn answer_handler(number: usize, request: u64, result: i64) {
    let slot = words(number);
    // SAFETY: as in `handler`; the release lets Linux find the result.
    unsafe {
        addr_of_mut!((*slot).result).write_volatile(result);
        atomic(addr_of_mut!((*slot).answer)).store(request, Ordering::Release);
    }
}

/// What is asked about a FIFO, if that is new: its number and its size.
pub fn fifo_request() -> Option<Request<(u32, u32)>> {
    let fifo = fifo();
    // SAFETY: as in `handler`.
    unsafe {
        let request = atomic(addr_of_mut!((*fifo).request)).load(Ordering::Acquire);
        let answer = atomic(addr_of_mut!((*fifo).answer)).load(Ordering::Relaxed);
        let what = (addr_of!((*fifo).number).read_volatile(), addr_of!((*fifo).size).read_volatile());
        (request != answer).then_some(Request { number: request, what })
    }
}

/// Answers it.
pub fn answer_fifo(request: u64, result: i64) {
    let fifo = fifo();
    // SAFETY: as in `answer_handler`.
    unsafe {
        addr_of_mut!((*fifo).result).write_volatile(result);
        atomic(addr_of_mut!((*fifo).answer)).store(request, Ordering::Release);
    }
}

/// What a handler shows of itself.
pub struct Shown(*mut PscSlot);

impl Shown {
    /// That of a handler.
    pub fn of(number: usize) -> Shown {
        Shown(words(number))
    }

    /// It begins, or does nothing any more.
    pub fn set_state(&self, state: u32) {
        // SAFETY: as in `words`; the word is aligned, and accesses to it are atomic.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.0).state)).store(state, Ordering::Release) };
    }

    /// Why it was stopped, and where.
    pub fn set_fault(&self, vector: u32, address: u64, rip: u64) {
        // SAFETY: as in `words`.
        unsafe {
            addr_of_mut!((*self.0).vector).write_volatile(vector);
            addr_of_mut!((*self.0).address).write_volatile(address);
            addr_of_mut!((*self.0).rip).write_volatile(rip);
        }
    }

    /// How it went so far.
    pub fn set_counts(&self, runs: u64, overruns: u64, latency_max_ns: u64) {
        // SAFETY: as in `words`.
        unsafe {
            addr_of_mut!((*self.0).runs).write_volatile(runs);
            addr_of_mut!((*self.0).overruns).write_volatile(overruns);
            addr_of_mut!((*self.0).latency_max_ns).write_volatile(latency_max_ns);
        }
    }
}
