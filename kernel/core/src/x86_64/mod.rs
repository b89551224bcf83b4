//! What the kernel knows of the processor and the PC, without touching them: formats, and the rules
//! of devices.

pub mod apic;
pub mod machine_check;
pub mod message;
pub mod paging;
pub mod processor;
pub mod svm;
pub mod uart;
