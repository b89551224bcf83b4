//! Tasks with a skin: programs written for another system's real-time interface, with threads of
//! their own, loaded and unloaded while the system runs, and what they share with Linux.

mod backtrace;
mod boot;
mod broker;
mod busy;
mod channel;
mod command;
mod fault;
mod layout;
mod life;
mod log;
mod mbuff;
pub mod program;
pub mod psc;
mod serve;
pub mod threads;
mod warden;

pub use boot::{Plans, Shared, plan};
pub use channel::{Channel, guest_extents};

use crate::{journal, lines::Line, report, task::Task, text::Text, window::Window};
use alloc::vec::Vec;
use core::ptr::NonNull;
use pillion_abi::NEVER;
use pillion_runtime::{Cap, now, signal};

/// How often the manager looks for something that tasks printed, in a second: when it just found
/// something, and when it did not.
const LOOKS: [u64; 2] = [100, 10];

/// How Linux and its monitor are reached.
struct Passenger {
    /// Rings the doorbell.
    doorbell: Cap,
    /// Its monitor's capability space.
    caps: Cap,
    /// Its monitor's notification, for the tasks.
    notification: Cap,
    /// Its guest space.
    guest: Cap,
}

/// All tasks with a skin.
pub struct Skins {
    programs: Vec<program::Program>,
    broker: broker::Broker,
    channel: Channel,
    mbuffs: mbuff::Pool,
    logs: Vec<log::Reader>,
    /// What they wrote by messages.
    lines: Vec<Line>,
    window: Window,
    /// The manager's endpoint.
    endpoint: Cap,
    passenger: Option<Passenger>,
    tsc_hz: u64,
    /// When the threads' times were looked at.
    timed_at: u64,
    /// When the logs are to be looked at again.
    next_look: u64,
    /// Whose log is to be looked at first.
    turn: usize,
    /// Their logs are printed; otherwise Linux shows them.
    copied: bool,
    /// There was something to print the last time.
    chatty: bool,
    /// The system ends when all of them have.
    until_ended: bool,
    /// Something faulted, an `init_module` failed, a task was ended by force, or one that has ended
    /// had missed a period.
    failed: bool,
}

/// What a message leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The system goes on.
    GoOn,
    /// A task faulted; the system goes on.
    Fault,
    /// All tasks have ended, and the system with them.
    End,
}

impl Skins {
    /// Whether nothing went wrong.
    pub fn are_good(&self) -> bool {
        !self.failed && self.tasks().all(|task| task.overruns() == 0)
    }

    /// When the logs are to be looked at again.
    pub fn next_look(&self) -> u64 {
        self.next_look
    }

    /// Copies a little of what a task printed to the log. Only a little, and of one task: whoever
    /// calls meanwhile waits until it is done. What is not to be `copied` Linux shows anyway.
    pub fn look_at_logs(&mut self, copied: bool) {
        self.copied = copied;
        if !copied {
            self.next_look = NEVER;
            return;
        }
        if journal::is_behind() {
            // What tasks print meanwhile waits in their own logs, or is lost there, which is told.
            self.next_look = now().saturating_add(self.tsc_hz / LOOKS[0]);
            return;
        }
        let Skins { logs, channel, turn, .. } = self;
        let count = logs.len();
        let found = (*turn..*turn + count).map(|i| i % count).find(|i| logs[*i].look(&channel.log(*i), log::PIECE));
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

    /// Those that are there now.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.programs.iter().filter_map(|program| program.task.as_ref())
    }

    /// Says the figures of those that are there now.
    pub fn report_figures(&self) {
        for program in &self.programs {
            program.task.iter().for_each(|task| report::last(task, self.channel.period_ns(program.index)));
        }
    }

    /// Prints what is left.
    pub fn finish(&mut self) {
        for (i, reader) in self.logs.iter_mut().enumerate().filter(|_| self.copied) {
            reader.finish(&self.channel.log(i));
        }
        self.lines.iter_mut().for_each(|line| line.finish(crate::lines::print));
    }

    /// The system ends, which may take its time.
    pub fn ending(&mut self) {
        warden::watch_over_manager(false);
    }

    /// Says something about a task as if it had printed it: there Linux has it in its log and in
    /// `pillion dmesg`, where who uses the task looks. None of its threads runs. What the system's
    /// log has to say of it stands there already.
    fn say_in_linux(&mut self, index: usize, text: &Text) {
        let status = self.channel.status(index);
        if self.copied {
            self.logs[index].finish(&self.channel.log(index));
        }
        // SAFETY: the manager has the status mapped writable, for good, at an address that is not
        // 0; the task, which else writes the log, does not run.
        let mut log = unsafe { pillion_channel::log::Log::new(NonNull::new_unchecked(status.cast_mut())) };
        log.append(text.as_str().as_bytes());
        log.append(b"\n");
        self.logs[index].skip(&self.channel.log(index));
        self.changed();
        self.ring();
    }

    /// Lets Linux look at everything.
    pub fn changed(&mut self) {
        self.channel.change(|_| ());
    }

    /// Lets Linux look at the directory.
    fn ring(&self) {
        if let Some(passenger) = &self.passenger {
            let _ = signal(passenger.doorbell);
        }
    }
}
