//! Named semaphores.

use crate::client::Client;
use crate::named::Opened;
use crate::waits::{List, Object, State};
use crate::{Backend, Broker, Result};
use pillion_abi::channel::THREADS;
use pillion_runtime::broker::errno::{EAGAIN, EBUSY, EINVAL, EOVERFLOW};
use pillion_runtime::broker::{Answer, KEPT_SEMAPHORES, Name, VALUE_MAX};

/// A semaphore. Its value is 0 while threads wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Semaphore {
    value: u32,
    waiters: List,
}

impl Semaphore {
    /// A semaphore with value 0.
    pub const fn new() -> Semaphore {
        Semaphore { value: 0, waiters: List::new() }
    }

    /// The threads that wait for it.
    pub fn waiters(&mut self) -> &mut List {
        &mut self.waiters
    }
}

impl Broker {
    pub(crate) fn sem_open(&mut self, m: &impl Backend, client: &Client, name: Name, flags: u32, value: u32) -> Result {
        let index = match self.semaphores.open(client.space(), name, flags, client.task)? {
            Opened::Found(index) => index,
            Opened::Absent if value > VALUE_MAX => return Err(EINVAL),
            Opened::Absent => {
                let index = self.semaphores.free_place(client.task, m.tasks(), KEPT_SEMAPHORES)?;
                let semaphore = Semaphore { value, waiters: List::new() };
                self.semaphores.make(index, (client.space(), name), client.task, flags, semaphore);
                index
            }
        };
        Ok(Answer::value(self.semaphores.opened(index)))
    }

    pub(crate) fn sem_close(&mut self, m: &mut impl Backend, client: &Client, handle: u32) -> Result {
        let index = self.semaphores.index(handle, client.task)?;
        if self.semaphores.opens(index, client.task) == 1
            && !self.fail_threads(m, client.task, |object| object == Object::Semaphore(index))
        {
            return Ok(Answer::More);
        }
        self.semaphores.close(index, client.task);
        Ok(Answer::OK)
    }

    pub(crate) fn sem_unlink(&mut self, client: &Client, name: Name, only: u32) -> Result {
        self.semaphores.unlink(client.space(), name, only)?;
        Ok(Answer::OK)
    }

    pub(crate) fn sem_wait(&mut self, client: &Client, handle: u32, block: bool) -> Result {
        let index = self.semaphores.index(handle, client.task)?;
        let thread = self.idle_thread(client)?;
        let semaphore = self.semaphores.at(index);
        if semaphore.value != 0 {
            semaphore.value -= 1;
            return Ok(Answer::OK);
        }
        if !block {
            return Err(EAGAIN);
        }
        self.waits.insert(&mut semaphore.waiters, thread, client.caller.level, Object::Semaphore(index));
        Ok(Answer::Wait)
    }

    pub(crate) fn sem_post(&mut self, m: &mut impl Backend, client: &Client, handle: u32) -> Result {
        let index = self.semaphores.index(handle, client.task)?;
        if self.semaphores.at(index).value == VALUE_MAX {
            return Err(EOVERFLOW);
        }
        self.give_semaphore(m, index);
        Ok(Answer::OK)
    }

    pub(crate) fn sem_value(&mut self, client: &Client, handle: u32) -> Result {
        let semaphore = self.semaphores.object(handle, client.task)?;
        Ok(Answer::value(semaphore.value.into()))
    }

    /// Hands one unit to the most urgent waiter, or adds it to the value.
    pub(crate) fn give_semaphore(&mut self, m: &mut impl Backend, index: usize) {
        let semaphore = self.semaphores.at(index);
        match self.waits.pop(&mut semaphore.waiters) {
            Some(thread) => {
                self.waits.set(thread, State::Granted(Object::Semaphore(index), 0));
                m.wake(thread / THREADS, thread % THREADS);
            }
            None => semaphore.value = semaphore.value.saturating_add(1).min(VALUE_MAX),
        }
    }

    /// The client's thread, if it has no wait to finish.
    pub(crate) fn idle_thread(&self, client: &Client) -> Result<usize> {
        let thread = client.thread().ok_or(EINVAL)?;
        if self.waits.state(thread) == State::Idle { Ok(thread) } else { Err(EBUSY) }
    }
}
