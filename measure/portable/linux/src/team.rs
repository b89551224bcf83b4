//! Threads of fixed priorities on one processor, so that they run in a known order.

use crate::bench::Bench;
use crate::realtime::{self, last_errno};
use anyhow::{Context, Result, anyhow};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a thread does; it returns what it measured.
type Body<'a> = Box<dyn FnOnce() -> Result<Vec<u64>> + Send + 'a>;

/// A thread of a team.
pub struct Member<'a> {
    below: i32,
    body: Body<'a>,
}

/// A thread whose priority is lower by `below` than the bench's, at which the caller of [`run`]
/// runs.
pub fn member<'a>(below: i32, body: impl FnOnce() -> Result<Vec<u64>> + Send + 'a) -> Member<'a> {
    Member { below, body: Box::new(body) }
}

/// Runs threads until all have ended: the most urgent one first, among equals the first. Returns
/// what they measured, in order. Fails if a thread failed, or could not get its priority.
pub fn run<'a>(bench: &'a Bench, members: Vec<Member<'a>>) -> Result<Vec<u64>> {
    bench.be_urgent()?;
    std::thread::scope(|scope| {
        // A new thread has its creator's priority, waits until the creator joins, and then takes
        // its own lower priority.
        let begin = |member: Member<'a>| scope.spawn(move || begin(bench.priority - member.below, member.body));
        let threads: Vec<_> = members.into_iter().map(begin).collect();
        let measured = threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread failed"))?);
        measured.collect::<Result<Vec<_>>>().map(|measured| measured.concat())
    })
}

fn begin(priority: i32, body: Body) -> Result<Vec<u64>> {
    realtime::be_fifo(priority)?;
    body()
}

/// Sets the priority of any thread of this process. Fails if there is no such thread.
pub fn set_priority(thread: i32, priority: i32) -> Result<()> {
    // SAFETY: a C structure of integers, for which zeros are values.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the structure lives during the call.
    match unsafe { libc::syscall(libc::SYS_sched_setparam, thread, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(last_errno()).context("a priority cannot be set"),
    }
}

/// The number of the calling thread, for [`set_priority`].
pub fn own_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// A time stamp that one thread leaves for another. They run one after the other, on one processor.
#[derive(Default)]
pub struct Stamp(AtomicU64);

impl Stamp {
    /// Leaves a time stamp.
    #[inline(always)]
    pub fn set(&self, ticks: u64) {
        self.0.store(ticks, Ordering::Relaxed);
    }

    /// The time stamp that was left.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
