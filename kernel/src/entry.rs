//! The ways into the kernel and the one way out: handle the event, then choose the next thread.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::arch::{self, Cpu, code::several};
use crate::trace::{self, trace, trace_or_several};
use crate::{guest, hardware::Hardware, interrupt};
use pillion_abi::{call::Call, trace::Event};
use pillion_core::{
    Id, Kernel, Outcome,
    fast::Signalled,
    machine::{Devices as _, Objects as _},
    thread::State,
    thread::Thread,
};

/// The kernel of each CPU.
struct Kernels(UnsafeCell<[MaybeUninit<Kernel<Hardware>>; arch::MAX_CPUS]>);

// SAFETY: each CPU uses its own entry only.
unsafe impl Sync for Kernels {}

static KERNELS: Kernels = Kernels(UnsafeCell::new([const { MaybeUninit::uninit() }; arch::MAX_CPUS]));

/// The option `idle=poll`.
static POLL: AtomicBool = AtomicBool::new(false);

/// Takes the options of the command line that concern this module.
pub fn set_options(command_line: &[u8]) {
    let mut words = command_line.split(|byte| *byte == b' ');
    POLL.store(words.any(|word| word == b"idle=poll"), Relaxed);
}

/// Makes the kernel of a CPU, and gives it its number.
///
/// # Safety
/// Called once per CPU.
pub unsafe fn init(cpu: Cpu) -> &'static mut Kernel<Hardware> {
    // SAFETY: the number of a CPU is below that of the entries; the entry is this CPU's, and
    // nothing led to it before. `kernel` expects this pointer.
    unsafe {
        let place = KERNELS.0.get().cast::<Kernel<Hardware>>().add(cpu.index());
        place.write(Kernel::new(Hardware::new(cpu), cpu.index() as u8));
        cpu.set_kernel(place);
        &mut *place
    }
}

/// The kernel of a CPU.
///
/// # Safety
/// For the functions that the entry code calls, after [`init`]: kernel code that ran before them on
/// this CPU never resumes, so theirs is the only reference.
#[inline]
unsafe fn kernel<'a>(cpu: Cpu) -> &'a mut Kernel<Hardware> {
    // SAFETY: `init` stored the pointer; the kernel runs with interrupts off, and the caller
    // vouches for the rest.
    unsafe { &mut *cpu.kernel() }
}

/// `Call` or `ReplyReceive`.
///
/// # Safety
/// Only for the entry code, as are those below: see [`arch`].
#[unsafe(no_mangle)]
unsafe extern "C" fn kernel_message(cpu: Cpu, capability: u64, number: u64) -> ! {
    // SAFETY: the entry code called this.
    let k = unsafe { kernel(cpu) };
    trace!(Syscall, number, capability);
    if !k.cpu.timers_changed
        && let Some(current) = k.cpu.current
    {
        let is_call = number == Call::Call as u64;
        let next = if is_call { k.call_fast(current, capability) } else { k.reply_receive_fast(current) };
        if let Some(next) = next {
            exit_to(k, next);
            leave_by_detours(k);
        }
    }
    syscall(k, cpu)
}

/// `VcpuRun`.
///
/// # Safety
/// As for [`kernel_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn kernel_vcpu_run(cpu: Cpu, capability: u64, number: u64) -> ! {
    // SAFETY: the entry code called this.
    let k = unsafe { kernel(cpu) };
    trace!(Syscall, number, capability);
    if !k.cpu.timers_changed
        && let Some(current) = k.cpu.current
        && let Some(vcpu) = k.vcpu_run_fast(current, capability)
    {
        if !k.m.get(vcpu).user {
            // Linux's vCPU is run from one place only, into which all of its path is inlined.
            leave_by_detours(k);
        }
        // SAFETY: the vCPU is configured, as `vcpu_run_fast` found.
        if unsafe { guest::run_user(k, current, vcpu) } && k.m.get(current).fpu {
            trace_or_several!(Switch, current.number(), 0u64, cpu.shown().hide_guest());
            // SAFETY: since the thread made the call, nothing ran here but its guest, on the
            // thread's FPU state, and its address space is loaded.
            unsafe { arch::exit_to_user() };
        }
        several! { cpu.shown().hide_guest() }
        leave(k);
    }
    syscall(k, cpu)
}

/// Any other system call.
///
/// # Safety
/// As for [`kernel_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn kernel_syscall(cpu: Cpu, capability: u64, number: u64) -> ! {
    // SAFETY: the entry code called this.
    let k = unsafe { kernel(cpu) };
    trace_or_several!(Syscall, number, capability, {
        if number == Call::Signal as u64 {
            signal(k, cpu, capability);
        }
    });
    syscall(k, cpu)
}

/// `Signal`, where several processors run.
#[inline(never)]
fn signal(k: &mut Kernel<Hardware>, cpu: Cpu, capability: u64) -> ! {
    trace::record_if_on(Event::Syscall, Call::Signal as u64, capability);
    if !k.cpu.timers_changed
        && let Some(current) = k.cpu.current
    {
        match k.signal_fast(current, capability) {
            Some(Signalled::Here) => leave(k),
            Some(Signalled::Elsewhere) => {
                trace!(Switch, current.number(), 0u64);
                // SAFETY: the thread made the call, and all of it is loaded as it was then.
                unsafe { arch::exit_to_user() }
            }
            None => {}
        }
    }
    syscall(k, cpu)
}

#[inline(never)]
fn syscall(k: &mut Kernel<Hardware>, cpu: Cpu) -> ! {
    let frame = cpu.frame();
    // SAFETY: the entry code saved the registers there.
    let (number, arguments) =
        unsafe { ((*frame).rax, [(*frame).rdi, (*frame).rsi, (*frame).rdx, (*frame).r10, (*frame).r8, (*frame).r9]) };
    if k.syscall(number, &arguments) == Outcome::Restart {
        if k.m.several() {
            // It may wait for a letter from another processor, which an emulator that has them run
            // in turn lets run then.
            core::hint::spin_loop();
        } else {
            // SAFETY: whatever the call deleted, the frame's page is RAM in which nothing else was
            // placed yet; the call has no reference to it any more.
            unsafe { (*frame).repeat_call() };
        }
    }
    leave(k)
}

/// An interrupt while user code ran.
///
/// # Safety
/// As for [`kernel_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn kernel_interrupt(cpu: Cpu, vector: u64) -> ! {
    // SAFETY: the entry code called this.
    let k = unsafe { kernel(cpu) };
    trace_or_several!(Interrupt, vector as u8, 0u64, k.m.counters.interrupt(vector as u8));
    interrupt::handle_recorded(k, vector as u8);
    leave(k)
}

/// An exception in user code.
///
/// # Safety
/// As for [`kernel_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn kernel_exception(cpu: Cpu, vector: u64, error_code: u64) -> ! {
    const PAGE_FAULT: u64 = 14;
    // SAFETY: the entry code called this.
    let k = unsafe { kernel(cpu) };
    // SAFETY: the entry code saved the registers there; the copy is the only use.
    let frame = unsafe { *cpu.frame() };
    let address = if vector == PAGE_FAULT { arch::fault_address() } else { 0 };
    trace!(Exception, vector, frame.rip());
    k.fault([vector, error_code, address, frame.rip(), frame.rsp(), frame.rflags()]);
    leave(k)
}

/// Chooses the next thread and leaves the kernel to it.
#[inline(always)]
pub fn leave(k: &mut Kernel<Hardware>) -> ! {
    if k.m.pending.is_none() {
        k.finish();
        if let Some(id) = k.cpu.current
            && k.m.get(id).guest.is_none()
        {
            exit_to(k, id);
        }
    }
    leave_by_detours(k)
}

/// Handles the interrupt that a system call took, then runs guests and sleeps until a thread is to
/// run in user mode.
#[inline(never)]
fn leave_by_detours(k: &mut Kernel<Hardware>) -> ! {
    if k.m.pending.is_some() {
        handle_pending(k);
    }
    loop {
        k.finish();
        let Some(id) = k.cpu.current else {
            idle(k);
            // What ended the sleep may have been a visit, whose call took an interrupt.
            several! { handle_pending(k) }
            continue;
        };
        if k.m.get(id).guest.is_some() {
            guest::run(k, id);
            several! {
                k.m.cpu.shown().hide_guest();
                handle_pending(k);
            }
        } else {
            exit_to(k, id);
            k.block_current(State::Stopped);
        }
    }
}

/// Handles interrupts that calls took at preemption points.
#[inline(never)]
fn handle_pending(k: &mut Kernel<Hardware>) {
    while let Some(number) = k.m.pending.take() {
        k.note_changes();
        several! { k.m.counters.interrupt(number) }
        interrupt::handle(k, number);
    }
}

/// Exits to user mode, to the current thread. Returns only if its address space is gone.
#[inline(always)]
fn exit_to(k: &mut Kernel<Hardware>, id: Id<Thread>) {
    let Some(space) = id.space(&k.m) else { return };
    let uses_fpu = k.m.get(id).fpu;
    k.m.switch_to(id, space);
    if !uses_fpu {
        k.m.shut_fpu();
    } else if !k.m.opens_fpu(Hardware::fpu_area(id)) {
        change_fpu(k, id);
    }
    trace!(Switch, id.number(), 0u64);
    // SAFETY: the thread is loaded, and the kernel is not used any more.
    unsafe { arch::exit_to_user() }
}

/// Loads the FPU state of a thread that goes on, in the place of another's. The FPU is on.
#[inline(always)]
pub fn change_fpu(k: &mut Kernel<Hardware>, id: Id<Thread>) {
    k.m.change_fpu(Hardware::fpu_area(id));
    several! { guest::taken::show(k, id) }
}

/// Sleeps until an interrupt comes. With the option `idle=poll` the first processor polls for one
/// instead: an emulator that counts instructions then has no idle time, during which it would wait
/// for the host's clock and wake up late. The others sleep: the time that one passes with polling
/// is not left to those that compute. The first one gives its turn away.
fn idle(k: &mut Kernel<Hardware>) {
    trace!(Idle, 0u64, 0u64);
    let taken = if POLL.load(Relaxed) && k.m.cpu.index() == 0 {
        several! { core::hint::spin_loop() }
        arch::take_pending_interrupt(k.m.cpu)
    } else {
        arch::idle_wait(k.m.cpu)
    };
    several! {
        if let Some(number) = taken {
            k.m.counters.interrupt(number);
        }
    }
    if let Some(number) = taken {
        interrupt::handle(k, number);
    }
}
