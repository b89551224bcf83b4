//! The broker on a machine made of vectors.

mod board;
mod fifos;
mod model;
mod properties;
mod scenarios;
mod table;
