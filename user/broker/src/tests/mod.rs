//! The broker on a machine made of vectors.

mod board;
mod fifos;
mod full;
mod model;
mod properties;
mod scenarios;
