//! What runners' vCPUs have of Linux's memory: all that Linux has, but one page. In place of the
//! one from which the vDSO reads the clocks, each has a page of its runner's. So a thread reads
//! them as in Linux, and never waits for Linux to go on, which may have been interrupted while it
//! changed that page.

use crate::{place, runner};
use core::arch::asm;
use core::cell::Cell;
use pillion_abi::PAGE;
use pillion_abi::boot::Range;
use pillion_abi::dual::{VVAR_BYTES, VVAR_FIRST};
use pillion_abi::object::map;
use pillion_abi::status::Result;
use pillion_runtime::info::address;
use pillion_runtime::info::dual::{self, REPLACEMENTS, slot};
use pillion_runtime::{Cap, cap_delete, memory_map, memory_part, memory_unmap, println};

/// What is replaced for all runners.
pub struct Views {
    /// The page; 0: none.
    page: u64,
    /// How often another one can be.
    left: u32,
}

impl Views {
    /// Maps all of Linux's memory for each runner.
    pub fn new() -> Result<Views> {
        for number in 0..runner::count() as Cap {
            (0..parts().len()).try_for_each(|part| map_whole(number, part))?;
        }
        Ok(Views { page: 0, left: REPLACEMENTS })
    }

    /// Replaces the page that Linux states; if it states none, the last one stays. A Linux has the
    /// same one all its life, but another kernel can take its memory over (kexec). A thread that
    /// runs meanwhile may go to Linux, because its memory is not mapped.
    pub fn follow(&mut self) {
        let page = place::vvar_page();
        if page != 0 && page != self.page {
            place::set_replaced(0);
            self.put_back();
            if let Err(error) = self.replace(page) {
                println!("[dual] the vDSO's page cannot be replaced: {error:?}");
            }
        }
        place::set_replaced(if page == self.page { page } else { 0 });
    }

    fn put_back(&mut self) {
        if let Some(part) = part_with(self.page) {
            for_all(|number| restore(number, part));
        }
        self.page = 0;
    }

    fn replace(&mut self, page: u64) -> Result<()> {
        let Some(part) = part_with(page).filter(|_| self.left != 0) else { return Ok(()) };
        self.left -= 1;
        let done = (0..runner::count() as Cap).try_for_each(|number| replace(number, part, page));
        match done {
            Ok(()) => self.page = page,
            Err(_) => for_all(|number| restore(number, part)),
        }
        done
    }
}

/// Does what cannot fail, for each runner: there are tables for each mapping, and slots that are
/// empty.
fn for_all(work: impl Fn(Cap) -> Result<()>) {
    for number in 0..runner::count() as Cap {
        if let Err(error) = work(number) {
            println!("[dual] runner {number} lacks memory of Linux's: {error:?}");
        }
    }
}

fn parts() -> &'static [Range] {
    // SAFETY: this is the task of dual mode.
    unsafe { dual::dual() }.parts()
}

/// The part of RAM that a page lies in.
fn part_with(page: u64) -> Option<usize> {
    // SAFETY: as in `parts`.
    let mut ram = unsafe { dual::dual() }.ram().iter();
    let holds = |one: &Range| page.checked_sub(one.base).is_some_and(|offset| offset < one.size);
    (page != 0 && page.is_multiple_of(PAGE)).then(|| ram.position(holds))?
}

/// The capability by which a part is mapped for a runner, and what follows the hole in one.
fn slots(number: Cap, part: usize) -> [Cap; 2] {
    let first = slot::VIEWS + number * slot::VIEW;
    [first + part as Cap, first + slot::VIEW - 1]
}

fn map_whole(number: Cap, part: usize) -> Result<()> {
    let Range { base, size, .. } = parts()[part];
    map_piece(number, part, slots(number, part)[0], (base, base + size))
}

/// Maps what lies between two addresses of a part, if there is something.
fn map_piece(number: Cap, part: usize, by: Cap, (first, end): (u64, u64)) -> Result<()> {
    if first == end {
        return Ok(());
    }
    let Range { base, kind: flags, .. } = parts()[part];
    memory_part(slot::PARTS + part as Cap, first - base, end - first, by, map::rights(flags))?;
    memory_map(by, slot::SPACES + number, first, flags)?;
    Ok(())
}

/// Maps the runner's page in place of one that lies in a part which is mapped as a whole.
fn replace(number: Cap, part: usize, page: u64) -> Result<()> {
    let Range { base, size, .. } = parts()[part];
    let [before, after] = slots(number, part);
    unmap(before)?;
    map_piece(number, part, before, (base, page))?;
    map_piece(number, part, after, (page + PAGE, base + size))?;
    memory_map(slot::VVAR + number, slot::SPACES + number, page, 0)?;
    Ok(())
}

/// Maps a part as a whole again.
fn restore(number: Cap, part: usize) -> Result<()> {
    memory_unmap(slot::VVAR + number)?;
    slots(number, part).into_iter().try_for_each(unmap)?;
    map_whole(number, part)
}

/// Unmaps a piece. A slot may be empty: the piece was, or could not be mapped.
fn unmap(by: Cap) -> Result<()> {
    if memory_unmap(by).is_ok() {
        cap_delete(0, by)?;
    }
    Ok(())
}

/// A runner's page. Nothing but the runner writes it, and its thread does not run meanwhile.
pub struct Vvar {
    clocks: *mut u8,
    /// The number of the statement that it is of.
    number: Cell<u64>,
}

impl Vvar {
    /// That of a runner. Only the runner's thread may use it.
    pub fn of(number: usize) -> Vvar {
        let page = address::VVAR + number as u64 * PAGE;
        Vvar { clocks: (page + VVAR_FIRST as u64) as *mut u8, number: Cell::new(u64::MAX) }
    }

    /// Copies what Linux stated since.
    #[inline(always)]
    pub fn follow(&self) {
        if self.number.get() != place::clock_sequence() {
            self.copy();
        }
    }

    /// If Linux states something else all the time, the page follows when the thread goes on next.
    #[cold]
    fn copy(&self) {
        // SAFETY: both have `VVAR_BYTES` and are mapped for good; only this runner writes the page.
        // Linux may write its copy meanwhile, but all of it are integers.
        let (number, done) = place::stated_at_once(|copy| unsafe {
            asm!(
                "rep movsq",
                inout("rcx") VVAR_BYTES / 8 => _,
                inout("rdi") self.clocks => _, inout("rsi") place::vvar_copy(copy) => _,
                options(nostack, preserves_flags),
            );
            Some(())
        });
        self.number.set(done.map_or(u64::MAX, |()| number));
    }
}
