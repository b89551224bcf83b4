//! The system file: its types and its checks, for the host and the resource manager.
//!
//! The host tool and the resource manager run the same code on the same text: [`parse()`] reads the
//! file, [`check()`] checks it against a [`Target`]. Both report every problem they find, with its
//! line and what to do about it. `docs/system-file.md` describes the format.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod analysis;
mod check;
mod dual;
pub mod limit;
mod model;
mod parse;
mod passenger;
mod problem;
mod processors;
mod sections;
mod skin;
mod target;

pub use analysis::{
    Activity, BROKER_NEED_NS, BROKER_NS, Load, MANAGER_NS, MANAGER_PERIOD_NS, SHARE_NS, VISITORS_NS,
    VISITORS_PERIOD_NS, WARDEN_NS, WARDEN_PERIOD_NS, responses, worst_response,
};
pub use check::{BROKER, check};
pub use dual::DUAL;
pub use model::{
    After, Boost, Budget, Channels, Dual, Interrupt, Kind, Lines, Linux, PciFunction, PortRange, Resource, Skin, Start,
    System, Task, Then,
};
pub use parse::parse;
pub use pillion_histogram as histogram;
pub use problem::{Problem, remedy};
pub use processors::Processors;
pub use target::{KERNEL_PORTS, Target};
