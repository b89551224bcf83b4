//! The broker keeps the objects that several tasks use: named semaphores, message queues and shared
//! FIFOs. It is a passive server: it has no scheduling context and runs on its callers' time. So no
//! request may block in it, and the work of each is bounded by the tables that it uses.
//!
//! [`pillion_runtime::broker`] describes the requests and which clients may make them. This crate
//! is the broker's logic, without memory or system calls; it gets those from [`Backend`].
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod backend;
mod client;
mod fifos;
mod finish;
mod named;
mod queue;
mod queues;
mod semaphores;
mod serve;
mod waits;

#[cfg(test)]
mod tests;

pub use backend::Backend;

use fifos::Fifos;
use named::Table;
use pillion_runtime::broker::{Answer, QUEUES, SEMAPHORES};
use queue::Queue;
use semaphores::Semaphore;
use waits::Waits;

/// What a request, or a step of it, yields, or an errno.
type Result<T = Answer> = core::result::Result<T, i32>;

/// The broker's entire state. Initially all zeros.
#[derive(Debug)]
pub struct Broker {
    waits: Waits,
    semaphores: Table<Semaphore, SEMAPHORES>,
    queues: Table<Queue, QUEUES>,
    fifos: Fifos,
}

impl Broker {
    /// A broker without objects.
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
