//! Memory that Linux can write: each word is read once, and nothing in it is trusted.
//!
//! Requests, including which code runs on which page tables, are in [`Psc`], which no process of
//! Linux maps. Processes have their FIFOs in the share, and no other part of it.

use core::mem::MaybeUninit;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use pillion_abi::channel::{FIFOS, Psc, PscFifo, PscSlot, Share, psc::SLOTS};
use pillion_channel::{copy::copy, event};
use pillion_runtime::info::{address, skin};
use pillion_runtime::signal;

fn psc() -> *mut Psc {
    address::PSC as *mut Psc
}

/// Makes Linux check a FIFO, if there is one with that number.
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

/// A slot; the last one if the number is out of range.
fn words(number: usize) -> *mut PscSlot {
    // SAFETY: the resource manager mapped it for good before this task began to run; the index is
    // in range.
    unsafe { addr_of_mut!((*psc()).slots[number.min(SLOTS - 1)]) }
}

fn fifo() -> *mut PscFifo {
    // SAFETY: as in `words`.
    unsafe { addr_of_mut!((*psc()).fifo) }
}

/// A word that both sides use.
///
/// # Safety
/// The word lies in what Linux's kernel shares.
unsafe fn atomic<'a>(word: *mut u64) -> &'a AtomicU64 {
    // SAFETY: that is mapped for good, its words are aligned, and all access to this one is atomic.
    unsafe { AtomicU64::from_ptr(word) }
}

/// A request: its number, and its content.
pub struct Request<T> {
    pub number: u64,
    pub what: T,
}

/// A new request for a handler, if there is one.
pub fn handler(number: usize) -> Option<Request<PscSlot>> {
    let slot = words(number);
    let mut what = MaybeUninit::<PscSlot>::uninit();
    // SAFETY: the words lie in the slot; the acquire pairs with Linux's release, so that the rest
    // of the request is complete. Linux may write bytes while they are copied, but all of them are
    // integers.
    unsafe {
        let request = atomic(addr_of_mut!((*slot).request)).load(Ordering::Acquire);
        let answer = atomic(addr_of_mut!((*slot).answer)).load(Ordering::Relaxed);
        (request != answer).then(|| {
            copy(what.as_mut_ptr().cast(), slot.cast(), size_of::<PscSlot>());
            Request { number: request, what: what.assume_init() }
        })
    }
}

pub fn answer_handler(number: usize, request: u64, result: i64) {
    let slot = words(number);
    // SAFETY: as in `handler`; the release makes the result visible to Linux.
    unsafe {
        addr_of_mut!((*slot).result).write_volatile(result);
        atomic(addr_of_mut!((*slot).answer)).store(request, Ordering::Release);
    }
}

/// A new request for a FIFO, if there is one: the FIFO's number and size.
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

pub fn answer_fifo(request: u64, result: i64) {
    let fifo = fifo();
    // SAFETY: as in `answer_handler`.
    unsafe {
        addr_of_mut!((*fifo).result).write_volatile(result);
        atomic(addr_of_mut!((*fifo).answer)).store(request, Ordering::Release);
    }
}

/// What Linux can see of a handler.
pub struct Shown(*mut PscSlot);

impl Shown {
    /// That of this handler.
    pub fn of(number: usize) -> Shown {
        Shown(words(number))
    }

    /// Sets the state: the handler begins, or does not run any more.
    pub fn set_state(&self, state: u32) {
        // SAFETY: as in `words`; the word is aligned, and accesses to it are atomic.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.0).state)).store(state, Ordering::Release) };
    }

    /// Records why and where it was stopped.
    pub fn set_fault(&self, vector: u32, address: u64, rip: u64) {
        // SAFETY: as in `words`.
        unsafe {
            addr_of_mut!((*self.0).vector).write_volatile(vector);
            addr_of_mut!((*self.0).address).write_volatile(address);
            addr_of_mut!((*self.0).rip).write_volatile(rip);
        }
    }

    /// Records its counts so far.
    pub fn set_counts(&self, runs: u64, overruns: u64, latency_max_ns: u64) {
        // SAFETY: as in `words`.
        unsafe {
            addr_of_mut!((*self.0).runs).write_volatile(runs);
            addr_of_mut!((*self.0).overruns).write_volatile(overruns);
            addr_of_mut!((*self.0).latency_max_ns).write_volatile(latency_max_ns);
        }
    }
}
