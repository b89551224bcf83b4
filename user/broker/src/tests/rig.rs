//! A machine for tests, and shorthands for requests.

use crate::{Backend, Broker};
use pillion_abi::channel::{FIFOS, TASKS};
use pillion_channel::extent::Extent;
use pillion_runtime::broker::{Answer, Caller, DATA_SIZE, ENDED_PARTS, Name, Request, badge};
use std::{boxed::Box, collections::VecDeque, vec, vec::Vec};

/// A FIFO: bytes to Linux and to the tasks.
#[derive(Clone, Debug, Default)]
pub struct Pipe {
    pub size: usize,
    pub rings: [u64; 2],
    pub to_linux: VecDeque<u8>,
    pub to_task: VecDeque<u8>,
    pub opens: u32,
    /// Whether a process is at its rings.
    pub entered: bool,
    pub ended: bool,
    pub read_from: usize,
}

pub struct Machine {
    pub transfers: [Vec<u8>; TASKS],
    pub messages: Vec<u8>,
    pub wakes: Vec<(usize, usize)>,
    pub notices: [u64; TASKS],
    pub shared: u64,
    pub fifo_space: Extent,
    /// Tasks that have something reserved.
    pub tasks: usize,
    pub fifos: Vec<Option<Pipe>>,
}

impl Machine {
    pub fn new(messages: usize) -> Machine {
        Machine {
            transfers: core::array::from_fn(|_| vec![0; DATA_SIZE as usize]),
            messages: vec![0; messages],
            wakes: Vec::new(),
            notices: [0; TASKS],
            shared: 0b1011,
            fifo_space: Extent { at: 0x1000, size: 0x1000 },
            tasks: 0,
            fifos: vec![None; FIFOS],
        }
    }
}

impl Backend for Machine {
    fn wake(&mut self, task: usize, thread: usize) {
        self.wakes.push((task, thread));
    }

    fn notice(&mut self, task: usize, bit: usize) {
        self.notices[task] |= 1 << bit;
    }

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn message_memory(&self) -> u64 {
        self.messages.len() as u64
    }

    fn fetch(&mut self, task: usize, at: usize, place: u64, len: usize) {
        self.messages[place as usize..][..len].copy_from_slice(&self.transfers[task][at..][..len]);
    }

    fn deliver(&mut self, task: usize, at: usize, place: u64, len: usize) {
        self.transfers[task][at..][..len].copy_from_slice(&self.messages[place as usize..][..len]);
    }

    fn shared_fifos(&self) -> u64 {
        self.shared
    }

    fn fifo_memory(&self) -> Extent {
        self.fifo_space
    }

    fn fifo_make(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64) {
        let pipe = Pipe { size: size as usize, rings: [to_linux, to_task], read_from: fifo, ..Pipe::default() };
        self.fifos[fifo] = Some(pipe);
    }

    fn fifo_resize(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64) -> bool {
        let pipe = self.fifos[fifo].as_mut().unwrap();
        if !pipe.entered {
            let emptied = Pipe { to_linux: VecDeque::new(), to_task: VecDeque::new(), ..pipe.clone() };
            *pipe = Pipe { size: size as usize, rings: [to_linux, to_task], ..emptied };
        }
        !pipe.entered
    }

    fn fifo_end(&mut self, fifo: usize) {
        self.fifos[fifo].as_mut().unwrap().ended = true;
    }

    fn fifo_entered(&self, fifo: usize) -> bool {
        self.fifos[fifo].as_ref().is_some_and(|pipe| pipe.entered)
    }

    fn fifo_put(&mut self, fifo: usize, task: usize, len: usize) -> bool {
        let pipe = self.fifos[fifo].as_mut().unwrap();
        let room = pipe.to_linux.len() + len <= pipe.size;
        if room {
            pipe.to_linux.extend(&self.transfers[task][..len]);
        }
        room
    }

    fn fifo_get(&mut self, fifo: usize, task: usize, most: usize) -> usize {
        let pipe = self.fifos[fifo].as_mut().unwrap();
        let mut len = 0;
        while let Some(byte) = (len < most).then(|| pipe.to_task.pop_front().or_else(|| pipe.to_linux.pop_front())) {
            let Some(byte) = byte else { break };
            self.transfers[task][len] = byte;
            len += 1;
        }
        len
    }

    fn fifo_flush(&mut self, fifo: usize) {
        let pipe = self.fifos[fifo].as_mut().unwrap();
        pipe.to_linux.clear();
        pipe.to_task.clear();
    }

    fn fifo_lengths(&mut self, fifo: usize) -> (usize, usize) {
        let pipe = self.fifos[fifo].as_ref().unwrap();
        (pipe.to_linux.len(), pipe.to_task.len())
    }

    fn fifo_opens(&self, fifo: usize) -> u32 {
        self.fifos[fifo].as_ref().unwrap().opens
    }

    fn fifo_pair(&mut self, get: usize, put: usize) {
        self.fifos[get].as_mut().unwrap().read_from = put;
    }
}

/// A broker and its machine.
pub struct Rig {
    pub broker: Box<Broker>,
    pub machine: Machine,
    /// Where messages begin in the transfer memory.
    pub at: u16,
}

/// Highest level of the tasks' threads.
pub const CEILING: u8 = 100;

/// Tasks from this one on may not share.
pub const ALONE: usize = 2;

impl Rig {
    pub fn new() -> Rig {
        Rig { broker: Box::new(Broker::new()), machine: Machine::new(64 << 10), at: 0 }
    }

    /// The answer to thread `thread` of task `task`; its level is its number, or `at`'s.
    pub fn ask(&mut self, task: usize, thread: u8, request: Request) -> Answer {
        self.at(task, thread, thread, request)
    }

    pub fn at(&mut self, task: usize, thread: u8, level: u8, request: Request) -> Answer {
        let (label, words) = request.encode(Caller { thread, level, at: self.at });
        let badge = badge::of(task as u32, task < ALONE, CEILING);
        Answer::decode(&self.broker.serve(&mut self.machine, badge, label, &words))
    }

    pub fn manager(&mut self, request: Request) -> Answer {
        let (label, words) = request.encode(Caller::default());
        Answer::decode(&self.broker.serve(&mut self.machine, badge::MANAGER, label, &words))
    }

    /// Ends a task, in all parts.
    #[track_caller]
    pub fn task_ended(&mut self, task: usize) {
        for part in 0..ENDED_PARTS {
            assert_eq!(self.manager(Request::TaskEnded { index: task as u32, part }), Answer::OK);
        }
    }

    pub fn send(&mut self, task: usize, thread: u8, queue: u32, bytes: &[u8], priority: u32) -> Answer {
        self.machine.transfers[task][..bytes.len()].copy_from_slice(bytes);
        self.ask(task, thread, Request::QueueSend { queue, length: bytes.len() as u32, priority, block: true })
    }

    /// The threads woken since the last call.
    pub fn woken(&mut self) -> Vec<(usize, usize)> {
        core::mem::take(&mut self.machine.wakes)
    }
}

pub fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).unwrap()
}

/// The first value of an answer that must be a success.
#[track_caller]
pub fn value(answer: Answer) -> u32 {
    match answer {
        Answer::Done([value, ..]) => value as u32,
        other => panic!("{other:?}"),
    }
}

pub const FINISH: Request = Request::Finish { length: 0, priority: 0 };
pub const CANCEL: Request = Request::Cancel { length: 0, priority: 0 };
