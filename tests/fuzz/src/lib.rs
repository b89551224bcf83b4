//! Any input for what takes input from Linux, firmware or files: device models, the instruction
//! decoder, parsers.
//!
//! A [`Target`] takes bytes and panics when something is wrong. `./x fuzz` builds this with the
//! compiler's coverage counters and lets [`engine`] look for bytes that reach what none reached
//! before; `cargo test` gives each target what was found so far (`corpus/`, `crashes/`).

pub mod coverage;
pub mod engine;
mod input;
pub mod mutate;
pub mod targets;

pub use targets::Target;
