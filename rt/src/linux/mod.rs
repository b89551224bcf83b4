//! What modules use of Linux's kernel.

mod memory;
mod ports;
mod task;
mod user;

pub(crate) use task::start;
