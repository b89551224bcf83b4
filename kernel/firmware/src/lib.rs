//! Information from firmware and boot loader: ACPI tables ([`acpi`]), PVH ([`pvh`]) and multiboot2
//! ([`multiboot`]) information, and the memory map that is drawn from it ([`params`], [`ranges`]).
//!
//! None of it is trusted to make sense: tables may be cut short, point anywhere and contradict each
//! other.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod acpi;
pub mod bytes;
pub mod multiboot;
pub mod params;
pub mod pvh;
pub mod ranges;

/// All physical memory below this address is in the kernel's direct map, be it RAM or not.
pub const ALWAYS_MAPPED: u64 = 4 << 30;

/// Physical memory from here up is not used, so that no range has more pages than a mapped
/// capability can count, in 32 bits.
pub const PHYSICAL_LIMIT: u64 = 1 << 44;
