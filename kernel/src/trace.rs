//! The trace buffer. While tracing is off, a trace point is one no-operation of five bytes;
//! switching tracing on puts a jump there.

use core::cell::UnsafeCell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::arch::{Cpu, clock, code, code::several, direct, memory_of_traces, physical, processors};
use crate::lock;
use pillion_abi::trace::{Counts, ENTRIES, Entry, Event, FIRST_ENTRY, FIRST_VECTOR, Header, SIZE, VECTORS};
use pillion_ring::{Cell, Writer};

/// What a CPU counts where several run. Nobody else writes to it.
#[derive(Debug)]
#[repr(C)]
pub struct Counters {
    interrupts: [AtomicU64; VECTORS],
    /// See [`Counts`], as for the next ones.
    pub calls: AtomicU64,
    pub signals: AtomicU64,
    pub flushes: AtomicU64,
}

impl Counters {
    const fn new() -> Counters {
        Counters {
            interrupts: [const { AtomicU64::new(0) }; VECTORS],
            calls: AtomicU64::new(0),
            signals: AtomicU64::new(0),
            flushes: AtomicU64::new(0),
        }
    }

    /// Counts an interrupt.
    #[inline(always)]
    pub fn interrupt(&self, vector: u8) {
        let index = usize::from(vector).saturating_sub(usize::from(FIRST_VECTOR));
        if let Some(counter) = self.interrupts.get(index) {
            add_one(counter);
        }
    }
}

/// Adds one to a counter of this CPU.
#[inline(always)]
pub fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
}

/// What follows the counts in the header. Other address spaces read the first three at any time:
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
    counters: Counters,
    facts: UnsafeCell<Facts>,
    rest: [u8; REST],
    cells: [Cell; ENTRIES],
}

/// Bytes of the header's page that are not used.
const REST: usize = FIRST_ENTRY as usize - size_of::<AtomicU64>() - size_of::<Counters>() - size_of::<Facts>();

const _: () = assert!(size_of::<Counters>() == size_of::<Counts>());
const _: () = assert!(offset_of!(Buffer, counters) == offset_of!(Header, counts));
const _: () = assert!(size_of::<Buffer>() as u64 == SIZE && offset_of!(Buffer, cells) as u64 == FIRST_ENTRY);
const _: () = assert!(size_of::<Cell>() == size_of::<Entry>() && offset_of!(Header, written) == 0);
const _: () = assert!(offset_of!(Buffer, facts) + offset_of!(Facts, tsc_hz) == offset_of!(Header, tsc_hz));
const _: () = assert!(offset_of!(Buffer, facts) + offset_of!(Facts, longest) == offset_of!(Header, longest));
const _: () =
    assert!(offset_of!(Buffer, facts) + offset_of!(Facts, longest_cause) == offset_of!(Header, longest_cause));

const NOTHING: Entry = Entry { time: 0, event: 0, first: 0, second: 0 };

// SAFETY: the facts are written by one CPU, whose buffer it is, with interrupts off; their readers
// are other address spaces.
unsafe impl Sync for Buffer {}

/// The first processor's buffer, where no other one runs.
static BUFFER: Buffer = Buffer {
    written: AtomicU64::new(0),
    counters: Counters::new(),
    facts: UnsafeCell::new(Facts {
        tsc_hz: 0,
        longest: 0,
        longest_cause: NOTHING,
        stretch: NOTHING,
        writer: Writer::new(),
    }),
    rest: [0; REST],
    cells: [const { Cell::new() }; ENTRIES],
};

/// The running processor's buffer. Where several run, their buffers lie one after the other.
fn own() -> &'static Buffer {
    let mut buffer = &raw const BUFFER;
    several! {
        // SAFETY: where a processor records, its structure is set up.
        buffer = direct::<Buffer>(memory_of_traces()).wrapping_add(unsafe { Cpu::current() }.index());
    }
    // SAFETY: where several processors run, that memory has a buffer for each, all zeros at first,
    // which is what an empty one consists of.
    unsafe { &*buffer }
}

/// This processor's counters, which its kernel keeps.
pub fn counters() -> &'static Counters {
    &own().counters
}

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

/// A trace point, before which other code runs if several processors do.
macro_rules! trace_or_several {
    ($event:ident, $first:expr, $second:expr, $several:expr) => {
        // SAFETY: a no-operation; or, while tracing is on, a jump to the first block; or, if
        // several processors run, one to the second.
        unsafe {
            core::arch::asm!(
                "2: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00",
                ".pushsection .trace_sites, \"a\"",
                ".balign 8",
                ".quad 2b, {traced}",
                ".popsection",
                ".pushsection .several_sites, \"a\"",
                ".balign 8",
                ".quad 2b, {several}",
                ".popsection",
                traced = label {
                    $crate::trace::record(pillion_abi::trace::Event::$event, u64::from($first), u64::from($second));
                },
                several = label {
                    $several;
                    $crate::trace::record_if_on(pillion_abi::trace::Event::$event, u64::from($first), u64::from($second));
                },
                options(nostack, preserves_flags),
            );
        }
    };
}
pub(crate) use trace_or_several;

/// Whether trace points are on.
static ON: AtomicBool = AtomicBool::new(false);

/// Writes an entry while tracing is on, where a place is already a jump because several processors
/// run: a trace point of its own there would lengthen `switch` for one.
#[cold]
pub fn record_if_on(event: Event, first: u64, second: u64) {
    if ON.load(Relaxed) {
        record(event, first, second);
    }
}

/// Writes an entry. Constant time.
#[cold]
pub fn record(event: Event, first: u64, second: u64) {
    let entry = Entry { time: clock::now(), event: event as u64, first, second };
    let buffer = own();
    let facts = buffer.facts.get();
    // SAFETY: this CPU is the only writer, and not interrupted; the two are for the kernel alone.
    let (writer, stretch) = unsafe { (&mut (*facts).writer, &mut (*facts).stretch) };
    writer.write(&buffer.written, &buffer.cells, [entry.time, entry.event, entry.first, entry.second]);
    measure(facts, stretch, event, entry);
}

/// Keeps the longest stretch with interrupts off. An interrupt that directly follows another kernel
/// entry begins none of its own.
fn measure(facts: *mut Facts, stretch: &mut Entry, event: Event, entry: Entry) {
    if event.ends_stretch() && stretch.time != 0 {
        let length = entry.time.wrapping_sub(stretch.time);
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

/// All buffers.
fn all() -> impl Iterator<Item = &'static Buffer> {
    let first = direct::<Buffer>(physical_base()).cast_const();
    // SAFETY: there is one for each processor, all zeros at first, as in `own`.
    (0..processors() as usize).map(move |index| unsafe { &*first.wrapping_add(index) })
}

/// Fills the headers.
///
/// # Safety
/// Called at boot, before anything is recorded.
pub unsafe fn init() {
    for buffer in all() {
        // SAFETY: nobody else accesses it yet, says the caller.
        unsafe { (*buffer.facts.get()).tsc_hz = clock::tsc_hz() };
    }
}

/// Physical address of the buffers, of one processor after the other.
pub fn physical_base() -> u64 {
    if processors() > 1 { memory_of_traces() } else { physical(&raw const BUFFER) }
}

/// Their size in bytes.
pub fn total_size() -> u64 {
    SIZE * u64::from(processors())
}

/// Switches all trace points on or off. Work: about ten instructions for each of them; and where
/// other processors run, until each has come to the kernel, or to the end of its stretch in it.
pub fn switch(on: bool) {
    let switch = || {
        for buffer in all() {
            // SAFETY: as in `record`; the other processors wait. No stretch is measured across
            // untraced code.
            unsafe { (*buffer.facts.get()).stretch.time = 0 };
        }
        ON.store(on, Relaxed);
        // SAFETY: the kernel runs with interrupts off, and no other processor executes its code.
        unsafe { code::switch_trace_points(on) };
    };
    if processors() > 1 {
        lock::parked(switch);
    } else {
        switch();
    }
}
