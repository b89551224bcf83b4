//! Actions of signals: `sigaction`.

use super::{USER_FIRST, USER_LAST};
use crate::cell::Shared;
use crate::error::{EINVAL, posix};
use crate::irq;
use crate::lock::{self, Token};
use core::ffi::{c_int, c_ulong, c_void};
use core::mem::transmute;

pub(crate) type Handler = extern "C" fn(c_int);

/// `struct sigaction`; also in `signal.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// A [`Handler`], or one of the values below.
    sa_handler: usize,
    sa_mask: c_ulong,
    sa_flags: c_int,
    sa_focus: c_ulong,
}

/// `SIG_DFL`.
const DEFAULT: usize = 0;
/// `SIG_IGN`.
const IGNORE: usize = 1;
/// The number is that of an interrupt.
const SA_IRQ: c_int = 0x1_0000;
/// The handler is removed when it is called.
const SA_RESETHAND: c_int = 0x8000_0000_u32 as c_int;
/// First number that stands for an interrupt.
const IRQ_FIRST: c_int = 256;
/// Count of numbers that stand for interrupts.
const IRQ_COUNT: c_int = 256;

const NONE: Action = Action { sa_handler: DEFAULT, sa_mask: 0, sa_flags: 0, sa_focus: 0 };

/// The actions of the program's signals, for all threads.
static ACTIONS: Shared<[Action; (USER_LAST + 1) as usize]> = Shared::new([NONE; (USER_LAST + 1) as usize]);

/// The actions of interrupts, as the program set them.
static INTERRUPTS: Shared<[Action; IRQ_COUNT as usize]> = Shared::new([NONE; IRQ_COUNT as usize]);

/// Returns whether a signal has no effect.
pub(super) fn is_ignored(token: &Token, signal: u32) -> bool {
    ACTIONS.borrow(token)[signal as usize].sa_handler <= IGNORE
}

/// The handler of a signal, and the signals blocked while it runs.
pub(super) fn handler(token: &Token, signal: u32) -> Option<(Handler, u64)> {
    let action = &mut ACTIONS.borrow(token)[signal as usize];
    if action.sa_handler <= IGNORE {
        return None;
    }
    // SAFETY: the program gave the address of a handler.
    let handler = unsafe { transmute::<usize, Handler>(action.sa_handler) };
    let mask = action.sa_mask;
    if action.sa_flags & SA_RESETHAND != 0 {
        *action = NONE;
    }
    Some((handler, mask))
}

/// Sets the action of a signal or of a machine interrupt.
///
/// # Safety
/// `new` is null or readable, and its handler is 0, 1 or the address of a `Handler`; `old` is null
/// or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the caller's promise.
    let (new, old) = unsafe { (new.as_ref(), old.as_mut()) };
    let by_flag = new.is_some_and(|n| n.sa_flags & SA_IRQ != 0);
    let line = if by_flag { signal } else { signal - IRQ_FIRST };
    if (by_flag || signal >= IRQ_FIRST) && (0..IRQ_COUNT).contains(&line) {
        return posix(interrupt_action(line as u32, new, old));
    }
    if !(USER_FIRST as c_int..=USER_LAST as c_int).contains(&signal) {
        return posix(Err(EINVAL));
    }
    lock::with(|token| exchange(&mut ACTIONS.borrow(token)[signal as usize], new, old));
    0
}

fn exchange(action: &mut Action, new: Option<&Action>, old: Option<&mut Action>) {
    if let Some(old) = old {
        *old = *action;
    }
    if let Some(new) = new {
        *action = *new;
    }
}

fn interrupt_action(line: u32, new: Option<&Action>, old: Option<&mut Action>) -> Result<(), c_int> {
    if let Some(new) = new {
        if new.sa_handler > IGNORE {
            // SAFETY: the program gave the address of a handler.
            let handler = unsafe { transmute::<usize, Handler>(new.sa_handler) };
            irq::replace(line, irq::Handler::Signal(handler))?;
        } else {
            let _ = irq::free(line);
        }
    }
    lock::with(|token| exchange(&mut INTERRUPTS.borrow(token)[line as usize], new, old));
    Ok(())
}

/// Sets the handler of a signal; returns the old one, or `SIG_ERR`.
///
/// # Safety
/// `handler` is 0, 1 or the address of a `Handler`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: usize) -> *mut c_void {
    let (new, mut old) = (Action { sa_handler: handler, ..NONE }, NONE);
    // SAFETY: both are variables here; the caller's promise for the handler.
    let done = unsafe { sigaction(signal, &raw const new, &raw mut old) };
    if done == 0 { old.sa_handler as *mut c_void } else { usize::MAX as *mut c_void }
}
