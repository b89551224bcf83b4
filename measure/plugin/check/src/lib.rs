//! The C model of the plug-in, for the tests beside this file.

mod handle;

pub use handle::{Counts, Event, Level, Model, Walks, event_of};
