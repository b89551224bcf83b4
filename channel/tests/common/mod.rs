//! A FIFO's memory with guards around its parts, and Linux's side of the FIFO.
#![allow(dead_code, reason = "each test file uses some of it")]

use pillion_abi::channel::FifoControl;
use pillion_channel::Fifo;
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::*};

const GUARD: usize = 192;
const GUARD_BYTE: u8 = 0xa5;
const CONTROL: usize = size_of::<FifoControl>();

/// The memory, and the offsets of the parts.
pub struct Rig {
    memory: NonNull<u8>,
    total: usize,
    pub size: usize,
}

// SAFETY: while there are two threads, everything behind the pointer is accessed as memory shared
// with Linux is: by atomics and the library's copies.
unsafe impl Sync for Rig {}

impl Rig {
    pub fn new(size: usize) -> Rig {
        let total = GUARD + CONTROL + GUARD + size + GUARD + size + GUARD;
        let layout = std::alloc::Layout::from_size_align(total, 64).unwrap();
        // SAFETY: the layout is not empty. It is never freed: other threads may still look at it.
        let memory = NonNull::new(unsafe { std::alloc::alloc(layout) }).unwrap();
        // SAFETY: just allocated.
        unsafe { memory.write_bytes(GUARD_BYTE, total) };
        Rig { memory, total, size }
    }

    pub fn fifo(&self) -> Fifo {
        let size = NonZeroU32::new(self.size as u32).unwrap();
        // SAFETY: the parts lie apart in memory that is never freed; nobody has references to it.
        unsafe { Fifo::create(self.at(GUARD).cast(), self.to_linux(), self.to_task(), size) }
    }

    fn at(&self, offset: usize) -> NonNull<u8> {
        assert!(offset < self.total);
        // SAFETY: inside the memory.
        unsafe { self.memory.add(offset) }
    }

    pub fn to_linux(&self) -> NonNull<u8> {
        self.at(GUARD + CONTROL + GUARD)
    }

    pub fn to_task(&self) -> NonNull<u8> {
        self.at(GUARD + CONTROL + GUARD + self.size + GUARD)
    }

    /// Sets a byte of the control words, as Linux can.
    pub fn scribble(&self, offset: usize, value: u8) {
        assert!(offset < CONTROL);
        // SAFETY: inside the control words.
        unsafe { self.at(GUARD + offset).write_volatile(value) };
    }

    /// Sets a word of the control words, as Linux can.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset < CONTROL);
        // SAFETY: inside the control words, and aligned.
        unsafe { AtomicU64::from_ptr(self.at(GUARD + offset).as_ptr().cast()) }
    }

    /// Fails if a byte outside the control words and rings was written.
    pub fn check_guards(&self) {
        let mut start = 0;
        for part in [CONTROL, self.size, self.size, 0] {
            for i in start..start + GUARD {
                // SAFETY: inside the memory.
                let byte = unsafe { self.at(i).read_volatile() };
                assert_eq!(byte, GUARD_BYTE, "byte {i} was written");
            }
            start += GUARD + part;
        }
    }
}

/// Offsets of control words.
pub mod word {
    use pillion_abi::channel::FifoControl;
    use std::mem::offset_of;
    pub const TO_LINUX_WRITTEN: usize = offset_of!(FifoControl, to_linux_written);
    pub const TO_LINUX_READ: usize = offset_of!(FifoControl, to_linux_read);
    pub const TO_TASK_WRITTEN: usize = offset_of!(FifoControl, to_task_written);
    pub const TO_TASK_READ: usize = offset_of!(FifoControl, to_task_read);
    pub const WANTS: usize = offset_of!(FifoControl, want_data);
}

/// A Linux that keeps to the rules.
#[derive(Default)]
pub struct Linux {
    written: u64,
}

impl Linux {
    /// Reads as `read` on a FIFO's device file does.
    pub fn read(&mut self, rig: &Rig, most: usize) -> Vec<u8> {
        let mut bytes = self.read_to_linux(rig, most);
        let rest = most - bytes.len();
        bytes.extend(take(rig, word::TO_TASK_WRITTEN, word::TO_TASK_READ, rig.to_task(), rest));
        bytes
    }

    /// Reads from the ring to Linux only.
    pub fn read_to_linux(&mut self, rig: &Rig, most: usize) -> Vec<u8> {
        take(rig, word::TO_LINUX_WRITTEN, word::TO_LINUX_READ, rig.to_linux(), most)
    }

    /// Writes as much as fits; returns how much.
    pub fn write(&mut self, rig: &Rig, bytes: &[u8]) -> usize {
        let used = self.written - rig.word(word::TO_TASK_READ).load(Acquire);
        let len = bytes.len().min(rig.size - used as usize);
        for (n, byte) in (self.written..).zip(&bytes[..len]) {
            // SAFETY: inside the ring.
            unsafe { atomic(rig.to_task().add(n as usize % rig.size)) }.store(*byte, Relaxed);
        }
        self.written += len as u64;
        rig.word(word::TO_TASK_WRITTEN).store(self.written, Release);
        len
    }
}

/// # Safety
/// The byte is in memory that is never freed, and the other side accesses it with the library's
/// copies.
unsafe fn atomic<'a>(byte: NonNull<u8>) -> &'a AtomicU8 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU8::from_ptr(byte.as_ptr()) }
}

fn take(rig: &Rig, written: usize, read: usize, ring: NonNull<u8>, most: usize) -> Vec<u8> {
    loop {
        let from = rig.word(read).load(Acquire);
        let len = (rig.word(written).load(Acquire) - from).min(most as u64);
        // SAFETY: inside the ring.
        let byte = |n: u64| unsafe { atomic(ring.add(n as usize % rig.size)) }.load(Relaxed);
        let bytes: Vec<u8> = (from..from + len).map(byte).collect();
        if rig.word(read).compare_exchange(from, from + len, AcqRel, Relaxed).is_ok() {
            return bytes;
        }
    }
}
