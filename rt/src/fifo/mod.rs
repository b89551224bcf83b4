//! RT-FIFOs: `rtf_create`, `rtf_put`, `rtf_get` and their kin.
//!
//! A FIFO belongs to the task that created it, unless the system file lists it as shared: then the
//! broker keeps it ([`shared`]). A FIFO's two rings lie in the task's part of the channel window,
//! which Linux can write. Their places and fill levels are kept here, in memory that Linux cannot
//! write.

mod create;
mod data;
mod handler;
mod shared;

pub use create::{create, destroy, resize};
pub use data::{get, put, rtf_isused, rtf_length};
pub(crate) use handler::copied_data;

use crate::cell::Shared;
use crate::error::{EINVAL, ENODEV};
use crate::lock::Token;
use crate::share;
use core::ffi::{c_int, c_uint, c_ulong};
use pillion_abi::channel::{FIFOS, fifo_flag};
use pillion_channel::{Fifo, extent::Extent};
use pillion_runtime::info;

/// A handler of the program.
pub type Handler = extern "C" fn(c_uint) -> c_int;

/// A handler of I/O controls.
pub type IoctlHandler = extern "C" fn(c_uint, c_uint, c_ulong) -> c_int;

struct Slot {
    fifo: Option<Fifo>,
    /// Where the FIFO's rings are; set even while the FIFO is being created.
    place: Option<Extent>,
    handler: Option<Handler>,
    rt_handler: Option<Handler>,
    ioctl: Option<IoctlHandler>,
    /// The value of [`Fifo::damaged`] last shown.
    damaged: u64,
}

impl Slot {
    const NEW: Slot = Slot { fifo: None, place: None, handler: None, rt_handler: None, ioctl: None, damaged: 0 };

    /// Shows Linux which handlers the FIFO has.
    fn show_flags(&self, token: &Token, number: usize) {
        let handler = if self.handler.is_some() { fifo_flag::HANDLER } else { 0 };
        let ioctl = if self.ioctl.is_some() { fifo_flag::IOCTL } else { 0 };
        share::with_entry(token, number, |entry| entry.set_flags(handler | ioctl));
    }

    /// Shows repairs, which are rare.
    #[inline]
    fn show_damage(&mut self, token: &Token, number: usize) {
        let damaged = self.fifo.as_ref().map_or(0, Fifo::damaged);
        if damaged != self.damaged {
            self.damaged = damaged;
            share::with_entry(token, number, |entry| entry.set_damaged(damaged));
        }
    }
}

static SLOTS: Shared<[Slot; FIFOS]> = Shared::new([const { Slot::NEW }; FIFOS]);

/// Checks a FIFO's number.
fn number(minor: c_uint) -> Result<usize, c_int> {
    if (minor as usize) < FIFOS { Ok(minor as usize) } else { Err(ENODEV) }
}

/// Returns whether the broker keeps the FIFO.
#[inline]
fn is_shared(number: usize) -> bool {
    info::task().skin.shared_fifos >> number & 1 != 0
}

/// Runs a function on a FIFO that exists.
#[inline]
fn with<R>(token: &Token, number: usize, f: impl FnOnce(&mut Slot) -> R) -> Result<R, c_int> {
    let slot = &mut SLOTS.borrow(token)[number];
    if slot.fifo.is_some() { Ok(f(slot)) } else { Err(EINVAL) }
}

/// Result of an `rtf` call: negative for an error.
fn negative(result: Result<c_int, c_int>) -> c_int {
    result.unwrap_or_else(|error| -error)
}
