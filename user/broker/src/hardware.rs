//! The broker's memory and system calls.

use core::num::NonZeroU32;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use pillion_abi::channel::{FIFOS, FifoControl, Share, Status, THREADS, user};
use pillion_broker::Backend;
use pillion_channel::{Fifo, Moved, copy::copy, event, extent::Extent, fifo_entry::Entry};
use pillion_runtime::{
    Cap,
    broker::{DATA_SIZE, NOTICES},
    info::{TaskInfo, address, broker, skin},
    signal,
};

/// Where FIFO data begins in the share.
const FIFO_DATA: u64 = (size_of::<Share>() as u64).next_multiple_of(64);

/// What the resource manager gave the broker.
pub struct Hardware {
    tasks: usize,
    message_memory: u64,
    share_size: u64,
    shared: u64,
    /// Notification of the first runner of the task of dual mode.
    runners: Option<Cap>,
    /// The FIFOs that exist or have existed.
    fifos: [Option<Fifo>; FIFOS],
    /// Index of the task being served.
    caller: u64,
    /// Threads of that task that it must wake itself, by bit.
    left_to_caller: u64,
}

impl Hardware {
    /// The broker's hardware, from its task information. There is only one.
    ///
    /// # Safety
    /// Everything that the task information states and [`address`] names is mapped, zeroed, and not
    /// used elsewhere in this task.
    pub unsafe fn new(info: &TaskInfo) -> Hardware {
        Hardware {
            // The broker's index follows those of all tasks.
            tasks: info.skin.index as usize,
            message_memory: info.memory_size,
            share_size: info.skin.share_size,
            shared: info.skin.shared_fifos,
            // Runner `n` is thread `n + 1`.
            runners: info.skin.dual.checked_sub(1).map(|index| broker::WAKERS + index * THREADS as Cap + 1),
            fifos: [const { None }; FIFOS],
            caller: 0,
            left_to_caller: 0,
        }
    }

    /// Begins to serve a task: from now on, collects that task's threads instead of waking them.
    pub fn begin(&mut self, task: u64) {
        self.caller = task;
    }

    /// Returns the threads that the task just served must wake itself.
    pub fn end(&mut self) -> u64 {
        core::mem::take(&mut self.left_to_caller)
    }

    fn transfer(&self, task: usize) -> *mut u8 {
        assert!(task < self.tasks);
        (broker::TRANSFERS + task as u64 * broker::TRANSFER_SIZE) as *mut u8
    }

    /// The control words of a FIFO, and its rings at these offsets in the share.
    fn places(&self, fifo: usize, size: NonZeroU32, rings: [u64; 2]) -> (NonNull<FifoControl>, [NonNull<u8>; 2]) {
        assert!(rings.iter().all(|ring| *ring >= FIFO_DATA && ring + u64::from(size.get()) <= self.share_size));
        let share = address::SHARE as *mut Share;
        let ring = |offset: u64| (address::SHARE + offset) as *mut u8;
        // SAFETY: the share is mapped, at an address that is not 0, and all of this lies inside it.
        unsafe {
            let words = NonNull::new_unchecked(&raw mut (*share).fifos[fifo]);
            (words, rings.map(|offset| NonNull::new_unchecked(ring(offset))))
        }
    }

    /// A FIFO's entry in the status.
    fn entry(&mut self, fifo: usize) -> Entry {
        let status = address::STATUS as *mut Status;
        // SAFETY: the status is mapped, and only this thread writes it.
        unsafe { Entry::new(NonNull::new_unchecked(&raw mut (*status).fifos[fifo])) }
    }

    /// Hides a FIFO from Linux, unless a process is at its rings. Returns whether it is hidden.
    fn withdraw(&mut self, fifo: usize) -> bool {
        let size = self.entry(fifo).hide();
        let entered = self.fifo_entered(fifo);
        if entered {
            self.entry(fifo).put_back(size);
        }
        !entered
    }

    /// Signals Linux about an event that it may wait for at a FIFO.
    fn tell_linux(&self, fifo: usize) {
        let share = address::SHARE as *mut Share;
        // SAFETY: the share is mapped, and all accesses to this word are atomic.
        let events = unsafe { AtomicU64::from_ptr(&raw mut (*share).events[0]) };
        if event::raise(events, 1 << fifo) {
            let _ = signal(skin::slot::LINUX);
        }
    }

    /// Signals the runner whose thread waits for an event at a FIFO, as Linux's side says.
    fn tell_runner(&self, user: u32) {
        if let (Some(first), Some(runner)) = (self.runners, user::runner(user)) {
            let _ = signal(first + runner as Cap);
        }
    }

    /// Uses a FIFO, then shows and signals the consequences.
    fn with<T>(&mut self, fifo: usize, nothing: T, action: impl FnOnce(&mut Fifo) -> (T, Moved)) -> T {
        let Some(it) = &mut self.fifos[fifo] else { return nothing };
        let damaged = it.damaged();
        let (value, moved) = action(it);
        let now = it.damaged();
        if now != damaged {
            self.entry(fifo).set_damaged(now);
        }
        if moved.user & user::LINUX != 0 {
            self.tell_linux(fifo);
        }
        self.tell_runner(moved.user);
        value
    }
}

/// An offset in the memory for messages, as a pointer.
fn messages(place: u64) -> *mut u8 {
    (address::MEMORY + place) as *mut u8
}

impl Backend for Hardware {
    fn wake(&mut self, task: usize, thread: usize) {
        if task as u64 == self.caller {
            self.left_to_caller |= 1 << thread;
            return;
        }
        let _ = signal(broker::WAKERS + (task * THREADS + thread) as Cap);
    }

    fn notice(&mut self, task: usize, bit: usize) {
        // SAFETY: the word lies in the task's transfer memory, and all accesses to it are atomic.
        let word = unsafe { AtomicU64::from_ptr(self.transfer(task).add(NOTICES as usize).cast()) };
        word.fetch_or(1 << bit, Ordering::AcqRel);
    }

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn message_memory(&self) -> u64 {
        self.message_memory
    }

    fn fetch(&mut self, task: usize, at: usize, place: u64, len: usize) {
        assert!(at + len <= DATA_SIZE as usize && place + len as u64 <= self.message_memory);
        // SAFETY: both are mapped for this length, as just checked.
        unsafe { copy(messages(place), self.transfer(task).add(at), len) };
    }

    fn deliver(&mut self, task: usize, at: usize, place: u64, len: usize) {
        assert!(at + len <= DATA_SIZE as usize && place + len as u64 <= self.message_memory);
        // SAFETY: both are mapped for this length, as just checked.
        unsafe { copy(self.transfer(task).add(at), messages(place), len) };
    }

    fn shared_fifos(&self) -> u64 {
        self.shared
    }

    fn fifo_memory(&self) -> Extent {
        Extent { at: FIFO_DATA, size: self.share_size.saturating_sub(FIFO_DATA) }
    }

    fn fifo_make(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64) {
        let Some(count) = NonZeroU32::new(size) else { return };
        let (words, [ours, theirs]) = self.places(fifo, count, [to_linux, to_task]);
        self.entry(fifo).hide();
        // SAFETY: the rings come after all control words, and the broker has chosen them apart from
        // each other and from other FIFOs' rings; there are no references to any of this.
        self.fifos[fifo] = Some(unsafe { Fifo::create(words, ours, theirs, count) });
        self.entry(fifo).show(fifo as u32, count, to_linux, to_task);
        self.tell_linux(fifo);
    }

    fn fifo_resize(&mut self, fifo: usize, size: u32, to_linux: u64, to_task: u64) -> bool {
        let Some(count) = NonZeroU32::new(size) else { return false };
        let (_, [ours, theirs]) = self.places(fifo, count, [to_linux, to_task]);
        if !self.withdraw(fifo) {
            return false;
        }
        if let Some(it) = &mut self.fifos[fifo] {
            // SAFETY: as in `fifo_make`; no process is at the old rings, and none finds them any
            // more.
            unsafe { it.resize(ours, theirs, count) };
            self.entry(fifo).resize(count, to_linux, to_task);
        }
        self.tell_linux(fifo);
        true
    }

    fn fifo_end(&mut self, fifo: usize) {
        self.entry(fifo).hide();
        self.tell_linux(fifo);
    }

    fn fifo_entered(&self, fifo: usize) -> bool {
        self.fifos[fifo].as_ref().is_some_and(Fifo::is_entered)
    }

    fn fifo_put(&mut self, fifo: usize, task: usize, len: usize) -> bool {
        assert!(len <= DATA_SIZE as usize);
        let transfer = self.transfer(task);
        self.with(fifo, false, |it| {
            // SAFETY: the transfer memory is mapped for this length, and no ring lies in it.
            match unsafe { it.put_from(transfer, len) } {
                Ok(moved) => (true, moved),
                Err(_) => (false, Moved::default()),
            }
        })
    }

    fn fifo_get(&mut self, fifo: usize, task: usize, most: usize) -> usize {
        assert!(most <= DATA_SIZE as usize);
        let transfer = self.transfer(task);
        self.with(fifo, 0, |it| {
            // SAFETY: as in `fifo_put`.
            let moved = unsafe { it.get_to(transfer, most) };
            (moved.bytes, moved)
        })
    }

    fn fifo_flush(&mut self, fifo: usize) {
        self.with(fifo, (), |it| ((), it.flush()));
    }

    fn fifo_lengths(&mut self, fifo: usize) -> (usize, usize) {
        self.with(fifo, (0, 0), |it| (it.lengths(), Moved::default()))
    }

    fn fifo_opens(&self, fifo: usize) -> u32 {
        self.fifos[fifo].as_ref().map_or(0, Fifo::opens)
    }

    fn fifo_pair(&mut self, get: usize, put: usize) {
        self.entry(get).set_read_from(put as u32);
        self.tell_linux(get);
    }
}
