//! What modules use of the Linux kernel.

mod memory;
mod ports;
mod task;
mod user;

pub(crate) use task::start;
