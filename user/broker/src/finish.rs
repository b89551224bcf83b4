//! How a wait ends.

use crate::client::Client;
use crate::waits::{Object, State};
use crate::{Backend, Broker, Result};
use pillion_abi::channel::{FIFOS, THREADS};
use pillion_runtime::broker::errno::{EBADF, ECANCELED, EINVAL};
use pillion_runtime::broker::{Answer, ENDED_PARTS, HAND_ONS, QUEUES, SEMAPHORES};

impl Broker {
    /// Returns the outcome of the wait of the client's thread. A sender passes its message's length
    /// and priority again.
    pub(crate) fn finish(&mut self, m: &mut impl Backend, client: &Client, message: (u32, u32)) -> Result {
        let thread = client.thread().ok_or(EINVAL)?;
        let (object, slot) = match self.waits.state(thread) {
            State::Idle => return Err(EINVAL),
            State::Waiting(_) => return Ok(Answer::Wait),
            State::Failed(errno) => {
                self.waits.set(thread, State::Idle);
                return Err(errno);
            }
            State::Granted(object, slot) => (object, slot),
        };
        let answer = match object {
            Object::Semaphore(_) => Answer::OK,
            Object::Receive(index) => self.receive(m, client, index, slot),
            Object::Send(index) => self.finish_send(m, client, index, slot, message)?,
        };
        self.waits.set(thread, State::Idle);
        Ok(answer)
    }

    /// As [`Broker::finish`], but a thread whose turn has not come stops waiting.
    pub(crate) fn cancel(&mut self, m: &mut impl Backend, client: &Client, message: (u32, u32)) -> Result {
        match self.finish(m, client, message)? {
            Answer::Wait => {
                self.give_up(m, client.task * THREADS + usize::from(client.caller.thread));
                Err(ECANCELED)
            }
            answer => Ok(answer),
        }
    }

    /// Cleans up after a thread that is gone.
    pub(crate) fn abandon(&mut self, m: &mut impl Backend, task: usize, thread: u8) -> Result {
        if usize::from(thread) >= THREADS {
            return Err(EINVAL);
        }
        self.give_up(m, task * THREADS + usize::from(thread));
        Ok(Answer::OK)
    }

    /// Ends a thread's wait, and passes what it was handed to the next.
    fn give_up(&mut self, m: &mut impl Backend, thread: usize) {
        let state = self.waits.state(thread);
        match state {
            State::Waiting(Object::Semaphore(index)) => {
                self.waits.remove(self.semaphores.at(index).waiters(), thread);
            }
            State::Waiting(Object::Receive(index)) => self.waits.remove(&mut self.queues.at(index).receivers, thread),
            State::Waiting(Object::Send(index)) => self.waits.remove(&mut self.queues.at(index).senders, thread),
            State::Granted(..) | State::Failed(_) | State::Idle => self.waits.set(thread, State::Idle),
        }
        if let State::Granted(object, slot) = state {
            match object {
                Object::Semaphore(index) => self.give_semaphore(m, index),
                Object::Receive(index) => self.return_message(m, index, slot),
                Object::Send(index) => self.free_slot(m, index, slot),
            }
        }
    }

    /// Fails the threads of a task that wait for, or were handed, an object that `of` accepts,
    /// because the task is about to close it. Passes on what they were handed, up to the limit for
    /// one request. Returns whether all have failed; if not, call it again.
    pub(crate) fn fail_threads(&mut self, m: &mut impl Backend, task: usize, of: impl Fn(Object) -> bool) -> bool {
        let threads = task * THREADS..(task + 1) * THREADS;
        // Waiting threads first, so that nothing is handed on to a thread that is about to fail.
        for thread in threads.clone() {
            if matches!(self.waits.state(thread), State::Waiting(object) if of(object)) {
                self.fail(m, thread);
            }
        }
        let mut left = HAND_ONS;
        for thread in threads {
            if matches!(self.waits.state(thread), State::Granted(object, _) if of(object)) {
                if left == 0 {
                    return false;
                }
                left -= 1;
                self.fail(m, thread);
            }
        }
        true
    }

    fn fail(&mut self, m: &mut impl Backend, thread: usize) {
        self.give_up(m, thread);
        self.waits.set(thread, State::Failed(EBADF));
        m.wake(thread / THREADS, thread % THREADS);
    }

    /// Cleans up after an ended task: after the last part nothing of it is left. First come its
    /// threads, which then wait for nothing, then the tables.
    pub(crate) fn task_ended(&mut self, m: &mut impl Backend, task: usize, part: usize) {
        const HALF: usize = ENDED_PARTS as usize / 2;
        const { assert!(THREADS.div_ceil(HALF) <= HAND_ONS) };
        let of = |count: usize| {
            let size = count.div_ceil(HALF);
            let first = part % HALF * size;
            first..(first + size).min(count)
        };
        if part < HALF {
            of(THREADS).for_each(|thread| self.give_up(m, task * THREADS + thread));
            return;
        }
        for index in of(SEMAPHORES) {
            self.semaphores.forget(index, task);
        }
        for index in of(QUEUES) {
            if self.queues.forget(index, task) {
                self.leave_queue(task, index);
            }
        }
        self.fifos.task_ended(m, task, of(FIFOS));
    }
}
