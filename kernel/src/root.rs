//! The first task: the kernel makes the task's objects out of its own memory, gives it everything
//! there is, and starts it.

use crate::arch::{ALWAYS_MAPPED, BootParams, clock, cpu, direct, ioapic, physical, processors, serial};
use crate::hardware::{Hardware, arena};
use crate::virtualisation;
use pillion_abi::{
    PAGE,
    boot::{BOOT_INFO_ADDRESS, BootInfo, LogBuffer, MODULES, Range, feature, range_kind, slot},
    bundle::{Entry, Header, MAGIC, ROOT_TASK, SEGMENTS, Segment, TASK_MAGIC, TaskHeader},
    object::{Kind, map, right},
};
use pillion_core::{
    Cap, Id, Kernel,
    root::{FirstTask, Start},
    space::Space,
    thread::Thread,
};

const STACK_TOP: u64 = 0x3f_0000;
const STACK: u64 = 256 << 10;
/// Page tables: those of the image, and for bundle and modules two for the ends of each.
const TABLES: u64 = 66 + 2 * MODULES as u64;
const PRIORITY: u8 = 2;

/// The first task, while it is built.
struct Root<'a> {
    task: FirstTask<'a, Hardware>,
    space: Id<Space>,
    /// Next slot for the task's own memory; such slots are taken from the end.
    next: u32,
}

/// Makes the first task and its thread the current one.
///
/// # Safety
/// `boot` is what the boot loader handed over: its memory is there, and the bundle is never
/// written.
pub unsafe fn start(k: &mut Kernel<Hardware>, boot: &'static BootParams) -> Result<(), &'static str> {
    // SAFETY: as the caller says.
    let bundle = unsafe { bundle(boot)? };
    let mut root = Root::begin(k)?;
    let entry = load(&mut root, bundle)?;
    let size = STACK.next_multiple_of(PAGE);
    root.memory(STACK_TOP - size, size, map::WRITE)?;
    hand_over(&mut root, boot)?;
    let thread = start_thread(root, entry)?;
    k.m.first = Some(thread);
    Ok(())
}

/// The bundle's bytes.
///
/// # Safety
/// As for [`start`].
unsafe fn bundle(boot: &BootParams) -> Result<&'static [u8], &'static str> {
    const MISSING: &str = "no bundle: boot with -initrd build/NAME.bundle, or name it as the first module";
    if boot.bundle.size < size_of::<Header>() as u64 {
        return Err(MISSING);
    }
    // SAFETY: the boot loader put it there, and it is never written, says the caller.
    let bytes = unsafe { core::slice::from_raw_parts(direct(boot.bundle.base), boot.bundle.size as usize) };
    if bytes[..8] == MAGIC { Ok(bytes) } else { Err(MISSING) }
}

const NO_MEMORY: &str = "its memory does not suffice";

impl Root<'_> {
    fn begin(k: &mut Kernel<Hardware>) -> Result<Root<'_>, &'static str> {
        let mut task = k.first_task(slot::COUNT, slot::CAP_SPACE).ok_or(NO_MEMORY)?;
        task.create(Kind::AddressSpace, TABLES, slot::ADDRESS_SPACE).map_err(|_| NO_MEMORY)?;
        let Cap::AddressSpace(space) = task.cap(slot::ADDRESS_SPACE) else { return Err(NO_MEMORY) };
        Ok(Root { task, space, next: slot::COUNT - 2 })
    }

    /// Maps fresh, zeroed memory; returns its physical address.
    fn memory(&mut self, address: u64, size: u64, flags: u64) -> Result<u64, &'static str> {
        let at = self.next;
        self.next -= 1;
        self.task.create(Kind::Memory, size, at).map_err(|_| NO_MEMORY)?;
        let Cap::Memory { base, .. } = self.task.cap(at) else { return Err("its memory is misplaced") };
        let mapped = self.task.map(at, self.space, address, flags);
        mapped.map(|()| base).map_err(|_| "its image or stack cannot be mapped")
    }

    fn give(&mut self, at: u32, cap: Cap, rights: u8) -> Result<(), &'static str> {
        self.task.give(at, cap, rights).map_err(|_| "it has too few slots")
    }
}

/// Copies the task's image into memory of its own. Returns the address of its first instruction.
fn load(root: &mut Root<'_>, bundle: &'static [u8]) -> Result<u64, &'static str> {
    let image = find(bundle, ROOT_TASK).ok_or("the bundle has no resmgr")?;
    let header: TaskHeader = read(image, 0).ok_or("its image is cut short")?;
    if header.magic != TASK_MAGIC || header.count as usize > SEGMENTS {
        return Err("its image is no task image");
    }
    if header.abi_version != pillion_abi::VERSION {
        return Err("its image was built for another version of the kernel's interface");
    }
    for segment in &header.segments[..header.count as usize] {
        load_segment(root, image, segment)?;
    }
    Ok(header.entry)
}

fn load_segment(root: &mut Root<'_>, image: &[u8], segment: &Segment) -> Result<(), &'static str> {
    let end = segment.offset.checked_add(segment.file_size).ok_or("its image is cut short")?;
    let data = image.get(segment.offset as usize..end as usize).ok_or("its image is cut short")?;
    if segment.memory_size < segment.file_size || segment.memory_size > arena::SIZE as u64 {
        return Err("its image has a bad segment");
    }
    let base = root.memory(segment.address, segment.memory_size.next_multiple_of(PAGE), segment.flags)?;
    // SAFETY: the memory was just made, is at least as large as the data and mapped nowhere else
    // but in the task.
    unsafe { direct::<u8>(base).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
    Ok(())
}

/// A structure of integers, of which any bytes are a value.
///
/// # Safety
/// That is so.
unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for Header {}
// SAFETY: integers.
unsafe impl Plain for Entry {}
// SAFETY: integers.
unsafe impl Plain for TaskHeader {}

/// Reads a structure out of bytes.
fn read<T: Plain>(bytes: &[u8], at: usize) -> Option<T> {
    let part = bytes.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: the bytes are there, and all are valid.
    Some(unsafe { part.as_ptr().cast::<T>().read_unaligned() })
}

fn find(bundle: &'static [u8], name: &str) -> Option<&'static [u8]> {
    let header: Header = read(bundle, 0)?;
    (0..header.count as usize).find_map(|i| {
        let entry: Entry = read(bundle, size_of::<Header>() + i * size_of::<Entry>())?;
        let length = entry.name.iter().position(|b| *b == 0).unwrap_or(entry.name.len());
        if &entry.name[..length] != name.as_bytes() {
            return None;
        }
        bundle.get(usize::try_from(entry.offset).ok()?..)?.get(..usize::try_from(entry.size).ok()?)
    })
}

/// Fills in the boot information page, and the slots for what the machine has.
fn hand_over(root: &mut Root<'_>, boot: &BootParams) -> Result<(), &'static str> {
    // Filled in where it is: it would not fit on the stack.
    let page = root.memory(BOOT_INFO_ADDRESS, (size_of::<BootInfo>() as u64).next_multiple_of(PAGE), 0)?;
    // SAFETY: the pages were made for this, and zeros are a `BootInfo`; nobody else uses them yet.
    let info = unsafe { &mut *direct::<BootInfo>(page) };
    info.abi_version = pillion_abi::VERSION;
    info.tsc_hz = clock::tsc_hz();
    info.features = if serial::ports() == 0 { 0 } else { feature::LOG_DEVICE }
        | cpu::features() & if virtualisation::features().is_some() { u64::MAX } else { !feature::SVM };
    info.rsdp = boot.rsdp;
    info.cpus = processors().into();
    info.bundle = boot.bundle;
    info.modules = boot.modules;
    info.io_apics = ioapic::all();
    info.root_pointer = root_pointer(boot.rsdp);
    info.screen = boot.screen;
    info.power_off = boot.power_off;
    info.processors = boot.processors;
    info.module_words.copy_from_slice(boot.module_words());
    let line = boot.command_line();
    let length = line.len().min(info.command_line.len() - 1);
    info.command_line[..length].copy_from_slice(&line[..length]);
    for range in boot.memory() {
        give_range(root, info, *range)?;
    }
    let modules = (slot::MODULES..).zip(boot.modules.iter().map(|module| module.range));
    for (at, Range { base, size, .. }) in
        modules.filter(|(_, range)| range.size != 0).chain([(slot::BUNDLE, boot.bundle)])
    {
        let start = base & !(PAGE - 1);
        root.give(at, Cap::unmapped(false, start, (base + size).next_multiple_of(PAGE) - start), right::READ)?;
    }
    for (at, base, size) in [
        (slot::TRACE_BUFFER, crate::trace::physical_base(), crate::trace::total_size()),
        (slot::LOG_BUFFER, physical(serial::text()), size_of::<LogBuffer>() as u64),
    ] {
        root.give(at, Cap::unmapped(false, base, size), right::READ)?;
    }
    for (at, cap) in [
        (slot::SCHED_CONTROL, Cap::SchedControl),
        (slot::IRQ_CONTROL, Cap::IrqControl),
        (slot::PORTS, Cap::Ports { first: 0, count: 0x1_0000 }),
        (slot::TRACE, Cap::Trace),
    ] {
        root.give(at, cap, right::ALL)?;
    }
    Ok(())
}

/// The bytes of the ACPI root pointer, or zeros. It is read below 4 GiB only, which is always
/// mapped.
fn root_pointer(address: u64) -> [u8; 40] {
    let mut bytes = [0; 40];
    if address != 0 && address < ALWAYS_MAPPED - 36 {
        // SAFETY: all memory below 4 GiB is mapped, and bytes may have any value.
        bytes[..36].copy_from_slice(unsafe { core::slice::from_raw_parts(direct(address), 36) });
    }
    bytes
}

/// Lists a range of physical memory and hands it over, unless it is the kernel's, the boot loader's
/// for a file, or withheld.
fn give_range(root: &mut Root<'_>, info: &mut BootInfo, range: Range) -> Result<(), &'static str> {
    let index = info.region_count;
    let Some(entry) = info.regions.get_mut(index as usize) else { return Ok(()) };
    *entry = range;
    info.region_count += 1;
    if matches!(range.kind, range_kind::KERNEL | range_kind::BUNDLE | range_kind::WITHHELD) {
        return Ok(());
    }
    let device = range.kind != range_kind::RAM;
    let cap = Cap::Region { device, base: range.base, size: range.size, used: 0, cleared: 0 };
    root.give(slot::REGIONS + index, cap, right::ALL)
}

fn start_thread(root: Root<'_>, entry: u64) -> Result<Id<Thread>, &'static str> {
    let mut task = root.task;
    for (kind, at) in [(Kind::Thread, slot::THREAD), (Kind::SchedContext, slot::CONTEXT)] {
        task.create(kind, 0, at).map_err(|_| NO_MEMORY)?;
    }
    let start = Start {
        slots: [slot::THREAD, slot::CONTEXT, slot::ADDRESS_SPACE],
        priority: PRIORITY,
        entry,
        stack: STACK_TOP,
        argument: BOOT_INFO_ADDRESS,
    };
    task.start(&start).map_err(|_| "its thread cannot be started")
}
