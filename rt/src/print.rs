//! The task's output: text for its log, which Linux and the resource manager read.
//!
//! The functions with formats are in C (`c/print.c`) and pass finished text to this module.

use crate::cell::Shared;
use crate::lock;
use crate::share::{self, bit, status};
use core::{ffi::c_char, fmt};
use pillion_channel::log::Log;

static LOG: Shared<Option<Log>> = Shared::new(None);

/// Appends to the log.
pub fn append(text: &[u8]) {
    let token = lock::enter();
    let mut log = LOG.borrow(&token);
    // SAFETY: the status is always mapped, and nothing but `LOG` writes the log in it.
    log.get_or_insert_with(|| unsafe { Log::new(status()) }).append(text);
    share::tell_other(&token, bit::LOG);
}

/// As [`append`], for C.
///
/// # Safety
/// `text` is readable for `size` bytes; if `size` is 0, it may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pillion_print(text: *const c_char, size: usize) {
    // SAFETY: the caller's promise.
    append(if size == 0 { &[] } else { unsafe { core::slice::from_raw_parts(text.cast(), size) } });
}

/// Gathers a line, so that it reaches the log in one piece.
struct Line {
    text: [u8; 256],
    used: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.text[self.used..];
        let count = text.len().min(room.len());
        room[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.used += count;
        Ok(())
    }
}

/// Appends a line to the log; a very long one is cut off.
pub fn line(arguments: fmt::Arguments<'_>) {
    let mut line = Line { text: [0; 256], used: 0 };
    let _ = fmt::Write::write_fmt(&mut line, arguments);
    line.used = line.used.min(line.text.len() - 1);
    line.text[line.used] = b'\n';
    append(&line.text[..=line.used]);
}

/// Prints a line to the task's log.
#[macro_export]
macro_rules! log_line {
    ($($argument:tt)*) => { $crate::print::line(core::format_args!($($argument)*)) };
}
