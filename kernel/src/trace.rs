//! The trace buffer. While it is off a trace point is one no-operation of five bytes; switching it on puts a jump there.

use core::cell::UnsafeCell;

use crate::arch::{clock, code, physical};
use pillion_abi::trace::{ENTRIES, Entry, Event, Header, SIZE};

#[repr(C, align(4096))]
struct Buffer {
    header: UnsafeCell<Header>,
    /// The entry that the present stretch with interrupts off began with; time 0 when none is known.
    stretch: UnsafeCell<Entry>,
    page: [u8; 4096 - size_of::<Header>() - size_of::<Entry>()],
    entries: UnsafeCell<[Entry; ENTRIES]>,
}

const _: () = assert!(size_of::<Buffer>() as u64 == SIZE);

const NOTHING: Entry = Entry { time: 0, event: 0, first: 0, second: 0 };

// SAFETY: written by the one CPU that runs, with interrupts off; readers are other address spaces.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer {
    header: UnsafeCell::new(Header { written: 0, tsc_hz: 0, longest: 0, longest_cause: NOTHING }),
    stretch: UnsafeCell::new(NOTHING),
    page: [0; 4096 - size_of::<Header>() - size_of::<Entry>()],
    entries: UnsafeCell::new([NOTHING; ENTRIES]),
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
    measure(event, entry);
}

/// Keeps the longest stretch with interrupts off. An interrupt that comes on the heels of another entry begins none of its own.
fn measure(event: Event, entry: Entry) {
    // SAFETY: as in `record`.
    let (header, stretch) = unsafe { (&mut *BUFFER.header.get(), &mut *BUFFER.stretch.get()) };
    if event.ends_stretch() && stretch.time != 0 {
        let length = entry.time.wrapping_sub(stretch.time);
        if length > header.longest {
            (header.longest, header.longest_cause) = (length, *stretch);
        }
        stretch.time = 0;
    }
    if event.begins_stretch() && stretch.time == 0 {
        *stretch = entry;
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
    // SAFETY: as in `record`: what ran untraced is no stretch.
    unsafe { (*BUFFER.stretch.get()).time = 0 };
    for site in code::trace_sites() {
        code::set_jump(site, on);
    }
}
