//! What the task of dual mode computes without system calls: Linux's clocks, the translation of a
//! process's addresses, and the check of vector registers that Linux hands over.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod clock;
pub mod objects;
pub mod vectors;
pub mod walk;
