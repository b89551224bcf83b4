//! The call chain of a faulted thread, from the frame pointers on its stack. Nothing on the stack
//! is trusted: each pointer must lie in the task's memory, aligned and above the one before, and
//! the chain ends after a few.

use crate::task::{STACK, Task};
use crate::window::Window;
use pillion_runtime::info::address;

/// Most calls that are reported.
pub const MOST: usize = 16;

/// Return addresses, the innermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    addresses: [u64; MOST],
    count: usize,
}

impl Calls {
    /// The addresses.
    pub fn as_slice(&self) -> &[u64] {
        &self.addresses[..self.count]
    }

    /// Follows the chain from a frame pointer; `read` returns a word of the task's memory, or
    /// `None` where the task has none.
    pub fn follow(mut frame: u64, read: impl Fn(u64) -> Option<u64>) -> Calls {
        let mut calls = Calls::default();
        while calls.count < MOST && frame.is_multiple_of(8) {
            let (Some(next), Some(back)) = (read(frame), frame.checked_add(8).and_then(&read)) else { break };
            if back == 0 {
                break;
            }
            calls.addresses[calls.count] = back;
            calls.count += 1;
            if next <= frame {
                break;
            }
            frame = next;
        }
        calls
    }

    /// The call chain of the thread of `task` whose frame pointer is `frame`.
    pub fn of(task: &Task, memory_size: u64, window: &Window, frame: u64) -> Calls {
        let bottom = address::STACK_TOP - STACK;
        Calls::follow(frame, |at| {
            let (memory, offset) = match at {
                _ if (bottom..address::STACK_TOP).contains(&at) => (task.stack, at - bottom),
                _ if at.checked_sub(address::MEMORY)? < memory_size => (task.memory, at - address::MEMORY),
                _ => return None,
            };
            window.copy::<u64>(memory, offset).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1000;

    fn follow(frame: u64, stack: &[u64]) -> Calls {
        Calls::follow(frame, |at| stack.get((at.checked_sub(BASE)? / 8) as usize).copied())
    }

    #[test]
    fn the_chain_is_followed_to_its_end() {
        let stack = [BASE + 0x10, 0xa1, BASE + 0x20, 0xa2, 0, 0xa3];
        assert_eq!(follow(BASE, &stack).as_slice(), [0xa1, 0xa2, 0xa3]);
    }

    #[test]
    fn a_broken_chain_ends_it() {
        assert!(follow(8, &[0; 4]).as_slice().is_empty());
        assert!(follow(BASE + 1, &[1; 4]).as_slice().is_empty());
        assert!(follow(u64::MAX - 7, &[1; 4]).as_slice().is_empty());
        let circle = [BASE, 0xa1];
        assert_eq!(follow(BASE, &circle).as_slice(), [0xa1]);
        let last = [BASE + 8, 0xa1];
        assert_eq!(follow(BASE, &last).as_slice(), [0xa1]);
    }

    #[test]
    fn a_long_chain_is_cut() {
        let mut stack = [0xa1; 64];
        for i in 0..32 {
            stack[2 * i] = BASE + 16 * (i as u64 + 1);
        }
        assert_eq!(follow(BASE, &stack).as_slice().len(), MOST);
    }
}
