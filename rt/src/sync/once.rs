//! What is done once.

use crate::{
    cell::Guarded,
    lock,
    wait::{How, Queue, block_and_return},
};
use core::ffi::c_int;
use pillion_abi::NEVER;

/// `pthread_once_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Once {
    state: Guarded<u64>,
    queue: Queue,
}

const RUNNING: u64 = 1;
const DONE: u64 = 2;

/// Runs `routine` unless that was done; returns when it is done.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_once(once: &Once, routine: extern "C" fn()) -> c_int {
    let mut token = lock::enter();
    while once.state.get(&token) == RUNNING {
        (token, _) = block_and_return(token, Some(&once.queue), How::OBJECT, NEVER);
    }
    if once.state.get(&token) == DONE {
        return 0;
    }
    once.state.set(&token, RUNNING);
    drop(token);
    routine();
    lock::with(|token| {
        once.state.set(token, DONE);
        once.queue.wake_all(token);
    });
    0
}
