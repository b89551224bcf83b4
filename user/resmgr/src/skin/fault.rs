//! A thread of a task with a skin faulted: the whole task stops, the others continue.

use super::{After, Skins, backtrace::Calls, threads};
use crate::{task_log, text::text};
use core::fmt;
use pillion_abi::call::MESSAGE_WORDS;
use pillion_abi::channel::{FaultReport, task_state};
use pillion_runtime::{call::reply, println, thread_register};

/// Reply to a fault: the thread stays stopped.
const STAY: u64 = 2;

/// Register pair that holds the frame pointer, as its second register.
const FRAME: u64 = 4;

/// An exception, and the address of a page fault, as text for people.
struct Exception(u64, u64);

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("division by zero"),
            3 => f.write_str("breakpoint"),
            6 => f.write_str("invalid instruction"),
            13 => f.write_str("an address or instruction that it may not use"),
            14 => write!(f, "no access to address {:#x}", self.1),
            vector => write!(f, "exception {vector}"),
        }
    }
}

impl Skins {
    /// Stops the task and reports the fault. The task is stopped before the fault is replied to, so
    /// that none of its threads runs again.
    pub(super) fn fault(&mut self, index: usize, words: &[u64; MESSAGE_WORDS]) -> After {
        self.failed = true;
        let Some(program) = self.programs.get(index) else { return self.broker_fault(words) };
        let [vector, error, address, rip, rsp, ..] = *words;
        let number = threads::find(&program.threads, rip, rsp).unwrap_or(0);
        self.stop(index);
        let _ = reply(STAY, [0; MESSAGE_WORDS]);
        let fault = FaultReport { vector, error, address, rip, rsp, thread: number as u64 };
        self.channel.change(|directory| directory.tasks[index].fault = fault);
        self.set_state(index, task_state::FAULTED);
        if let Err(error) = self.broker.task_ended(index) {
            println!("[resmgr] cannot report the fault to the broker: {error:?}");
        }
        self.report(index, number, words);
        let name = self.programs[index].name();
        let what = Exception(vector, address);
        let text = text!(
            "pillion: thread {number} faulted: {what}, at instruction {rip:#x}: the task is stopped and stays loaded until `pillion unload {name}`"
        );
        self.say_in_linux(index, &text);
        match self.after() {
            After::GoOn => After::Fault,
            end => end,
        }
    }

    fn report(&mut self, index: usize, number: usize, words: &[u64; MESSAGE_WORDS]) {
        if self.copied {
            self.logs[index].finish(&self.channel.log(index));
        }
        let program = &self.programs[index];
        let (Some(task), Some(thread)) = (&program.task, program.threads.get(number)) else { return };
        let frame = thread_register(thread.thread, FRAME).map_or(0, |[_, frame]| frame);
        let calls = Calls::of(task, program.memory_size(), &self.window, frame);
        let place = task_log::Place { thread: number, calls: calls.as_slice() };
        task_log::fault(program.name(), thread.thread, words, Some(place));
    }

    /// Handles a fault of the broker. What tasks share is gone: their calls to the broker fail.
    /// Everything else continues.
    fn broker_fault(&mut self, words: &[u64; MESSAGE_WORDS]) -> After {
        let _ = reply(STAY, [0; MESSAGE_WORDS]);
        task_log::fault(self.broker.task.name, self.broker.task.thread, words, None);
        self.broker.close();
        self.set_state(self.programs.len(), task_state::FAULTED);
        After::Fault
    }
}
