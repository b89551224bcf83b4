//! The ways into the kernel and the one way out: handle what happened, then choose who goes on.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::arch::{self, PerCpu, apic::vector, log};
use crate::{guest, hardware::Hardware, trace::trace};
use pillion_abi::RT_VECTOR_FIRST;
use pillion_core::{Id, Kernel, Machine, Outcome, thread::State, thread::Thread};

/// The kernel of each CPU.
struct Kernels(UnsafeCell<[MaybeUninit<Kernel<Hardware>>; arch::MAX_CPUS]>);

// SAFETY: each CPU uses its own entry only.
unsafe impl Sync for Kernels {}

static KERNELS: Kernels = Kernels(UnsafeCell::new([const { MaybeUninit::uninit() }; arch::MAX_CPUS]));

/// Makes the kernel of a CPU.
pub fn init(cpu: &mut PerCpu) {
    // SAFETY: once per CPU, before anything asks for it.
    let place = unsafe { &mut (&mut *KERNELS.0.get())[cpu.index] };
    cpu.kernel = place.as_ptr() as u64;
    place.write(Kernel::new(Hardware::new(cpu)));
}

/// The kernel of a CPU.
#[inline]
pub fn kernel<'a>(cpu: &PerCpu) -> &'a mut Kernel<Hardware> {
    // SAFETY: `init` stored the pointer; the kernel runs with interrupts off, so that there is one such reference at a time.
    unsafe { &mut *(cpu.kernel as *mut Kernel<Hardware>) }
}

/// Leaves to the first thread.
pub fn first_exit(cpu: &mut PerCpu) -> ! {
    leave(kernel(cpu));
    arch::enter_user(cpu)
}

/// A system call.
#[unsafe(no_mangle)]
extern "C" fn kernel_syscall(cpu: &mut PerCpu) {
    let k = kernel(cpu);
    // SAFETY: the entry code saved the registers there.
    let frame = unsafe { &mut *cpu.frame() };
    trace!(Syscall, frame.rax, frame.rdi);
    let arguments = [frame.rdi, frame.rsi, frame.rdx, frame.r10, frame.r8, frame.r9];
    if k.syscall(frame.rax, &arguments) == Outcome::Restart {
        frame.repeat_call();
    }
    leave(k);
}

/// An interrupt while user code ran.
#[unsafe(no_mangle)]
extern "C" fn kernel_interrupt(cpu: &mut PerCpu, vector: u64) {
    let k = kernel(cpu);
    interrupt(k, vector as u8);
    leave(k);
}

/// An exception in user code.
#[unsafe(no_mangle)]
extern "C" fn kernel_exception(cpu: &mut PerCpu, vector: u64, error_code: u64) {
    const PAGE_FAULT: u64 = 14;
    let k = kernel(cpu);
    // SAFETY: the entry code saved the registers there.
    let frame = unsafe { &*cpu.frame() };
    let address = if vector == PAGE_FAULT { arch::fault_address() } else { 0 };
    trace!(Exception, vector, frame.rip());
    k.fault([vector, error_code, address, frame.rip(), frame.rsp(), frame.rflags()]);
    leave(k);
}

/// Handles a physical interrupt.
#[inline]
pub fn interrupt(k: &mut Kernel<Hardware>, number: u8) {
    trace!(Interrupt, number, 0u64);
    match number {
        vector::TIMER => k.timer_interrupt(),
        vector::SPURIOUS => {}
        vector::IPI | vector::ERROR => k.m.end_of_interrupt(),
        RT_VECTOR_FIRST.. => k.rt_interrupt(number),
        _ => k.passenger_interrupt(number),
    }
}

/// Chooses who runs and makes the processor ready for it; runs guests and sleeps in between.
#[inline]
fn leave(k: &mut Kernel<Hardware>) {
    loop {
        if let Some(number) = k.m.pending.take() {
            interrupt(k, number);
        }
        k.finish();
        let Some(id) = k.cpu.current else {
            idle(k);
            continue;
        };
        if go_on(k, id) {
            return;
        }
    }
}

/// Lets the current thread go on. Returns false when something else is to be chosen.
#[inline]
fn go_on(k: &mut Kernel<Hardware>, id: Id<Thread>) -> bool {
    let thread = k.m.get(id);
    if thread.guest.is_some() {
        guest::run(k, id);
        return false;
    }
    let (space, uses_fpu) = (thread.space(), thread.fpu);
    let Some(space) = space else {
        log!("[fault] thread {id:?} has lost its address space; it stops");
        k.stop_current(State::Stopped);
        return false;
    };
    let root = k.m.get(space).root;
    trace!(Switch, id.number(), 0u64);
    k.m.switch_to(id, root, uses_fpu);
    true
}

fn idle(k: &mut Kernel<Hardware>) {
    trace!(Idle, 0u64, 0u64);
    if let Some(number) = arch::idle_wait(k.m.percpu()) {
        interrupt(k, number);
    }
}
