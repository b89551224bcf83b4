//! Message queues.
//!
//! A waiting thread is handed a slot: a receiver gets one with a message, a sender a free one. The
//! slot is the thread's until the thread finishes or gives up, so a message is sent or received at
//! the moment of the thread's last request.

use crate::{
    Backend, Broker, Result,
    client::Client,
    named::Opened,
    queue::{Message, Queue},
    waits::{Object, State},
};
use pillion_abi::channel::{TASKS, THREADS};
use pillion_channel::extent::{self, Extent};
use pillion_runtime::broker::{
    Answer, DATA_SIZE, KEPT_MESSAGE_BYTES, KEPT_QUEUES, MESSAGE_PRIORITIES, NO_THREAD, Name, QUEUE_MESSAGES,
    errno::{EAGAIN, EBUSY, EINVAL, EMSGSIZE, ENOMEM},
};

impl Broker {
    pub(crate) fn queue_open(
        &mut self,
        m: &mut impl Backend,
        client: &Client,
        name: Name,
        flags: u32,
        shape: (u32, u32),
    ) -> Result {
        let index = match self.queues.open(client.space(), name, flags, client.task)? {
            Opened::Found(index) => index,
            Opened::Absent => self.make_queue(m, client, (name, flags), shape)?,
        };
        let handle = self.queues.opened(index);
        let queue = self.queues.at(index);
        Ok(Answer::Done([handle, queue.capacity.into(), queue.size.into()]))
    }

    fn make_queue(
        &mut self,
        m: &mut impl Backend,
        client: &Client,
        (name, flags): (Name, u32),
        (messages, size): (u32, u32),
    ) -> Result<usize> {
        if !(1..=QUEUE_MESSAGES).contains(&messages) || !(1..=DATA_SIZE).contains(&size) {
            return Err(EINVAL);
        }
        let index = self.queues.free_place(client.task, m.tasks(), KEPT_QUEUES)?;
        let (space, bytes) = (Extent { at: 0, size: m.message_memory() }, Queue::bytes(messages, size));
        if bytes > self.bytes_for(m, client.task) {
            return Err(ENOMEM);
        }
        let mut taken = self.queues.all().each_ref().map(|queue| queue.extent);
        let at = extent::find(space, &mut taken, bytes).ok_or(ENOMEM)?;
        self.queues.make(index, (client.space(), name), client.task, flags, Queue::with(messages, size, at));
        Ok(index)
    }

    /// Bytes of the memory for messages that a task may still have: what is free, less what is
    /// reserved for the others.
    fn bytes_for(&self, m: &impl Backend, task: usize) -> u64 {
        let (mut used, mut free) = ([0; TASKS], m.message_memory());
        for (index, queue) in self.queues.all().iter().enumerate() {
            if let Some(payer) = self.queues.payer(index) {
                used[payer] += queue.extent.size;
                free = free.saturating_sub(queue.extent.size);
            }
        }
        let others = (0..m.tasks().min(TASKS)).filter(|other| *other != task);
        others.fold(free, |free, other| free.saturating_sub(KEPT_MESSAGE_BYTES.saturating_sub(used[other])))
    }

    pub(crate) fn queue_close(&mut self, m: &mut impl Backend, client: &Client, handle: u32) -> Result {
        let index = self.queues.index(handle, client.task)?;
        let last = self.queues.opens(index, client.task) == 1;
        let of = |object| [Object::Receive(index), Object::Send(index)].contains(&object);
        if last && !self.fail_threads(m, client.task, of) {
            return Ok(Answer::More);
        }
        self.queues.close(index, client.task);
        if last {
            self.leave_queue(client.task, index);
        }
        Ok(Answer::OK)
    }

    /// Cleans up after a task has closed a queue for the last time. No thread of the task waits for
    /// the queue or was handed any of its slots.
    pub(crate) fn leave_queue(&mut self, task: usize, index: usize) {
        let queue = self.queues.at(index);
        queue.notice = queue.notice.filter(|(of, _)| usize::from(*of) != task);
        self.end_queue(index);
    }

    /// Frees the memory of a queue that is gone.
    fn end_queue(&mut self, index: usize) {
        if self.queues.is_free(index) {
            *self.queues.at(index) = Queue::new();
        }
    }

    pub(crate) fn queue_unlink(&mut self, client: &Client, name: Name, only: u32) -> Result {
        let index = self.queues.unlink(client.space(), name, only)?;
        self.end_queue(index);
        Ok(Answer::OK)
    }

    pub(crate) fn queue_send(
        &mut self,
        m: &mut impl Backend,
        client: &Client,
        handle: u32,
        (length, priority): (u32, u32),
        block: bool,
    ) -> Result {
        let index = self.queues.index(handle, client.task)?;
        let thread = self.idle_thread(client)?;
        let queue = self.queues.at(index);
        let message = checked(queue, length, priority)?;
        if let Some(slot) = queue.take_free() {
            self.send(m, client, index, slot, message);
            return Ok(Answer::OK);
        }
        if !block {
            return Err(EAGAIN);
        }
        self.waits.insert(&mut queue.senders, thread, client.caller.level, Object::Send(index));
        Ok(Answer::Wait)
    }

    /// Sends with a slot that the thread was handed.
    pub(crate) fn finish_send(
        &mut self,
        m: &mut impl Backend,
        client: &Client,
        index: usize,
        slot: u8,
        (length, priority): (u32, u32),
    ) -> Result {
        let message = checked(self.queues.at(index), length, priority)?;
        self.send(m, client, index, slot, message);
        Ok(Answer::OK)
    }

    fn send(&mut self, m: &mut impl Backend, client: &Client, index: usize, slot: u8, message: Message) {
        let queue = self.queues.at(index);
        *queue.message(slot) = message;
        m.fetch(client.task, client.place_of(message.length), queue.place(slot), message.length as usize);
        if self.hand_to_receiver(m, index, slot) {
            return;
        }
        let queue = self.queues.at(index);
        queue.push(slot);
        if queue.count() == 1
            && let Some((task, thread)) = queue.notice.take()
        {
            m.notice(task.into(), index);
            if thread != NO_THREAD {
                m.wake(task.into(), thread.into());
            }
        }
    }

    /// Gives a message to the most urgent receiver. Returns whether there was one.
    fn hand_to_receiver(&mut self, m: &mut impl Backend, index: usize, slot: u8) -> bool {
        let Some(thread) = self.waits.pop(&mut self.queues.at(index).receivers) else { return false };
        self.waits.set(thread, State::Granted(Object::Receive(index), slot));
        m.wake(thread / THREADS, thread % THREADS);
        true
    }

    /// Requeues, in front, a message that a receiver was handed and did not fetch.
    pub(crate) fn return_message(&mut self, m: &mut impl Backend, index: usize, slot: u8) {
        if !self.hand_to_receiver(m, index, slot) {
            self.queues.at(index).push_front(slot);
        }
    }

    pub(crate) fn queue_receive(
        &mut self,
        m: &mut impl Backend,
        client: &Client,
        handle: u32,
        room: u32,
        block: bool,
    ) -> Result {
        let index = self.queues.index(handle, client.task)?;
        let thread = self.idle_thread(client)?;
        let queue = self.queues.at(index);
        if room < queue.size {
            return Err(EMSGSIZE);
        }
        if let Some(slot) = queue.pop() {
            return Ok(self.receive(m, client, index, slot));
        }
        if !block {
            return Err(EAGAIN);
        }
        self.waits.insert(&mut queue.receivers, thread, client.caller.level, Object::Receive(index));
        Ok(Answer::Wait)
    }

    pub(crate) fn receive(&mut self, m: &mut impl Backend, client: &Client, index: usize, slot: u8) -> Answer {
        let queue = self.queues.at(index);
        let message = *queue.message(slot);
        m.deliver(client.task, client.place_of(message.length), queue.place(slot), message.length as usize);
        self.free_slot(m, index, slot);
        Answer::Done([message.length.into(), message.priority.into(), 0])
    }

    /// Frees a slot: hands it to the most urgent sender if there is one.
    pub(crate) fn free_slot(&mut self, m: &mut impl Backend, index: usize, slot: u8) {
        let queue = self.queues.at(index);
        match self.waits.pop(&mut queue.senders) {
            Some(thread) => {
                self.waits.set(thread, State::Granted(Object::Send(index), slot));
                m.wake(thread / THREADS, thread % THREADS);
            }
            None => queue.release(slot),
        }
    }

    pub(crate) fn queue_attributes(&mut self, client: &Client, handle: u32) -> Result {
        let queue = self.queues.object(handle, client.task)?;
        Ok(Answer::Done([queue.capacity.into(), queue.size.into(), queue.count().into()]))
    }

    pub(crate) fn queue_notify(&mut self, client: &Client, handle: u32, thread: u8, wanted: bool) -> Result {
        let queue = self.queues.object(handle, client.task)?;
        let own = queue.notice.is_some_and(|(task, _)| usize::from(task) == client.task);
        if wanted {
            if thread != NO_THREAD && usize::from(thread) >= THREADS {
                return Err(EINVAL);
            }
            if queue.notice.is_some() {
                return Err(EBUSY);
            }
            queue.notice = Some((client.task as u8, thread));
        } else if own {
            queue.notice = None;
        }
        Ok(Answer::OK)
    }
}

fn checked(queue: &Queue, length: u32, priority: u32) -> Result<Message> {
    if length > queue.size {
        return Err(EMSGSIZE);
    }
    if priority >= MESSAGE_PRIORITIES {
        return Err(EINVAL);
    }
    Ok(Message { length, priority: priority as u8 })
}
