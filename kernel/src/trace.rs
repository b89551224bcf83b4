//! The trace buffer. While it is off a trace point is one no-operation of five bytes; switching it on puts a jump there.

use core::cell::UnsafeCell;

use crate::arch::{clock, code, physical};
use pillion_abi::trace::{ENTRIES, Entry, Event, Header, SIZE};

#[repr(C, align(4096))]
struct Buffer {
    header: UnsafeCell<Header>,
    page: [u8; 4096 - size_of::<Header>()],
    entries: UnsafeCell<[Entry; ENTRIES]>,
}

const _: () = assert!(size_of::<Buffer>() as u64 == SIZE);

// SAFETY: written by the one CPU that runs, with interrupts off; readers are other address spaces.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer {
    header: UnsafeCell::new(Header { written: 0, tsc_hz: 0 }),
    page: [0; 4096 - size_of::<Header>()],
    entries: UnsafeCell::new([Entry { time: 0, event: 0, first: 0, second: 0 }; ENTRIES]),
};

/// A trace point: writes an entry while tracing is on.
macro_rules! trace {
    ($event:ident, $first:expr, $second:expr) => {
        // SAFETY: a no-operation, or, while tracing is on, a jump to the block.
        unsafe {
            core::arch::asm!(
                "2: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00",
                ".pushsection .trace_sites, \"a\"",
                ".balign 8",
                ".quad 2b, {target}",
                ".popsection",
                target = label {
                    $crate::trace::record(pillion_abi::trace::Event::$event, u64::from($first), u64::from($second));
                },
                options(nostack, preserves_flags),
            );
        }
    };
}
pub(crate) use trace;

/// Writes an entry. Constant time.
#[cold]
pub fn record(event: Event, first: u64, second: u64) {
    let entry = Entry { time: clock::now(), event: event as u64, first, second };
    let header = BUFFER.header.get();
    // SAFETY: this CPU is the only writer, and not interrupted; the place is inside the array. Readers see volatile writes in order.
    unsafe {
        let written = (*header).written;
        let place = written as usize % ENTRIES;
        BUFFER.entries.get().cast::<Entry>().add(place).write_volatile(entry);
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::Release);
        (&raw mut (*header).written).write_volatile(written.wrapping_add(1));
    }
}

/// Fills the header.
pub fn init() {
    // SAFETY: at boot nobody else looks.
    unsafe { (*BUFFER.header.get()).tsc_hz = clock::tsc_hz() };
}

/// Physical address of the buffer.
pub fn physical_base() -> u64 {
    physical(&raw const BUFFER)
}

/// Switches all trace points. Work: a few instructions for each of them, less than twenty.
pub fn switch(on: bool) {
    for site in code::trace_sites() {
        code::set_jump(site, on);
    }
}
