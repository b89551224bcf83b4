//! Text for the log: it goes to the resource manager, or from the first task directly to the kernel
//! or to a writer of its own.

use crate::info::{label, slot};
use crate::{Cap, call};
use core::fmt::{self, Write};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicU32};
use pillion_abi::call::MESSAGE_WORDS;

const CHUNK: usize = MESSAGE_WORDS * 8;

/// Capability for the kernel's log, or 0 if text goes to the resource manager.
static KERNEL_LOG: AtomicU32 = AtomicU32::new(0);

/// Where the first task's text goes instead.
pub struct Writer {
    /// Accepts text.
    pub write: fn(&[u8]),
    /// Outputs everything accepted, because the task is about to stop for good.
    pub finish: fn(),
}

static WRITER: AtomicPtr<Writer> = AtomicPtr::new(null_mut());

/// Sends text to a writer from now on. For the first task.
pub fn use_writer(writer: &'static Writer) {
    WRITER.store(core::ptr::from_ref(writer).cast_mut(), Relaxed);
}

fn writer() -> Option<&'static Writer> {
    // SAFETY: null, or the `'static` reference that `use_writer` stored, through which nothing
    // writes.
    unsafe { WRITER.load(Relaxed).as_ref() }
}

/// Sends text to the kernel's log from now on. For the first task.
pub fn use_kernel(trace: Cap) {
    KERNEL_LOG.store(trace, Relaxed);
}

/// Collects text and sends it in pieces.
pub struct Log {
    buffer: [u8; CHUNK],
    used: usize,
}

impl Default for Log {
    fn default() -> Log {
        Log::new()
    }
}

impl Log {
    /// An empty log buffer.
    #[must_use]
    pub const fn new() -> Log {
        Log { buffer: [0; CHUNK], used: 0 }
    }

    /// Sends the collected text.
    pub fn flush(&mut self) {
        let used = core::mem::take(&mut self.used);
        let kernel = KERNEL_LOG.load(Relaxed);
        if let Some(writer) = writer() {
            (writer.write)(&self.buffer[..used]);
        } else if kernel != 0 {
            for byte in &self.buffer[..used] {
                put(kernel, *byte);
            }
        } else if used != 0 {
            let mut words = [0; MESSAGE_WORDS];
            for (word, bytes) in words.iter_mut().zip(self.buffer.chunks_exact(8)) {
                *word = bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
            }
            let _ = call::call(slot::MANAGER, label::LOG | (used as u64) << 8, words);
        }
    }
}

/// Writes a byte to the kernel's log, and waits until there is room for it.
fn put(trace: Cap, byte: u8) {
    while call::log_put(trace, byte) == Err(pillion_abi::status::Error::Busy) {
        call::yield_now();
    }
}

impl Write for Log {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for byte in s.bytes() {
            if self.used == CHUNK {
                self.flush();
            }
            self.buffer[self.used] = byte;
            self.used += 1;
        }
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Prints a line to the log.
#[macro_export]
macro_rules! println {
    ($($argument:tt)*) => {{
        use core::fmt::Write as _;
        let mut log = $crate::log::Log::new();
        let _ = core::writeln!(log, $($argument)*);
    }};
}

/// Reports a panic and stops for good.
pub fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    crate::println!("[panic] {info}");
    writer().iter().for_each(|writer| (writer.finish)());
    crate::park()
}
