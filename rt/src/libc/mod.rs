//! What the C library needs beneath it: memory, and an end. Everything else that needs an operating
//! system is missing, so a program that uses it fails to link.

mod cpp;
mod end;
mod malloc;

pub use end::stop;
pub use malloc::{alloc, free, free_aligned};
