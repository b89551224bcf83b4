//! What the manager does while the system runs: it writes the log, reports faults and latencies,
//! and ends the system.

use crate::{
    journal,
    kernel_trace::{self, Trace},
    lines::{Line, bytes_of_words, print},
    linux::{LinuxLog, Presence},
    platform::Platform,
    processors::Processors,
    rights::{Sender, badge, kind, may},
    shutdown,
    skin::{After, Skins},
    task::Task,
    task_log, time,
};
use alloc::vec::Vec;
use pillion_abi::NEVER;
use pillion_abi::boot::BootInfo;
use pillion_abi::call::{LABEL_FAULT, MESSAGE_WORDS};
use pillion_abi::status::Error;
use pillion_runtime::call::{Message, receive, reply};
use pillion_runtime::info::{gone, label};
use pillion_runtime::{now, println};

/// Label of the reply to a request that is unknown, or not the sender's. The first word is `EPERM`.
const REFUSED: u64 = 1;
const EPERM: i64 = -1;

/// Reply to a fault: the thread stays stopped.
const STAY: u64 = 2;

/// Result of a command of Linux where no task has a skin (`ENOSYS`).
const NO_TASKS: i64 = -38;

/// Result of starting Linux where there is none (`ENODEV`).
const NO_LINUX: i64 = -19;

fn answer(value: i64) {
    let _ = reply(0, [value as u64, 0, 0, 0, 0, 0, 0, 0]);
}

fn refuse() {
    let _ = reply(REFUSED, [EPERM as u64, 0, 0, 0, 0, 0, 0, 0]);
}

/// The running system.
pub struct Service {
    boot: &'static BootInfo,
    tasks: Vec<Task>,
    /// The processors, if there are several.
    processors: Option<Processors>,
    lines: Vec<Line>,
    /// The tasks with a skin: their senders follow the others.
    skins: Option<Skins>,
    /// The kinds of senders, by index.
    senders: Vec<Sender>,
    /// Linux. Its monitor is the last task.
    presence: Option<Presence>,
    /// The log shown in Linux, where no UART takes it.
    log: Option<LinuxLog>,
    /// When the system ends by itself: a time limit.
    limit: u64,
    /// The kernel's trace, if it is on.
    trace: Option<Trace>,
    faults: u32,
}

impl Service {
    /// A system whose tasks have just been started. The option `seconds` of the kernel's command
    /// line limits its run time.
    pub fn new(
        machine: &Platform,
        (tasks, processors): (Vec<Task>, Option<Processors>),
        skins: Option<Skins>,
        senders: Vec<Sender>,
        (presence, log): (Option<Presence>, Option<LinuxLog>),
    ) -> Service {
        let tsc_hz = machine.boot.tsc_hz;
        let limit = machine.option("seconds").map_or(NEVER, |s| now().saturating_add(s.saturating_mul(tsc_hz)));
        let lines = tasks.iter().map(|_| Line::new()).collect();
        let trace = kernel_trace::start(machine);
        Service { boot: machine.boot, tasks, processors, lines, skins, senders, presence, log, limit, trace, faults: 0 }
    }

    /// Serves until the system ends.
    pub fn run(mut self) -> ! {
        let mut next = now().saturating_add(self.boot.tsc_hz);
        loop {
            let look = self.skins.as_ref().map_or(NEVER, |skins| skins.next_look().min(skins.next_end()));
            match receive(next.min(self.limit).min(look).min(journal::next_look())) {
                Ok(message) => self.serve(&message),
                Err(Error::Timeout) => {}
                Err(error) => {
                    println!("[resmgr] cannot receive: {error:?}");
                    self.end(false);
                }
            }
            if let Some(skins) = &mut self.skins {
                skins.look_at_logs(self.log.is_none());
                let after = skins.end_overdue();
                self.go_on(after);
            }
            self.write_log();
            let time = now();
            if time >= self.limit {
                self.end(true);
            }
            if time >= next {
                self.skins.iter_mut().for_each(|skins| skins.look_at_time(time));
                self.tasks.iter().for_each(task_log::status);
                self.skins.iter().flat_map(Skins::tasks).for_each(task_log::status);
                let changed = self.skins.as_mut().map_or(0, Skins::take_changed);
                self.processors.iter_mut().for_each(|processors| processors.begin(changed));
                self.tell_processors();
                // After a long stop, skip the lines that were missed.
                next += (time - next + self.boot.tsc_hz) / self.boot.tsc_hz * self.boot.tsc_hz;
            }
        }
    }

    /// Reports what each processor counted, and the worst of its tasks.
    fn tell_processors(&self) {
        let tasks = self.tasks.iter().chain(self.skins.iter().flat_map(Skins::tasks));
        self.processors.iter().for_each(|processors| processors.status(tasks.clone()));
    }

    /// Sends a little of what was printed to the UART, or to Linux.
    fn write_log(&mut self) {
        let Some(log) = &mut self.log else {
            journal::look(journal::uart);
            return;
        };
        let put = |byte| {
            log.put(byte);
            true
        };
        if journal::look(put) && journal::is_empty() {
            self.skins.iter_mut().for_each(Skins::changed);
            log.ring();
        }
    }

    /// Serves one message. It replies before it prints: the sender does not wait for the log.
    fn serve(&mut self, message: &Message) {
        let all = self.senders.len();
        let sender = (message.badge / 2).checked_sub(1).map(|i| i as usize).filter(|i| *i < all);
        let Some(sender) = sender else { return refuse() };
        let is_fault = message.badge != badge(sender);
        let allowed = if is_fault { message.label == LABEL_FAULT } else { may(self.senders[sender], message.label) };
        if !allowed {
            return refuse();
        }
        match (message.label, is_fault) {
            (label::END, false) => {
                // A task may end the system from its `init_module`.
                let by = sender.checked_sub(self.tasks.len());
                self.skins.iter_mut().zip(by).for_each(|(skins, index)| skins.is_through(index));
                self.end(message.words[0] == 0);
            }
            (label::LINUX_START, false) => {
                return answer(self.presence.as_mut().map_or(NO_LINUX, Presence::start));
            }
            _ => {}
        }
        match sender.checked_sub(self.tasks.len()) {
            Some(index) => self.serve_skin(index, message, is_fault),
            None => self.serve_task(sender, message, is_fault),
        }
    }

    /// Serves a request or a fault of the monitor or of a task without a skin.
    fn serve_task(&mut self, sender: usize, message: &Message, is_fault: bool) {
        match (kind(message.label), is_fault) {
            (_, true) => {
                let _ = reply(STAY, [0; MESSAGE_WORDS]);
                self.fault(sender, &message.words);
            }
            (label::COMMAND, false) => answer(self.skins.as_mut().map_or(NO_TASKS, Skins::command)),
            (label::LINUX_GONE, false) if message.words[0] == gone::DEAD => {
                answer(self.skins.as_mut().is_some_and(Skins::linux_died).into());
            }
            (label::LINUX_GONE, false) => {
                self.presence.iter_mut().for_each(|presence| presence.gone(message.words[0]));
                self.skins.iter_mut().for_each(Skins::linux_gone);
                // Not before: the monitor must not use Linux's memory while tasks run code in it.
                answer(0);
            }
            (label::LOG, false) => {
                answer(0);
                let bytes = bytes_of_words(&message.words);
                let count = bytes.len().min((message.label >> 8) as usize);
                self.lines[sender].push(&bytes[..count], print);
            }
            _ => refuse(),
        }
    }

    fn serve_skin(&mut self, index: usize, message: &Message, is_fault: bool) {
        let Some(skins) = &mut self.skins else { return };
        let after = skins.serve(index, message, is_fault);
        self.go_on(after);
    }

    fn go_on(&mut self, after: After) {
        match after {
            After::GoOn => {}
            After::Fault => self.faults += 1,
            After::End => self.end(true),
        }
    }

    fn is_monitor(&self, sender: usize) -> bool {
        self.presence.is_some() && sender + 1 == self.tasks.len()
    }

    fn fault(&mut self, sender: usize, words: &[u64; MESSAGE_WORDS]) {
        self.faults += 1;
        self.lines[sender].finish(print);
        let is_monitor = self.is_monitor(sender);
        let [_, _, _, rip, rsp, ..] = *words;
        let presence = self.presence.as_mut().filter(|_| is_monitor);
        let thread = presence.and_then(|presence| presence.monitor_faulted(rip, rsp));
        let task = &self.tasks[sender];
        task_log::fault(task.name, thread.unwrap_or(task.thread), words, None);
        if is_monitor {
            let t_ns = task_log::since_boot(self.boot.tsc_hz);
            println!("{{\"pillion\":\"linux\",\"event\":\"gave-up\",\"t_ns\":{t_ns}}}");
        }
    }

    /// Whether nothing went wrong. The run's status is decided here alone, no matter who ends the
    /// system and why.
    fn is_good(&self) -> bool {
        let in_time = self.tasks.iter().all(|task| task.overruns() == 0);
        let given_up = self.presence.as_ref().is_some_and(Presence::gave_up);
        self.faults == 0 && in_time && !given_up && self.skins.as_ref().is_none_or(Skins::are_good)
    }

    /// Prints all that is left to print and switches the machine off. The status is good if
    /// `content` is set and nothing went wrong.
    fn end(&mut self, content: bool) -> ! {
        time::lift();
        self.skins.iter_mut().for_each(Skins::ending);
        journal::ending();
        // The trace ends here: printing from now on would displace everything else in it.
        self.trace.iter().for_each(Trace::stop);
        self.skins.iter_mut().for_each(Skins::tell_unfinished);
        self.skins.iter_mut().for_each(Skins::report_lost);
        let ok = content && self.is_good();
        // Before the tasks' figures, which take long to print while the tasks run on.
        self.tell_processors();
        self.lines.iter_mut().for_each(|line| line.finish(print));
        self.skins.iter_mut().for_each(Skins::finish);
        self.tasks.iter().for_each(|task| task_log::last(task, task.period_ns));
        self.skins.iter().for_each(Skins::report_figures);
        if let Some(trace) = &self.trace {
            trace.report();
        }
        shutdown::end(self.boot, ok)
    }
}
