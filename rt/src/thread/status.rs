//! What others see of the threads: entries in the task's status page.

use super::Thread;
use core::ptr::addr_of_mut;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use pillion_abi::channel::{Status, ThreadEntry};
use pillion_runtime::info::address;

impl Thread {
    fn shown(&self) -> *mut ThreadEntry {
        let status = address::STATUS as *mut Status;
        // SAFETY: the resource manager maps the status page in every task with a skin; the number
        // is below its number of entries.
        unsafe { addr_of_mut!((*status).threads).cast::<ThreadEntry>().add(self.number()) }
    }
}

macro_rules! shown {
    ($($(#[$doc:meta])* $name:ident: $field:ident, $type:ty, $atomic:ident;)*) => {
        impl Thread {$(
            $(#[$doc])*
            #[inline]
            pub(crate) fn $name(&self, value: $type) {
                // SAFETY: as in `shown`. Only this task writes the word: the thread itself and, at
                // the same time, other threads under the task's lock.
                unsafe { $atomic::from_ptr(addr_of_mut!((*self.shown()).$field)) }.store(value, Relaxed);
            }
        )*}
    };
}

shown! {
    /// Shows what the thread does.
    show_state: state, u32, AtomicU32;
    /// Shows the thread's priority, as the program set it.
    show_priority: priority, u32, AtomicU32;
    show_level: level, u32, AtomicU32;
    show_period: period_ns, u64, AtomicU64;
}

impl Thread {
    /// Shows a new thread's entry.
    pub(super) fn show_new(&self, mode: u32, entry: u64) {
        // SAFETY: as above.
        unsafe { self.shown().write_volatile(ThreadEntry { mode, entry, ..ThreadEntry::default() }) };
    }

    /// Shows that the thread no longer exists. Its period stays, for the report at the task's end.
    pub(super) fn show_gone(&self) {
        let shown = self.shown();
        // SAFETY: as above.
        unsafe {
            let period_ns = addr_of_mut!((*shown).period_ns).read_volatile();
            shown.write_volatile(ThreadEntry { period_ns, ..ThreadEntry::default() });
        }
    }

    #[inline]
    pub(super) fn show_release(&self, late_ns: u64) {
        let shown = self.shown();
        // SAFETY: as above; the thread itself is the only one to write these words.
        unsafe {
            let releases = addr_of_mut!((*shown).releases);
            releases.write_volatile(releases.read_volatile().wrapping_add(1));
            let longest = addr_of_mut!((*shown).latency_max_ns);
            if late_ns > longest.read_volatile() {
                longest.write_volatile(late_ns);
            }
        }
    }

    /// Counts missed releases.
    pub(super) fn show_overruns(&self, missed: u64) {
        let shown = self.shown();
        // SAFETY: as above.
        unsafe {
            let overruns = addr_of_mut!((*shown).overruns);
            overruns.write_volatile(overruns.read_volatile().wrapping_add(missed));
        }
    }
}
