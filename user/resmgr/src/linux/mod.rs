//! Linux, the passenger: its memory, its vCPU and its monitor.

mod facts;
mod guest;
mod monitor;
mod ranges;

pub use monitor::{Monitor, make, plan};
