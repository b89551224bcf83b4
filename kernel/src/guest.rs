//! Running a guest: enter, handle what the kernel handles itself, hand the rest to the VM monitor.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::arch::{
    self, log, physical,
    virt::{self, Features, HwExit},
};
use crate::{
    entry,
    hardware::{Hardware, VcpuPart},
    trace::trace,
};
use pillion_abi::{
    RT_VECTOR_FIRST,
    status::Error,
    vcpu::{Exit, Fault, State, counter},
};
use pillion_core::{Cap, Id, Kernel, Machine, thread::Thread, vcpu::Vcpu};

/// x2APIC registers that the kernel handles itself (Intel SDM vol. 3A, 10.12.1.2).
mod msr {
    pub const X2APIC_EOI: u32 = 0x80b;
    pub const TSC_DEADLINE: u32 = 0x6e0;
}

#[repr(C, align(4096))]
struct HostArea([u8; 4096]);

struct Support {
    host_area: UnsafeCell<HostArea>,
    features: UnsafeCell<Option<Features>>,
}

// SAFETY: written at boot only; the host area is the processor's from then on.
unsafe impl Sync for Support {}

static SUPPORT: Support = Support { host_area: UnsafeCell::new(HostArea([0; 4096])), features: UnsafeCell::new(None) };

/// Translations of nested tables changed: all of them are dropped at the next entry.
static FLUSH: AtomicBool = AtomicBool::new(false);

/// Switches virtualisation on, if there is any.
pub fn init() {
    match virt::probe() {
        Ok(features) => {
            // SAFETY: `probe` found it; the page is given away for good; boot runs on one CPU.
            unsafe {
                virt::enable(physical(SUPPORT.host_area.get()));
                *SUPPORT.features.get() = Some(features);
            }
            log!("[boot] virtualisation: {features:?}");
        }
        Err(reason) => log!("[boot] no virtualisation, so no Linux: {reason}"),
    }
}

/// What virtualisation offers, if it is on.
pub fn features() -> Option<Features> {
    // SAFETY: written at boot only.
    unsafe { *SUPPORT.features.get() }
}

/// Drops all translations of the guest before it runs again.
pub fn flush_all() {
    FLUSH.store(true, Relaxed);
}

/// Runs the guest of the current thread up to the next exit that concerns others than the guest. What only a system call can change
/// is looked at once, since until then no thread runs.
pub fn run(k: &mut Kernel<Hardware>, id: Id<Thread>) {
    let Some(vcpu) = k.m.get(id).guest else { return };
    let v = k.m.get(vcpu);
    if v.space.cap == Cap::None || v.state.cap == Cap::None {
        k.leave_guest_with(id, 0, 0);
        k.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
        return;
    }
    let part = k.m.vcpu_part(vcpu);
    // SAFETY: the page is the monitor's memory, kept by the capability checked above; the monitor's thread is this one, and
    // whatever it holds is only data.
    let state = unsafe { &mut *part.state };
    // First, so that what is shown to the monitor includes what it changed.
    take_changes(k, vcpu, part, state);
    if k.cpu.current != Some(id) {
        return;
    }
    let bits = k.take_bound_bits(id);
    if bits != 0 {
        part.processor.store_state(state, false);
        k.leave_guest_with(id, Exit::Notified as u64, bits);
        return;
    }
    loop {
        let exit = enter(k, vcpu, part, state);
        let alone = handle(k, id, vcpu, part, state, exit);
        if !alone || k.cpu.current != Some(id) || k.cpu.timers_changed {
            return;
        }
    }
}

/// What the monitor changed since the guest last ran.
#[inline]
fn take_changes(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, part: &mut VcpuPart, state: &mut State) {
    if state.dirty != 0 {
        part.processor.load_state(state);
        part.processor.set_task_priority(state.tpr as u8);
    }
    if state.deadline != k.guest_deadline_armed(vcpu) {
        k.guest_deadline(vcpu, state.deadline);
        k.finish();
    }
    if FLUSH.swap(false, Relaxed) {
        part.processor.flush_translations();
    }
}

/// Offers the most urgent interrupt and enters the guest.
#[inline]
fn enter(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, part: &mut VcpuPart, state: &mut State) -> HwExit {
    let guest = &mut k.m.get(vcpu).apic;
    guest.set_task_priority(part.processor.task_priority());
    let offered = guest.deliverable();
    match offered {
        Some(vector) => part.processor.request_interrupt(vector),
        None => part.processor.cancel_interrupt(),
    }
    k.m.load_fpu(part.processor.fpu_area());
    trace!(GuestEntry, vcpu.number(), offered.unwrap_or(0));
    // SAFETY: interrupts are off; `init` enabled virtualisation here; the FPU was just loaded.
    let exit = unsafe { part.processor.enter(state) };
    trace!(GuestExit, vcpu.number(), 0u64);
    state.counters[counter::EXITS] += 1;
    if let Some(vector) = offered
        && !part.processor.interrupt_pending()
    {
        k.m.get(vcpu).apic.accept(vector);
        state.counters[counter::INJECTED] += 1;
    }
    exit
}

/// Handles an exit. Returns whether it concerned the guest alone, so that it may go on at once.
#[inline]
fn handle(
    k: &mut Kernel<Hardware>,
    id: Id<Thread>,
    vcpu: Id<Vcpu>,
    part: &mut VcpuPart,
    state: &mut State,
    exit: HwExit,
) -> bool {
    match exit {
        HwExit::Interrupt => {
            state.counters[counter::INTERRUPTS] += 1;
            let Some(number) = arch::take_pending_interrupt(k.m.percpu()) else { return false };
            entry::interrupt(k, number);
            return number < RT_VECTOR_FIRST;
        }
        HwExit::Handled | HwExit::Nmi => {}
        HwExit::Msr { write: true, number: msr::X2APIC_EOI } => {
            part.processor.finish_wrmsr();
            state.counters[counter::END_OF_INTERRUPT] += 1;
            k.guest_end_of_interrupt(vcpu);
            return true;
        }
        HwExit::Msr { write: true, number: msr::TSC_DEADLINE } if state.timer_vector != 0 => {
            state.counters[counter::DEADLINES] += 1;
            state.deadline = part.processor.msr_value(state);
            part.processor.finish_wrmsr();
            k.guest_deadline(vcpu, state.deadline);
        }
        HwExit::Halt if part.processor.interrupts_enabled() => {
            state.counters[counter::HALTS] += 1;
            part.processor.advance(1);
            k.guest_halt(vcpu);
        }
        other => leave(k, id, part, state, other),
    }
    false
}

/// Returns to the monitor.
fn leave(k: &mut Kernel<Hardware>, id: Id<Thread>, part: &mut VcpuPart, state: &mut State, exit: HwExit) {
    let number = |info: u64| Fault { address: 0, info };
    let (reason, value) = match exit {
        HwExit::Halt => (Exit::Halted, 0),
        HwExit::Cpuid => (Exit::Cpuid, 0),
        HwExit::Msr { write: true, number } => (Exit::WriteMsr, number.into()),
        HwExit::Msr { write: false, number } => (Exit::ReadMsr, number.into()),
        HwExit::Port(io) => {
            state.io = io;
            (Exit::Port, 0)
        }
        HwExit::NestedFault(fault) => {
            state.fault = fault;
            (Exit::Memory, 0)
        }
        HwExit::Shutdown => (Exit::Shutdown, 0),
        HwExit::Invalid { code } => {
            state.fault = number(code);
            (Exit::Invalid, 0)
        }
        HwExit::Hypercall => (Exit::Hypercall, 0),
        HwExit::Refused => (Exit::Refused, 0),
        HwExit::ControlRegister { number: register } => {
            state.fault = number(register.into());
            (Exit::ControlRegister, 0)
        }
        HwExit::Unexpected { code } => {
            state.fault = number(code);
            (Exit::Unexpected, 0)
        }
        HwExit::Interrupt | HwExit::Nmi | HwExit::Handled => return,
    };
    let ended = matches!(reason, Exit::Shutdown | Exit::Invalid | Exit::Unexpected);
    part.processor.store_state(state, ended);
    state.tpr = part.processor.task_priority().into();
    state.counters[counter::RETURNS] += 1;
    k.leave_guest_with(id, reason as u64, value);
}
