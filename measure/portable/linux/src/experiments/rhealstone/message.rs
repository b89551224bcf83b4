//! Messages through a POSIX message queue to a more urgent thread.

use super::{HIGH, LOW};
use crate::bench::Bench;
use crate::realtime::last_errno;
use crate::team::{self, Stamp, member};
use anyhow::{Context, Result, ensure};
use std::ffi::CStr;

/// A short message, and a long one.
static SHORT: [u8; 64] = [0; 64];
static LONG: [u8; 4096] = [0; 4096];
const NAME: &CStr = c"/pillion-measure";

/// From before a message is sent until it is received.
pub fn latency(bench: &Bench, samples: u64) -> Result<Vec<u64>> {
    let (queue, before) = (Queue::new()?, Stamp::default());
    let receiver = || {
        let mut measured = Vec::with_capacity(samples as usize);
        for _ in 0..samples {
            queue.receive()?;
            measured.push(bench.clock.whole(bench.clock.ticks() - before.get()));
        }
        Ok(measured)
    };
    let sender = || {
        for _ in 0..samples {
            before.set(bench.clock.ticks());
            queue.send(&SHORT)?;
        }
        Ok(Vec::new())
    };
    team::run(bench, vec![member(HIGH, receiver), member(LOW, sender)])
}

/// Megabytes per second, in long messages.
pub fn throughput(bench: &Bench, messages: u64) -> Result<f64> {
    let queue = Queue::new()?;
    let receiver = || {
        (0..messages).try_for_each(|_| queue.receive())?;
        Ok(Vec::new())
    };
    let sender = || {
        let start = bench.clock.ticks();
        (0..messages).try_for_each(|_| queue.send(&LONG))?;
        Ok(vec![bench.clock.whole(bench.clock.ticks() - start)])
    };
    let took = team::run(bench, vec![member(HIGH, receiver), member(LOW, sender)])?;
    Ok((messages * LONG.len() as u64) as f64 * 1e3 / took[0] as f64)
}

/// A message queue; its name is unlinked at once.
struct Queue(libc::mqd_t);

impl Queue {
    fn new() -> Result<Queue> {
        // SAFETY: a C structure of integers, for which zeros are values.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = 4;
        attributes.mq_msgsize = LONG.len() as libc::c_long;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;
        // SAFETY: the name and the attributes live during the call.
        let queue = unsafe { libc::mq_open(NAME.as_ptr(), flags, 0o600 as libc::mode_t, &raw mut attributes) };
        ensure!(queue >= 0, "there are no POSIX message queues: {}", last_errno());
        // SAFETY: the name lives during the call.
        unsafe { libc::mq_unlink(NAME.as_ptr()) };
        Ok(Queue(queue))
    }

    #[inline]
    fn send(&self, message: &[u8]) -> Result<()> {
        // SAFETY: the message has the size that is passed.
        let status = unsafe { libc::mq_send(self.0, message.as_ptr().cast(), message.len(), 0) };
        if status == 0 { Ok(()) } else { Err(last_errno()).context("a message cannot be sent") }
    }

    #[inline]
    fn receive(&self) -> Result<()> {
        let mut message = [0_u8; LONG.len()];
        // SAFETY: the buffer has the size that is passed.
        let length =
            unsafe { libc::mq_receive(self.0, message.as_mut_ptr().cast(), message.len(), std::ptr::null_mut()) };
        if length >= 0 { Ok(()) } else { Err(last_errno()).context("a message cannot be received") }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: it was opened here, and nothing uses it any more.
        unsafe { libc::mq_close(self.0) };
    }
}
