//! Stories, one file for each part of the kernel.

mod calls;
mod deletion;
mod guests;
mod messages;
mod time;
