//! The other processors. The first one starts them one after the other, each with an INIT and a
//! start-up message (AMD APM vol. 2, 16.5; Intel SDM vol. 3, 9.4.4), and waits for it.
//!
//! A processor that answers too late is left out, and must not disturb those that follow: each says
//! who it is when it takes the stack, only the one that is being started gets it, and the first one
//! takes an unclaimed stack back. One that is left out also gets another INIT, which has it wait
//! for a start-up message. The page that it begins on is the kernel's for good.
//!
//! A processor that runs sleeps until all are started and the first one's kernel is made.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::BootCell;
use crate::arch::x86_64::layout::direct;
use crate::arch::x86_64::percpu::{self, Cpu, MAX_CPUS};
use crate::arch::x86_64::virt::{self, Features};
use crate::arch::x86_64::{apic, check, clock, cpu, fpu, log, machine_check, power, trap};
use pillion_abi::boot::{Processor, processor_state as state};
use pillion_abi::{PAGE, trace};
use pillion_core::x86_64::processor::reaches;
use pillion_firmware::acpi::Tables;
use pillion_firmware::params::BootParams;

/// One more than the number of the local APIC of the processor that is being started; 0 when there
/// is none, or it has taken the stack.
pub static NEXT: AtomicU32 = AtomicU32::new(0);

/// Top of the stack for that processor, which does not change from when it has taken it.
pub static NEXT_STACK: AtomicU64 = AtomicU64::new(0);

/// How far it is.
static PROGRESS: AtomicU32 = AtomicU32::new(BEGINS);
const BEGINS: u32 = 0;
const RUNS: u32 = 1;
/// It lacks something that the first processor has.
const DIFFERS: u32 = 2;
/// It compares its clocks with the first one's.
const COMPARES: u32 = 3;
const CLOCKS_DIFFER: u32 = 4;

/// Processors that run, the first one included: the number of the one that is being started.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// The numbers of the running processors' local APICs.
static APICS: [AtomicU32; MAX_CPUS] = [const { AtomicU32::new(0) }; MAX_CPUS];

/// Whether the others may leave their sleep.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// The virtualisation that the first processor offers.
static OFFER: BootCell<Option<Features>> = BootCell(UnsafeCell::new(None));

/// Physical address of the trace buffers, one for each processor, where several run.
static TRACES: AtomicU64 = AtomicU64::new(0);

/// Lowest address for these.
const TRACES_FROM: u64 = 1 << 20;

/// Time between the INIT and the start-up message, and after each such message, in microseconds.
const AFTER_INIT: u64 = 10_000;
const AFTER_START_UP: u64 = 200;
/// Time that a processor has to take its stack, in microseconds.
const TO_BEGIN: u64 = 100_000;
/// Time that it then has to run. It is there, but an emulator's may be a thread of a busy computer,
/// and it exchanges many values with the first one to compare their clocks.
const TO_RUN: u64 = 10_000_000;

/// End of the memory that a processor can begin in.
const REAL_MODE_END: u64 = 0xa_0000;

unsafe extern "C" {
    static processor_entry: u8;
    static processor_entry_end: u8;
}

/// Number of processors that run.
pub fn count() -> u32 {
    COUNT.load(Acquire)
}

/// Physical address of the trace buffers, zeroed memory; where several processors run.
pub fn memory_of_traces() -> u64 {
    TRACES.load(Relaxed)
}

/// Calls a function with the number of a processor's local APIC.
pub fn with_apic(number: usize, f: impl FnOnce(u32)) {
    if let Some(apic) = APICS.get(number) {
        f(apic.load(Relaxed));
    }
}

/// Interrupts a processor, by its number, for what its kernel finds in its inbox.
pub fn interrupt_processor(number: usize) {
    with_apic(number, |id| apic::send_interrupt(id, apic::vector::IPI));
}

/// Interrupts a processor, by its number, for what was sent to its passenger.
pub fn interrupt_passenger(number: usize) {
    with_apic(number, |id| apic::send_interrupt(id, apic::vector::MESSAGE));
}

/// Whether a processor that runs has the local APIC with that number.
pub fn has_apic(number: usize, id: u32) -> bool {
    APICS.get(number).is_some_and(|apic| apic.load(Relaxed) == id)
}

/// The running processor's number, if several are known to run and it is one of them. It needs
/// neither its structure nor its local APIC.
pub fn own_number() -> Option<u32> {
    let running = count();
    let own = cpu::cpuid(1, 0).ebx >> 24;
    let is_own = |number: &u32| APICS.get(*number as usize).is_some_and(|apic| apic.load(Relaxed) & 0xff == own);
    (0..running).find(is_own).filter(|_| running > 1)
}

/// Calls a function with the number of each running processor but this one.
pub fn each_other_processor(f: impl FnMut(usize)) {
    let own = apic::id();
    let is_other = |number: &usize| APICS.get(*number).is_some_and(|apic| apic.load(Relaxed) != own);
    (0..count() as usize).filter(is_other).for_each(f);
}

/// Wakes the other processors, whose kernels begin.
pub fn wake_others() {
    AWAKE.store(true, Release);
    each_other_processor(interrupt_processor);
}

/// Starts all processors that the tables name, and logs which run, and which do not and why.
///
/// # Safety
/// Called once, by the first processor, with its structure, interrupt controller and clock set up;
/// the parameters say which memory is free.
pub unsafe fn start_all(tables: &Tables, params: &mut BootParams) {
    let own = apic::id();
    note(params, 0, own, state::RUNS);
    let mut others = (1..).zip(tables.processors.as_slice().iter().filter(|apic| **apic != own)).peekable();
    if others.peek().is_none() {
        return;
    }
    APICS[0].store(own, Relaxed);
    // SAFETY: no other processor runs yet.
    unsafe { *OFFER.0.get() = virt::probe().ok() };
    let size = trace::SIZE * (1 + tables.processors.as_slice().len()).min(MAX_CPUS) as u64;
    let Some(traces) = params.find_ram(size, TRACES_FROM) else {
        log!("[boot] no memory for several traces: the other processors stay off");
        others.for_each(|(entry, apic)| note(params, entry, *apic, state::NO_MEMORY));
        return;
    };
    params.keep(traces, traces + size);
    // SAFETY: it is free RAM below 4 GiB.
    unsafe { direct::<u8>(traces).write_bytes(0, size as usize) };
    TRACES.store(traces, Relaxed);
    let Some(page) = params.find_ram_below(REAL_MODE_END) else {
        log!("[boot] no memory below 640 KiB: the other processors stay off");
        others.for_each(|(entry, apic)| note(params, entry, *apic, state::NO_MEMORY));
        return;
    };
    params.keep(page, page + PAGE);
    // SAFETY: the code lies between its two symbols, is shorter than a page, and the page is free.
    unsafe {
        let code = &raw const processor_entry;
        let length = (&raw const processor_entry_end).offset_from_unsigned(code);
        direct::<u8>(page).copy_from_nonoverlapping(code, length);
    }
    let mut is_stuck = false;
    let mut found = 1 + tables.processors.lost();
    for (entry, apic) in others {
        found += 1;
        let outcome = if is_stuck { state::NOT_TRIED } else { start(*apic, page) };
        if outcome == state::RUNS {
            APICS[count() as usize].store(*apic, Relaxed);
            COUNT.store(count() + 1, Release);
        } else {
            log!("[boot] the processor with local APIC {apic} stays off: {}", state::reason(outcome));
        }
        note(params, entry, *apic, outcome);
        // It has the structure and the stack that the next one would get.
        is_stuck |= outcome == state::STUCK;
    }
    if tables.processors.lost() != 0 {
        log!("[boot] {} more processors stay off: there are too many", tables.processors.lost());
    }
    log!("[boot] {} processors run, of {found} that the firmware names", count());
}

/// Writes an entry of the table for the first task, if it has one for so many. A processor that
/// runs is the last one counted.
fn note(params: &mut BootParams, entry: usize, apic_id: u32, state: u32) {
    let number = if state == state::RUNS { count() - 1 } else { 0 };
    if let Some(free) = params.processors.get_mut(entry) {
        *free = Processor { apic_id, state, number };
    }
}

/// Starts a processor. Returns its state.
fn start(apic: u32, page: u64) -> u32 {
    let number = count() as usize;
    if number == MAX_CPUS {
        return state::TOO_MANY;
    }
    if !reaches(apic) {
        return state::OUT_OF_REACH;
    }
    PROGRESS.store(BEGINS, Release);
    NEXT_STACK.store(percpu::stack_top(number), Release);
    NEXT.store(apic + 1, Release);
    let state = start_next(apic, page);
    if matches!(state, state::ABSENT | state::STUCK) {
        apic::send_init(apic);
    }
    state
}

/// Starts the processor that a stack is laid out for. Returns its state.
fn start_next(apic: u32, page: u64) -> u32 {
    apic::send_init(apic);
    wait(AFTER_INIT, || false);
    for _ in 0..2 {
        apic::send_start_up(apic, page);
        if wait(AFTER_START_UP, || NEXT.load(Acquire) == 0) {
            break;
        }
    }
    wait(TO_BEGIN, || NEXT.load(Acquire) == 0);
    if NEXT.swap(0, AcqRel) != 0 {
        return state::ABSENT;
    }
    wait(TO_RUN, || PROGRESS.load(Acquire) != BEGINS);
    if PROGRESS.load(Acquire) == COMPARES {
        clock::echo();
        wait(TO_RUN, || PROGRESS.load(Acquire) != COMPARES);
    }
    match PROGRESS.load(Acquire) {
        RUNS => state::RUNS,
        DIFFERS => state::DIFFERS,
        CLOCKS_DIFFER => state::CLOCKS_DIFFER,
        _ => state::STUCK,
    }
}

/// Waits until something is so, or for some microseconds. Returns whether it is so.
fn wait(microseconds: u64, is_so: impl Fn() -> bool) -> bool {
    let (start, ticks) = (clock::now(), clock::tsc_hz() / 1_000_000 * microseconds);
    while !is_so() {
        if clock::now().wrapping_sub(start) >= ticks {
            return is_so();
        }
        core::hint::spin_loop();
    }
    true
}

/// Called by the first instructions of another processor, on its stack and on the first page
/// tables.
///
/// # Safety
/// Nothing else calls it.
pub unsafe extern "C" fn start_other() -> ! {
    if !cpu::is_like_the_first() {
        stay_off(DIFFERS);
    }
    // SAFETY: the gates are filled; the tables map everything that is in use: the image, this
    // stack, the direct map.
    unsafe {
        trap::load();
        cpu::setup();
        asm!("mov cr3, {}", in(reg) super::kernel_root(), options(nostack));
    }
    machine_check::init();
    // SAFETY: written before this processor was started.
    if !check::is_protected() || virt::probe().ok() != unsafe { *OFFER.0.get() } {
        stay_off(DIFFERS);
    }
    apic::init();
    if !clock::timer_is_like_the_first() || !clock::counts_with_the_first(|| PROGRESS.store(COMPARES, Release)) {
        stay_off(CLOCKS_DIFFER);
    }
    // SAFETY: the only calls on this processor, with its number; each prepares what the next needs.
    unsafe {
        percpu::init(count() as usize);
        trap::init_syscall();
        fpu::init_other();
    }
    // SAFETY: the structure was just made.
    let cpu = unsafe { Cpu::current() };
    PROGRESS.store(RUNS, Release);
    while !AWAKE.load(Acquire) {
        if trap::idle_wait(cpu).is_some() {
            apic::eoi();
        }
    }
    // SAFETY: the only call on this processor, which is set up.
    unsafe { crate::kernel_other() }
}

/// Stops for good, as a processor that cannot be used, for a reason.
fn stay_off(reason: u32) -> ! {
    PROGRESS.store(reason, Release);
    power::halt()
}
