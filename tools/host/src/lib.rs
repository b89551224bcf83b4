//! Code that the tools on the host share. It knows nothing of what they build, boot or measure.
#![forbid(unsafe_code)]

pub mod file;
pub mod parallel;
pub mod problem;
pub mod progress;
pub mod qemu;
pub mod repository;
pub mod stop;
pub mod tool;
