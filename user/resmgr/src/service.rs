//! What the manager does while the system runs: it writes the log, reports faults and latencies, and ends the system.

use crate::{
    lines::{Line, bytes_of_words, print},
    machine::Machine,
    power, report,
    start::badge,
    task::Task,
    trace::{self, Trace},
};
use alloc::vec::Vec;
use pillion_abi::{
    NEVER,
    call::{LABEL_FAULT, MESSAGE_WORDS},
    status::Error,
};
use pillion_runtime::{
    call::{Message, receive, reply},
    info::label,
    now, println,
};

/// Label of the answer to a call that the manager does not know.
const UNKNOWN: u64 = 1;

/// Answer to a fault: the thread stays stopped.
const STAY: u64 = 2;

/// The running system.
pub struct Service {
    tsc_hz: u64,
    tasks: Vec<Task>,
    lines: Vec<Line>,
    /// The last task is the VM monitor.
    passenger: bool,
    /// When the system ends by itself.
    limit: u64,
    /// The kernel's trace, while it is on.
    trace: Option<Trace>,
    faults: u32,
}

impl Service {
    /// A system whose tasks were just started. The option `seconds` of the kernel's command line limits its time.
    pub fn new(machine: &Machine, tasks: Vec<Task>, passenger: bool) -> Service {
        let tsc_hz = machine.boot.tsc_hz;
        let limit = machine.option("seconds").map_or(NEVER, |s| now().saturating_add(s.saturating_mul(tsc_hz)));
        let lines = tasks.iter().map(|_| Line::new()).collect();
        Service { tsc_hz, tasks, lines, passenger, limit, trace: trace::start(machine), faults: 0 }
    }

    /// Serves until the system ends.
    pub fn run(mut self) -> ! {
        let mut next = now().saturating_add(self.tsc_hz);
        loop {
            match receive(next.min(self.limit)) {
                Ok(message) => self.serve(&message),
                Err(Error::Timeout) => {}
                Err(error) => {
                    println!("[resmgr] cannot receive: {error:?}");
                    self.end(false);
                }
            }
            let time = now();
            if time >= self.limit {
                let ok = self.faults == 0 && self.overruns() == 0;
                self.end(ok);
            }
            if time >= next {
                self.tasks.iter().for_each(report::status);
                // After a long stop the lines that were missed are left out.
                next += (time - next + self.tsc_hz) / self.tsc_hz * self.tsc_hz;
            }
        }
    }

    /// Serves one message. It is answered before anything is printed, so that the sender's priority is not lent to the log.
    fn serve(&mut self, message: &Message) {
        let sender = (message.badge / 2).checked_sub(1).map(|i| i as usize).filter(|i| *i < self.tasks.len());
        let answer = |label| {
            let _ = reply(label, [0; MESSAGE_WORDS]);
        };
        let Some(sender) = sender else { return answer(UNKNOWN) };
        let is_fault = message.badge != badge(sender);
        match (message.label & 0xff, is_fault) {
            (_, true) if message.label == LABEL_FAULT => {
                answer(STAY);
                self.fault(sender, &message.words);
            }
            (label::LOG, false) => {
                answer(0);
                let bytes = bytes_of_words(&message.words);
                let count = bytes.len().min((message.label >> 8) as usize);
                self.lines[sender].push(&bytes[..count], print);
            }
            (label::END, false) => {
                let ok = message.words[0] == 0 && self.faults == 0;
                self.end(ok);
            }
            _ => answer(UNKNOWN),
        }
    }

    fn fault(&mut self, sender: usize, words: &[u64; MESSAGE_WORDS]) {
        self.faults += 1;
        self.lines[sender].finish(print);
        report::fault(&self.tasks[sender], words);
        if self.passenger && sender + 1 == self.tasks.len() {
            let t_ns = report::since_boot(self.tsc_hz);
            println!("{{\"pillion\":\"linux\",\"event\":\"gave-up\",\"t_ns\":{t_ns}}}");
        }
    }

    fn overruns(&self) -> u64 {
        self.tasks.iter().filter_map(|t| t.histogram).fold(0, |sum: u64, h| sum.saturating_add(h.overruns()))
    }

    /// Says everything that is still to be said and switches the machine off.
    fn end(&mut self, ok: bool) -> ! {
        self.lines.iter_mut().for_each(|line| line.finish(print));
        self.tasks.iter().for_each(report::last);
        if let Some(trace) = &self.trace {
            trace.report();
        }
        power::end(self.tsc_hz, ok)
    }
}
