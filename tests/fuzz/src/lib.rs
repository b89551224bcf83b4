//! Arbitrary input for code that takes input from Linux, firmware or files: device models, the
//! instruction decoder, parsers.
//!
//! A [`Target`] takes bytes and panics if something is wrong. `./x fuzz` builds this with the
//! compiler's coverage counters and lets [`engine`] search for bytes that reach what none reached
//! before; `cargo test` gives each target the inputs found so far (`corpus/`).

pub mod coverage;
pub mod engine;
mod input;
pub mod mutate;
pub mod targets;

pub use targets::Target;
