//! The real-time side of what tasks and Linux share; the layout is [`pillion_abi::channel`]'s.
//!
//! Linux can write anything at any time into the memory that is writable for it. Therefore this
//! code reads each such word once and checks it before use; it keeps sizes, addresses and its own
//! producer counts in memory that Linux cannot write; no loop depends on Linux; and nothing that
//! Linux does makes this code panic or leave a ring. Linux can spoil only the data that it reads
//! and writes itself.
//!
//! | module | what |
//! |---|---|
//! | [`ring`] | the counts of a ring, without its bytes; safe code, run by a model checker |
//! | [`fifo`] | two rings, their memory, and whether Linux must be woken |
//! | [`fifo_entry`] | a FIFO's description for Linux |
//! | [`copy`] | copies to and from memory that others write |
//! | [`event`] | what Linux must look at, and whether the doorbell must ring |
//! | [`request`] | Linux's requests to a FIFO's handler |
//! | [`log`] | what a task prints |
//! | [`extent`] | allocation of rings in a stretch of memory |
//!
//! The model checker runs this same source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-channel --release --lib`.
#![cfg_attr(not(loom), no_std)]

pub mod event;
pub mod extent;
pub mod ring;

#[cfg(not(loom))]
pub mod copy;
#[cfg(not(loom))]
pub mod fifo;
#[cfg(not(loom))]
pub mod fifo_entry;
#[cfg(not(loom))]
pub mod log;
#[cfg(not(loom))]
pub mod request;

#[cfg(not(loom))]
pub use fifo::{Fifo, Full, Moved};

#[cfg(all(test, loom))]
mod model;
mod sync;
