//! Measurements: their format, the lines in which programs report them, and what follows from them.
//!
//! A [`Measurement`] is one experiment, run with one [`Instrument`] on several systems. Programs
//! print [`lines`]; `x measure` and `pillion-measure` turn them into measurements; the report draws
//! those.
#![forbid(unsafe_code)]

pub mod changes;
mod chart;
pub mod erlang;
mod figure;
mod histogram;
pub mod lines;
pub mod locus;
mod measurement;
mod plain;
mod points;
mod processor;
pub mod walsh;

pub use chart::{Chart, Kind};
pub use figure::{Direction, Figure, Standing, percent};
pub use histogram::{Bucket, Histogram};
pub use measurement::{Data, FORMAT, Instrument, Measurement, Series, System};
pub use plain::plain;
pub use points::Points;
pub use processor::Processor;
