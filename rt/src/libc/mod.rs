//! What the C library needs beneath it: memory, and an end. Everything else that would ask an
//! operating system is missing, so that the linker says so.

mod cpp;
mod end;
mod memory;

pub use end::stop;
pub use memory::{alloc, free, free_aligned};
