//! Formats that others read: those of the tools of the field.

pub mod cyclictest;
pub mod latency;
