//! Serves Linux's requests: handlers that begin and end, and FIFOs for them.

use crate::{fifos::Fifos, runner, share};
use pillion_abi::channel::{PscSlot, psc};
use pillion_runtime::info::TaskInfo;

const EINVAL: i64 = -22;
const EBUSY: i64 = -16;
const ENOSPC: i64 = -28;

/// Shortest period of a handler, in nanoseconds.
const LEAST_PERIOD: u64 = 10_000;

/// Longest period: a hundred days.
const MOST_PERIOD: u64 = 100 * 86_400 * 1_000_000_000;

/// Carries out the requests.
pub struct Server {
    /// Most handlers that there can be.
    handlers: usize,
    /// Interrupt lines of the task, in the order of its interrupts.
    lines: [u32; 16],
    line_count: usize,
    /// The handler that waits for an interrupt, of which there can be one.
    at_line: Option<usize>,
    fifos: Fifos,
}

impl Server {
    /// A server without handlers.
    pub fn new(info: &TaskInfo) -> Server {
        let skin = &info.skin;
        let handlers = (skin.threads as usize).saturating_sub(1).min(psc::SLOTS);
        let line_count = skin.line_count as usize;
        Server { handlers, lines: skin.lines, line_count, at_line: None, fifos: Fifos::new(skin.share_size) }
    }

    /// Checks for requests and carries them out.
    pub fn look(&mut self) {
        for number in 0..psc::SLOTS {
            if let Some(request) = share::handler(number) {
                let result = self.handler(number, &request.what);
                share::answer_handler(number, request.number, result);
            }
        }
        if let Some(request) = share::fifo_request() {
            let (number, size) = request.what;
            share::answer_fifo(request.number, self.fifos.resize(number, size));
        }
    }

    fn handler(&mut self, number: usize, order: &PscSlot) -> i64 {
        match order.command {
            psc::START if number < self.handlers => self.start(number, order),
            psc::START => ENOSPC,
            psc::STOP => {
                self.stop(number);
                0
            }
            _ => EINVAL,
        }
    }

    /// Starts a handler. It stops what ran in its place before it checks anything, so that nothing
    /// runs after a refusal.
    fn start(&mut self, number: usize, order: &PscSlot) -> i64 {
        self.stop(number);
        let line = if order.flags & psc::LINE != 0 { self.line(order.line) } else { None };
        let is_timed = order.flags & psc::LINE == 0;
        if is_timed != line.is_none() || (is_timed && !(LEAST_PERIOD..=MOST_PERIOD).contains(&order.period_ns)) {
            return EINVAL;
        }
        if line.is_some() && self.at_line.is_some() {
            return EBUSY;
        }
        self.at_line = line.map_or(self.at_line, |_| Some(number));
        // SAFETY: the main thread, and no other, has a server.
        unsafe { runner::start(number, order, line) }.map_or(EINVAL, |()| 0)
    }

    /// Stops a handler, which does not run any more when this returns. The handler need not exist.
    fn stop(&mut self, number: usize) {
        if number >= self.handlers {
            return;
        }
        runner::stop(number);
        self.at_line = self.at_line.filter(|other| *other != number);
    }

    /// Index of a line among the task's interrupts.
    fn line(&self, line: u64) -> Option<u32> {
        let lines = self.lines.iter().take(self.line_count);
        lines.zip(0..).find(|(own, _)| u64::from(**own) == line).map(|(_, index)| index)
    }

    /// Ends all handlers.
    pub fn close(&mut self) {
        (0..self.handlers).for_each(|number| self.stop(number));
    }
}
