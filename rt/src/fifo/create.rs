//! Creating, resizing and destroying FIFOs.

use super::{SLOTS, Slot, is_shared, negative, number, shared, with};
use crate::error::{EBUSY, EINVAL, ENOMEM};
use crate::{lock, log_line, manager, share};
use core::ffi::{c_int, c_uint};
use core::num::NonZeroU32;
use core::ptr::NonNull;
use pillion_abi::channel::{FIFOS, Share, user};
use pillion_channel::{
    Fifo,
    extent::{Extent, find},
    fifo_entry::Entry,
};
use pillion_runtime::info::{self, address, label};

/// Alignment of rings: a cache line.
const ALIGN: u64 = 64;

#[unsafe(export_name = "rtf_create")]
pub extern "C" fn create(minor: c_uint, size: c_int) -> c_int {
    negative(make(minor, size).map(|()| 0))
}

fn make(minor: c_uint, size: c_int) -> Result<(), c_int> {
    let number = number(minor)?;
    let size = checked_size(size)?;
    if is_shared(number) {
        return shared::create(minor, size.get());
    }
    let place = reserve(number, size)?;
    // SAFETY: `reserve` gave it to the caller just now.
    unsafe { clear(place) };
    let claimed = manager::ask(label::FIFO_CLAIM, &[minor.into()]);
    lock::with(|token| {
        let slot = &mut SLOTS.borrow(token)[number];
        if claimed.is_ok() {
            // SAFETY: the place is from `reserve`, and large enough for this size.
            unsafe { begin(slot, number, place, size) };
            let [to_linux, to_task] = rings(place, size);
            share::with_entry(token, number, |entry| entry.show(minor, size, to_linux, to_task));
        } else {
            slot.place = None;
        }
    });
    claimed.map(|_| ())
}

fn checked_size(size: c_int) -> Result<NonZeroU32, c_int> {
    u32::try_from(size).ok().and_then(NonZeroU32::new).ok_or(EINVAL)
}

/// Bytes from one ring to the next.
fn stride(size: NonZeroU32) -> u64 {
    u64::from(size.get()).next_multiple_of(ALIGN)
}

/// Reserves a place for the rings of a FIFO that does not exist.
fn reserve(number: usize, size: NonZeroU32) -> Result<Extent, c_int> {
    lock::with(|token| {
        let slots = &mut *SLOTS.borrow(token);
        if slots[number].place.is_some() {
            return Err(EBUSY);
        }
        let place = free_place(slots, size).ok_or_else(|| no_room(number, size))?;
        slots[number].place = Some(place);
        Ok(place)
    })
}

/// Reports which key of the system file is too small.
fn no_room(number: usize, size: NonZeroU32) -> c_int {
    let wanted = (2 * stride(size)).div_ceil(1024);
    log_line!("FIFO {number} takes {wanted} KiB, more than is free: raise fifo_kib of this task in the system file");
    ENOMEM
}

fn free_place(slots: &[Slot; FIFOS], size: NonZeroU32) -> Option<Extent> {
    let first = size_of::<Share>() as u64;
    let space = Extent { at: first, size: info::task().skin.share_size.saturating_sub(first) };
    let size = 2 * stride(size);
    let mut taken = slots.each_ref().map(|slot| slot.place.unwrap_or_default());
    find(space, &mut taken, size).map(|at| Extent { at, size })
}

/// # Safety
/// The place is from [`reserve`], and no FIFO's rings are there yet.
unsafe fn clear(place: Extent) {
    let words = (address::SHARE + place.at) as *mut u64;
    for word in 0..place.size as usize / 8 {
        // SAFETY: the place is in the task's part, in whole words, and nobody else uses it.
        unsafe { words.add(word).write_volatile(0) };
    }
}

/// Offsets of a FIFO's two rings in the task's part.
fn rings(place: Extent, size: NonZeroU32) -> [u64; 2] {
    [place.at, place.at + stride(size)]
}

/// Addresses of the two rings at a place.
fn pointers(place: Extent, size: NonZeroU32) -> Option<[NonNull<u8>; 2]> {
    let [to_linux, to_task] = rings(place, size).map(|offset| NonNull::new((address::SHARE + offset) as *mut u8));
    Some([to_linux?, to_task?])
}

/// Creates a FIFO at a place.
///
/// # Safety
/// The place is from [`reserve`], for this number and size.
unsafe fn begin(slot: &mut Slot, number: usize, place: Extent, size: NonZeroU32) {
    let Some([to_linux, to_task]) = pointers(place, size) else { return };
    // SAFETY: the part is always mapped; no other FIFO has the place, and the words are this one's.
    slot.fifo = Some(unsafe { Fifo::create(share::control(number), to_linux, to_task, size) });
    slot.place = Some(place);
    slot.damaged = 0;
}

#[unsafe(export_name = "rtf_destroy")]
pub extern "C" fn destroy(minor: c_uint) -> c_int {
    negative(end(minor).map(|()| 0))
}

fn end(minor: c_uint) -> Result<(), c_int> {
    let number = number(minor)?;
    if is_shared(number) {
        return shared::destroy(minor);
    }
    lock::with(|token| {
        let slot = &mut SLOTS.borrow(token)[number];
        if slot.fifo.as_ref().is_none_or(|fifo| fifo.opens() != 0) {
            return Err(EINVAL);
        }
        share::with_entry(token, number, |entry| withdraw(entry, slot.fifo.as_ref()))?;
        *slot = Slot { place: slot.place, ..Slot::NEW };
        share::tell_fifo(token, minor, user::LINUX);
        Ok(())
    })?;
    let released = manager::ask(label::FIFO_RELEASE, &[minor.into()]);
    // Only now may the FIFO be created again: before, the resource manager would have refused it.
    lock::with(|token| SLOTS.borrow(token)[number].place = None);
    released.map(|_| ())
}

/// Hides a FIFO from Linux; not if the caller has interrupted a process that moves bytes in or out.
fn withdraw(entry: &mut Entry, fifo: Option<&Fifo>) -> Result<(), c_int> {
    let size = entry.hide();
    if fifo.is_some_and(Fifo::is_entered) {
        entry.put_back(size);
        return Err(EBUSY);
    }
    Ok(())
}

/// Changes the size of a FIFO. Its contents are lost.
#[unsafe(export_name = "rtf_resize")]
pub extern "C" fn resize(minor: c_uint, size: c_int) -> c_int {
    negative(change_size(minor, size).map(|()| 0))
}

fn change_size(minor: c_uint, size: c_int) -> Result<(), c_int> {
    let number = number(minor)?;
    let size = checked_size(size)?;
    if is_shared(number) {
        return shared::resize(minor, size.get());
    }
    lock::with(|token| {
        let place = {
            let slots = &*SLOTS.borrow(token);
            slots[number].fifo.as_ref().ok_or(EINVAL)?;
            free_place(slots, size).ok_or_else(|| no_room(number, size))?
        };
        with(token, number, |slot| {
            let (Some(fifo), Some([to_linux, to_task])) = (&mut slot.fifo, pointers(place, size)) else {
                return Err(EINVAL);
            };
            share::with_entry(token, number, |entry| {
                withdraw(entry, Some(fifo))?;
                // SAFETY: the part is always mapped; `find` returned a place that no other FIFO
                // has; no process uses the old place, or can find it.
                unsafe { fifo.resize(to_linux, to_task, size) };
                let [to_linux, to_task] = rings(place, size);
                entry.resize(size, to_linux, to_task);
                Ok::<(), c_int>(())
            })?;
            (slot.place, slot.damaged) = (Some(place), 0);
            share::tell_fifo(token, minor, user::LINUX);
            Ok(())
        })?
    })
}
