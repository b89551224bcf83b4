//! Private futexes: waiting for one in primary mode, and waking whoever waits for one
//! ([`pillion_dual::futex`]).

use crate::answer::{Answer, End, Thread};
use crate::level;
use crate::lock::All;
use crate::place::{self, Place};
use crate::process::{Process, USER_END};
use crate::roster;
use crate::runner;
use crate::services::Resume;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use pillion_abi::NEVER;
use pillion_abi::dual::{MEMORIES, SLOTS, life, resume};
use pillion_abi::vcpu::{State, gpr};
use pillion_dual::exclusion::Runners;
use pillion_dual::futex::request::{Limit, Request};
use pillion_dual::futex::{Begun, Futexes, Wait, Waiter};
use pillion_dual::objects::futex::{Locked, TO_LINUX, Word};
use pillion_dual::objects::{Identity, error};
use pillion_runtime::now;

/// Registers of the fourth and the sixth argument.
const R10: usize = 10;
const R9: usize = 9;

/// The entries of all runners.
pub fn waiters() -> &'static [Waiter; SLOTS] {
    // SAFETY: the head of the window is mapped for good, and the type has the layout of what is
    // there; it consists of atomics, and every access to these words is atomic.
    unsafe { &*addr_of!((*place::head()).futex_waiters).cast() }
}

/// The futexes of a memory.
fn futexes(memory: u32) -> Option<&'static Futexes> {
    let index = usize::try_from(memory).ok().filter(|index| *index < MEMORIES)?;
    // SAFETY: as above.
    Some(unsafe { &*addr_of!((*place::head()).futexes[index]).cast() })
}

/// A futex with priority inheritance, in a process's memory.
struct Owned<'a> {
    process: &'a Process<'a>,
    address: u64,
}

impl Word for Owned<'_> {
    fn load(&self) -> Option<u32> {
        self.process.word_to_write(self.address)
    }

    #[inline(always)]
    fn exchange(&self, old: u32, new: u32) -> Option<bool> {
        self.process.exchange_word(self.address, old, new)
    }
}

/// Has Linux look at what was posted for a memory, or for files.
pub fn deliver(place: &Place, memory: u32) {
    // SAFETY: as above.
    unsafe { AtomicU64::from_ptr(addr_of_mut!((*place::head()).posted)) }.fetch_or(1 << memory, SeqCst);
    place.deliver();
}

impl Thread<'_> {
    /// A futex call, made at that tick.
    pub fn futex(&mut self, state: &State, made: u64) -> Option<Answer> {
        let argument = |register: usize| state.gpr[register].get();
        let [operation, value, time] = [gpr::RSI, gpr::RDX, R10].map(argument);
        let (address, request) = (argument(gpr::RDI), Request::new(operation, value, time, argument(R9))?);
        if !address.is_multiple_of(4) || address >= USER_END {
            return None;
        }
        let futexes = futexes(self.offer.memory)?;
        match request {
            Request::Wake { most, bitset } => self.wake(futexes, address, bitset, most),
            Request::Lock { end } => {
                let end = self.end(end)?;
                self.lock(futexes, address, end.as_ref())
            }
            Request::Unlock => {
                let (own, word) = (self.identity(), self.word(address));
                let done = self.with(|objects| futexes.alone(address, || objects.futex_unlock(own, address, &word)));
                done?.map(Answer::Value)
            }
            Request::Wait { value, bitset, end } => {
                let end = self.end(end)?;
                let wait = Wait { address, bitset, urgency: level::urgency(self.place.number), since: made };
                self.wait_at(futexes, &wait, value, end.as_ref())
            }
        }
    }

    /// The end of a wait. `None` if it is for Linux to say what is wrong with it.
    fn end(&self, limit: Limit) -> Option<Option<End>> {
        let end = match limit {
            Limit::Never => return Some(None),
            Limit::After(address) => End::after(&place::clock().1?, self.length(address)?),
            Limit::At { clock, address } => End::At { clock, time: self.length(address)? },
        };
        end.tick().is_some().then_some(Some(end))
    }

    /// Those in primary mode come first; Linux wakes the others.
    fn wake(&self, futexes: &Futexes, address: u64, bitset: u32, most: u32) -> Option<Answer> {
        let woken = futexes.wake(waiters(), address, bitset, most);
        All.signal_all(woken);
        let count = woken.count_ones();
        if count < most && futexes.in_linux(address) && place::life() == life::LIVES {
            if !futexes.post(address) {
                return None;
            }
            deliver(self.place, self.offer.memory);
        }
        Some(Answer::Value(count.into()))
    }

    fn word(&self, address: u64) -> Owned<'_> {
        Owned { process: &self.process, address }
    }

    /// Locks a futex with priority inheritance. An owner in Linux is raised there, by its waiters.
    #[inline(always)]
    fn lock(&mut self, futexes: &Futexes, address: u64, end: Option<&End>) -> Option<Answer> {
        let (own, party, word) = (self.identity(), self.party().ok()?, self.word(address));
        let present = |thread| roster::hold(Identity { thread, ..own });
        let locked = self.with(|objects| futexes.alone(address, || objects.futex_lock(party, address, &word, present)));
        match locked? {
            Locked::Done(result) => Some(Answer::Value(result)),
            Locked::Inversion => Some(Answer::Inversion),
            Locked::Linux => None,
            Locked::Waits => match self.wait_for_result(party, end, Resume::Again) {
                Answer::Value(TO_LINUX) | Answer::LastValue(TO_LINUX) => Some(Answer::Inversion),
                answer => Some(answer),
            },
        }
    }

    /// Waits at a futex that has that value.
    fn wait_at(&mut self, futexes: &Futexes, wait: &Wait, value: u32, end: Option<&End>) -> Option<Answer> {
        let (me, waiter) = (self.place.number, &waiters()[self.place.number]);
        let holds = || Some(self.process.word(wait.address)? == value);
        match waiter.begin(me, futexes, wait, holds) {
            Begun::Waits => {}
            Begun::Differs => return Some(Answer::Value(error::EAGAIN)),
            Begun::Woken => return Some(Answer::Value(0)),
            Begun::Absent => return None,
        }
        self.counts.waits += 1;
        // Linux may set a clock meanwhile, and then signals the runner, or change the rate.
        let until = || end.map_or(Some(NEVER), End::tick);
        let mut has_paused = false;
        loop {
            let (until, is_wanted) = (until(), runner::is_wanted(self.place, self.offer));
            // Without a clock, Linux has to go on.
            let is_cut = is_wanted || until.is_none();
            let is_late = until.is_some_and(|until| now() >= until);
            if !waiter.is_woken() && !is_cut && !is_late {
                self.pause(until.unwrap_or(NEVER));
                has_paused = true;
                continue;
            }
            if is_late && has_paused {
                self.note_latency(until.unwrap_or(NEVER));
            }
            return Some(match (waiter.end(me, futexes), is_cut) {
                (true, true) => Answer::LastValue(0),
                (true, false) => Answer::Value(0),
                (false, true) => {
                    end.map_or(Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 }, |end| end.cut_short(0))
                }
                (false, false) => Answer::Value(error::ETIMEDOUT),
            });
        }
    }
}
