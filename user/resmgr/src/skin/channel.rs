//! The channel window: makes it, maps its parts, and writes what only the manager writes.

use super::{layout::Layout, task_output::Shown};
use crate::{
    failure::{Result, While},
    objects::Slots,
    page_tables::{Extent, whole_pages},
    window::Window,
};
use core::{
    mem::{MaybeUninit, offset_of},
    sync::atomic::{
        AtomicU64,
        Ordering::{Relaxed, Release},
    },
};
use pillion_abi::{
    PAGE,
    boot::{Range, slot},
    channel::{Command, Directory, FIFOS, FifoControl, MAGIC, Share, Status, THREADS, Usage, VERSION},
    object::{Kind, map, right},
};
use pillion_channel::copy::copy;
use pillion_runtime::{Cap, cap_identify, memory_map, memory_part};

/// Where the manager maps what it writes, and the command.
const ADDRESS: u64 = 0xb0_0000_0000;

/// The window.
pub struct Channel {
    /// Offsets of its parts.
    pub layout: Layout,
    pub memory: Cap,
    /// Physical address.
    pub base: u64,
    directory: &'static mut Directory,
    /// Processor times.
    pub usage: &'static mut Usage,
}

/// How a part may be accessed.
#[derive(Clone, Copy)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

impl Access {
    /// How it is mapped.
    const fn flags(self) -> u64 {
        match self {
            Access::Read => 0,
            Access::Write => map::WRITE,
        }
    }
}

impl Channel {
    /// Makes the window from a region, all zeros except the facts at its start.
    pub fn make(slots: &mut Slots, window: &Window, region: Cap, layout: Layout, tsc_hz: u64) -> Result<Channel> {
        let memory = slots.make(region, Kind::Memory, layout.size)?;
        window.fill(memory, layout.size, &[])?;
        let seen = slots.take()?;
        memory_part(memory, 0, layout.managed(), seen, right::READ | right::WRITE).when("sharing the window")?;
        memory_map(seen, slot::ADDRESS_SPACE, ADDRESS, map::WRITE).when("mapping the window")?;
        let [identity, _] = cap_identify(memory).when("looking for the window")?;
        // SAFETY: the call above mapped zeros there, for good, which are valid values. Nothing else
        // in this task has references to these two parts. Other tasks and Linux cannot write them;
        // they read again when the generation has changed.
        let (directory, usage) =
            unsafe { (&mut *(ADDRESS as *mut Directory), &mut *((ADDRESS + layout.usage) as *mut Usage)) };
        directory.magic = MAGIC;
        directory.version = VERSION;
        directory.task_count = layout.tasks.len() as u32;
        directory.size = layout.size;
        directory.tsc_hz = tsc_hz;
        directory.usage = layout.usage;
        directory.command = layout.command;
        directory.pool = layout.pool;
        directory.pool_size = layout.pool_size;
        directory.psc = layout.psc;
        directory.dual = layout.dual;
        directory.dual_size = layout.dual_size;
        for (entry, places) in directory.tasks.iter_mut().zip(&layout.tasks) {
            entry.status = places.status;
            entry.share = places.share;
            entry.share_size = places.share_size;
        }
        Ok(Channel { base: identity & !(PAGE - 1), layout, memory, directory, usage })
    }

    pub fn directory(&self) -> &Directory {
        self.directory
    }

    /// Changes the directory, then its generation, so that readers notice: whoever sees the new
    /// generation sees the change. They may run on other processors meanwhile, and see parts of a
    /// change before that.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Directory) -> T) -> T {
        let result = change(self.directory);
        // SAFETY: a field of the directory, which is borrowed here, and aligned; others only read
        // it.
        let generation = unsafe { AtomicU64::from_ptr(&raw mut self.directory.generation) };
        generation.store(generation.load(Relaxed).wrapping_add(1), Release);
        result
    }

    /// The status that a task shows; the task writes it at any time.
    pub fn status(&self, task: usize) -> *const Status {
        (ADDRESS + self.layout.tasks[task].status) as *const Status
    }

    /// A task's log, within its status.
    pub fn log(&self, task: usize) -> Shown {
        // SAFETY: `make` mapped the status, for good.
        unsafe { Shown::of(self.status(task)) }
    }

    /// Period of a task's first periodic thread in nanoseconds, or 0. The task may be writing it: a
    /// wrong value only spoils the task's own report.
    pub fn period_ns(&self, task: usize) -> u64 {
        let mut threads = (0..THREADS).map(|thread| {
            // SAFETY: `make` mapped the status, for good; the index is within the array, and every
            // value is valid.
            unsafe { (&raw const (*self.status(task)).threads[thread].period_ns).read_volatile() }
        });
        threads.find(|period| *period != 0).unwrap_or(0)
    }

    /// A copy of Linux's command. It is read once, because Linux may change it at any time.
    pub fn command(&self) -> Command {
        let mut command = MaybeUninit::<Command>::uninit();
        // SAFETY: `make` mapped it, for good; every value is valid, and a mixture of two commands
        // harms only Linux.
        unsafe {
            let from = (ADDRESS + self.layout.command) as *const u8;
            copy(command.as_mut_ptr().cast(), from, size_of::<Command>());
            command.assume_init()
        }
    }

    /// Closes the FIFOs for those on Linux's side that have ended: nobody reads, writes or waits,
    /// or is at a ring, but whom the bits `kept` of such words name
    /// ([`pillion_abi::channel::user`]).
    pub fn close_fifos(&self, window: &Window, kept: u32) -> Result<()> {
        const FIFO: usize = size_of::<FifoControl>();
        const WORDS: [usize; 5] = [
            offset_of!(FifoControl, want_data),
            offset_of!(FifoControl, want_room),
            offset_of!(FifoControl, opens),
            offset_of!(FifoControl, taking),
            offset_of!(FifoControl, putting),
        ];
        let fifo = |number: usize| offset_of!(Share, fifos) + number * FIFO;
        for places in &self.layout.tasks {
            let words = (0..FIFOS).flat_map(|number| {
                let entered = (fifo(number) + offset_of!(FifoControl, entered), 0);
                WORDS.map(|word| (fifo(number) + word, kept)).into_iter().chain([entered])
            });
            window.mask_words(self.memory, places.share, whole_pages(size_of::<Share>() as u64), words)?;
        }
        Ok(())
    }

    /// Maps a part into an address space.
    pub fn map(
        &self,
        slots: &mut Slots,
        space: Cap,
        address: u64,
        (offset, size): (u64, u64),
        access: Access,
    ) -> Result<()> {
        let part = self.part(slots, (offset, size), access)?;
        memory_map(part, space, address, access.flags()).when("mapping the window")?;
        Ok(())
    }

    /// A capability for a part.
    fn part(&self, slots: &mut Slots, (offset, size): (u64, u64), access: Access) -> Result<Cap> {
        let part = slots.take()?;
        memory_part(self.memory, offset, size, part, map::rights(access.flags())).when("sharing the window")?;
        Ok(part)
    }

    /// Its two parts in Linux's memory, at its physical address. The first half is read-only.
    fn guest_layout(&self) -> [(u64, u64, Access); 2] {
        let Layout { command, size, .. } = self.layout;
        [(0, command, Access::Read), (command, size - command, Access::Write)]
    }

    /// Maps the window in Linux's memory.
    pub fn map_guest(&self, slots: &mut Slots, guest: Cap) -> Result<()> {
        for (offset, size, access) in self.guest_layout() {
            self.map(slots, guest, self.base + offset, (offset, size), access)?;
        }
        Ok(())
    }

    /// The same as parts for a task to map: their memory, where, and with what flags.
    pub fn guest_parts(&self, slots: &mut Slots) -> Result<[(Cap, Range); 2]> {
        let mut parts = [(0, Range::default()); 2];
        for (part, (offset, size, access)) in parts.iter_mut().zip(self.guest_layout()) {
            let range = Range { base: self.base + offset, size, kind: access.flags() };
            *part = (self.part(slots, (offset, size), access)?, range);
        }
        Ok(parts)
    }
}

/// An upper bound of the extents of a window with that layout in Linux's memory, wherever it lies.
pub fn guest_extents(layout: &Layout) -> [Extent; 2] {
    // The last page before a boundary of the highest-level tables: no address needs more tables.
    let worst = (1 << 39) - PAGE;
    [Extent::small(worst, layout.command), Extent::small(worst, layout.size - layout.command)]
}
