//! The watched task: periodic, with a histogram; in each period it checks something of its own.

use pillion_campaign::{SECRET, WATCHED_PORT};
use pillion_histogram::Histogram;
use pillion_runtime::{
    info::{self, address, slot},
    now, port_in, println, sleep,
};

/// Words of its memory that are checked in each period.
const WORDS: usize = 32;

/// Its own memory.
struct Memory {
    words: usize,
    next: usize,
}

impl Memory {
    /// All of its memory, filled with the pattern that no other may see.
    fn fill() -> Memory {
        let words = (info::task().memory_size / 8) as usize;
        for at in 0..words {
            // SAFETY: that many words are mapped there, for this task alone.
            Memory::word(at, |word| unsafe { word.write_volatile(SECRET) });
        }
        Memory { words, next: 0 }
    }

    fn word<T>(at: usize, access: impl FnOnce(*mut u64) -> T) -> T {
        access((address::MEMORY as *mut u64).wrapping_add(at))
    }

    /// Returns whether the next words are unchanged.
    fn look(&mut self) -> bool {
        let mut same = true;
        for _ in 0..WORDS {
            // SAFETY: `next` stays below the number of words that are mapped there.
            same &= Memory::word(self.next, |word| unsafe { word.read_volatile() }) == SECRET;
            self.next = (self.next + 1) % self.words;
        }
        same
    }
}

/// Runs for good.
pub fn run() -> ! {
    let info = info::task();
    // SAFETY: the manager maps zeroed memory for the histogram there; only this thread writes it.
    let histogram = unsafe { &*(address::HISTOGRAM as *const Histogram) };
    let mut memory = Memory::fill();
    let mut sound = true;
    let mut release = now() + info.period;
    loop {
        let _ = sleep(release);
        histogram.record(nanoseconds(now().wrapping_sub(release), info.tsc_hz));
        release += info.period;
        if sound && !memory.look() {
            sound = false;
            println!("[watched] its memory was changed");
        }
        if sound && !is_port_ours() {
            sound = false;
            println!("[watched] something else answers at its port");
        }
        let behind = now();
        if behind > release {
            let missed = (behind - release) / info.period + 1;
            histogram.overrun(missed);
            release += missed * info.period;
        }
    }
}

fn is_port_ours() -> bool {
    port_in(slot::TASK_PORTS, WATCHED_PORT.0, 1) == Ok(WATCHED_PORT.1)
}

fn nanoseconds(ticks: u64, tsc_hz: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(tsc_hz.max(1))) as u64
}
