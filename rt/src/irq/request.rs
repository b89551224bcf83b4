//! Handlers of interrupt lines.

use super::service;
use crate::{
    cell::{Guarded, Shared},
    error::{EBUSY, EINVAL},
    lock::{self, Token},
};
use core::{
    ffi::{c_int, c_uint, c_void},
    ptr::null_mut,
};
use pillion_rt_core::inherit::bits;
use pillion_runtime::{
    call,
    info::{self, slot},
    println,
};

/// A handler of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    /// Of `rtl_request_irq`. There are no registers to show.
    Line(extern "C" fn(c_uint, *mut c_void) -> c_uint),
    /// Of `sigaction`; it gets the number of the signal.
    Signal(extern "C" fn(c_int)),
}

/// First signal that stands for a line.
const SIGNAL_FIRST: u32 = 256;

const LINES: usize = 16;

static HANDLERS: Shared<[Option<Handler>; LINES]> = Shared::new([None; LINES]);

/// Lines that the program has disabled, by their place among the task's.
static DISABLED: Guarded<u64> = Guarded::new(0);

/// Disabled lines that had an interrupt.
static HELD: Guarded<u64> = Guarded::new(0);

/// Place of a line among the task's.
fn place(line: u32) -> Option<usize> {
    let skin = &info::task().skin;
    let count = (skin.line_count as usize).min(LINES);
    skin.lines[..count].iter().position(|l| *l == line)
}

/// Sets the handler of a line.
pub(crate) fn request(line: u32, handler: Handler) -> Result<(), c_int> {
    let Some(place) = place(line) else {
        let name = info::text(&info::task().name);
        println!("[{name}] line {line} is not this task's: system.toml has to name it under the task's `interrupts`");
        return Err(EBUSY);
    };
    let token = lock::enter();
    if HANDLERS.borrow(&token)[place].is_some() {
        return Err(EBUSY);
    }
    service::ensure(&token)?;
    HANDLERS.borrow(&token)[place] = Some(handler);
    Ok(())
}

/// Takes the handler of a line away.
pub(crate) fn free(line: u32) -> Result<(), c_int> {
    let taken = place(line).and_then(|place| lock::with(|token| HANDLERS.borrow(token)[place].take()));
    taken.map(|_| ()).ok_or(EINVAL)
}

/// Runs the handlers of lines, by their bits.
pub(crate) fn run_due(lines: u64) {
    for place in bits(lines & ((1 << LINES) - 1)) {
        lock::with(|token| run(token, place));
    }
}

fn run(token: &Token, place: usize) {
    if DISABLED.get(token) >> place & 1 == 1 {
        HELD.set(token, HELD.get(token) | 1 << place);
        return;
    }
    let handler = HANDLERS.borrow(token)[place];
    let line = info::task().skin.lines[place];
    match handler {
        Some(Handler::Line(handler)) => {
            handler(line, null_mut());
        }
        Some(Handler::Signal(handler)) => handler((SIGNAL_FIRST + line) as c_int),
        // It stays masked until somebody enables it.
        None => {}
    }
}

/// Sets the handler of a line.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_request_irq(line: c_uint, handler: extern "C" fn(c_uint, *mut c_void) -> c_uint) -> c_int {
    request(line, Handler::Line(handler)).map_or_else(|number| -number, |()| 0)
}

/// Takes the handler of a line away.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_free_irq(line: c_uint) -> c_int {
    free(line).map_or_else(|number| -number, |()| 0)
}

/// Lets a line interrupt again.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_hard_enable_irq(line: c_uint) {
    let Some(place) = place(line) else { return };
    lock::with(|token| {
        DISABLED.set(token, DISABLED.get(token) & !(1 << place));
        let held = HELD.get(token);
        if held >> place & 1 == 1 {
            HELD.set(token, held & !(1 << place));
            run(token, place);
        }
        let _ = call::interrupt_ack(slot::INTERRUPTS + place as u32);
    });
}

/// Holds a line back: an interrupt that comes meanwhile is handled when it is enabled.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_hard_disable_irq(line: c_uint) {
    if let Some(place) = place(line) {
        lock::with(|token| DISABLED.set(token, DISABLED.get(token) | 1 << place));
    }
}
