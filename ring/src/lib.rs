//! The ring behind the trace buffer: one writer that never waits, any number of readers that may
//! come too late.
//!
//! Entries are numbered from 0; entry `n` stands in cell `n % cells.len()`. The writer raises the
//! count after it filled a cell. A reader copies a cell and then looks at the count: if the writer
//! may have begun to fill the cell anew meanwhile, the copy is thrown away. Neither waits for the
//! other, and no instruction is a read-modify-write.
//!
//! `written` and the cells are words in memory that the two sides map; see `pillion_abi::trace`.
//! The model checker runs this very source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-ring --release`.
#![cfg_attr(not(loom), no_std)]
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Words of an entry.
pub const WORDS: usize = 4;

/// Where an entry stands.
#[derive(Debug)]
#[repr(C)]
pub struct Cell([AtomicU64; WORDS]);

impl Cell {
    /// An empty one. All zeros.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Cell {
        Cell([const { AtomicU64::new(0) }; WORDS])
    }

    /// An empty one.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Cell {
        Cell(core::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Default for Cell {
    fn default() -> Cell {
        Cell::new()
    }
}

/// The writer's side: it counts by itself and never reads what others could have changed.
#[derive(Debug, Default)]
pub struct Writer {
    next: u64,
}

impl Writer {
    /// A writer of a ring that is empty.
    #[must_use]
    pub const fn new() -> Writer {
        Writer { next: 0 }
    }

    /// Writes an entry. Constant time. Nothing happens where there are no cells.
    #[inline]
    pub fn write(&mut self, written: &AtomicU64, cells: &[Cell], entry: [u64; WORDS]) {
        let Some(cell) = place(cells, self.next) else { return };
        // Pairs with the fence in `read`: who sees a word of this entry sees that the count had
        // reached its number before.
        fence(Release);
        for (word, value) in cell.0.iter().zip(entry) {
            word.store(value, Relaxed);
        }
        self.next = self.next.wrapping_add(1);
        // Pairs with the first load in `read`: who sees the count sees the entry.
        written.store(self.next, Release);
    }
}

/// Copies entry `number`. `None` when it is not written yet, or overwritten already.
#[must_use]
pub fn read(written: &AtomicU64, cells: &[Cell], number: u64) -> Option<[u64; WORDS]> {
    if number >= written.load(Acquire) {
        return None;
    }
    let cell = place(cells, number)?;
    let copy = core::array::from_fn(|i| cell.0[i].load(Relaxed));
    // Pairs with the fence in `Writer::write`.
    fence(Acquire);
    let next = written.load(Relaxed);
    // Cell and all are reused from the moment on at which the count reaches number + cells.
    (next - number < cells.len() as u64).then_some(copy)
}

fn place(cells: &[Cell], number: u64) -> Option<&Cell> {
    let count = cells.len() as u64;
    if count == 0 { None } else { cells.get((number % count) as usize) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn the_newest_entries_are_there() {
        let (written, cells) = (AtomicU64::new(0), [const { Cell::new() }; 4]);
        let mut writer = Writer::new();
        assert_eq!(read(&written, &cells, 0), None);
        for n in 0..10 {
            writer.write(&written, &cells, [n, n + 1, n + 2, n + 3]);
        }
        assert_eq!(read(&written, &cells, 10), None, "not yet");
        for n in 7..10 {
            assert_eq!(read(&written, &cells, n), Some([n, n + 1, n + 2, n + 3]));
        }
        assert_eq!(read(&written, &cells, 6), None, "its cell may be in use");
        writer.write(&written, &[], [0; 4]);
        assert_eq!((written.load(Relaxed), read(&written, &[], 0)), (10, None));
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::{sync::Arc, thread};

    /// Whatever a reader gets is an entry as it was written, in every order in which the two may
    /// run.
    #[test]
    fn no_torn_entry() {
        loom::model(|| {
            let ring = Arc::new((AtomicU64::new(0), [Cell::new(), Cell::new()]));
            let writer = {
                let ring = ring.clone();
                thread::spawn(move || {
                    let mut writer = Writer::new();
                    for n in 1..=3 {
                        writer.write(&ring.0, &ring.1, [n; WORDS]);
                    }
                })
            };
            for n in 0..2 {
                if let Some(copy) = read(&ring.0, &ring.1, n) {
                    assert_eq!(copy, [n + 1; WORDS]);
                }
            }
            writer.join().unwrap();
            assert_eq!(read(&ring.0, &ring.1, 2), Some([3; WORDS]));
        });
    }
}
