//! The trace buffer. While tracing is off, a trace point is one no-operation of five bytes;
//! switching tracing on puts a jump there.

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::AtomicU64;

use crate::arch::{clock, code, physical};
use pillion_abi::trace::{ENTRIES, Entry, Event, FIRST_ENTRY, Header, SIZE};
use pillion_ring::{Cell, Writer};

/// What follows the count in the header. Other address spaces read the first three at any time:
/// no reference to them is made.
#[repr(C)]
struct Facts {
    tsc_hz: u64,
    longest: u64,
    longest_cause: Entry,
    /// The entry that the current stretch with interrupts off began with; time 0 if none is known.
    /// For the kernel alone.
    stretch: Entry,
    /// For the kernel alone.
    writer: Writer,
}

#[repr(C, align(4096))]
struct Buffer {
    written: AtomicU64,
    facts: UnsafeCell<Facts>,
    rest: [u8; FIRST_ENTRY as usize - size_of::<AtomicU64>() - size_of::<Facts>()],
    cells: [Cell; ENTRIES],
}

const _: () = assert!(size_of::<Buffer>() as u64 == SIZE && offset_of!(Buffer, cells) as u64 == FIRST_ENTRY);
const _: () = assert!(size_of::<Cell>() == size_of::<Entry>() && offset_of!(Header, written) == 0);
const _: () = assert!(offset_of!(Buffer, facts) + offset_of!(Facts, tsc_hz) == offset_of!(Header, tsc_hz));
const _: () = assert!(offset_of!(Buffer, facts) + offset_of!(Facts, longest) == offset_of!(Header, longest));
const _: () =
    assert!(offset_of!(Buffer, facts) + offset_of!(Facts, longest_cause) == offset_of!(Header, longest_cause));

const NOTHING: Entry = Entry { time: 0, event: 0, first: 0, second: 0 };

// SAFETY: the facts are written by the one CPU that runs, with interrupts off; their readers are
// other address spaces.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer {
    written: AtomicU64::new(0),
    facts: UnsafeCell::new(Facts {
        tsc_hz: 0,
        longest: 0,
        longest_cause: NOTHING,
        stretch: NOTHING,
        writer: Writer::new(),
    }),
    rest: [0; FIRST_ENTRY as usize - size_of::<AtomicU64>() - size_of::<Facts>()],
    cells: [const { Cell::new() }; ENTRIES],
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
    let facts = BUFFER.facts.get();
    // SAFETY: this CPU is the only writer, and not interrupted; the two are for the kernel alone.
    let (writer, stretch) = unsafe { (&mut (*facts).writer, &mut (*facts).stretch) };
    writer.write(&BUFFER.written, &BUFFER.cells, [entry.time, entry.event, entry.first, entry.second]);
    measure(stretch, event, entry);
}

/// Keeps the longest stretch with interrupts off. An interrupt that directly follows another kernel
/// entry begins none of its own.
fn measure(stretch: &mut Entry, event: Event, entry: Entry) {
    if event.ends_stretch() && stretch.time != 0 {
        let (length, facts) = (entry.time.wrapping_sub(stretch.time), BUFFER.facts.get());
        // SAFETY: as in `record`; the fields are accessed by pointers.
        unsafe {
            if length > (*facts).longest {
                (&raw mut (*facts).longest).write_volatile(length);
                (&raw mut (*facts).longest_cause).write_volatile(*stretch);
            }
        }
        stretch.time = 0;
    }
    if event.begins_stretch() && stretch.time == 0 {
        *stretch = entry;
    }
}

/// Fills the header.
///
/// # Safety
/// Called at boot, before anything is recorded.
pub unsafe fn init() {
    // SAFETY: nobody else accesses it yet, says the caller.
    unsafe { (*BUFFER.facts.get()).tsc_hz = clock::tsc_hz() };
}

/// Physical address of the buffer.
pub fn physical_base() -> u64 {
    physical(&raw const BUFFER)
}

/// Switches all trace points on or off. Work: about ten instructions for each of them.
pub fn switch(on: bool) {
    // SAFETY: as in `record`. No stretch is measured across untraced code.
    unsafe { (*BUFFER.facts.get()).stretch.time = 0 };
    // SAFETY: the kernel runs with interrupts off, on one CPU.
    unsafe { code::switch_trace_points(on) };
}
