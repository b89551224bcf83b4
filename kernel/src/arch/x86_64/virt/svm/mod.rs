//! AMD's virtualisation, SVM (AMD APM vol. 2, chapter 15).
//!
//! As little as possible is asked of the processor: nested paging and nothing else. Where an
//! emulator departs from the manual, the code does what is right on both, and says so.

mod event;
mod exit;
mod setup;
mod state;
mod vcpu;
mod vmcb;
mod world;

pub use exit::{MACHINE_CHECK, UserExit};
pub use setup::{enable, probe};
pub use vcpu::{VCPU_PAGES, Vcpu};
