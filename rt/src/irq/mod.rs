//! Interrupts.
//!
//! A thread of this library, at the highest level that the task may have, waits for the task's
//! interrupt lines and timers. It runs the program's handlers with interrupts off, as RTLinux did:
//! with the task's lock held. A line is masked from its interrupt until the program enables it; an
//! interrupt that comes meanwhile is handled then. Other processors of the task have such a thread
//! where the program gives them a handler.

pub(crate) mod local;
mod off;
pub(crate) mod pend;
mod processor;
mod request;
pub(crate) mod service;
pub(crate) mod soft;

pub use processor::{may_be_on, processor, processor_exists};
pub(crate) use request::{Handler, free, replace, rtl_free_irq, rtl_hard_enable_irq, rtl_request_irq, run_due};
