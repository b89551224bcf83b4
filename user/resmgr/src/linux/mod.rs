//! Linux, the passenger: its memory, its vCPU and its monitor.

mod facts;
mod memory_map;
mod monitor;
mod presence;
mod ranges;
mod system_log;
mod task_devices;

pub use memory_map::{MAPPED, Part, ram_extents};
pub use monitor::{Guest, Monitor, OTHER_SLOTS, Seen, guest_tables, make, plan};
pub use presence::Presence;
pub use system_log::LinuxLog;
pub use task_devices::say_missing;
