//! The broker keeps the objects that several tasks use: named semaphores, message queues and shared
//! FIFOs. It is a passive server: it has no time of its own and runs on its callers'. So no request
//! may block in it, and the work of each is bounded by the tables that it names.
//!
//! What it is asked, and who may ask, stands in [`pillion_runtime::broker`]. Here is its logic,
//! without memory or system calls; what it needs of them is [`Machine`].
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod client;
mod fifos;
mod machine;
mod outcome;
mod queue;
mod queues;
mod semaphores;
mod serve;
mod table;
mod waits;

#[cfg(test)]
mod tests;

pub use machine::Machine;

use fifos::Fifos;
use pillion_runtime::broker::{QUEUES, SEMAPHORES};
use queue::Queue;
use semaphores::Semaphore;
use table::Table;
use waits::Waits;

/// Everything that the broker knows. All zeros when it begins.
#[derive(Debug)]
pub struct Broker {
    waits: Waits,
    semaphores: Table<Semaphore, SEMAPHORES>,
    queues: Table<Queue, QUEUES>,
    fifos: Fifos,
}

impl Broker {
    /// One that knows nothing.
    #[must_use]
    pub const fn new() -> Broker {
        Broker {
            waits: Waits::new(),
            semaphores: Table::new([const { Semaphore::new() }; SEMAPHORES]),
            queues: Table::new([const { Queue::new() }; QUEUES]),
            fifos: Fifos::new(),
        }
    }
}

impl Default for Broker {
    fn default() -> Broker {
        Broker::new()
    }
}
