//! Reads and writes of `/dev/rtf*`: the thread is on Linux's side of a FIFO, beside Linux.

use crate::answer::{Answer, Thread};
use crate::files::{file_of, place_of};
use crate::level;
use crate::lock::All;
use crate::place;
use crate::process::{LinuxRam, is_beyond};
use crate::runner;
use crate::window::{Event, Fifo, Which};
use core::mem::offset_of;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use pillion_abi::channel::{FIFOS, user};
use pillion_abi::dual::{OpenFifo, file, resume};
use pillion_channel::event;
use pillion_dual::exclusion::Runners;
use pillion_dual::objects::error;
use pillion_rt_core::inherit::bits;
use pillion_runtime::{info, now};

/// Flag of a file: nobody waits.
const O_NONBLOCK: u32 = 0o4000;

/// How often a second a thread that waits looks itself: a task's end is told to Linux only.
const LOOKS: u64 = 10;

/// How often an exchange is tried.
const ATTEMPTS: u32 = 8;

/// Longest read and write: a result is positive in 31 bits.
const MOST: u64 = i32::MAX as u64;

/// An open file of the thread's process.
struct Opened {
    fifo: Which,
    mode: u32,
    may_wait: bool,
}

/// Runners whose threads wait, as bits, by FIFO and [`Event`]. The FIFO names one of them; it
/// signals the others when its own wait is over.
static WAITS: [[AtomicU32; 2]; FIFOS] = [const { [const { AtomicU32::new(0) }; 2] }; FIFOS];

/// Finds what a descriptor of the thread whose table's address is at `table` is, if it is a FIFO.
fn find(ram: &LinuxRam, table: u64, descriptor: u32) -> Option<Opened> {
    let told = place::descriptors();
    let key = file_of(ram, &told, table, descriptor)?;
    let data = ram.long(place_of(&told, key, told.file_data))?;
    let entry = ram.long(place_of(&told, data, 0))?;
    let (offset, size) = (entry.checked_sub(told.fifos)?, size_of::<OpenFifo>() as u64);
    if !offset.is_multiple_of(size) || offset / size >= file::FIFOS as u64 {
        return None;
    }
    let at = |field: usize| place_of(&told, entry, field as u32);
    let turn = ram.long(at(offset_of!(OpenFifo, turn)))?;
    let is_key = || Some(ram.long(at(offset_of!(OpenFifo, key)))? == key);
    if !is_key()? {
        return None;
    }
    fence(SeqCst);
    let word = |field| ram.word(at(field));
    let fifo = Which {
        number: word(offset_of!(OpenFifo, number))?,
        generation: word(offset_of!(OpenFifo, generation))?,
        task: word(offset_of!(OpenFifo, task))?,
    };
    let mode = word(offset_of!(OpenFifo, mode))?;
    let may_wait = ram.word(place_of(&told, key, told.file_flags))? & O_NONBLOCK == 0;
    fence(SeqCst);
    let is_same = file_of(ram, &told, table, descriptor)? == key
        && is_key()?
        && ram.long(at(offset_of!(OpenFifo, turn)))? == turn;
    is_same.then_some(Opened { fifo, mode, may_wait })
}

/// The runner that a word names.
fn named(want: u32) -> Option<usize> {
    user::runner(want).filter(|runner| *runner < runner::count())
}

/// Names a runner in a word if `may` says so of the one that is named. Linux can change the word
/// forever: then its threads are told late.
fn name(want: &AtomicU32, runner: u32, may: impl Fn(Option<usize>) -> bool) {
    for _ in 0..ATTEMPTS {
        let before = want.load(SeqCst);
        let after = before & user::LINUX | runner;
        if !may(named(before)) || want.compare_exchange(before, after, SeqCst, Relaxed).is_ok() {
            return;
        }
    }
}

/// Tells whoever waits for an event that has come.
fn tell(fifo: &Fifo, event: Event) {
    let want = event::wanted(fifo.want(event));
    if want & user::LINUX != 0 {
        fifo.tell_linux();
    }
    if let Some(runner) = named(want) {
        All.signal(runner);
    }
}

impl Thread<'_> {
    fn opened(&self, descriptor: u32, mode: u32) -> Option<Opened> {
        let table = self.place.descriptors();
        let opened = self.process.in_linux(|ram| find(ram, table, descriptor))?;
        (opened.mode & mode != 0).then_some(opened)
    }

    /// Who closed it meanwhile has no right to it any more, and another process may have it.
    fn still_opened(&self, descriptor: u32, mode: u32, before: &Opened) -> Option<()> {
        (self.opened(descriptor, mode)?.fifo == before.fifo).then_some(())
    }

    /// Waits for an event, or a signal, or a while.
    fn await_event(&mut self, fifo: &Fifo, event: Event, bytes: u64) {
        let me = self.place.number;
        let (want, waits) = (fifo.want(event), &WAITS[fifo.number()][event as usize]);
        waits.fetch_or(1 << me, SeqCst);
        name(want, user::of_runner(me), |other| {
            other.is_none_or(|other| waits.load(SeqCst) >> other & 1 == 0 || level::of(other) < level::of(me))
        });
        // Pairs with the fence of whoever makes the event.
        fence(SeqCst);
        if !fifo.has(event, bytes) {
            self.pause(now().saturating_add(info::task().tsc_hz / LOOKS));
        }
        waits.fetch_and(!(1 << me), SeqCst);
        let was_named = named(want.load(SeqCst)) == Some(me);
        if was_named {
            name(want, 0, |other| other == Some(me));
            // What is there may be enough for another, or may be taken by one that is more urgent.
            bits(waits.load(SeqCst).into())
                .filter(|other| *other < runner::count())
                .for_each(|other| All.signal(other));
        }
    }

    /// What becomes of a call that has to wait: `None` if it waits now, and is to look again.
    fn waits(&mut self, has_waited: &mut bool) -> Option<Answer> {
        if runner::is_wanted(self.place, self.offer) {
            return Some(Answer::CutShort { resume: resume::ABSOLUTE, wake_ns: 0 });
        }
        self.counts.waits += u64::from(!*has_waited);
        *has_waited = true;
        None
    }

    /// `read` of a FIFO.
    pub fn read_fifo(&mut self, descriptor: u32, to: u64, length: u64) -> Option<Answer> {
        let opened = self.opened(descriptor, file::READ)?;
        if is_beyond(to, length) {
            return None;
        }
        if length == 0 {
            return Some(Answer::Value(0));
        }
        let mut has_waited = false;
        loop {
            let fifo = Fifo::opened(&opened.fifo)?.source()?;
            if fifo.has_handler() {
                return None;
            }
            let most = length.min(2 * fifo.size()).min(MOST) as usize;
            let process = &self.process;
            // SAFETY: a ring lies in the window, which is mapped for good.
            let give = |at, from, bytes| unsafe { process.copy_to(to.checked_add(at as u64)?, from, bytes) };
            let (bytes, made_room) = fifo.take(self.place.number, most, give)?;
            if made_room != 0 {
                tell(&fifo, Event::Room);
            }
            if bytes != 0 {
                return Some(self.last(bytes as i64));
            }
            if !fifo.is_alive() {
                return None;
            }
            if !opened.may_wait {
                // As in RTLinux.
                return Some(Answer::Value(0));
            }
            if let Some(answer) = self.waits(&mut has_waited) {
                return Some(answer);
            }
            self.await_event(&fifo, Event::Data, 1);
            self.still_opened(descriptor, file::READ, &opened)?;
        }
    }

    /// `write` of a message that the FIFO can hold.
    pub fn write_fifo(&mut self, descriptor: u32, from: u64, length: u64) -> Option<Answer> {
        let opened = self.opened(descriptor, file::WRITE)?;
        let mut has_waited = false;
        loop {
            let fifo = Fifo::opened(&opened.fifo)?;
            if fifo.has_handler() || length == 0 || length > fifo.size().min(MOST) || !fifo.is_alive() {
                return None;
            }
            let process = &self.process;
            // SAFETY: as in `read_fifo`; nobody has a reference to a ring.
            let fetch = |at, to, bytes| unsafe { process.copy_from(from.checked_add(at as u64)?, to, bytes) };
            if fifo.put(self.place.number, length as usize, fetch)? {
                tell(&fifo, Event::Data);
                return Some(self.last(length as i64));
            }
            if !opened.may_wait {
                return Some(Answer::Value(error::EAGAIN));
            }
            if let Some(answer) = self.waits(&mut has_waited) {
                return Some(answer);
            }
            self.await_event(&fifo, Event::Room, length);
            self.still_opened(descriptor, file::WRITE, &opened)?;
        }
    }
}
