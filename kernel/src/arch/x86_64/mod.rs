//! 64-bit PCs.

pub mod apic;
pub mod boot;
pub mod check;
pub mod clock;
pub mod code;
pub mod cpu;
pub mod fpu;
pub mod frame;
pub mod io_mmu;
pub mod ioapic;
pub mod layout;
pub mod machine_check;
pub mod msr;
pub mod paging;
pub mod percpu;
mod pic;
pub mod port;
pub mod power;
pub mod segment_base;
pub mod selector;
pub mod serial;
pub mod trap;
pub mod virt;

use power::fatal;
pub(crate) use serial::log;
