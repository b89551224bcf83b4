//! The kernel's log: a 16550, written by polling.
//!
//! COM2 unless the command line says `log=com1`: COM1 belongs to Linux. A byte that the UART does not take within
//! a bounded time is dropped, so that no cable can stop the kernel.

use core::fmt;
use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

use super::port;

const COM1: u16 = 0x3f8;
const COM2: u16 = 0x2f8;
const LINE_STATUS: u16 = 5;
const TRANSMITTER_EMPTY: u8 = 0x20;

/// Reads of the line status before a byte is dropped; a byte takes about 90 of them at 115200 baud.
const PATIENCE: u32 = 1000;

/// First port of the UART, 0 while there is none.
static BASE: AtomicU16 = AtomicU16::new(0);

/// First port of the UART that the log goes to, or 0 without one. The kernel keeps these eight ports.
#[must_use]
pub fn ports() -> u16 {
    BASE.load(Relaxed)
}

/// Sets the UART up: 115200 baud, 8 bits, no parity, FIFO on, no interrupts.
pub fn init(command_line: &[u8]) {
    let on_com1 = command_line.split(|b| *b == b' ').any(|word| word == b"log=com1");
    let base = if on_com1 { COM1 } else { COM2 };
    let writes = [(1, 0x00), (3, 0x80), (0, 1), (1, 0), (3, 0x03), (2, 0xc7), (4, 0x03)];
    for (register, value) in writes {
        // SAFETY: the ports of COM1 and COM2 do nothing else on a PC, and the UART cannot write memory.
        unsafe { port::write8(base + register, value) };
    }
    // SAFETY: as above. All ones are what a missing device reads as.
    let present = unsafe { port::read8(base + LINE_STATUS) } != 0xff;
    BASE.store(if present { base } else { 0 }, Relaxed);
}

/// Sends a byte if the UART can take it now.
pub fn try_put(byte: u8) -> bool {
    let base = BASE.load(Relaxed);
    // SAFETY: the UART's own registers; it cannot write memory.
    unsafe {
        if base == 0 || port::read8(base + LINE_STATUS) & TRANSMITTER_EMPTY == 0 {
            return false;
        }
        port::write8(base, byte);
    }
    true
}

/// Sends a byte, waits a bounded time for the UART, drops the byte after that.
pub fn put(byte: u8) {
    if BASE.load(Relaxed) != 0 {
        for _ in 0..PATIENCE {
            if try_put(byte) {
                return;
            }
            core::hint::spin_loop();
        }
    }
}

/// The log as something to format into.
pub struct Log;

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if byte == b'\n' {
                put(b'\r');
            }
            put(byte);
        }
        Ok(())
    }
}

/// Writes a line to the log.
macro_rules! log {
    ($($argument:tt)*) => {{
        use core::fmt::Write as _;
        let mut log = $crate::arch::Log;
        let _ = log.write_fmt(format_args!($($argument)*));
        let _ = log.write_str("\n");
    }};
}
pub(crate) use log;
