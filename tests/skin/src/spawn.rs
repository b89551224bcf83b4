//! Starting the task's other threads, on stacks in its own memory.

use pillion_abi::status::Result;
use pillion_runtime::info::{address, skin};
use pillion_runtime::{Values, context_set_priority, thread_resume, thread_set_registers};

/// Bytes of a stack.
const STACK: u64 = 16 << 10;

/// Makes a thread run a function at a level. The thread's previous function has ended.
pub fn start(number: u32, level: u8, function: extern "C" fn(u64) -> !, argument: u64) -> Result<Values> {
    let top = address::MEMORY + u64::from(number) * STACK - 8;
    thread_set_registers(skin::slot::THREADS + number, function as usize as u64, top, argument)?;
    context_set_priority(skin::slot::CONTEXTS + number, level)?;
    thread_resume(skin::slot::THREADS + number)
}
