//! FIFOs in the channel window, as Linux's side sees them: a runner uses one as a process does.
//!
//! The task that owns a FIFO says where its rings are, and Linux can write the control words and
//! the rings. So each word is read once and checked; no loop depends on what is there.

use crate::place;
use core::num::NonZeroU64;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, SeqCst},
};
use pillion_abi::channel::{
    Directory, FIFOS, FifoControl, FifoEntry, Share, Status, TASKS, fifo_flag, task_state, user,
};
use pillion_abi::dual::life;
use pillion_channel::event;
use pillion_channel::ring::{self, Counters, Piece};
use pillion_runtime::info::{address, skin};
use pillion_runtime::signal;

/// What a thread can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something to read.
    Data,
    /// Room for what is written.
    Room,
}

/// Which of the FIFOs that had a number, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    pub number: u32,
    pub generation: u32,
    /// Index of the task.
    pub task: u32,
}

/// A FIFO as it was found at one moment. Whatever happens to it, the pointers stay in the share of
/// the task that had it, which is mapped for good.
pub struct Fifo {
    number: usize,
    task: usize,
    generation: u32,
    flags: u32,
    read_from: u32,
    control: *mut FifoControl,
    share: *mut Share,
    to_linux: *mut u8,
    to_task: *mut u8,
    size: NonZeroU64,
}

fn directory() -> *const Directory {
    address::DIRECTORY as *const Directory
}

/// Where a stretch of a share is, if it lies inside it.
fn inside(share: u64, share_size: u64, offset: u64, size: u64) -> Option<u64> {
    let is_inside = size <= share_size && offset <= share_size - size;
    is_inside.then_some(address::WINDOW + share + offset)
}

impl Fifo {
    /// The FIFO with that number, if there is one now.
    pub fn find(number: u32) -> Option<Fifo> {
        let number = usize::try_from(number).ok().filter(|number| *number < FIFOS)?;
        // SAFETY: the manager mapped the directory for good; only it writes it, and every value is
        // valid.
        let task = usize::from(unsafe { addr_of!((*directory()).fifo_owner[number]).read_volatile() });
        let task = task.checked_sub(1).filter(|task| *task < TASKS)?;
        // SAFETY: as above.
        let [status, share, share_size] = unsafe {
            let entry = addr_of!((*directory()).tasks[task]);
            [addr_of!((*entry).status), addr_of!((*entry).share), addr_of!((*entry).share_size)]
                .map(|field| field.read_volatile())
        };
        // SAFETY: the manager mapped the status of each task in the directory, for good.
        let entry = unsafe { addr_of!((*((address::WINDOW + status) as *const Status)).fifos[number]) };
        // SAFETY: as above. The task writes the aligned word at any time, and the size last.
        let size = unsafe { AtomicU32::from_ptr(addr_of!((*entry).size).cast_mut()) }.load(Acquire);
        let size = NonZeroU64::new(size.into())?;
        // SAFETY: as above; all of it are integers.
        let FifoEntry { generation, flags, read_from, to_linux, to_task, control, .. } =
            unsafe { entry.read_volatile() };
        let words = size_of::<Share>() as u64;
        let ring = |offset: u64| inside(share, share_size, offset, size.get()).filter(|_| offset >= words);
        // Those of `psc` are elsewhere: processes map them, and they end without regard to runners.
        let own = core::mem::offset_of!(Share, fifos) + number * size_of::<FifoControl>();
        let is_placed = control == own as u64;
        let control = inside(share, share_size, control, size_of::<FifoControl>() as u64).filter(|_| is_placed)?;
        let share = (address::WINDOW + share) as *mut Share;
        let (control, to_linux, to_task) =
            (control as *mut FifoControl, ring(to_linux)? as *mut u8, ring(to_task)? as *mut u8);
        Some(Fifo { number, task, generation, flags, read_from, control, share, to_linux, to_task, size })
    }

    /// The FIFO that a process opened, if it is still there.
    pub fn opened(opened: &Which) -> Option<Fifo> {
        Fifo::find(opened.number).filter(|now| now.generation == opened.generation && now.task as u32 == opened.task)
    }

    /// Where reads of it take from: itself, unless it is one of a pair. The task states the other
    /// one, and has no say over those of other tasks.
    pub fn source(self) -> Option<Fifo> {
        if self.read_from as usize == self.number {
            return Some(self);
        }
        Fifo::find(self.read_from).filter(|source| source.task == self.task)
    }

    /// Whether its task wants to know of each read and write, before the call returns.
    pub fn has_handler(&self) -> bool {
        self.flags & fifo_flag::HANDLER != 0
    }

    /// Whether its task is there to use it.
    pub fn is_alive(&self) -> bool {
        // SAFETY: as in `find`.
        let state = unsafe { addr_of!((*directory()).tasks[self.task].state).read_volatile() };
        matches!(state, task_state::STARTING | task_state::RUNNING | task_state::STOPPING)
    }

    pub fn number(&self) -> usize {
        self.number
    }

    /// Bytes that each ring holds.
    pub fn size(&self) -> u64 {
        self.size.get()
    }

    fn word(&self, field: impl Fn(*mut FifoControl) -> *mut u32) -> &'static AtomicU32 {
        // SAFETY: the control words lie in a share, which is mapped for good, and are aligned; all
        // accesses are atomic.
        unsafe { AtomicU32::from_ptr(field(self.control)) }
    }

    fn counters(&self, [written, read]: [*mut u64; 2]) -> Counters<'static> {
        // SAFETY: as in `word`.
        unsafe { Counters { written: AtomicU64::from_ptr(written), read: AtomicU64::from_ptr(read) } }
    }

    fn counts_to_linux(&self) -> Counters<'static> {
        let control = self.control;
        // SAFETY: the fields lie in the control words.
        self.counters(unsafe { [addr_of_mut!((*control).to_linux_written), addr_of_mut!((*control).to_linux_read)] })
    }

    fn counts_to_task(&self) -> Counters<'static> {
        let control = self.control;
        // SAFETY: as above.
        self.counters(unsafe { [addr_of_mut!((*control).to_task_written), addr_of_mut!((*control).to_task_read)] })
    }

    /// Who waits for an event: [`user`].
    pub fn want(&self, event: Event) -> &'static AtomicU32 {
        // SAFETY: as in `counts_to_linux`.
        self.word(|control| unsafe {
            match event {
                Event::Data => addr_of_mut!((*control).want_data),
                Event::Room => addr_of_mut!((*control).want_room),
            }
        })
    }

    /// Whether an event that a thread waits for has come, of a writer for so many bytes.
    pub fn has(&self, event: Event, bytes: u64) -> bool {
        let has_some = |counters| ring::filled(counters, self.size) != 0;
        match event {
            Event::Data => has_some(self.counts_to_linux()) || has_some(self.counts_to_task()),
            Event::Room => ring::room(self.counts_to_task(), self.size) >= bytes,
        }
    }

    /// The same FIFO, with its rings where they are now.
    fn again(&self) -> Option<Fifo> {
        let Fifo { task, generation, .. } = *self;
        Fifo::find(self.number as u32).filter(|now| now.generation == generation && now.task == task)
    }

    /// Takes up to `most` bytes as runner `me`: first the task's, then those of a process that the
    /// task has not taken. `give` moves bytes from there to an offset of what was asked for.
    /// Returns how many, and how many of these made room for writers. `None`: `give` failed, or the
    /// FIFO is gone.
    pub fn take(
        &self,
        me: usize,
        most: usize,
        mut give: impl FnMut(usize, *const u8, usize) -> Option<()>,
    ) -> Option<(usize, usize)> {
        // SAFETY: as in `counts_to_linux`.
        let entered = self.word(|control| unsafe { addr_of_mut!((*control).entered) });
        // The task hides a FIFO, then reads this; here it is written, then the FIFO looked up.
        entered.fetch_or(1 << me, SeqCst);
        let taken = self.again().and_then(|now| {
            let mut move_from = |ring: *mut u8, done: usize, piece: Piece| {
                give(done + piece.data, ring.wrapping_add(piece.at), piece.len)
            };
            let first = ring::take_beside(now.counts_to_linux(), now.size, most, |p| move_from(now.to_linux, 0, p))?;
            let rest = most - first;
            let second = ring::take_beside(now.counts_to_task(), now.size, rest, |p| move_from(now.to_task, first, p));
            // What was taken first stays that.
            let second = if first == 0 { second? } else { second.unwrap_or(0) };
            Some((first + second, second))
        });
        entered.fetch_and(!(1 << me), SeqCst);
        taken
    }

    /// Puts all of `len` bytes as runner `me`, or none if there is no room: whether it did. `fetch`
    /// moves bytes of the caller from an offset to there. `None`: `fetch` failed, the FIFO is gone,
    /// or somebody else is putting.
    pub fn put(
        &self,
        me: usize,
        len: usize,
        mut fetch: impl FnMut(usize, *mut u8, usize) -> Option<()>,
    ) -> Option<bool> {
        // SAFETY: as in `counts_to_linux`.
        let putting = self.word(|control| unsafe { addr_of_mut!((*control).putting) });
        let mine = user::of_runner(me);
        let before = putting.load(SeqCst);
        // A Linux that is dead puts nothing any more.
        if before & !user::LINUX != 0 || before != 0 && place::life() == life::LIVES {
            return None;
        }
        putting.compare_exchange(before, mine, SeqCst, SeqCst).ok()?;
        let put = self.again().and_then(|now| {
            ring::put_beside(now.counts_to_task(), now.size, len, |p| {
                fetch(p.data, now.to_task.wrapping_add(p.at), p.len)?;
                // Counts that begin anew can be the same.
                self.again().map(drop)
            })
        });
        let _ = putting.compare_exchange(mine, 0, SeqCst, SeqCst);
        put
    }

    /// Has Linux look at the FIFO, as its task does.
    pub fn tell_linux(&self) {
        // SAFETY: the share is mapped for good, and all accesses to the word are atomic.
        let events = unsafe { AtomicU64::from_ptr(addr_of_mut!((*self.share).events[0])) };
        if place::life() == life::LIVES && event::raise(events, 1 << self.number) {
            let _ = signal(skin::slot::LINUX);
        }
    }
}
