//! FIFOs of handlers. The task makes them, and only the handlers put into them and take out of them, so that their memory is all that matters here.

use crate::share;
use core::{num::NonZeroU32, ptr::NonNull};
use pillion_abi::{
    call::MESSAGE_WORDS,
    channel::{FIFOS, Share, Status},
};
use pillion_channel::{
    Fifo,
    entry::Entry,
    extent::{self, Extent},
};
use pillion_runtime::{
    call,
    info::{address, label, slot},
};

const ENOMEM: i64 = -12;
const EBUSY: i64 = -16;
const EINVAL: i64 = -22;

/// Rings begin at multiples of this.
const LINE: u64 = 64;

/// The FIFOs.
pub struct Fifos {
    /// Memory for their rings.
    space: Extent,
    taken: [Option<Extent>; FIFOS],
}

impl Fifos {
    /// None, in a share of that size.
    pub fn new(share_size: u64) -> Fifos {
        let at = share::END.next_multiple_of(LINE);
        Fifos { space: Extent { at, size: share_size.saturating_sub(at) }, taken: [None; FIFOS] }
    }

    /// Makes a FIFO, or with size 0 ends it. The result is 0 or a negative errno.
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
        let taken = self.taken.iter().flatten().copied();
        let Some(at) = extent::find(self.space, taken, 2 * ring) else { return ENOMEM };
        let claimed = ask(label::FIFO_CLAIM, number);
        if claimed != 0 {
            return claimed;
        }
        let share = address::SHARE as *mut Share;
        let ring_at = |offset: u64| (address::SHARE + offset) as *mut u8;
        // SAFETY: the rings are inside the share and apart from others by `find`; the control words are this FIFO's, whose number is in range; there are no
        // references to any of it.
        unsafe {
            let _ = Fifo::create(
                NonNull::new_unchecked(&raw mut (*share).fifos[number as usize]),
                NonNull::new_unchecked(ring_at(at)),
                NonNull::new_unchecked(ring_at(at + ring)),
                size,
            );
        }
        self.taken[number as usize] = Some(Extent { at, size: 2 * ring });
        entry(number).show(number, size, at, at + ring);
        0
    }

    fn end(&mut self, number: u32) -> i64 {
        entry(number).hide();
        self.taken[number as usize] = None;
        ask(label::FIFO_RELEASE, number)
    }
}

/// A FIFO's entry in the status.
fn entry(number: u32) -> Entry {
    let status = address::STATUS as *mut Status;
    // SAFETY: the status is mapped and only written here, by one thread, with one entry at a time; the callers' numbers are in range.
    unsafe { Entry::new(NonNull::new_unchecked(&raw mut (*status).fifos[number as usize])) }
}

/// Asks the resource manager for a FIFO, or gives one back.
fn ask(label: u64, number: u32) -> i64 {
    let mut words = [0; MESSAGE_WORDS];
    words[0] = number.into();
    call::call(slot::MANAGER, label, words).map_or(EINVAL, |answer| answer.words[0] as i64)
}
