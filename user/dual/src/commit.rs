//! Stores to a process's memory, each in one step with the check that Linux has not run since the
//! process's page tables were looked at; and a load of vector registers, in one step with the check
//! that Linux has not run since they were found valid.
//!
//! Linux runs while a runner waits, which it does not between the two, when its budget ends, or,
//! boosted, when a more urgent runner preempted it. Then the kernel lets the runner continue at
//! the beginning of its restartable sequence, which says that the store has to be done again,
//! tables and all. What was stored before that was the process's then.
//!
//! Where Linux has other processors, one that takes something from a process interrupts the runner,
//! which is then continued in the same way; and the count is another one, as if Linux had run here
//! (`kernel/src/guest/taken.rs`). `post/src/users/model.rs` checks both together.

use core::arch::global_asm;
use core::mem::offset_of;
use core::ptr::addr_of;
use pillion_abi::{
    PAGE,
    vcpu::{State, counter},
};
use pillion_runtime::info::{address, skin};
use pillion_runtime::thread_set_sequence;

// Arguments: the count's address and value, where, and what. The result is 0 or 1, or 2 if Linux
// ran. An instruction that must not be repeated is the last one of the sequence. If the runner
// is interrupted after the store of words and before the return, it counts as not done, and is done
// again.
global_asm!(
    "commit_first: mov eax, 2",
    "ret",
    "commit_word: cmp [rdi], rsi",
    "jne commit_first",
    "mov [rdx], ecx",
    "mov eax, 1",
    "ret",
    "commit_pair: cmp [rdi], rsi",
    "jne commit_first",
    "mov [rdx], r8",
    "mov [rcx], r9",
    "mov eax, 1",
    "ret",
    "commit_copy: cmp [rdi], rsi",
    "jne commit_first",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "mov rcx, r8",
    "shr rcx, 3",
    "rep movsq",
    "mov rcx, r8",
    "and ecx, 7",
    "rep movsb",
    "mov eax, 1",
    "ret",
    "commit_vectors: cmp [rdi], rsi",
    "jne commit_first",
    "mov rcx, rdx",
    "mov eax, -1",
    "mov edx, -1",
    "xrstor64 [rcx]",
    "mov eax, 1",
    "ret",
    "commit_exchange: mov eax, ecx",
    "cmp [rdi], rsi",
    "jne commit_first",
    "lock cmpxchg [rdx], r8d",
    "commit_end: sete al",
    "movzx eax, al",
    "ret",
);

unsafe extern "C" {
    static commit_first: u8;
    static commit_end: u8;
    fn commit_word(count: *const u64, exits: u64, to: *mut u32, word: u32) -> u32;
    fn commit_pair(count: *const u64, exits: u64, first: *mut u64, second: *mut u64, a: u64, b: u64) -> u32;
    fn commit_copy(count: *const u64, exits: u64, to: *mut u8, from: *const u8, bytes: usize) -> u32;
    fn commit_vectors(count: *const u64, exits: u64, area: *const u8) -> u32;
    fn commit_exchange(count: *const u64, exits: u64, at: *mut u32, old: u32, new: u32) -> u32;
}

const DONE: u32 = 1;
const LINUX_RAN: u32 = 2;

/// Has the kernel begin these stores again for a thread of the task whose budget ends in one.
/// Fails if the kernel refuses it.
pub fn prepare(thread: u32) -> pillion_abi::status::Result<()> {
    let [first, end] = [addr_of!(commit_first), addr_of!(commit_end)].map(|place| place as u64);
    thread_set_sequence(skin::slot::THREADS + thread, first, end).map(drop)
}

/// A moment at which Linux does not run on the runner's processor, and takes nothing from a process
/// on another one. What is found in its memory afterwards holds as long as
/// [`Linux::ran_not_since`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Moment(u64);

impl Moment {
    /// It never is.
    pub const NONE: Moment = Moment(u64::MAX);
}

/// Linux on a runner's processor: how often it left the guest, or took something elsewhere.
#[derive(Clone, Copy)]
pub struct Linux(*const u64);

impl Linux {
    /// That of a runner.
    pub fn beside(runner: usize) -> Linux {
        let state = address::PASSENGER_STATES as usize + runner * PAGE as usize;
        Linux((state + offset_of!(State, counters) + counter::EXITS * size_of::<u64>()) as *const u64)
    }

    #[inline(always)]
    pub fn now(self) -> Moment {
        // SAFETY: the resource manager mapped the page before this task began to run, for good. The
        // kernel changes the aligned word while the runner does not run.
        Moment(unsafe { self.0.read_volatile() })
    }

    /// Whether Linux has neither run nor taken anything since.
    #[inline(always)]
    pub fn ran_not_since(self, moment: Moment) -> bool {
        self.now().0 == moment.0
    }

    /// Stores a word. `None`: Linux may have run, and the word may have been stored before.
    ///
    /// # Safety
    /// The place is mapped, writable, and aligned, and the memory may be written at this moment.
    pub unsafe fn store(self, Moment(exits): Moment, to: *mut u32, word: u32) -> Option<()> {
        // SAFETY: as the caller says, and the count is mapped.
        (unsafe { commit_word(self.0, exits, to, word) } == DONE).then_some(())
    }

    /// Stores two words. `None`: Linux may have run, and one or both may have been stored before.
    ///
    /// # Safety
    /// As for [`Linux::store`].
    #[inline(always)]
    pub unsafe fn store_pair(
        self,
        Moment(exits): Moment,
        [first, second]: [*mut u64; 2],
        [a, b]: [u64; 2],
    ) -> Option<()> {
        // SAFETY: as in `store`.
        (unsafe { commit_pair(self.0, exits, first, second, a, b) } == DONE).then_some(())
    }

    /// Stores bytes. `None`: Linux may have run, and some may have been stored before.
    ///
    /// # Safety
    /// Both places are mapped for as many bytes and do not overlap, and `to` may be written at this
    /// moment.
    pub unsafe fn store_bytes(self, Moment(exits): Moment, to: *mut u8, from: *const u8, bytes: usize) -> Option<()> {
        // SAFETY: as in `store`.
        (unsafe { commit_copy(self.0, exits, to, from, bytes) } == DONE).then_some(())
    }

    /// Loads the vector registers. `None`: Linux may have run, and they may have been loaded.
    ///
    /// # Safety
    /// The area is mapped and aligned for XRSTOR, which accepts it at this moment.
    #[inline(always)]
    pub unsafe fn load_vectors(self, Moment(exits): Moment, area: *const u8) -> Option<()> {
        // SAFETY: as in `store`. This program is built without these registers, so nothing of it
        // relies on them.
        (unsafe { commit_vectors(self.0, exits, area) } == DONE).then_some(())
    }

    /// Compares a word, and exchanges it if it is the old one. Returns whether it was. `None`:
    /// Linux may have run, and nothing was exchanged.
    ///
    /// # Safety
    /// As for [`Linux::store`].
    pub unsafe fn exchange(self, Moment(exits): Moment, at: *mut u32, old: u32, new: u32) -> Option<bool> {
        // SAFETY: as in `store`.
        match unsafe { commit_exchange(self.0, exits, at, old, new) } {
            LINUX_RAN => None,
            result => Some(result == DONE),
        }
    }
}
