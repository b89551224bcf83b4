//! Atomics: the processor's or the model checker's.

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, Ordering};
