//! Which thread of Linux each runner has, for the other runners.

use crate::place::Offer;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use pillion_abi::dual::SLOTS;
use pillion_dual::objects::Identity;
use pillion_dual::objects::futex::Present;

/// Each runner's thread: its memory, its priority, and its number, which is not 0; 0: none.
static THREADS: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// Runners whose threads may be known among the users of objects, as bits: they have to be detached
/// when they leave. Changed under the objects' lock.
static KNOWN: AtomicU32 = AtomicU32::new(0);

const MEMORY: u32 = 40;
const PRIORITY: u32 = 32;

/// A runner has that thread from now on.
pub fn enter(runner: usize, offer: &Offer) {
    let [memory, priority] = [offer.memory, offer.priority].map(|value| u64::from(value.min(u8::MAX.into())));
    THREADS[runner].store(memory << MEMORY | priority << PRIORITY | u64::from(offer.thread), Relaxed);
}

/// It has it no longer. Returns whether that may be known among the users of objects.
pub fn leave(runner: usize) -> bool {
    THREADS[runner].store(0, Relaxed);
    // Pairs with the one between the other way round in `hold`: one of the two sees the other.
    fence(SeqCst);
    KNOWN.load(Relaxed) >> runner & 1 == 1
}

/// A runner's thread may be known from now on.
pub fn know(runner: usize) {
    KNOWN.fetch_or(1 << runner, SeqCst);
}

/// It is not.
pub fn forget(runner: usize) {
    KNOWN.fetch_and(!(1 << runner), SeqCst);
}

/// Finds a thread that is in primary mode, and may be known from now on.
pub fn hold(identity: Identity) -> Option<Present> {
    let is_it = |word: u64| word as u32 == identity.thread && word >> MEMORY == identity.memory.into();
    let runner = THREADS.iter().position(|thread| is_it(thread.load(Relaxed)))?;
    know(runner);
    fence(SeqCst);
    let word = THREADS[runner].load(Relaxed);
    is_it(word).then_some(Present { runner: runner as u8, priority: (word >> PRIORITY) as u8 })
}
