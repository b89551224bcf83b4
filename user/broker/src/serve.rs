//! From a message to its reply.

use crate::client::{Client, Sender};
use crate::{Backend, Broker, Result};
use pillion_abi::{call::MESSAGE_WORDS, channel::TASKS};
use pillion_runtime::broker::errno::{EINVAL, EPERM};
use pillion_runtime::broker::{Answer, ENDED_PARTS, Request};

type Words = [u64; MESSAGE_WORDS];

impl Broker {
    /// Serves a message. Returns the words of the reply.
    pub fn serve(&mut self, m: &mut impl Backend, badge: u64, label: u64, words: &Words) -> Words {
        self.answer(m, badge, label, words).unwrap_or_else(Answer::Failed).encode()
    }

    fn answer(&mut self, m: &mut impl Backend, badge: u64, label: u64, words: &Words) -> Result {
        let (caller, request) = Request::decode(label, words)?;
        match Sender::of(badge, caller)? {
            Sender::Manager => self.for_manager(m, request),
            Sender::Task(client) => self.for_task(m, &client, request),
        }
    }

    fn for_manager(&mut self, m: &mut impl Backend, request: Request) -> Result {
        match request {
            Request::Ready => {}
            Request::TaskEnded { index, part } if (index as usize) < TASKS && part < ENDED_PARTS => {
                self.task_ended(m, index as usize, part as usize);
            }
            Request::TaskEnded { .. } => return Err(EINVAL),
            _ => return Err(EPERM),
        }
        Ok(Answer::OK)
    }

    fn for_task(&mut self, m: &mut impl Backend, client: &Client, request: Request) -> Result {
        match request {
            Request::Ready | Request::TaskEnded { .. } => Err(EPERM),
            Request::SemOpen { name, flags, value } => self.sem_open(m, client, name, flags, value),
            Request::SemClose { semaphore } => self.sem_close(m, client, semaphore),
            Request::SemUnlink { name, only } => self.sem_unlink(client, name, only),
            Request::SemWait { semaphore, block } => self.sem_wait(client, semaphore, block),
            Request::SemPost { semaphore } => self.sem_post(m, client, semaphore),
            Request::SemValue { semaphore } => self.sem_value(client, semaphore),
            Request::QueueOpen { name, flags, messages, size } => {
                self.queue_open(m, client, name, flags, (messages, size))
            }
            Request::QueueClose { queue } => self.queue_close(m, client, queue),
            Request::QueueUnlink { name, only } => self.queue_unlink(client, name, only),
            Request::QueueSend { queue, length, priority, block } => {
                self.queue_send(m, client, queue, (length, priority), block)
            }
            Request::QueueReceive { queue, room, block } => self.queue_receive(m, client, queue, room, block),
            Request::QueueAttributes { queue } => self.queue_attributes(client, queue),
            Request::QueueNotify { queue, thread, wanted } => self.queue_notify(client, queue, thread, wanted),
            Request::Finish { length, priority } => self.finish(m, client, (length, priority)),
            Request::Cancel { length, priority } => self.cancel(m, client, (length, priority)),
            Request::Abandon { thread } => self.abandon(m, client.task, thread),
            Request::FifoCreate { fifo, size } => self.fifos.create(m, client, fifo, size),
            Request::FifoDestroy { fifo } => self.fifos.destroy(m, client, fifo),
            Request::FifoResize { fifo, size } => self.fifos.resize(m, client, fifo, size),
            Request::FifoPut { fifo, length } => self.fifos.put(m, client, fifo, length),
            Request::FifoGet { fifo, length } => self.fifos.get(m, client, fifo, length),
            Request::FifoFlush { fifo } => self.fifos.flush(m, client, fifo),
            Request::FifoState { fifo } => self.fifos.state(m, client, fifo),
            Request::FifoPair { get, put } => self.fifos.pair(m, client, get, put),
        }
    }
}
