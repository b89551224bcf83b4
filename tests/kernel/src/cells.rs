//! Shared state of a test's threads, in memory that all address spaces show.

use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

const COUNT: usize = 64;
const ENTRIES: usize = 256;

static CELLS: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
static LOG: [AtomicU64; ENTRIES] = [const { AtomicU64::new(0) }; ENTRIES];
static LOGGED: AtomicU64 = AtomicU64::new(0);

/// Clears all cells and the list.
pub fn clear() {
    for cell in &CELLS {
        cell.store(0, SeqCst);
    }
    LOGGED.store(0, SeqCst);
}

pub fn get(cell: usize) -> u64 {
    CELLS[cell].load(SeqCst)
}

/// The capability in a cell.
pub fn cap(cell: usize) -> u32 {
    get(cell) as u32
}

pub fn set(cell: usize, value: impl Into<u64>) {
    CELLS[cell].store(value.into(), SeqCst);
}

/// Where a cell is, for code that adds to it on its own.
pub fn address(cell: usize) -> u64 {
    CELLS[cell].as_ptr() as u64
}

pub fn add(cell: usize, value: u64) {
    CELLS[cell].fetch_add(value, SeqCst);
}

/// Raises a cell to the value if that is larger.
pub fn raise(cell: usize, value: u64) {
    CELLS[cell].fetch_max(value, SeqCst);
}

/// Appends to the list.
pub fn log(value: u64) {
    let at = LOGGED.fetch_add(1, SeqCst) as usize;
    if at < ENTRIES {
        LOG[at].store(value, SeqCst);
    }
}

/// Returns whether the list is this one.
pub fn logged(wanted: &[u64]) -> bool {
    LOGGED.load(SeqCst) as usize == wanted.len() && wanted.iter().zip(&LOG).all(|(w, l)| *w == l.load(SeqCst))
}

/// The list's beginning, for reports.
pub fn list() -> [u64; 8] {
    let count = LOGGED.load(SeqCst) as usize;
    core::array::from_fn(|i| if i < count { LOG[i].load(SeqCst) } else { u64::MAX })
}

/// Busy-waits in user mode.
#[inline(never)]
pub fn spin(ticks: u64) {
    let end = pillion_runtime::now() + ticks;
    while pillion_runtime::now() < end {
        core::hint::spin_loop();
    }
}

/// Fails the test unless the list is this one.
#[macro_export]
macro_rules! order {
    ($($value:expr),* $(,)?) => {
        if !$crate::cells::logged(&[$($value),*]) {
            return Err(pillion_test_kit::failure!("order {:?}", $crate::cells::list()));
        }
    };
}
