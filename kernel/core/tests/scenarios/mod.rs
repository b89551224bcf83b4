//! Scenarios, one file for each part of the kernel.

mod boosts;
mod bounds;
mod calls;
mod deletion;
mod first_task;
mod guest_waits;
mod guests;
mod homes;
mod interleaved;
mod loans;
mod messages;
mod own_priority;
mod posts;
mod time;
mod urgency;
mod user_vcpus;
mod visitors;
mod visitors_time;
