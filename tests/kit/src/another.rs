//! This task once more, as the first task of another processor.

use crate::{Kit, kit::PRIORITY};
use pillion_abi::{
    NEVER, PAGE,
    boot::{BOOT_INFO_ADDRESS, slot},
    object::{Kind, map, right},
    status::Result,
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_move, context_configure, memory_map, region_create, thread_bind_context,
    thread_configure, thread_resume, thread_set_registers,
};

/// What it has for its objects, its image and its stack.
const SHARE: u64 = 64 << 20;

/// Tables of its address space, in pages.
const TABLES: u64 = 66;

/// Its stack, as the kernel places that of the first task.
const STACK: u64 = 256 << 10;
const STACK_TOP: u64 = 0x3f_0000;

/// Where this task sees what it fills.
const WINDOW: u64 = 0x50_0000_0000;

/// Slots for what this task keeps of each processor's.
const FIRST: Cap = 2048;
const SLOTS: Cap = 64;

/// What is made for another processor.
struct Another {
    /// Region that all of it is made from.
    region: Cap,
    space: Cap,
    caps: Cap,
    next: Cap,
}

impl Kit {
    /// Begins this task anew on another processor, with a thread, an image, spaces and memory of
    /// its own, in the slots in which the first task has them, but for its capability space. It has
    /// the regions of devices if it is the first one. From now on this task is to make nothing but
    /// further ones.
    pub fn begin_on(&mut self, processor: u64) -> Result<()> {
        let ram = self.ram;
        let first = FIRST + SLOTS * processor as Cap;
        let mut another = Another { region: first, space: first + 1, caps: first + 2, next: first + 3 };
        region_create(ram, Kind::Region, SHARE, another.region)?;
        region_create(another.region, Kind::CapSpace, slot::COUNT.into(), another.caps)?;
        region_create(another.region, Kind::AddressSpace, TABLES, another.space)?;
        let image = self.segments.image();
        for (index, (segment, data)) in image.segments().enumerate() {
            let size = segment.memory_size.next_multiple_of(PAGE);
            let memory = another.memory(segment.address, size, segment.flags, data)?;
            cap_derive(another.caps, slot::COUNT - 2 - index as Cap, memory, right::ALL, 0)?;
        }
        another.memory(STACK_TOP - STACK, STACK, map::WRITE, &[])?;
        // SAFETY: a page that the kernel filled, and that nobody writes to.
        let info = unsafe { core::slice::from_raw_parts((&raw const *self.info).cast(), PAGE as usize) };
        another.memory(BOOT_INFO_ADDRESS, PAGE, 0, info)?;
        let thread = another.thread(processor, image.entry)?;
        for at in [
            slot::SCHED_CONTROL,
            slot::IRQ_CONTROL,
            slot::PORTS,
            slot::TRACE,
            slot::BUNDLE,
            slot::TRACE_BUFFER,
            slot::LOG_BUFFER,
        ] {
            cap_derive(another.caps, at, at, right::ALL, 0)?;
        }
        for index in 0..self.info.region_count as Cap {
            let at = slot::REGIONS + index;
            // Those that are nobody's, or another's already, are not there.
            let _ = cap_move(another.caps, at, if at == ram { another.region } else { at });
        }
        thread_resume(thread).map(|_| ())
    }
}

impl Another {
    fn slot(&mut self) -> Cap {
        self.next += 1;
        self.next - 1
    }

    /// Makes memory that begins with these bytes, and else is zeroed, and maps it there.
    fn memory(&mut self, address: u64, size: u64, flags: u64, bytes: &[u8]) -> Result<Cap> {
        let (memory, here) = (self.slot(), self.slot());
        region_create(self.region, Kind::Memory, size, memory)?;
        cap_derive(0, here, memory, right::ALL, 0)?;
        memory_map(here, slot::ADDRESS_SPACE, WINDOW, map::WRITE)?;
        let window = WINDOW as *mut u8;
        // SAFETY: mapped just now, at an address where nothing else is, and at least as large.
        unsafe {
            window.write_bytes(0, size as usize);
            window.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        cap_delete(0, here)?;
        memory_map(memory, self.space, address, flags)?;
        Ok(memory)
    }

    /// Makes its thread, and gives it its own objects.
    fn thread(&mut self, processor: u64, entry: u64) -> Result<Cap> {
        let (thread, context) = (self.slot(), self.slot());
        region_create(self.region, Kind::Thread, processor, thread)?;
        region_create(self.region, Kind::SchedContext, processor, context)?;
        thread_configure(thread, self.space, self.caps, 0, 0)?;
        context_configure(slot::SCHED_CONTROL, context, PRIORITY, NEVER, 0, 0)?;
        thread_bind_context(thread, context)?;
        thread_set_registers(thread, entry, STACK_TOP, BOOT_INFO_ADDRESS)?;
        for (at, own) in [(slot::ADDRESS_SPACE, self.space), (slot::THREAD, thread), (slot::CONTEXT, context)] {
            cap_derive(self.caps, at, own, right::ALL, 0)?;
        }
        Ok(thread)
    }
}
