//! Tasks with a skin: programs written for another system's real-time interface, with several
//! threads each, loaded and unloaded while the system runs; and what they share with Linux.

mod backtrace;
mod boot;
mod broker;
mod busy;
mod channel;
mod command;
mod death;
pub mod dual;
mod fault;
mod layout;
mod life;
mod mbuff;
pub mod program;
pub mod psc;
mod serve;
mod task_output;
pub mod threads;
mod user_vcpus;
mod warden;

pub use boot::{Plans, Shared, plan};
pub use channel::{Channel, guest_extents};
pub use layout::Layout;

use crate::{journal, lines::Line, linux::Guest, task::Task, task_log, text::Text, window::Window};
use alloc::vec::Vec;
use core::ptr::NonNull;
use pillion_abi::NEVER;
use pillion_runtime::{Cap, now, signal};
use pillion_system::Processors;

/// How often a second the manager checks for printed text: after it found some, and none.
const LOOKS: [u64; 2] = [100, 10];

/// The manager's capabilities to reach Linux and its monitor.
struct Passenger {
    doorbell: Cap,
    /// The monitor's capability space.
    caps: Cap,
    /// The monitor's notification, to derive from for the tasks.
    notification: Cap,
    guest: Guest,
}

/// All tasks with a skin.
pub struct Skins {
    programs: Vec<program::Program>,
    broker: broker::Broker,
    channel: Channel,
    mbuffs: mbuff::Pool,
    logs: Vec<task_output::Reader>,
    /// Unfinished lines that tasks sent by message.
    lines: Vec<Line>,
    window: Window,
    /// The manager's endpoint.
    endpoint: Cap,
    passenger: Option<Passenger>,
    tsc_hz: u64,
    /// When Linux died, until its memory is used again.
    died: Option<u64>,
    /// When the threads' times were last checked.
    timed_at: u64,
    /// Linux's processors.
    linux: Processors,
    /// For how many seconds tasks have used all of each processor.
    starved: [u64; busy::PROCESSORS],
    /// When to check the logs again.
    next_look: u64,
    /// Whose log to check first.
    turn: usize,
    /// Whether the manager prints their logs; otherwise Linux shows them.
    copied: bool,
    /// Whether there was something to print the last time.
    chatty: bool,
    /// Whether the system ends when all of them have ended.
    until_ended: bool,
    /// A task faulted, an `init_module` failed, a task was ended by force, or a task that has ended
    /// had missed a period.
    failed: bool,
    /// Processors on which a task was started or ended, by bit.
    changed_on: u64,
}

/// What follows a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The system continues.
    GoOn,
    /// A task faulted; the system continues.
    Fault,
    /// All tasks have ended, and the system with them.
    End,
}

impl Skins {
    /// Whether nothing went wrong.
    pub fn are_good(&self) -> bool {
        !self.failed && self.tasks().all(|task| task.overruns() == 0)
    }

    /// The processors on which a task was started or ended since the last call, by bit.
    pub fn take_changed(&mut self) -> u64 {
        core::mem::take(&mut self.changed_on)
    }

    /// When to check the logs again.
    pub fn next_look(&self) -> u64 {
        self.next_look
    }

    /// Copies a little of what a task printed to the log. It is little, and from one task only,
    /// because clients that call meanwhile wait until it is done. With `copied` false, Linux shows
    /// the logs instead.
    pub fn look_at_logs(&mut self, copied: bool) {
        self.copied = copied;
        if !copied {
            self.next_look = NEVER;
            return;
        }
        if journal::is_behind() {
            // Meanwhile, what tasks print waits in their own logs; a loss there is reported.
            self.next_look = now().saturating_add(self.tsc_hz / LOOKS[0]);
            return;
        }
        let Skins { logs, channel, turn, .. } = self;
        let count = logs.len();
        let found =
            (*turn..*turn + count).map(|i| i % count).find(|i| logs[*i].look(&channel.log(*i), task_output::PIECE));
        if let Some(index) = found {
            self.turn = index + 1;
        }
        let wait = match (found, self.chatty) {
            (Some(_), _) => 0,
            (None, chatty) => self.tsc_hz / LOOKS[usize::from(!chatty)],
        };
        self.chatty = found.is_some();
        self.next_look = now().saturating_add(wait);
    }

    /// The tasks that are loaded now.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> + Clone {
        self.programs.iter().filter_map(|program| program.task.as_ref())
    }

    /// Reports the figures of the tasks that are loaded now.
    pub fn report_figures(&self) {
        for program in &self.programs {
            program.task.iter().for_each(|task| task_log::last(task, self.channel.period_ns(program.index)));
        }
    }

    /// Prints the rest of the logs.
    pub fn finish(&mut self) {
        for (i, reader) in self.logs.iter_mut().enumerate().filter(|_| self.copied) {
            reader.finish(&self.channel.log(i));
        }
        self.lines.iter_mut().for_each(|line| line.finish(crate::lines::print));
    }

    /// The system is ending, which may take a while.
    pub fn ending(&mut self) {
        warden::watch_over_manager(false);
    }

    /// Appends a text to a task's log as if the task had printed it. Linux copies it to its own log
    /// and to `pillion dmesg`, where the task's user looks. No thread of the task may run. The
    /// system's log already has its own report of the matter.
    fn say_in_linux(&mut self, index: usize, text: &Text) {
        let status = self.channel.status(index);
        if self.copied {
            self.logs[index].finish(&self.channel.log(index));
        }
        // SAFETY: the manager has the status mapped writable, for good, at an address that is not
        // 0; the task, the only other writer of the log, does not run.
        let mut log = unsafe { pillion_channel::log::Log::new(NonNull::new_unchecked(status.cast_mut())) };
        log.append(text.as_str().as_bytes());
        log.append(b"\n");
        self.logs[index].skip(&self.channel.log(index));
        self.changed();
        self.ring();
    }

    /// Makes Linux check everything.
    pub fn changed(&mut self) {
        self.channel.change(|_| ());
    }

    /// Makes Linux check the directory.
    fn ring(&self) {
        if let Some(passenger) = &self.passenger {
            let _ = signal(passenger.doorbell);
        }
    }
}
