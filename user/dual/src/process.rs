//! Memory of a thread's process, read and written through the process's own page tables.
//!
//! Linux changes tables and takes pages whenever it runs, so everything here happens at one
//! [`Moment`]: what was read is not used if Linux ran meanwhile, and nothing is written after that.
//! Where Linux has other processors, those that take something from a process end the moment
//! (`linux/module/dual_pin.c`, `kernel/src/guest/taken.rs`) before a page has another use.

use crate::commit::{Linux, Moment};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
use pillion_channel::copy::copy;
use pillion_dual::file::File;
use pillion_dual::queue::Queue;
use pillion_dual::walk::{Access, Memory, Ram, Tables};
use pillion_runtime::info::{address, dual};

/// Linux's memory, as the task has it.
#[derive(Clone, Copy)]
pub struct LinuxRam(Ram<'static>);

impl LinuxRam {
    /// All of it.
    pub fn new() -> LinuxRam {
        // SAFETY: this is the task of dual mode.
        let info = unsafe { dual::dual() };
        LinuxRam(Ram::new(info.ram()))
    }

    /// A pointer to memory of Linux, if there is some. `T` has at most eight bytes.
    #[inline(always)]
    fn pointer<T>(&self, at: u64) -> Option<*mut T> {
        const { assert!(size_of::<T>() <= 8) };
        self.0.holds(at).then_some((address::GUEST + at) as *mut T)
    }
}

impl LinuxRam {
    /// A word of eight bytes at a guest-physical address.
    pub fn long(&self, at: u64) -> Option<u64> {
        at.is_multiple_of(8).then(|| self.entry(at))?
    }

    /// One of four bytes.
    pub fn word(&self, at: u64) -> Option<u32> {
        let place = at.is_multiple_of(4).then(|| self.pointer::<u32>(at))??;
        // SAFETY: Linux's RAM is mapped for good, and the address is aligned.
        Some(unsafe { place.read_volatile() })
    }

    /// A file that both sides use.
    pub fn file(&self, at: u64) -> Option<&'static File> {
        let last = at.checked_add(size_of::<File>() as u64 - 8)?;
        if !at.is_multiple_of(align_of::<File>() as u64) || !self.0.holds(last) {
            return None;
        }
        // SAFETY: both ends lie in Linux's RAM, whose parts are larger than a page, so all of it
        // does; it is mapped for good and aligned. The type consists of atomics. Linux accesses
        // these words as atomics, too, or it harms itself.
        Some(unsafe { &*self.pointer::<u64>(at)?.cast::<File>() })
    }
}

impl LinuxRam {
    /// A message queue that both sides use.
    pub fn queue(&self, at: u64) -> Option<&'static Queue> {
        let place = at.is_multiple_of(align_of::<Queue>() as u64).then(|| self.stretch(at, size_of::<Queue>()))??;
        // SAFETY: all of it lies in Linux's RAM, which is mapped for good, and is aligned. The type
        // consists of atomics. Linux accesses these words as atomics, too, or it harms itself.
        Some(unsafe { &*place.cast::<Queue>() })
    }

    /// Where some bytes are, if all of them lie in Linux's RAM.
    pub fn stretch(&self, at: u64, bytes: usize) -> Option<*mut u8> {
        let mut pieces = pieces(at, bytes)?;
        let is_inside =
            pieces.all(|(at, _, piece)| self.0.holds(at & !7) && self.0.holds((at + piece as u64 - 1) & !7));
        is_inside.then_some((address::GUEST + at) as *mut u8)
    }
}

impl Memory for LinuxRam {
    #[inline(always)]
    fn entry(&self, at: u64) -> Option<u64> {
        let place = self.pointer::<u64>(at)?;
        // SAFETY: Linux's RAM is mapped there for good; an address of an entry is aligned, because
        // tables begin on pages. Linux may change it at any time, so the access is volatile.
        Some(unsafe { place.read_volatile() })
    }
}

/// A page that was looked up.
#[derive(Clone, Copy)]
struct Found {
    moment: Moment,
    page: u64,
    place: u64,
}

impl Found {
    const NONE: Found = Found { moment: Moment::NONE, page: 0, place: 0 };
}

/// The last pages of an instruction, and of what was written, of one thread's stay in primary mode.
/// They hold at that moment only.
pub struct Lookups {
    code: [Cell<Found>; CODE],
    written: Cell<Found>,
}

/// Pages of code that are kept, each in the place that its number says: those of a program that
/// makes its calls in several functions of the C library.
const CODE: usize = 4;

impl Lookups {
    /// Without any.
    pub const fn new() -> Lookups {
        Lookups { code: [const { Cell::new(Found::NONE) }; CODE], written: Cell::new(Found::NONE) }
    }

    /// Another thread comes, or the same one again. If another processor of Linux's offered it,
    /// what was found may have changed since the last one went, and the moment not be over.
    pub fn forget(&self) {
        self.code.iter().chain([&self.written]).for_each(|found| found.set(Found::NONE));
    }
}

/// End of the addresses that Linux gives to a process, but for one that asks for more.
pub const USER_END: u64 = (1 << 47) - (1 << PAGE_BITS);

/// Whether no memory of a process has a range: Linux refuses that before it does anything.
pub fn is_beyond(at: u64, length: u64) -> bool {
    at.checked_add(length).is_none_or(|end| end > USER_END)
}

const PAGE_BITS: u32 = 12;
const OFFSET: u64 = (1 << PAGE_BITS) - 1;

/// The parts of a range that lie in one page each: where they begin, how many bytes come before,
/// and their bytes. `None`: it goes beyond all addresses.
fn pieces(at: u64, bytes: usize) -> Option<impl Iterator<Item = (u64, usize, usize)>> {
    at.checked_add(bytes as u64)?;
    let mut done = 0;
    Some(core::iter::from_fn(move || {
        let next = at + done as u64;
        let piece = (bytes - done).min((OFFSET + 1 - (next & OFFSET)) as usize);
        let part = (next, done, piece);
        done += piece;
        (piece != 0).then_some(part)
    }))
}

/// A process's memory. Where something is `None`, the process may not access it so: the call is
/// left to Linux. What Linux interrupted is done again, once for each budget that ended.
pub struct Process<'a> {
    ram: LinuxRam,
    tables: Tables,
    lookups: &'a Lookups,
    linux: Linux,
}

impl<'a> Process<'a> {
    pub fn new(ram: LinuxRam, tables: Tables, lookups: &'a Lookups, linux: Linux) -> Process<'a> {
        Process { ram, tables, lookups, linux }
    }

    /// Where a byte is, at that moment: in the page of the last lookup, or as the tables say.
    #[inline(always)]
    fn look_up(&self, last: &Cell<Found>, moment: Moment, at: u64, access: Access) -> Option<u64> {
        let found = last.get();
        if found.moment == moment && found.page == at >> PAGE_BITS {
            return Some(found.place | at & OFFSET);
        }
        self.look_up_anew(last, moment, at, access)
    }

    /// Apart, so that nothing of it is done before it is known to be needed.
    #[inline(never)]
    fn look_up_anew(&self, last: &Cell<Found>, moment: Moment, at: u64, access: Access) -> Option<u64> {
        let place = self.tables.translate(&self.ram, at, access)?;
        last.set(Found { moment, page: at >> PAGE_BITS, place: place & !OFFSET });
        Some(place)
    }

    /// Where data is. What is read is rarely read twice before Linux runs, so its page is not kept.
    #[inline(always)]
    fn place(&self, moment: Moment, at: u64, access: Access) -> Option<u64> {
        match access {
            Access::Read => self.tables.translate(&self.ram, at, access),
            Access::Write => self.look_up(&self.lookups.written, moment, at, access),
        }
    }

    /// Whether these two bytes are at an address.
    #[inline(always)]
    pub fn has_instruction(&self, at: u64, instruction: [u8; 2]) -> bool {
        if at & OFFSET == OFFSET {
            return self.has_instruction_on_two_pages(at, instruction);
        }
        let read = self.read(|moment| {
            let last = &self.lookups.code[(at >> PAGE_BITS) as usize % CODE];
            let place = self.ram.pointer::<[u8; 2]>(self.look_up(last, moment, at, Access::Read)?)?;
            // SAFETY: Linux's RAM is mapped there for good; others write it, so this is volatile.
            Some(unsafe { place.read_volatile() })
        });
        read == Some(instruction)
    }

    #[cold]
    #[inline(never)]
    fn has_instruction_on_two_pages(&self, at: u64, instruction: [u8; 2]) -> bool {
        let byte = |at: u64| {
            let place = self.ram.pointer::<u8>(self.tables.translate(&self.ram, at, Access::Read)?)?;
            // SAFETY: as above.
            Some(unsafe { place.read_volatile() })
        };
        self.read(|_| Some([byte(at)?, byte(at.wrapping_add(1))?])) == Some(instruction)
    }

    /// A word of four bytes; `None` also if the address is not a multiple of four.
    pub fn word(&self, at: u64) -> Option<u32> {
        self.load_word(at, Access::Read)
    }

    /// A word that the process may also write, and is about to: its page is looked up once.
    pub fn word_to_write(&self, at: u64) -> Option<u32> {
        self.load_word(at, Access::Write)
    }

    #[inline(always)]
    fn load_word(&self, at: u64, access: Access) -> Option<u32> {
        self.read(|moment| {
            let place = self.place_of_word(moment, at, access)?;
            // SAFETY: `place_of_word` found an aligned word in Linux's RAM, which is mapped for
            // good. Others write it at any time, and it is only accessed as an atomic.
            Some(unsafe { AtomicU32::from_ptr(place) }.load(SeqCst))
        })
    }

    /// Writes a word; see [`Process::word`].
    pub fn set_word(&self, at: u64, word: u32) -> Option<()> {
        loop {
            let moment = self.linux.now();
            let place = self.place_of_word(moment, at, Access::Write)?;
            // SAFETY: as in `word`; at that moment the process may write it.
            if unsafe { self.linux.store(moment, place, word) }.is_some() {
                return Some(());
            }
        }
    }

    /// Exchanges a word if it is the old one, and returns whether it was; see [`Process::word`].
    #[inline(always)]
    pub fn exchange_word(&self, at: u64, old: u32, new: u32) -> Option<bool> {
        loop {
            let moment = self.linux.now();
            let place = self.place_of_word(moment, at, Access::Write)?;
            // SAFETY: as in `set_word`.
            if let Some(was_old) = unsafe { self.linux.exchange(moment, place, old, new) } {
                return Some(was_old);
            }
        }
    }

    fn place_of_word(&self, moment: Moment, at: u64, access: Access) -> Option<*mut u32> {
        let place = at.is_multiple_of(4).then(|| self.place(moment, at, access))??;
        self.ram.pointer(place)
    }

    /// Eight bytes; `None` also if the address is not a multiple of four.
    pub fn long(&self, at: u64) -> Option<u64> {
        let [low, high] = [self.word(at)?, self.word(at.wrapping_add(4))?];
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// Writes eight bytes; see [`Process::long`].
    pub fn set_long(&self, at: u64, long: u64) -> Option<()> {
        self.set_word(at, long as u32)?;
        self.set_word(at.wrapping_add(4), (long >> 32) as u32)
    }

    /// Whether eight bytes can be written; see [`Process::long`].
    pub fn takes_long(&self, at: u64) -> Option<()> {
        self.read(|moment| {
            self.place_of_word(moment, at, Access::Write)?;
            self.place_of_word(moment, at.wrapping_add(4), Access::Write).map(drop)
        })
    }

    /// Something of Linux's kernel.
    pub fn in_linux<R>(&self, find: impl Fn(&LinuxRam) -> Option<R>) -> Option<R> {
        self.read(|_| find(&self.ram))
    }

    /// Two words of eight bytes; `None` also if the address is not a multiple of eight.
    #[inline(always)]
    pub fn pair(&self, at: u64) -> Option<[u64; 2]> {
        self.read(|moment| {
            let place = self.place_of_pair(moment, at, Access::Read)?;
            // SAFETY: `place_of_pair` found aligned words in Linux's RAM.
            Some(unsafe { [place[0].read_volatile(), place[1].read_volatile()] })
        })
    }

    /// Writes two words; see [`Process::pair`].
    #[inline(always)]
    pub fn set_pair(&self, at: u64, words: [u64; 2]) -> Option<()> {
        loop {
            let moment = self.linux.now();
            let place = self.place_of_pair(moment, at, Access::Write)?;
            // SAFETY: as in `pair`; at that moment the process may write them.
            if unsafe { self.linux.store_pair(moment, place, words) }.is_some() {
                return Some(());
            }
        }
    }

    #[inline(always)]
    fn place_of_pair(&self, moment: Moment, at: u64, access: Access) -> Option<[*mut u64; 2]> {
        if !at.is_multiple_of(8) {
            return None;
        }
        let first = self.place(moment, at, access)?;
        let next = at.wrapping_add(8);
        let second = if next & OFFSET == 0 { self.place(moment, next, access)? } else { first + 8 };
        Some([self.ram.pointer(first)?, self.ram.pointer(second)?])
    }

    /// Copies bytes of the process to `to`, page by page; all or, with `None`, some.
    ///
    /// # Safety
    /// `to` is writable for `bytes`, and not Linux's memory.
    pub unsafe fn copy_from(&self, from: u64, to: *mut u8, bytes: usize) -> Option<()> {
        pieces(from, bytes)?.try_for_each(|(at, done, piece)| {
            self.read(|moment| {
                let place = self.place_of_bytes(moment, at, piece, Access::Read)?;
                // SAFETY: the place is in Linux's RAM for the whole piece; the caller's promise.
                unsafe { copy(to.add(done), place, piece) };
                Some(())
            })
        })
    }

    /// Copies bytes to the process, page by page; all or, with `None`, some.
    ///
    /// # Safety
    /// `from` is readable for `bytes`, and not Linux's memory.
    pub unsafe fn copy_to(&self, to: u64, from: *const u8, bytes: usize) -> Option<()> {
        pieces(to, bytes)?.try_for_each(|(at, done, piece)| {
            loop {
                let moment = self.linux.now();
                let place = self.place_of_bytes(moment, at, piece, Access::Write)?;
                // SAFETY: as in `copy_from`; at that moment the process may write it.
                if unsafe { self.linux.store_bytes(moment, place, from.add(done), piece) }.is_some() {
                    return Some(());
                }
            }
        })
    }

    /// Whether the process may write all of these bytes, now.
    pub fn may_write(&self, to: u64, bytes: usize) -> bool {
        let may = |(at, _, piece)| self.read(|moment| self.place_of_bytes(moment, at, piece, Access::Write)).is_some();
        pieces(to, bytes).is_some_and(|mut pieces| pieces.all(may))
    }

    /// Where bytes of one page are. RAM consists of whole pages.
    fn place_of_bytes(&self, moment: Moment, at: u64, bytes: usize, access: Access) -> Option<*mut u8> {
        let first = self.place(moment, at, access)?;
        self.ram.pointer::<u64>((first + bytes as u64 - 1) & !7)?;
        self.ram.pointer::<u64>(first & !7)?;
        self.ram.pointer(first)
    }

    /// What was found within one moment.
    #[inline(always)]
    fn read<R>(&self, find: impl Fn(Moment) -> Option<R>) -> Option<R> {
        loop {
            let moment = self.linux.now();
            let found = find(moment)?;
            if self.linux.ran_not_since(moment) {
                return Some(found);
            }
        }
    }
}
