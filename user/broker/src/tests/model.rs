//! The plainest model of the broker: lists that are searched; nothing is linked, reused or bounded.

use super::rig::ALONE;
use pillion_runtime::broker::{Answer, DATA_SIZE, QUEUE_MESSAGES, Request, VALUE_MAX, errno::*, open};
use std::{collections::BTreeMap, vec, vec::Vec};

/// A thread: task and number.
pub type Thread = (usize, u8);

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Waits,
    /// It was handed one unit of the object; a receiver of a queue, this message.
    Has(Option<(u8, Vec<u8>)>),
    Failed(i32),
}

/// A thread that began to wait.
#[derive(Clone, Debug)]
struct Wait {
    state: State,
    object: usize,
    sends: bool,
    level: u8,
    arrival: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Semaphore { value: u32 },
    Queue { capacity: u32, size: u32, messages: Vec<(u8, Vec<u8>)>, notice: Option<(usize, u8)> },
}

#[derive(Clone, Debug)]
struct Object {
    name: Option<(usize, pillion_runtime::broker::Name)>,
    holds: BTreeMap<usize, u32>,
    /// The task that made it, until that task ends.
    maker: Option<usize>,
    kind: Kind,
}

impl Object {
    /// The name goes once the maker has ended and no task has it open.
    fn settle(&mut self) {
        if self.maker.is_none() && self.holds.is_empty() {
            self.name = None;
        }
    }
}

/// The entire state. Objects are never removed; those that are gone have neither name nor holds.
#[derive(Default)]
pub struct Model {
    objects: Vec<Object>,
    /// Handles by object; a queue and a semaphore may have the same one.
    handles: BTreeMap<(bool, u32), usize>,
    waits: BTreeMap<Thread, Wait>,
    arrivals: u64,
    /// The threads woken, and the tasks notified.
    pub wakes: Vec<(usize, usize)>,
    pub notices: Vec<usize>,
    /// What the last receiver got.
    pub received: Option<Vec<u8>>,
}

fn space(task: usize) -> usize {
    if task < ALONE { 0 } else { task }
}

type Result = core::result::Result<Answer, i32>;

impl Model {
    /// The answer that the broker must give. When an open makes a new object, the broker chooses
    /// the handle: `handle` is what it answered.
    pub fn ask(&mut self, (task, thread): Thread, level: u8, request: Request, sent: &[u8], handle: u32) -> Answer {
        self.received = None;
        self.answer((task, thread), level, request, sent, handle).unwrap_or_else(Answer::Failed)
    }

    fn answer(&mut self, of: Thread, level: u8, request: Request, sent: &[u8], handle: u32) -> Result {
        let task = of.0;
        match request {
            Request::SemOpen { name, flags, value } => {
                let make = || if value > VALUE_MAX { Err(EINVAL) } else { Ok(Kind::Semaphore { value }) };
                self.open(task, false, name, flags, handle, make)
            }
            Request::QueueOpen { name, flags, messages, size } => {
                let make = || {
                    let good = (1..=QUEUE_MESSAGES).contains(&messages) && (1..=DATA_SIZE).contains(&size);
                    let kind = Kind::Queue { capacity: messages, size, messages: vec![], notice: None };
                    if good { Ok(kind) } else { Err(EINVAL) }
                };
                self.open(task, true, name, flags, handle, make)
            }
            Request::SemClose { semaphore } => self.close(task, false, semaphore),
            Request::QueueClose { queue } => self.close(task, true, queue),
            Request::SemUnlink { name, only: _ } => self.unlink(task, false, name),
            Request::QueueUnlink { name, only: _ } => self.unlink(task, true, name),
            Request::SemWait { semaphore, block } => {
                let index = self.index(task, false, semaphore)?;
                self.idle(of)?;
                if self.take_semaphore(index) { Ok(Answer::OK) } else { self.wait(of, level, index, false, block) }
            }
            Request::SemPost { semaphore } => {
                let index = self.index(task, false, semaphore)?;
                if matches!(self.objects[index].kind, Kind::Semaphore { value: VALUE_MAX }) {
                    return Err(EOVERFLOW);
                }
                self.give(index, false, None);
                Ok(Answer::OK)
            }
            Request::SemValue { semaphore } => match self.objects[self.index(task, false, semaphore)?].kind {
                Kind::Semaphore { value } => Ok(Answer::value(value.into())),
                Kind::Queue { .. } => unreachable!(),
            },
            Request::QueueSend { queue, length, priority, block } => {
                let index = self.index(task, true, queue)?;
                self.idle(of)?;
                self.check_message(index, length, priority)?;
                if self.room(index) == 0 {
                    return self.wait(of, level, index, true, block);
                }
                self.send(index, priority as u8, &sent[..length as usize]);
                Ok(Answer::OK)
            }
            Request::QueueReceive { queue, room, block } => {
                let index = self.index(task, true, queue)?;
                self.idle(of)?;
                if room < self.shape(index).1 {
                    return Err(EMSGSIZE);
                }
                match self.take_message(index) {
                    Some(message) => Ok(self.received(index, message)),
                    None => self.wait(of, level, index, false, block),
                }
            }
            Request::QueueAttributes { queue } => {
                let index = self.index(task, true, queue)?;
                let (capacity, size, count) = self.shape(index);
                Ok(Answer::Done([capacity.into(), size.into(), count as u64]))
            }
            Request::QueueNotify { queue, thread, wanted } => {
                let index = self.index(task, true, queue)?;
                let Kind::Queue { notice, .. } = &mut self.objects[index].kind else { unreachable!() };
                match (wanted, notice.is_some()) {
                    (true, true) => return Err(EBUSY),
                    (true, false) => *notice = Some((task, thread)),
                    (false, _) => *notice = notice.filter(|(of, _)| *of != task),
                }
                Ok(Answer::OK)
            }
            Request::Finish { length, priority } => self.finish(of, (length, priority), sent),
            Request::Cancel { length, priority } => match self.finish(of, (length, priority), sent)? {
                Answer::Wait => {
                    self.give_up(of);
                    Err(ECANCELED)
                }
                answer => Ok(answer),
            },
            Request::Abandon { thread } => {
                self.give_up((task, thread));
                Ok(Answer::OK)
            }
            other => unreachable!("{other:?}"),
        }
    }

    pub fn task_ended(&mut self, task: usize) {
        for thread in 0..64 {
            self.give_up((task, thread));
        }
        for index in 0..self.objects.len() {
            let object = &mut self.objects[index];
            object.holds.remove(&task);
            object.maker = object.maker.filter(|maker| *maker != task);
            object.settle();
            self.leave(index, task);
        }
    }

    fn find(&self, task: usize, queue: bool, name: pillion_runtime::broker::Name) -> Option<usize> {
        let is = |o: &Object| o.name == Some((space(task), name)) && matches!(o.kind, Kind::Queue { .. }) == queue;
        self.objects.iter().position(is)
    }

    fn open(
        &mut self,
        task: usize,
        queue: bool,
        name: pillion_runtime::broker::Name,
        flags: u32,
        handle: u32,
        make: impl FnOnce() -> core::result::Result<Kind, i32>,
    ) -> Result {
        let index = match self.find(task, queue, name) {
            Some(_) if flags & (open::CREATE | open::EXCLUSIVE) == open::CREATE | open::EXCLUSIVE => {
                return Err(EEXIST);
            }
            Some(index) => index,
            None if flags & open::CREATE == 0 => return Err(ENOENT),
            None => {
                let kind = make()?;
                self.objects.push(Object {
                    name: Some((space(task), name)),
                    holds: BTreeMap::new(),
                    maker: Some(task),
                    kind,
                });
                let index = self.objects.len() - 1;
                assert_eq!(self.handles.insert((queue, handle), index), None, "the handle was another's");
                index
            }
        };
        *self.objects[index].holds.entry(task).or_default() += 1;
        let is = |((of, _), at): &(&(bool, u32), &usize)| *of == queue && **at == index;
        let handle = self.handles.iter().find(is).map(|((_, handle), _)| *handle).unwrap();
        let (capacity, size, _) = if queue { self.shape(index) } else { (0, 0, 0) };
        Ok(Answer::Done([handle.into(), capacity.into(), size.into()]))
    }

    fn index(&self, task: usize, queue: bool, handle: u32) -> core::result::Result<usize, i32> {
        let index = *self.handles.get(&(queue, handle)).ok_or(EBADF)?;
        if self.objects[index].holds.contains_key(&task) { Ok(index) } else { Err(EBADF) }
    }

    fn close(&mut self, task: usize, queue: bool, handle: u32) -> Result {
        let index = self.index(task, queue, handle)?;
        let holds = self.objects[index].holds.get_mut(&task).unwrap();
        *holds -= 1;
        if *holds == 0 {
            self.objects[index].holds.remove(&task);
            self.fail(task, |wait| wait.object == index && wait.state == State::Waits);
            self.fail(task, |wait| wait.object == index && matches!(wait.state, State::Has(_)));
            self.leave(index, task);
            self.objects[index].settle();
        }
        Ok(Answer::OK)
    }

    fn fail(&mut self, task: usize, which: impl Fn(&Wait) -> bool) {
        for thread in 0..64 {
            let Some(wait) = self.waits.get(&(task, thread)).filter(|wait| which(wait)) else { continue };
            let failed = Wait { state: State::Failed(EBADF), ..wait.clone() };
            self.give_up((task, thread));
            self.waits.insert((task, thread), failed);
            self.wakes.push((task, thread.into()));
        }
    }

    fn leave(&mut self, index: usize, task: usize) {
        if let Kind::Queue { notice, .. } = &mut self.objects[index].kind {
            *notice = notice.filter(|(of, _)| *of != task);
        }
    }

    fn unlink(&mut self, task: usize, queue: bool, name: pillion_runtime::broker::Name) -> Result {
        let index = self.find(task, queue, name).ok_or(ENOENT)?;
        self.objects[index].name = None;
        Ok(Answer::OK)
    }

    fn idle(&self, of: Thread) -> core::result::Result<(), i32> {
        if self.waits.contains_key(&of) { Err(EBUSY) } else { Ok(()) }
    }

    fn wait(&mut self, of: Thread, level: u8, object: usize, sends: bool, block: bool) -> Result {
        if !block {
            return Err(EAGAIN);
        }
        self.arrivals += 1;
        self.waits.insert(of, Wait { state: State::Waits, object, sends, level, arrival: self.arrivals });
        Ok(Answer::Wait)
    }

    /// Hands it to the most urgent waiter. Returns what could not be handed over.
    fn hand(
        &mut self,
        object: usize,
        sends: bool,
        message: Option<(u8, Vec<u8>)>,
    ) -> core::result::Result<(), Option<(u8, Vec<u8>)>> {
        let waiting = |wait: &&Wait| wait.object == object && wait.sends == sends && wait.state == State::Waits;
        let first =
            self.waits.values().filter(waiting).min_by_key(|w| (u8::MAX - w.level, w.arrival)).map(|w| w.arrival);
        let Some((of, wait)) = self.waits.iter_mut().find(|(_, wait)| Some(wait.arrival) == first) else {
            return Err(message);
        };
        wait.state = State::Has(message);
        self.wakes.push((of.0, of.1.into()));
        Ok(())
    }

    fn give(&mut self, index: usize, sends: bool, message: Option<(u8, Vec<u8>)>) {
        if self.hand(index, sends, message).is_err()
            && let Kind::Semaphore { value } = &mut self.objects[index].kind
        {
            *value += 1;
        }
    }

    fn take_semaphore(&mut self, index: usize) -> bool {
        let Kind::Semaphore { value } = &mut self.objects[index].kind else { unreachable!() };
        let there = *value > 0;
        *value -= u32::from(there);
        there
    }

    fn shape(&self, index: usize) -> (u32, u32, usize) {
        let Kind::Queue { capacity, size, messages, .. } = &self.objects[index].kind else { unreachable!() };
        (*capacity, *size, messages.len())
    }

    /// Slots that are neither filled nor handed to a thread.
    fn room(&self, index: usize) -> usize {
        let handed = |wait: &&Wait| wait.object == index && matches!(wait.state, State::Has(_));
        let (capacity, _, count) = self.shape(index);
        capacity as usize - count - self.waits.values().filter(handed).count()
    }

    fn check_message(&self, index: usize, length: u32, priority: u32) -> core::result::Result<(), i32> {
        match () {
            () if length > self.shape(index).1 => Err(EMSGSIZE),
            () if priority > 31 => Err(EINVAL),
            () => Ok(()),
        }
    }

    fn send(&mut self, index: usize, priority: u8, bytes: &[u8]) {
        let Err(Some(message)) = self.hand(index, false, Some((priority, bytes.to_vec()))) else { return };
        let Kind::Queue { messages, notice, .. } = &mut self.objects[index].kind else { unreachable!() };
        let place = messages.iter().position(|(of, _)| *of < priority).unwrap_or(messages.len());
        messages.insert(place, message);
        if messages.len() == 1
            && let Some((task, thread)) = notice.take()
        {
            self.notices.push(task);
            if thread < 64 {
                self.wakes.push((task, thread.into()));
            }
        }
    }

    fn take_message(&mut self, index: usize) -> Option<(u8, Vec<u8>)> {
        let Kind::Queue { messages, .. } = &mut self.objects[index].kind else { unreachable!() };
        (!messages.is_empty()).then(|| messages.remove(0))
    }

    fn received(&mut self, index: usize, (priority, bytes): (u8, Vec<u8>)) -> Answer {
        let _ = self.hand(index, true, None);
        let answer = Answer::Done([bytes.len() as u64, priority.into(), 0]);
        self.received = Some(bytes);
        answer
    }

    fn finish(&mut self, of: Thread, (length, priority): (u32, u32), sent: &[u8]) -> Result {
        let Some(wait) = self.waits.get(&of).cloned() else { return Err(EINVAL) };
        let answer = match wait.state {
            State::Waits => return Ok(Answer::Wait),
            State::Failed(errno) => Err(errno),
            State::Has(Some(message)) => {
                self.waits.remove(&of);
                return Ok(self.received(wait.object, message));
            }
            State::Has(None) if wait.sends => {
                self.check_message(wait.object, length, priority)?;
                self.waits.remove(&of);
                self.send(wait.object, priority as u8, &sent[..length as usize]);
                return Ok(Answer::OK);
            }
            State::Has(None) => Ok(Answer::OK),
        };
        self.waits.remove(&of);
        answer
    }

    fn give_up(&mut self, of: Thread) {
        let Some(wait) = self.waits.remove(&of) else { return };
        let State::Has(message) = wait.state else { return };
        match message {
            Some((priority, bytes)) => {
                let Err(Some(message)) = self.hand(wait.object, false, Some((priority, bytes))) else { return };
                let Kind::Queue { messages, .. } = &mut self.objects[wait.object].kind else { unreachable!() };
                let place = messages.iter().position(|(of, _)| *of <= priority).unwrap_or(messages.len());
                messages.insert(place, message);
            }
            None => self.give(wait.object, wait.sends, None),
        }
    }
}
