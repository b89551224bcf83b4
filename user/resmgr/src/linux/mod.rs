//! Linux, the passenger: its memory, its vCPU and its monitor.

mod devices;
mod facts;
mod log;
mod memory_map;
mod monitor;
mod presence;
mod ranges;

pub use devices::say_missing;
pub use log::LinuxLog;
pub use monitor::{Monitor, make, plan};
pub use presence::Presence;
