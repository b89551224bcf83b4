//! The tracer: records of timed events, in rings in the shared buffer "tracer", for Linux as well.
//!
//! A buffer holds 500 records. `RTL_TRACE_FINALIZE` ends the current buffer, sends its number
//! through FIFO 14, and begins the next one.

use crate::cell::Shared;
use crate::error::{EINVAL, ENOMEM};
use crate::lock::{self, Token};
use crate::mbuff::{mbuff_alloc, mbuff_free};
use crate::{fifo, log_line, thread, time};
use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use core::mem::MaybeUninit;
use pillion_channel::copy::copy;

/// Number of ring buffers, and records in each.
const BUFFERS: usize = 20;
const RECORDS: usize = 500;

/// Event identifiers.
const EVENTS: usize = 64;

/// Bytes of an event's name, with the final zero.
const NAME: usize = 32;

/// `RTL_TRACE_FINALIZE`.
const FINALIZE: usize = 15;

/// FIFO for the numbers of complete buffers.
const FIFO: u32 = 14;

/// Class of an event unless the program sets another.
const FIRST_CLASS: c_ulong = 1;

const BUFFER_NAME: &CStr = c"tracer";

#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    time_ns: i64,
    event: i32,
    thread: u32,
    data: c_ulong,
    address: c_ulong,
}

struct Tracer {
    records: *mut Record,
    /// The current buffer, and how many records have been written to it.
    buffer: usize,
    written: usize,
    classes: [c_ulong; EVENTS],
    names: [[u8; NAME]; EVENTS],
    mask: c_ulong,
}

// SAFETY: the records are memory of the shared pool, used under the task's lock.
unsafe impl Send for Tracer {}

static TRACER: Shared<Tracer> = Shared::new(Tracer {
    records: core::ptr::null_mut(),
    buffer: 0,
    written: 0,
    classes: [FIRST_CLASS; EVENTS],
    names: [[0; NAME]; EVENTS],
    mask: c_ulong::MAX,
});

impl Tracer {
    fn place(&self, record: usize) -> *mut Record {
        self.records.wrapping_add(self.buffer * RECORDS + record % RECORDS)
    }

    /// Writes a record; returns the buffer's number if that completes it.
    fn record(&mut self, event: usize, data: c_ulong, address: c_ulong) -> Option<usize> {
        if self.records.is_null() || event >= EVENTS || self.classes[event] & self.mask == 0 && event != FINALIZE {
            return None;
        }
        let thread = thread::current().number() as u32;
        let record = Record { time_ns: time::now_ns(), event: event as i32, thread, data, address };
        // SAFETY: inside the shared buffer, which has `BUFFERS * RECORDS` records, and is another
        // memory than this record's. Linux may write it as well.
        unsafe { copy(self.place(self.written).cast(), (&raw const record).cast(), size_of::<Record>()) };
        self.written += 1;
        if event != FINALIZE {
            return None;
        }
        let complete = self.buffer;
        (self.buffer, self.written) = ((self.buffer + 1) % BUFFERS, 0);
        Some(complete)
    }

    /// A copy of a record of the current buffer.
    fn read(&self, record: usize) -> Option<Record> {
        if self.records.is_null() {
            return None;
        }
        let mut copied = MaybeUninit::<Record>::uninit();
        // SAFETY: the record lies inside the shared buffer. Linux may write it meanwhile; whatever
        // is copied is a valid record, for all its fields are integers.
        unsafe {
            copy(copied.as_mut_ptr().cast(), self.place(record).cast(), size_of::<Record>());
            Some(copied.assume_init())
        }
    }
}

fn with<R>(f: impl FnOnce(&mut Tracer) -> R) -> R {
    lock::with(|token: &Token| f(&mut TRACER.borrow(token)))
}

/// Starts tracing. For the Linux context.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_init() -> c_int {
    // SAFETY: the name ends with a zero.
    let memory = unsafe { mbuff_alloc(BUFFER_NAME.as_ptr(), BUFFERS * RECORDS * size_of::<Record>()) };
    with(|tracer| tracer.records = memory.cast());
    if memory.is_null() { -ENOMEM } else { 0 }
}

/// Stops tracing.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_destroy() {
    let memory = with(|tracer| core::mem::replace(&mut tracer.records, core::ptr::null_mut()));
    if !memory.is_null() {
        // SAFETY: as above.
        unsafe { mbuff_free(BUFFER_NAME.as_ptr(), memory.cast()) };
    }
}

/// Records an event that happened at an address.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace(event: c_int, data: c_ulong, address: *mut c_void) {
    let complete = with(|tracer| tracer.record(event as u32 as usize, data, address.addr() as c_ulong));
    if let Some(number) = complete {
        let number = number as c_int;
        // SAFETY: the number is readable. If the program has made no such FIFO, it is lost.
        unsafe { fifo::put(FIFO, (&raw const number).cast(), size_of::<c_int>() as c_int) };
    }
}

/// Records an event.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace2(event: c_int, data: c_ulong) {
    rtl_trace(event, data, core::ptr::null_mut());
}

/// Selects the classes whose events are recorded.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_settracemask(classes: c_ulong) {
    with(|tracer| tracer.mask = classes);
}

/// The classes that are recorded.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_gettracemask() -> c_ulong {
    with(|tracer| tracer.mask)
}

/// Puts an event into classes.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_seteventclass(event: c_int, classes: c_ulong) -> c_int {
    with(|tracer| {
        let class = usize::try_from(event).ok().and_then(|event| tracer.classes.get_mut(event));
        class.map_or(-EINVAL, |class| {
            *class = classes;
            0
        })
    })
}

/// Gives an event a name, for [`rtl_trace_dump`].
///
/// # Safety
/// `name` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_trace_seteventname(event: c_int, name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    with(|tracer| {
        let place = usize::try_from(event).ok().and_then(|event| tracer.names.get_mut(event));
        let Some(place) = place.filter(|_| name.len() < NAME) else { return -EINVAL };
        *place = [0; NAME];
        place[..name.len()].copy_from_slice(name);
        0
    })
}

/// Prints the records of the current buffer, the oldest first.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_trace_dump() {
    let written = with(|tracer| tracer.written);
    for number in written.saturating_sub(RECORDS)..written {
        // One record at a time: other threads may record meanwhile.
        let shown = with(|tracer| {
            let record = tracer.read(number)?;
            let name = tracer.names.get(record.event as u32 as usize).copied().unwrap_or_default();
            Some((record, name))
        });
        let Some((record, name)) = shown else { return };
        let (Record { time_ns, event, thread, data, address }, name) = (record, pillion_runtime::info::text(&name));
        log_line!("{time_ns} thread {thread} event {event} {name} data {data:#x} at {address:#x}");
    }
}
