//! RT-FIFOs: `rtf_create`, `rtf_put`, `rtf_get` and their kin.
//!
//! A FIFO belongs to the task that made it, unless the system file lists it as shared: then the
//! broker keeps it ([`shared`]). The two rings of a FIFO lie in the task's part of the channel
//! window, which Linux can write; what they are and how much is in them is kept here, in memory
//! that it cannot write.

mod create;
mod data;
mod handler;
mod shared;

pub use create::{create, destroy, resize};
pub use data::{get, put, rtf_isused, rtf_length};
pub(crate) use handler::copied_data;

use crate::{
    cell::Shared,
    error::{EINVAL, ENODEV},
    lock::Token,
    share,
};
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
    /// Where its rings are; also while it is being made.
    place: Option<Extent>,
    handler: Option<Handler>,
    rt_handler: Option<Handler>,
    ioctl: Option<IoctlHandler>,
    /// What was shown of [`Fifo::damaged`].
    damaged: u64,
}

impl Slot {
    const NEW: Slot = Slot { fifo: None, place: None, handler: None, rt_handler: None, ioctl: None, damaged: 0 };

    /// Shows Linux which handlers there are.
    fn show_flags(&self, token: &Token, number: usize) {
        let handler = if self.handler.is_some() { fifo_flag::HANDLER } else { 0 };
        let ioctl = if self.ioctl.is_some() { fifo_flag::IOCTL } else { 0 };
        share::entry(token, number).set_flags(handler | ioctl);
    }

    /// Shows repairs, which are rare.
    #[inline]
    fn show_damage(&mut self, token: &Token, number: usize) {
        let damaged = self.fifo.as_ref().map_or(0, Fifo::damaged);
        if damaged != self.damaged {
            self.damaged = damaged;
            share::entry(token, number).set_damaged(damaged);
        }
    }
}

static SLOTS: Shared<[Slot; FIFOS]> = Shared::new([const { Slot::NEW }; FIFOS]);

/// A number of a FIFO, checked.
fn number(minor: c_uint) -> Result<usize, c_int> {
    if (minor as usize) < FIFOS { Ok(minor as usize) } else { Err(ENODEV) }
}

/// Does the broker keep it?
#[inline]
fn is_shared(number: usize) -> bool {
    info::task().skin.shared_fifos >> number & 1 != 0
}

/// Runs something with a FIFO that exists.
#[inline]
fn with<R>(token: &Token, number: usize, f: impl FnOnce(&mut Slot) -> R) -> Result<R, c_int> {
    let slot = &mut SLOTS.borrow(token)[number];
    if slot.fifo.is_some() { Ok(f(slot)) } else { Err(EINVAL) }
}

/// A result as the `rtf` calls give it.
fn negative(result: Result<c_int, c_int>) -> c_int {
    result.unwrap_or_else(|error| -error)
}
