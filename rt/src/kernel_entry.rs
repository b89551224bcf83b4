//! When an interrupt last entered the kernel, if the kernel traces (`trace=1`). None of this runs
//! unless the program asks.

use crate::time;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::trace::{ENTRIES, Entry, FIRST_ENTRY};
use pillion_ring::Cell;
use pillion_rt_core::kernel_entry;
use pillion_runtime::info::{self, address};

/// How many of the newest entries are searched.
const LOOK: u64 = 64;

/// See `pillion.h`.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_kernel_entry() -> i64 {
    if info::task().skin.traced == 0 {
        return 0;
    }
    // SAFETY: `traced` says that the resource manager has mapped the buffer for good: the count is
    // its first word, and the entries stand at their offset. The kernel writes both as atomic
    // words.
    let (written, cells) = unsafe {
        let cells = (address::TRACE + FIRST_ENTRY) as *const Cell;
        (&*(address::TRACE as *const AtomicU64), core::slice::from_raw_parts(cells, ENTRIES))
    };
    let count = written.load(Relaxed);
    let newest_first = (count.saturating_sub(LOOK)..count).rev();
    let entries = newest_first.map_while(|number| pillion_ring::read(written, cells, number));
    let entries = entries.map(|[time, event, first, second]| Entry { time, event, first, second });
    kernel_entry::last(entries).map_or(0, |ticks| time::scale().ns(ticks) as i64)
}
