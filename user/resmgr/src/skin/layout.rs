//! Where the parts of the channel window are.
//!
//! What Linux may only read comes first: the directory, the processor times, and what each task
//! shows. What Linux may write follows: its commands, what it shares with each task, the pool of
//! shared buffers, and what only Linux's kernel may write. Each part begins on a page, so that the
//! two halves and every part can be mapped separately.

use crate::page_tables::whole_pages;
use alloc::vec::Vec;
use pillion_abi::channel::{Command, Directory, Psc, Share, Status, Usage};
use pillion_abi::dual;

/// Parts of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Offset of its `Status`.
    pub status: u64,
    /// Offset of its `Share`.
    pub share: u64,
    /// Bytes of its `Share` and of the data of its FIFOs.
    pub share_size: u64,
}

/// The parts of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Offset of the processor times.
    pub usage: u64,
    pub tasks: Vec<Places>,
    /// Offset of the command. Linux may write the command and everything after it.
    pub command: u64,
    /// Offset of the pool.
    pub pool: u64,
    /// Bytes of the pool.
    pub pool_size: u64,
    /// Offset of what Linux's kernel says about handlers of its processes: after it there is
    /// nothing that a process may map.
    pub psc: u64,
    /// Offset of what Linux's kernel and the task of dual mode share.
    pub dual: u64,
    /// Bytes of it; 0 without dual mode.
    pub dual_size: u64,
    /// Bytes of the window.
    pub size: u64,
}

/// Bytes of a `Status`, in whole pages.
pub const STATUS: u64 = pages_of::<Status>();

/// Bytes of the directory, in whole pages.
pub const DIRECTORY: u64 = pages_of::<Directory>();

/// Bytes of a `Psc`, in whole pages.
pub const PSC: u64 = pages_of::<Psc>();

const fn pages_of<T>() -> u64 {
    (size_of::<T>() as u64).next_multiple_of(pillion_abi::PAGE)
}

/// Bytes that a task with that much FIFO data shares with Linux.
pub fn share_size(fifo_bytes: u64) -> u64 {
    whole_pages((size_of::<Share>() as u64).saturating_add(fifo_bytes))
}

impl Layout {
    /// The layout of a window for tasks with that many bytes of FIFO data each, and for that many
    /// threads in primary mode.
    pub fn new(fifo_bytes: &[u64], pool_bytes: u64, dual_threads: u32) -> Layout {
        let usage = DIRECTORY;
        let mut end = usage + pages_of::<Usage>();
        let mut take = |size: u64| {
            let start = end;
            end += size;
            start
        };
        let statuses: Vec<u64> = fifo_bytes.iter().map(|_| take(STATUS)).collect();
        let command = take(pages_of::<Command>());
        let tasks = statuses.iter().zip(fifo_bytes).map(|(&status, &bytes)| {
            let share_size = share_size(bytes);
            Places { status, share: take(share_size), share_size }
        });
        let tasks = tasks.collect();
        let pool_size = whole_pages(pool_bytes);
        let pool = take(pool_size);
        let psc = take(PSC);
        let dual_size = if dual_threads == 0 { 0 } else { dual::bytes(dual_threads as usize) };
        let dual = take(dual_size);
        Layout { usage, tasks, command, pool, pool_size, psc, dual, dual_size, size: end }
    }

    /// End of what the manager itself accesses: all that Linux may not write, and the command.
    pub fn managed(&self) -> u64 {
        self.command + pages_of::<Command>()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    #[test]
    fn parts_follow_each_other_on_pages() {
        let layout = Layout::new(&[0, 4096, 100], 8192, 3);
        let mut parts = vec![(0, DIRECTORY), (layout.usage, pages_of::<Usage>())];
        parts.extend(layout.tasks.iter().map(|t| (t.status, STATUS)));
        parts.push((layout.command, 4096));
        parts.extend(layout.tasks.iter().map(|t| (t.share, t.share_size)));
        parts.push((layout.pool, layout.pool_size));
        parts.push((layout.psc, PSC));
        parts.push((layout.dual, pages_of::<dual::Dual>() + 3 * 8192));
        let mut end = 0;
        for (start, size) in parts {
            assert_eq!((start, start % 4096, size % 4096), (end, 0, 0));
            end += size;
        }
        assert_eq!(end, layout.size);
    }

    #[test]
    fn linux_writes_nothing_before_the_command() {
        let layout = Layout::new(&[4096; 16], 4096, 0);
        assert!(layout.tasks.iter().all(|t| t.status + STATUS <= layout.command && t.share >= layout.managed()));
        assert!(layout.pool >= layout.managed());
        assert_eq!((layout.dual, layout.dual_size), (layout.size, 0), "no dual mode");
    }

    #[test]
    fn a_share_holds_its_fifos() {
        let share = size_of::<Share>() as u64;
        assert!(share_size(256 << 10) >= share + (256 << 10));
        assert_eq!(share_size(0), share.next_multiple_of(4096));
    }
}
