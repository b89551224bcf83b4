//! Whether Pillion runs on a machine, from what a plain Linux on it can see.
//!
//! [`collect`] gathers [`files`] from the machine, or they come from a folder that was dumped on
//! another one; [`machine`] parses them, and [`judge`] compares them with what the kernel needs.
//! The rules are the kernel's own: `pillion_core::x86_64::processor` and `svm` for what CPUID says,
//! `pillion_firmware` for tables and memory, `pillion_vmm_devices` for what Linux loses.
//!
//! None of the files is trusted: they may be cut short, damaged or invented.
#![forbid(unsafe_code)]

pub mod collect;
pub mod cpuid;
pub mod files;
pub mod judge;
pub mod losses;
pub mod machine;
pub mod memory;
pub mod report;
pub mod show;
pub mod tables;
