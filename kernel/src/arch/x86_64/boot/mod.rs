//! From the boot loader to `kernel_main`.

mod entry;
pub mod map;
mod others;

pub use others::{
    each_other_processor, has_apic, interrupt_passenger, interrupt_processor, memory_of_traces, own_number,
    wake_others, with_apic,
};

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::layout::{ALWAYS_MAPPED, Image, direct, physical};
use super::{apic, check, clock, code, cpu, fatal, fpu, io_mmu, ioapic, log, machine_check, paging, percpu, pic};
use super::{serial, trap};
use pillion_abi::boot::{MODULE_NAME, MODULES, screen_kind};
use pillion_firmware::bytes::{Memory, until_zero};
use pillion_firmware::multiboot::RSDP_SIZE;
use pillion_firmware::params::BootParams;
use pillion_firmware::{acpi, multiboot, pvh};

/// Data that is written during boot and only read afterwards.
struct BootCell<T>(UnsafeCell<T>);

// SAFETY: only the boot CPU writes, before anything else runs.
unsafe impl<T> Sync for BootCell<T> {}

static PARAMS: BootCell<BootParams> = BootCell(UnsafeCell::new(BootParams::new()));

/// A copy of the ACPI root pointer, for boot loaders that hand over no address.
static RSDP: BootCell<[u8; RSDP_SIZE]> = BootCell(UnsafeCell::new([0; RSDP_SIZE]));

/// Physical address of the first address space's root.
static ROOT: AtomicU64 = AtomicU64::new(0);

/// Physical address of the root table whose upper half is the kernel's and whose lower half is
/// empty. The upper half of every address space is a copy of it; it never changes.
#[must_use]
pub fn kernel_root() -> u64 {
    ROOT.load(Relaxed)
}

/// Number of processors that run.
#[must_use]
pub fn processors() -> u32 {
    others::count()
}

/// Physical memory below 4 GiB, through the direct map.
struct LowMemory;

impl Memory for LowMemory {
    fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        let end = address.checked_add(length as u64)?;
        // SAFETY: everything below 4 GiB is always mapped; any contents are valid bytes; nobody
        // writes the tables of boot loader and firmware while the kernel boots.
        (end <= ALWAYS_MAPPED).then(|| unsafe { core::slice::from_raw_parts(direct(address), length) })
    }
}

/// Called by the first instructions, on the stack of the first CPU and on the first page tables.
///
/// # Safety
/// Nothing else calls it.
unsafe extern "C" fn start(magic: u32, info: u32) -> ! {
    // SAFETY: this function runs once, before anything else; the references end before
    // `kernel_main`.
    let (params, rsdp) = unsafe { (&mut *PARAMS.0.get(), &mut *RSDP.0.get()) };
    let understood = read_loader(magic, info.into(), params, rsdp);
    serial::init(params.command_line());
    log!(
        "[boot] Pillion {}, {}",
        env!("CARGO_PKG_VERSION"),
        if magic == multiboot::MAGIC { "multiboot2" } else { "PVH" }
    );
    if serial::ports() == 0 {
        log!("[boot] no UART: the log goes to memory, and to Linux if there is one");
    }
    if understood.is_none() {
        log!("[boot] the boot loader's information is damaged");
    }
    // SAFETY: the only call, of the one CPU that runs.
    unsafe { trap::init() };
    cpu::init();
    machine_check::init();
    let image = Image::current();
    params.draw_map(image.start, image.end, cpu::device_reach());
    // SAFETY: the first page tables are in use, and there is no user mode yet.
    unsafe { trap::patch() };
    // SAFETY: the map says what the boot loader did, less what it and the kernel use.
    let Some(root) = (unsafe { map::build(params, &image) }) else { fatal("no memory for the page tables") };
    ROOT.store(root, Relaxed);
    // SAFETY: the tables map everything that is in use: the image, this stack, the direct map.
    unsafe { asm!("mov cr3, {}", in(reg) root, options(nostack)) };
    paging::look_at_root();
    // SAFETY: the only call, of the one CPU that runs by now.
    let tables = unsafe { start_devices(params) };
    // SAFETY: the tables are the firmware's.
    unsafe { io_mmu::look(&tables) };
    params.withhold(&tables);
    // SAFETY: the only call; structure, interrupt controller and clock are set up.
    unsafe { others::start_all(&tables, params) };
    let lost = tables.registers.lost() + tables.io_apics.lost();
    if lost != 0 {
        log!(
            "[boot] {lost} ACPI tables, or registers that they name, are damaged, out of reach or too many: Linux has those"
        );
    }
    // Before memory is forgotten: its pages are mapped cached all the same.
    check::assert_machine_state(params.memory());
    if processors() > 1 {
        // SAFETY: the only call; the others sleep, and execute none of these places until this one
        // wakes them.
        unsafe { code::switch_several() };
    }
    let forgotten = params.finish();
    report(params, forgotten);
    // SAFETY: nobody writes the parameters from here on. They are the boot loader's; all is set up.
    unsafe { crate::kernel_main(&*PARAMS.0.get()) }
}

fn read_loader(magic: u32, info: u64, params: &mut BootParams, rsdp: &mut [u8; RSDP_SIZE]) -> Option<()> {
    if magic != multiboot::MAGIC {
        let understood = pvh::parse(&LowMemory, info, params);
        if params.rsdp == 0 {
            params.rsdp = multiboot::find_rsdp(&LowMemory).unwrap_or(0);
        }
        return understood;
    }
    let understood = multiboot::parse(&LowMemory, info, params, rsdp);
    // The copy comes first: where the firmware is a UEFI, what looks like an original below 1 MiB
    // may be left over from something else.
    params.rsdp = if multiboot::is_root_pointer(rsdp) {
        physical(rsdp.as_ptr())
    } else {
        multiboot::find_rsdp(&LowMemory).unwrap_or(0)
    };
    understood
}

/// # Safety
/// It is called once, on the one CPU that runs.
unsafe fn start_devices(params: &BootParams) -> acpi::Tables {
    // SAFETY: the only calls; each prepares what the next ones need.
    unsafe {
        percpu::init(0);
        trap::init_syscall();
        fpu::init();
    }
    pic::disable();
    let tables = acpi::read(&LowMemory, params.rsdp);
    apic::init();
    // SAFETY: the tables are the firmware's, and so is the map.
    unsafe {
        ioapic::init(&tables, params.memory());
        clock::init(&tables);
    }
    tables
}

fn report(params: &BootParams, forgotten: (usize, u64)) {
    for range in params.memory() {
        let kind = ["?", "RAM", "device", "ACPI", "kernel", "bundle", "hole", "withheld"]
            .get(range.kind as usize)
            .unwrap_or(&"?");
        log!("[boot] memory {:#014x}..{:#014x} {kind}", range.base, range.base + range.size);
    }
    if params.unread() != 0 || forgotten.0 != 0 {
        let (ranges, kib) = (forgotten.0, forgotten.1 >> 10);
        log!(
            "[boot] the memory map is too long: {} entries not read, {ranges} ranges ({kib} KiB) not used",
            params.unread()
        );
    }
    let screen = params.screen;
    if screen.kind != screen_kind::NONE {
        log!(
            "[boot] screen of {} by {} {} at {:#x}, {} bits each",
            screen.width,
            screen.height,
            if screen.kind == screen_kind::TEXT { "characters" } else { "pixels" },
            screen.base,
            screen.bits
        );
    }
    for module in params.modules.iter().filter(|module| module.range.size != 0) {
        let name = core::str::from_utf8(until_zero(&module.name)).unwrap_or("?");
        log!("[boot] module {name}, {:#x} bytes at {:#x}", module.range.size, module.range.base);
    }
    if params.ignored_modules != 0 {
        log!(
            "[boot] {} modules ignored: of those after the bundle, {MODULES} are used, each with a name of at most {} bytes after the file's",
            params.ignored_modules,
            MODULE_NAME - 1
        );
    }
    log!("[boot] bundle {:#x} bytes at {:#x}, RSDP at {:#x}", params.bundle.size, params.bundle.base, params.rsdp);
}
