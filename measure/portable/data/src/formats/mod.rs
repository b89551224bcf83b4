//! Formats of the field's common tools.

pub mod cyclictest;
pub mod latency;
