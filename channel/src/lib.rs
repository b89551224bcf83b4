//! The real-time side of what tasks and Linux share; the layout is [`pillion_abi::channel`]'s.
//!
//! Linux can write anything, at any moment, into what is writable for it. So each word of it is
//! read once and checked before it is used; sizes and addresses, and the count of what was put into
//! a ring, are in memory that it cannot write; no loop depends on it; and nothing that it can do
//! makes this code panic or leave a ring. What it can spoil is what it reads and writes itself.
//!
//! | module | what |
//! |---|---|
//! | [`ring`] | counting bytes in and out of a ring, without the bytes; in safe code, run by a model checker |
//! | [`fifo`] | two rings, where they lie in memory, and who is to be woken |
//! | [`entry`] | what a task shows of a FIFO |
//! | [`copy`] | copies between memories that others write |
//! | [`event`] | what Linux is to look at, and whether the doorbell is to ring |
//! | [`request`] | what Linux asks of a FIFO's handler |
//! | [`log`] | what a task prints |
//! | [`level`] | priorities of the skin as levels of the kernel |
//! | [`extent`] | places for rings in a stretch of memory |
//!
//! The model checker runs this very source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-channel --release --lib`.
#![cfg_attr(not(loom), no_std)]

pub mod event;
pub mod extent;
pub mod level;
pub mod ring;

#[cfg(not(loom))]
pub mod copy;
#[cfg(not(loom))]
pub mod entry;
#[cfg(not(loom))]
pub mod fifo;
#[cfg(not(loom))]
pub mod log;
#[cfg(not(loom))]
pub mod request;

#[cfg(not(loom))]
pub use fifo::{Fifo, Full, Moved};

#[cfg(all(test, loom))]
mod model;
mod sync;
