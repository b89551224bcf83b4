//! What the task of dual mode computes without system calls: Linux's clocks, the translation of a
//! process's addresses, the check of vector registers that Linux hands over, the objects on which
//! threads wait for each other, and the lock that guards these.
#![cfg_attr(not(loom), no_std)]
#![forbid(unsafe_code)]

#[cfg(all(test, not(loom)))]
extern crate std;

pub mod clock;
pub mod exclusion;
pub mod file;
pub mod futex;
pub mod latch;
pub mod objects;
pub mod queue;
mod sync;
pub mod vectors;
pub mod walk;
