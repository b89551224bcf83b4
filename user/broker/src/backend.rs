//! What the logic of the broker needs: memory and system calls.

use pillion_channel::extent::Extent;

/// The broker passes only tasks, threads, FIFOs and offsets that exist;
/// lengths are at most [`pillion_runtime::broker::DATA_SIZE`].
pub trait Backend {
    /// Wakes a thread, or leaves that to the task being served.
    fn wake(&mut self, task: usize, thread: usize);
    /// Sets a bit of the task's notices ([`pillion_runtime::broker::NOTICES`]).
    fn notice(&mut self, task: usize, bit: usize);

    /// Number of tasks; each has its reserved part.
    fn tasks(&self) -> usize;

    /// Bytes of the memory for messages.
    fn message_memory(&self) -> u64;
    /// Copies from an offset in the task's transfer memory to one in the memory for messages.
    fn fetch(&mut self, task: usize, at: usize, place: u64, len: usize);
    /// Copies from an offset in the memory for messages to one in the task's transfer memory.
    fn deliver(&mut self, task: usize, at: usize, place: u64, len: usize);

    /// FIFOs that are shared, by bit: bit `n` for FIFO `n`.
    fn shared_fifos(&self) -> u64;
    /// Where their rings may lie, as offsets in the memory shared with Linux.
    fn fifo_memory(&self) -> Extent;
    /// Makes a FIFO whose rings are at these offsets.
    fn fifo_make(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64);
    /// Gives it rings of another size at other offsets; processes that have it open continue to use
    /// it. Returns whether that was possible: it is not while a process takes bytes out or puts
    /// some in.
    fn fifo_resize(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64) -> bool;
    /// Ends it. A process may still be at its rings.
    fn fifo_end(&mut self, fifo: usize);
    /// Whether a process takes bytes out of it or puts some in at this moment, even if the FIFO has
    /// ended.
    fn fifo_entered(&self, fifo: usize) -> bool;
    /// Puts the bytes in the task's transfer memory. Returns whether there was room.
    fn fifo_put(&mut self, fifo: usize, task: usize, len: usize) -> bool;
    /// Takes up to `most` bytes into the task's transfer memory. Returns their number.
    fn fifo_get(&mut self, fifo: usize, task: usize, most: usize) -> usize;
    /// Drops its content.
    fn fifo_flush(&mut self, fifo: usize);
    /// Bytes on the way to Linux and to the tasks.
    fn fifo_lengths(&mut self, fifo: usize) -> (usize, usize);
    /// Number of processes that have it open.
    fn fifo_opens(&self, fifo: usize) -> u32;
    /// Makes Linux's reads from `get` take from `put`.
    fn fifo_pair(&mut self, get: usize, put: usize);
}
