//! FIFOs of handlers. The task makes them, but only the handlers put into them and take out of
//! them, so that only their memory matters here.
//!
//! Each has pages of its own, with its control words and its rings: only the process that it is
//! made for maps them.

use core::{num::NonZeroU32, ptr::NonNull};
use pillion_abi::{
    PAGE,
    channel::{FIFOS, FifoControl, Share, Status},
};
use pillion_channel::{
    Fifo,
    extent::{self, Extent},
    fifo_entry::Entry,
};
use pillion_runtime::{
    info::{address, label},
    manager::tell,
};

const ENOMEM: i64 = -12;
const EBUSY: i64 = -16;
const EINVAL: i64 = -22;

/// Rings begin at multiples of this.
const LINE: u64 = 64;

/// Offset of the first ring in a FIFO's pages; the control words come before it.
const RINGS: u64 = size_of::<FifoControl>() as u64;

pub struct Fifos {
    /// Memory for their rings.
    space: Extent,
    taken: [Option<Extent>; FIFOS],
}

impl Fifos {
    /// No FIFOs, in a share of that size.
    pub fn new(share_size: u64) -> Fifos {
        let at = (size_of::<Share>() as u64).next_multiple_of(PAGE);
        Fifos { space: Extent { at, size: share_size.saturating_sub(at) }, taken: [None; FIFOS] }
    }

    /// Makes a FIFO, or ends it if the size is 0. Returns 0 or a negative errno.
    pub fn resize(&mut self, number: u32, size: u32) -> i64 {
        let Some(taken) = self.taken.get(number as usize) else { return EINVAL };
        match (taken, NonZeroU32::new(size)) {
            (None, Some(size)) if size.get() <= i32::MAX as u32 => self.make(number, size),
            (Some(_), Some(_)) => EBUSY,
            (Some(_), None) => self.end(number),
            _ => EINVAL,
        }
    }

    fn make(&mut self, number: u32, size: NonZeroU32) -> i64 {
        let ring = u64::from(size.get()).next_multiple_of(LINE);
        let mut taken = self.taken.map(Option::unwrap_or_default);
        let bytes = (RINGS + 2 * ring).next_multiple_of(PAGE);
        let Some(at) = extent::find(self.space, &mut taken, bytes) else { return ENOMEM };
        let place = Extent { at, size: bytes };
        let claimed = tell(label::FIFO_CLAIM, number.into());
        if claimed != 0 {
            return claimed;
        }
        clear(place);
        let (to_linux, to_task) = (at + RINGS, at + RINGS + ring);
        let pointer = |offset: u64| (address::SHARE + offset) as *mut u8;
        // SAFETY: control words and rings lie inside the place, which `find` has put inside the
        // share and apart from others; there are no references to any of this.
        unsafe {
            let _ = Fifo::create(
                NonNull::new_unchecked(pointer(at).cast()),
                NonNull::new_unchecked(pointer(to_linux)),
                NonNull::new_unchecked(pointer(to_task)),
                size,
            );
        }
        self.taken[number as usize] = Some(place);
        entry(number).show_at(at, number, size, to_linux, to_task);
        0
    }

    fn end(&mut self, number: u32) -> i64 {
        entry(number).hide();
        self.taken[number as usize] = None;
        tell(label::FIFO_RELEASE, number.into())
    }
}

/// Clears what another process may have left.
fn clear(place: Extent) {
    let words = (address::SHARE + place.at) as *mut u64;
    for word in 0..place.size as usize / 8 {
        // SAFETY: the place lies inside the share, in whole pages, and belongs to no FIFO.
        unsafe { words.add(word).write_volatile(0) };
    }
}

/// A FIFO's entry in the status.
fn entry(number: u32) -> Entry {
    let status = address::STATUS as *mut Status;
    // SAFETY: the status is mapped, and only this thread writes it, one entry at a time; the
    // index is checked.
    unsafe { Entry::new(NonNull::new_unchecked(&raw mut (*status).fifos[number as usize])) }
}
