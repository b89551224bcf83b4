//! Handlers of interrupt lines.

use super::{off, service};
use crate::cell::{Guarded, Shared};
use crate::error::{EBUSY, EINVAL};
use crate::lock::{self, Token};
use crate::log_line;
use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;
use pillion_rt_core::inherit::bits;
use pillion_runtime::call;
use pillion_runtime::info::{self, slot};

/// A handler of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    /// Installed by `rtl_request_irq`.
    Line(extern "C" fn(c_uint, *mut c_void) -> c_uint),
    /// Installed by `sigaction`; it gets the number of the signal.
    Signal(extern "C" fn(c_int)),
}

/// First signal that stands for a line.
const SIGNAL_FIRST: u32 = 256;

const LINES: usize = 16;

static HANDLERS: Shared<[Option<Handler>; LINES]> = Shared::new([None; LINES]);

/// Masked lines, by their index among the task's lines. The kernel does not mask edge-triggered
/// lines, as an edge would be lost.
static MASKED: Guarded<u64> = Guarded::new(0);

/// Masked lines that have had an interrupt.
static HELD: Guarded<u64> = Guarded::new(0);

/// Index of a line among the task's lines.
fn place(line: u32) -> Option<usize> {
    let skin = &info::task().skin;
    let count = (skin.line_count as usize).min(LINES);
    skin.lines[..count].iter().position(|l| *l == line)
}

/// Sets the handler of a line that has none.
pub(crate) fn request(line: u32, handler: Handler) -> Result<(), c_int> {
    set(line, handler, false)
}

/// Sets the handler of a line, in place of one that it may have: at no time is there none.
pub(crate) fn replace(line: u32, handler: Handler) -> Result<(), c_int> {
    set(line, handler, true)
}

fn set(line: u32, handler: Handler, replaces: bool) -> Result<(), c_int> {
    let Some(place) = place(line) else {
        log_line!("line {line} is not this task's: add interrupts = [{{ line = {line} }}] to it in the system file");
        return Err(EBUSY);
    };
    let token = lock::enter();
    let is_new = HANDLERS.borrow(&token)[place].is_none();
    if !is_new && !replaces {
        return Err(EBUSY);
    }
    service::ensure(&token)?;
    HANDLERS.borrow(&token)[place] = Some(handler);
    if is_new {
        HELD.set(&token, HELD.get(&token) & !(1 << place));
    }
    unmask(&token, place);
    Ok(())
}

/// Removes the handler of a line.
pub(crate) fn free(line: u32) -> Result<(), c_int> {
    let taken = place(line).and_then(|place| lock::with(|token| HANDLERS.borrow(token)[place].take()));
    taken.map(|_| ()).ok_or(EINVAL)
}

/// Runs the handlers of the lines that had an interrupt, given as bits, and of the lines that were
/// held back and no longer are.
pub(crate) fn run_due(lines: u64) {
    let held = lock::with(|token| HELD.get(token) & !MASKED.get(token));
    for place in bits((lines | held) & ((1 << LINES) - 1)) {
        off::during(|| {
            if let Some(handler) = lock::with(|token| take(token, place)) {
                run(handler, info::task().skin.lines[place]);
            }
        });
    }
}

/// The handler of a line, unless the line is masked. A line is masked from its interrupt until the
/// program enables it.
fn take(token: &Token, place: usize) -> Option<Handler> {
    let (bit, masked, held) = (1 << place, MASKED.get(token), HELD.get(token));
    if masked & bit != 0 {
        HELD.set(token, held | bit);
        return None;
    }
    HELD.set(token, held & !bit);
    MASKED.set(token, masked | bit);
    HANDLERS.borrow(token)[place]
}

fn run(handler: Handler, line: u32) {
    match handler {
        Handler::Line(handler) => {
            // There are no registers to show.
            handler(line, null_mut());
        }
        Handler::Signal(handler) => handler((SIGNAL_FIRST + line) as c_int),
    }
}

/// Unmasks a line. The service thread then handles, at its level, an interrupt that was held back.
fn unmask(token: &Token, place: usize) {
    MASKED.set(token, MASKED.get(token) & !(1 << place));
    let _ = call::interrupt_ack(slot::INTERRUPTS + place as u32);
    if HELD.get(token) >> place & 1 == 1 {
        service::look_again(token);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn rtl_request_irq(line: c_uint, handler: extern "C" fn(c_uint, *mut c_void) -> c_uint) -> c_int {
    request(line, Handler::Line(handler)).map_or_else(|number| -number, |()| 0)
}

/// Removes the handler of a line.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_free_irq(line: c_uint) -> c_int {
    free(line).map_or_else(|number| -number, |()| 0)
}

/// Lets a line interrupt again.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_hard_enable_irq(line: c_uint) {
    if let Some(place) = place(line) {
        lock::with(|token| unmask(token, place));
    }
}

/// Holds a line back: an interrupt that comes meanwhile is handled once the line is enabled.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_hard_disable_irq(line: c_uint) {
    if let Some(place) = place(line) {
        lock::with(|token| MASKED.set(token, MASKED.get(token) | 1 << place));
    }
}
