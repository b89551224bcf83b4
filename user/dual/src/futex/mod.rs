//! Private futexes of memories whose threads wait in primary mode, in Linux, or both (futex(2)).
//!
//! A thread that waits in primary mode has an entry, its runner's [`Waiter`], which whoever wakes
//! it changes: another runner, or Linux's module for a thread in Linux. Threads in Linux wait in
//! Linux, where the module counts them; a runner that finds some leaves the address behind
//! ([`Futexes::post`]), and Linux then wakes all its threads that wait there. So each side wakes
//! both kinds, and there is no lock that one side could keep from the other.
//!
//! No wake-up is lost: a wait is made known before the futex is compared, and a futex is changed
//! before waits are looked for, with a fence in between on both sides.
//!
//! Whoever finds an entry whose owner has yet to compare makes it compare again, and does not count
//! it: so comparing and waiting are one step, as in Linux, and no wake-up is used up by a thread
//! that does not wait. The number of a wait, in the entry, keeps a wake-up from reaching the
//! owner's next wait.
//!
//! Linux can write all of these words at any time. It can harm only its own threads by that: no
//! loop depends on what is in them.

#[cfg(all(test, loom))]
mod model;
pub mod request;
#[cfg(all(test, not(loom)))]
mod tests;

use crate::sync::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use core::cmp::Reverse;
use pillion_abi::dual::futex::{BUCKETS, HASH, POSTS, SHIFT, state};
use pillion_rt_core::inherit::bits;

/// How often a thread compares anew because others wake at its address meanwhile. After that it
/// does as if it was woken, which whoever waits for a futex has to expect.
const ATTEMPTS: u32 = 8;

/// The bits of a state that are not the wait's number.
const KIND: u64 = state::ONE - 1;

/// A runner's entry: a [`pillion_abi::dual::FutexWaiter`].
#[derive(Debug)]
#[repr(C)]
pub struct Waiter {
    state: AtomicU64,
    address: AtomicU64,
    since: AtomicU64,
    bitset: AtomicU32,
    urgency: AtomicU32,
}

/// The futexes of a memory: a [`pillion_abi::dual::Futexes`].
#[derive(Debug)]
#[repr(C)]
pub struct Futexes {
    waiters: AtomicU32,
    anywhere: AtomicU32,
    busy: AtomicU32,
    _reserved: AtomicU32,
    waits: [AtomicU32; BUCKETS],
    owned: [AtomicU32; BUCKETS],
    posts: [AtomicU64; POSTS],
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Of the futex, in the thread's memory.
    pub address: u64,
    /// A wake-up with one of these bits is for it.
    pub bitset: u32,
    /// Who is more urgent is woken first.
    pub urgency: u8,
    /// Among equals, whose is less is woken first.
    pub since: u64,
}

/// What came of the beginning of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The thread waits.
    Waits,
    /// The futex has another value.
    Differs,
    /// The futex cannot be read.
    Absent,
    /// The thread counts as woken.
    Woken,
}

impl Waiter {
    /// Begins a wait of runner `me`, whose entry this is. `holds` says whether the futex has the
    /// value with which the thread waits, or that it cannot be read.
    pub fn begin(&self, me: usize, futexes: &Futexes, wait: &Wait, mut holds: impl FnMut() -> Option<bool>) -> Begun {
        let number = (self.state.load(Relaxed) & !KIND).wrapping_add(state::ONE);
        self.address.store(wait.address, Relaxed);
        self.since.store(wait.since, Relaxed);
        self.bitset.store(wait.bitset, Relaxed);
        self.urgency.store(wait.urgency.into(), Relaxed);
        let [arriving, waiting] = [number | state::ARRIVING, number | state::WAITING];
        self.state.store(arriving, Release);
        futexes.waiters.fetch_or(1 << me, SeqCst);
        for _ in 0..ATTEMPTS {
            // Pairs with the fence of whoever wakes: it sees this entry, or this sees the change.
            fence(SeqCst);
            let begun = match holds() {
                Some(true) if self.state.compare_exchange(arriving, waiting, SeqCst, Relaxed).is_ok() => {
                    return Begun::Waits;
                }
                Some(true) => {
                    // Somebody woke at the address, and may have changed the futex before.
                    self.state.store(arriving, Release);
                    continue;
                }
                Some(false) => Begun::Differs,
                None => Begun::Absent,
            };
            self.end(me, futexes);
            return begun;
        }
        self.end(me, futexes);
        Begun::Woken
    }

    /// Continues a wait that a wake-up may have ended. The owner then looks at what it waits for.
    pub fn go_on(&self) {
        let number = (self.state.load(Relaxed) & !KIND).wrapping_add(state::ONE);
        self.state.store(number | state::WAITING, SeqCst);
        // As in `begin`.
        fence(SeqCst);
    }

    /// Whether a wait that began has been ended by a wake-up.
    #[must_use]
    pub fn is_woken(&self) -> bool {
        self.state.load(Acquire) & KIND != state::WAITING
    }

    /// Ends a wait. Returns whether a wake-up did before.
    pub fn end(&self, me: usize, futexes: &Futexes) -> bool {
        let was = self.state.fetch_and(!KIND, SeqCst);
        futexes.waiters.fetch_and(!(1 << me), SeqCst);
        was & KIND != state::WAITING
    }

    /// The state of a wait at an address for one of some bits; `None` if its owner does not wait
    /// there. An owner that has yet to compare the futex does so again.
    fn found(&self, address: u64, bitset: u32) -> Option<u64> {
        let found = self.state.load(Acquire);
        if self.address.load(Relaxed) != address || self.bitset.load(Relaxed) & bitset == 0 {
            return None;
        }
        let waiting = found & !KIND | state::WAITING;
        if found & KIND == state::ARRIVING {
            let again = found & !KIND | state::AGAIN;
            let now = self.state.compare_exchange(found, again, SeqCst, Acquire).err()?;
            return (now == waiting).then_some(waiting);
        }
        (found == waiting).then_some(waiting)
    }

    /// Whoever has the highest is woken first.
    fn rank(&self) -> (u32, Reverse<u64>) {
        (self.urgency.load(Relaxed), Reverse(self.since.load(Relaxed)))
    }

    /// Ends a wait that was found. Returns false if it has ended meanwhile.
    fn wake(&self, found: u64) -> bool {
        self.state.compare_exchange(found, found & !KIND | state::WOKEN, SeqCst, Relaxed).is_ok()
    }
}

/// The runner among some, as bits, whose thread is to be woken first, and the state of its wait.
/// Those that do not wait there are taken out.
fn first(waiters: &[Waiter], among: &mut u32, address: u64, bitset: u32) -> Option<(usize, u64)> {
    let mut first: Option<((u32, Reverse<u64>), usize, u64)> = None;
    for runner in bits((*among).into()) {
        let found = waiters.get(runner).and_then(|waiter| Some((waiter.rank(), waiter.found(address, bitset)?)));
        let Some((rank, found)) = found else {
            *among &= !(1 << runner);
            continue;
        };
        if first.is_none_or(|(before, ..)| rank > before) {
            first = Some((rank, runner, found));
        }
    }
    first.map(|(_, runner, found)| (runner, found))
}

fn bucket(address: u64) -> usize {
    ((address >> 2) as u32).wrapping_mul(HASH) as usize >> SHIFT
}

impl Futexes {
    /// Wakes at most so many threads that wait at an address in primary mode, the most urgent
    /// first. Returns their runners, as bits, which are to be signalled.
    pub fn wake(&self, waiters: &[Waiter], address: u64, bitset: u32, most: u32) -> u32 {
        // Pairs with the fence of whoever waits.
        fence(SeqCst);
        let (mut left, mut woken) = (self.waiters.load(Acquire), 0_u32);
        while woken.count_ones() < most {
            let Some((runner, found)) = first(waiters, &mut left, address, bitset) else { break };
            left &= !(1 << runner);
            woken |= u32::from(waiters[runner].wake(found)) << runner;
        }
        woken
    }

    /// Whether threads may wait at an address in Linux. To be asked after [`Futexes::wake`].
    #[must_use]
    pub fn in_linux(&self, address: u64) -> bool {
        self.waits[bucket(address)].load(SeqCst) | self.anywhere.load(SeqCst) != 0
    }

    /// Has Linux wake all its threads that wait at an address. Returns false if there is no room to
    /// say so: then the thread has to do it in Linux.
    #[must_use]
    pub fn post(&self, address: u64) -> bool {
        self.posts.iter().any(|post| match post.compare_exchange(0, address, SeqCst, SeqCst) {
            Ok(_) => true,
            // Linux has yet to take it.
            Err(there) => there == address,
        })
    }

    /// Does something with a futex with priority inheritance while no thread in Linux does; `None`
    /// if one does, or waits for it. Runners exclude each other before. Linux waits for the end of
    /// `f`, so that is short.
    pub fn alone<R>(&self, address: u64, f: impl FnOnce() -> R) -> Option<R> {
        self.busy.store(1, SeqCst);
        // Pairs with Linux's between its count and this word: at least one side sees the other.
        fence(SeqCst);
        let users = self.owned[bucket(address)].load(SeqCst) | self.anywhere.load(SeqCst);
        let result = (users == 0).then(f);
        self.busy.store(0, Release);
        result
    }
}

const _: () = {
    use core::mem::{offset_of, size_of};
    use pillion_abi::dual;
    assert!(cfg!(loom) || size_of::<Waiter>() == size_of::<dual::FutexWaiter>());
    assert!(cfg!(loom) || size_of::<Futexes>() == size_of::<dual::Futexes>());
    assert!(cfg!(loom) || offset_of!(Futexes, posts) == offset_of!(dual::Futexes, posts));
};
