//! Calls to the resource manager, and the directory that it shows.

use core::sync::atomic::Ordering::{Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU64};
use pillion_abi::call::MESSAGE_WORDS;
use pillion_abi::channel::{Directory, LOG_SIZE, MBUFF_NAME, Status, TaskEntry};
use pillion_runtime::call::call;
use pillion_runtime::info::{address, label, slot};
use pillion_runtime::{now, park, sleep};

fn ask(label: u64, words: [u64; MESSAGE_WORDS]) -> [u64; MESSAGE_WORDS] {
    call(slot::MANAGER, label, words).map_or([u64::MAX; MESSAGE_WORDS], |answer| answer.words)
}

/// Makes a request with a number; returns the first word of the answer.
pub fn ask_for(label: u64, number: u64) -> i64 {
    ask(label, [number, 0, 0, 0, 0, 0, 0, 0])[0] as i64
}

/// Makes a request about a shared buffer; returns the first three words of the answer.
pub fn ask_about(label: u64, size: u64, name: &str) -> [i64; 3] {
    let mut bytes = [0; MBUFF_NAME];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    let mut words = [size, 0, 0, 0, 0, 0, 0, 0];
    for (word, bytes) in words[1..].iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    loop {
        let [first, second, third, ..] = ask(label, words);
        // A new buffer is cleared step by step.
        if first as i64 != -11 {
            return [first as i64, second as i64, third as i64];
        }
    }
}

/// Reports that `init_module` has returned.
pub fn started(result: i64) {
    ask_for(label::STARTED, result as u64);
}

/// Reports the end of the task.
pub fn ended() -> ! {
    ask_for(label::ENDED, 0);
    park()
}

pub fn end(status: u64) -> ! {
    ask_for(label::END, status);
    park()
}

/// The current contents of the directory.
pub fn directory() -> Directory {
    // SAFETY: the manager maps it for good; every value is valid.
    unsafe { (address::DIRECTORY as *const Directory).read_volatile() }
}

/// A task's entry in the directory.
pub fn task(name: &str) -> Option<TaskEntry> {
    directory().tasks.into_iter().find(|task| pillion_runtime::info::text(&task.name) == name)
}

/// The state of the task with this index.
pub fn state(index: usize) -> u32 {
    // SAFETY: as in `directory`.
    unsafe { (&raw const (*(address::DIRECTORY as *const Directory)).tasks[index].state).read_volatile() }
}

/// The result of a task's `init_module`, as the directory shows it now.
pub fn result_of(name: &str) -> i32 {
    let all = address::DIRECTORY as *const Directory;
    (0..pillion_abi::channel::TASKS)
        .find_map(|i| {
            // SAFETY: as in `directory`; but a copy of the whole directory takes long.
            let (named, result) = unsafe {
                ((&raw const (*all).tasks[i].name).read_volatile(), (&raw const (*all).tasks[i].result).read_volatile())
            };
            (pillion_runtime::info::text(&named) == name).then_some(result)
        })
        .unwrap_or(0)
}

/// Waits up to a second for a condition.
pub fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let hz = pillion_runtime::info::task().tsc_hz;
    for _ in 0..100 {
        if condition() {
            return true;
        }
        let _ = sleep(now() + hz / 100);
    }
    false
}

/// Writes to the task's log. Threads that print at the same time may overwrite each other's text.
pub fn print(text: &str) {
    let status = address::STATUS as *mut Status;
    // SAFETY: the status is mapped for good, and the task reaches these fields as atomics only, but
    // for a look at the count.
    let (count, log) = unsafe {
        let log = &raw mut (*status).log;
        (AtomicU64::from_ptr(&raw mut (*status).log_written), &*log.cast::<[AtomicU8; LOG_SIZE]>())
    };
    let mut written = count.load(Relaxed);
    for byte in text.bytes() {
        log[written as usize % LOG_SIZE].store(byte, Relaxed);
        written += 1;
    }
    count.store(written, Release);
}
