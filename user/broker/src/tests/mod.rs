//! The broker on a machine made of vectors.

mod fifos;
mod full;
mod model;
mod properties;
mod rig;
mod scenarios;
