//! The kernel's log: a 16550, and memory that keeps what the kernel logged while it booted.
//!
//! COM2 unless the command line says `log=com1`: COM1 belongs to Linux. The logic of the UART is
//! `pillion_core::x86_64::uart`.

use core::fmt;
use core::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU16, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::port;
use pillion_abi::boot::LOG_TEXT;
use pillion_core::x86_64::uart::{Registers, Uart};

const COM1: u16 = 0x3f8;
const COM2: u16 = 0x2f8;

/// First port of the UART, 0 while there is none.
static BASE: AtomicU16 = AtomicU16::new(0);

static UART: Uart = Uart::none();

/// The kernel's messages, as [`pillion_abi::boot::LogBuffer`] shows them to the first task.
#[repr(C, align(4096))]
struct Text {
    written: AtomicU64,
    bytes: [AtomicU8; LOG_TEXT],
}

const _: () = assert!(size_of::<Text>() == size_of::<pillion_abi::boot::LogBuffer>());

static TEXT: Text = Text { written: AtomicU64::new(0), bytes: [const { AtomicU8::new(0) }; LOG_TEXT] };

/// The ports of the UART.
struct Ports(u16);

impl Registers for Ports {
    fn read(&mut self, register: u16) -> u8 {
        // SAFETY: the ports of COM1 and COM2 do nothing else on a PC, and the UART cannot write
        // memory.
        unsafe { port::read8(self.0 + register) }
    }

    fn write(&mut self, register: u16, value: u8) {
        // SAFETY: as above.
        unsafe { port::write8(self.0 + register, value) }
    }
}

/// First port of the UART that the log goes to, or 0 without one. The kernel keeps these eight
/// ports.
#[must_use]
pub fn ports() -> u16 {
    BASE.load(Relaxed)
}

/// Address of the kernel's messages.
#[must_use]
pub fn text() -> *const () {
    (&raw const TEXT).cast()
}

/// Detects the UART and sets it up.
pub fn init(command_line: &[u8]) {
    let on_com1 = command_line.split(|b| *b == b' ').any(|word| word == b"log=com1");
    let base = if on_com1 { COM1 } else { COM2 };
    BASE.store(if UART.start(&mut Ports(base)) { base } else { 0 }, Relaxed);
}

/// Sends a byte if the UART can take it now. Without one it goes nowhere.
pub fn try_put(byte: u8) -> bool {
    UART.offer(&mut Ports(BASE.load(Relaxed)), byte)
}

/// Keeps a byte, as long as there is room: the kernel's first messages are worth most.
fn keep(byte: u8) {
    let at = TEXT.written.load(Relaxed);
    if let Some(place) = TEXT.bytes.get(at as usize) {
        place.store(byte, Relaxed);
        TEXT.written.store(at + 1, Release);
    }
}

/// The log as something to format into. For a kernel that boots or dies: it waits for the UART.
pub struct Log;

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut ports = Ports(BASE.load(Relaxed));
        for byte in text.bytes() {
            keep(byte);
            if byte == b'\n' {
                UART.insist(&mut ports, b'\r');
            }
            UART.insist(&mut ports, byte);
        }
        Ok(())
    }
}

/// The log for a line while tasks run: the UART gets what it takes at once, and the rest is only
/// kept in memory.
#[derive(Default)]
pub struct HastyLog {
    full: bool,
}

impl fmt::Write for HastyLog {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            keep(byte);
            self.full = self.full || !try_put(byte);
        }
        Ok(())
    }
}

/// Whether a processor writes a line.
static WRITES: AtomicBool = AtomicBool::new(false);

/// Looks at [`WRITES`] while another processor writes: some tens of milliseconds. A line of 100
/// bytes takes 9.
const LOOKS: u32 = 1_000_000;

/// The right to write a line, for which a processor waits, but not for ever: the one that has it
/// may have been stopped.
pub struct Turn(());

impl Turn {
    /// Waits for it.
    pub fn take() -> Turn {
        for _ in 0..LOOKS {
            if !WRITES.swap(true, Acquire) {
                break;
            }
            core::hint::spin_loop();
        }
        Turn(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        WRITES.store(false, Release);
    }
}

/// Writes a line to the log.
macro_rules! log {
    ($($argument:tt)*) => {{
        use core::fmt::Write as _;
        let _turn = $crate::arch::serial::Turn::take();
        let mut log = $crate::arch::Log;
        let _ = log.write_fmt(format_args!($($argument)*));
        let _ = log.write_str("\n");
    }};
}
pub(crate) use log;
