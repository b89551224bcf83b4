//! The machine-independent half of the Pillion microhypervisor: capabilities, threads, time,
//! messages.
//!
//! Nothing here touches hardware and nothing is `unsafe`. Objects live in memory that the kernel's
//! callers handed in; this crate names them by typed handles ([`Id`]) and reaches them through a
//! [`Machine`], which is the direct map in the kernel and a table in the tests. All operations are
//! bounded; long ones are cut into steps ([`Outcome::Restart`]).
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod agenda;
pub mod away;
pub mod boost;
pub mod cap;
pub mod context;
pub mod create;
pub mod delete;
pub mod donation;
pub mod endpoint;
pub mod fast;
pub mod fault;
pub mod heap;
pub mod home;
pub mod id;
pub mod inheritance;
pub mod interrupt;
pub mod kernel;
pub mod machine;
pub mod notification;
pub mod post;
pub mod queue;
pub mod root;
pub mod slot;
pub mod space;
pub mod syscall;
pub mod thread;
pub mod timer;
pub mod vcpu;
mod visitor;
pub mod x86_64;

pub use cap::Cap;
pub use id::{Id, Opt};
pub use kernel::{Cpu, Kernel};
pub use machine::Machine;
pub use slot::Slot;
pub use syscall::Outcome;
