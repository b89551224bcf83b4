//! What modules use of the Linux kernel.

mod kmalloc;
mod ports;
mod task;
mod user;

pub(crate) use task::start;
