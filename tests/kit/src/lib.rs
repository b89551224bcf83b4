//! For root tasks that test or measure the kernel: objects, address spaces that show the same
//! image, threads in them, devices, guests, and the final output.
#![no_std]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod another;
pub mod edu;
pub mod failure;
pub mod guest;
mod image;
mod kit;
pub mod pci;
mod shutdown;
mod thread;
pub mod user_guest;

pub use failure::{Checked, Failure};
pub use kit::{FIRST_ADDRESS, Kit, LAST_SLOT, WORKER_SLOTS};
pub use shutdown::end;
pub use thread::{STACK, Setup, Thread, stop};
