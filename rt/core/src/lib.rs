//! The real-time API's logic that needs neither the kernel nor a machine.
#![cfg_attr(not(loom), no_std)]
#![forbid(unsafe_code)]

pub mod clock;
pub mod device_name;
pub mod inherit;
pub mod ioctl;
pub mod kernel_entry;
pub mod lock;
pub mod parameters;
pub mod release;
pub mod ticks;
pub mod urgency;
