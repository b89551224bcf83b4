//! Threads.
//!
//! The resource manager has created the task's threads in advance. Each has an entry in a table
//! here, whose address is the program's `pthread_t` and the thread's FS base. When a thread
//! suspends or deletes another that is ready, the kernel stops that thread where it is, unless it
//! is in a part of this library that must be finished ([`unstoppable`]) or about to get the task's
//! lock. In these cases it stops itself as soon as it can, as it does when it waits.

mod attributes;
mod cancel;
mod cleanup;
mod create;
mod end;
mod join;
mod level;
mod period;
mod schedule;
mod specific;
mod status;
mod stop;
mod suspend;
mod table;

pub(crate) use attributes::{Kind, Start};
pub use cancel::cancel_point;
pub(crate) use create::{begin_main, start};
pub(crate) use end::end_unseen;
pub(crate) use join::pthread_delete_np;
pub(crate) use level::{
    ceiling_of_several, closes_circle, own as urgency_of_priority, set_own as set_urgency, settle, take_back,
};
pub use level::{urgency, with_inheritance};
pub(crate) use period::{pthread_make_periodic_np, pthread_wait_np};
pub use stop::unstoppable;
pub(crate) use stop::{end_unstoppable, stop_if_asked};
pub(crate) use suspend::{pthread_suspend_np, pthread_wakeup_np, resume, suspend_other, suspend_self};
pub(crate) use table::nudge_main;
pub(crate) use table::{Identity, Life};
pub use table::{MAGIC, Thread, all, by_number, by_pointer, current};
