//! The binary interface of the Pillion microhypervisor.
//!
//! Everything that the kernel and its user tasks agree on is defined here and nowhere else: the
//! numbers of the system calls ([`call`]), the status codes ([`status`]), what a capability may
//! name ([`object`]), the state of a virtual CPU that kernel and VM monitor share ([`vcpu`]), what
//! the kernel hands to the first task at boot ([`boot`]), the trace buffer ([`trace`]), what tasks
//! and Linux share ([`channel`], [`dual`]) and the archive that the task images arrive in
//! ([`bundle`]).
#![no_std]
#![forbid(unsafe_code)]

pub mod boot;
pub mod bundle;
pub mod call;
pub mod channel;
pub mod dual;
pub mod object;
pub mod status;
pub mod trace;
pub mod vcpu;

/// Version of this interface. A task image built for another one is refused.
pub const VERSION: u32 = 6;

/// Size in bytes of a small page, the unit of all memory that is mapped.
pub const PAGE: u64 = 4096;

/// Size in bytes of a large page.
pub const LARGE_PAGE: u64 = 2 << 20;

/// First address that no user mapping may reach (end of the lower half, less a guard page).
pub const USER_END: u64 = 0x0000_7fff_ffff_f000;

/// Number of priorities; 0 is the idle level and is not handed out.
pub const PRIORITIES: usize = 256;

/// A deadline that never comes.
pub const NEVER: u64 = u64::MAX;

/// Interrupt vectors below this one (and from [`GUEST_VECTOR_FIRST`]) belong to the passenger of a
/// CPU; those from here up, the highest priority class of the local APIC, to the real-time side.
pub const RT_VECTOR_FIRST: u8 = 0xf0;

/// Where several processors run: the vector of messages from the passenger of one to that of
/// another. No line of the passenger's can have it.
pub const MESSAGE_VECTOR: u8 = RT_VECTOR_FIRST - 1;

/// First vector for physical interrupts of the passenger.
pub const GUEST_VECTOR_FIRST: u8 = 0x20;
