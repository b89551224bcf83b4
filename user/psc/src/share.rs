//! What Linux can write: each word of it is read once, and nothing in it is believed.

use core::{
    ptr::{addr_of, addr_of_mut},
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};
use pillion_abi::channel::{Psc, PscFifo, PscSlot, Share, psc::SLOTS};
use pillion_runtime::info::address;

/// Offset in the share of what is the handlers'.
pub const PSC: u64 = size_of::<Share>() as u64;

/// Offset behind it.
pub const END: u64 = PSC + size_of::<Psc>() as u64;

fn psc() -> *mut Psc {
    (address::SHARE + PSC) as *mut Psc
}

/// A slot. Out of range: the last one.
fn slot(number: usize) -> *mut PscSlot {
    // SAFETY: the share is mapped for good and is large enough, which `Desk::new` has seen to; the number is in range.
    unsafe { addr_of_mut!((*psc()).slots[number.min(SLOTS - 1)]) }
}

fn fifo() -> *mut PscFifo {
    // SAFETY: as in `slot`.
    unsafe { addr_of_mut!((*psc()).fifo) }
}

/// A word that both sides use.
///
/// # Safety
/// The word is in the share.
unsafe fn atomic<'a>(word: *mut u64) -> &'a AtomicU64 {
    // SAFETY: the share is mapped for good, its words are aligned, and all accesses to this one are atomic.
    unsafe { AtomicU64::from_ptr(word) }
}

/// A request: its number, and what it is about.
pub struct Request<T> {
    pub number: u64,
    pub what: T,
}

/// What is asked for a handler, if that is new.
pub fn handler(number: usize) -> Option<Request<PscSlot>> {
    let slot = slot(number);
    // SAFETY: the word is in the share; the acquire pairs with Linux's release, so that the rest is there. The copy may be of bytes that Linux writes at the
    // same time: all of them are integers.
    unsafe {
        let request = atomic(addr_of_mut!((*slot).request)).load(Ordering::Acquire);
        let answer = atomic(addr_of_mut!((*slot).answer)).load(Ordering::Relaxed);
        (request != answer).then(|| Request { number: request, what: slot.read_volatile() })
    }
}

/// Answers it.
pub fn answer_handler(number: usize, request: u64, result: i64) {
    let slot = slot(number);
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
        Shown(slot(number))
    }

    /// It begins, or does nothing any more.
    pub fn set_state(&self, state: u32) {
        // SAFETY: as in `slot`; the word is aligned, and accesses to it are atomic.
        unsafe { AtomicU32::from_ptr(addr_of_mut!((*self.0).state)).store(state, Ordering::Release) };
    }

    /// Why it was stopped, and where.
    pub fn set_fault(&self, vector: u32, address: u64, rip: u64) {
        // SAFETY: as in `slot`.
        unsafe {
            addr_of_mut!((*self.0).vector).write_volatile(vector);
            addr_of_mut!((*self.0).address).write_volatile(address);
            addr_of_mut!((*self.0).rip).write_volatile(rip);
        }
    }

    /// How it went so far.
    pub fn set_counts(&self, runs: u64, overruns: u64, latency_max_ns: u64) {
        // SAFETY: as in `slot`.
        unsafe {
            addr_of_mut!((*self.0).runs).write_volatile(runs);
            addr_of_mut!((*self.0).overruns).write_volatile(overruns);
            addr_of_mut!((*self.0).latency_max_ns).write_volatile(latency_max_ns);
        }
    }
}
