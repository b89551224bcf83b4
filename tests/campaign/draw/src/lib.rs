//! The campaign's steps against the system, drawn from a seed; every caller draws the same ones.
//!
//! A step is identified by a seed, an [`Actor`] and a number. Drawing it needs nothing else, so a
//! run can leave out any of its steps without changing the others. That is how a failing seed is
//! shrunk, and how the host describes a step without booting anything. Only the actor knows what
//! the addresses in a step mean ([`guest::Place`]).
#![no_std]
#![forbid(unsafe_code)]

pub mod excluded;
pub mod guest;
mod orders;
mod rng;
pub mod task;

pub use orders::Orders;
pub use rng::Rng;

/// The actor that makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The guest in Linux's place.
    Guest,
    /// A task without a skin.
    Task,
    /// A task with a skin.
    Skinned,
}

/// The steps of a life of the guest are numbered from `life * LIFE` on, those of a task from 0.
pub const LIFE: u32 = 1000;

/// Vendor and device number of the watched task's PCI function. The guest must never see it.
pub const HIDDEN_DEVICE: u32 = 0x11e8_1234;

/// The pattern in the watched task's memory. The guest must never read it.
pub const SECRET: u64 = 0x5ec2_e7b0_91a4_d36f;

/// The watched task's port, one port wide, and what is read there while nothing else is put there.
pub const WATCHED_PORT: (u16, u32) = (0x3ef, 0xe9);
