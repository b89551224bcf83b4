//! The passenger: a whole CPU for the guest, with its interrupts and its timer.

use core::sync::atomic::Ordering::Relaxed;

use super::{errno, interrupted, message, notified, return_to_monitor, taken};
use crate::arch::virt::{HwExit, Vcpu as Processor};
use crate::{
    hardware::Hardware,
    trace::{add_one, trace, trace_or_several},
    virtualisation,
};
use pillion_abi::{
    NEVER, dual,
    status::Error,
    vcpu::{State, counter, gpr},
};
use pillion_core::{Id, Kernel, machine::Objects as _, thread::Thread, vcpu::Vcpu};

/// x2APIC registers that the kernel handles itself (Intel SDM vol. 3A, 10.12.1.2).
mod msr {
    pub const X2APIC_EOI: u32 = 0x80b;
    pub const X2APIC_COMMAND: u32 = 0x830;
    pub const TSC_DEADLINE: u32 = 0x6e0;
}

/// Bytes of WRMSR, and of HLT.
const WRMSR: u64 = 2;
const HLT: u64 = 1;

/// Runs the guest up to the next exit that does not concern it alone. What only a system call can
/// change is looked at once, since no thread runs until then. Another processor can change
/// the guest's tables meanwhile: where several run, that is looked at before each entry.
pub fn run(k: &mut Kernel<Hardware>, id: Id<Thread>, vcpu: Id<Vcpu>, processor: &mut Processor, state: &State) {
    // First, so that the state shown to the monitor includes the monitor's changes.
    if !take_changes(k, vcpu, processor, state) || notified(k, id, processor, state) {
        return;
    }
    loop {
        let exit = enter(k, vcpu, processor, state);
        let alone = handle(k, id, vcpu, processor, state, exit);
        if !alone || k.cpu.current != Some(id) || k.cpu.timers_changed {
            return;
        }
    }
}

/// Takes over what the monitor changed since the guest last ran. Returns whether the guest can be
/// entered: where its timer changed, the caller's caller settles that first and comes back.
#[inline]
fn take_changes(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, processor: &mut Processor, state: &State) -> bool {
    if state.dirty.get() != 0 {
        processor.load_state(state);
        processor.set_task_priority(state.tpr.get() as u8);
    }
    let (deadline, armed) = (state.deadline.load(Relaxed), k.guest_deadline_armed(vcpu));
    // `NEVER` does not arm it.
    if deadline != armed && (deadline != NEVER || armed != 0) {
        k.guest_deadline(vcpu, deadline);
        return false;
    }
    // It is hardly ever set: a load is less than an exchange.
    if k.m.flush.load(Relaxed) && k.m.flush.swap(false, Relaxed) {
        processor.flush_translations();
    }
    true
}

/// Offers the most urgent interrupt and enters the guest.
#[inline]
fn enter(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, processor: &mut Processor, state: &State) -> HwExit {
    let guest = &mut k.m.get(vcpu).apic;
    guest.set_task_priority(processor.task_priority());
    let offered = guest.deliverable();
    match offered {
        Some(vector) => processor.request_interrupt(vector),
        None => processor.cancel_interrupt(),
    }
    k.m.load_fpu(processor.fpu_area());
    trace_or_several!(GuestEntry, vcpu.number(), offered.unwrap_or(0), {
        taken::hide(k.m.cpu);
        virtualisation::show_passenger(processor)
    });
    // SAFETY: interrupts are off; `init` enabled virtualisation here; the FPU was just loaded.
    let exit = unsafe { processor.enter(state) };
    trace!(GuestExit, vcpu.number(), 0u64);
    add_one(&state.counters[counter::EXITS]);
    if let Some(vector) = offered
        && !processor.interrupt_pending()
    {
        k.m.get(vcpu).apic.accept(vector);
        add_one(&state.counters[counter::INJECTED]);
    }
    exit
}

/// Handles an exit. Returns whether it concerned the guest alone, which may then run on at once.
#[inline]
fn handle(
    k: &mut Kernel<Hardware>,
    id: Id<Thread>,
    vcpu: Id<Vcpu>,
    processor: &mut Processor,
    state: &State,
    exit: HwExit,
) -> bool {
    match exit {
        HwExit::Interrupt => return interrupted(k, state),
        HwExit::Handled | HwExit::Taken => {}
        HwExit::Msr { write: true, number: msr::X2APIC_EOI } => {
            processor.advance(WRMSR);
            add_one(&state.counters[counter::END_OF_INTERRUPT]);
            k.guest_end_of_interrupt(vcpu);
            return true;
        }
        HwExit::Msr { write: true, number: msr::TSC_DEADLINE }
            if state.timer_vector.load(Relaxed) != 0 && !is_to_tell(k, vcpu, state) =>
        {
            add_one(&state.counters[counter::DEADLINES]);
            let deadline = processor.msr_value(state);
            state.deadline.store(deadline, Relaxed);
            processor.advance(WRMSR);
            k.guest_deadline(vcpu, deadline);
        }
        HwExit::Halt if processor.interrupts_enabled() => {
            add_one(&state.counters[counter::HALTS]);
            processor.advance(HLT);
            note_task_priority(k, vcpu, processor);
            k.guest_halt(vcpu);
        }
        HwExit::Hypercall => match hypercall(k, vcpu, processor, state) {
            Some(result) => processor.finish_hypercall(result),
            None => return_to_monitor(k, id, processor, state, exit),
        },
        other => monitors(k, id, processor, state, other),
    }
    false
}

/// Whether the monitor is to know now how much time the guest has lost. It is told when the guest
/// sets its timer: Linux, which adds up its time at each tick, does that after each one.
#[inline(always)]
fn is_to_tell(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, state: &State) -> bool {
    let at = state.tell_at.get();
    if at == 0 {
        return false;
    }
    let stolen = k.guest_stolen(vcpu);
    if stolen < at {
        return false;
    }
    state.stolen.set(stolen);
    true
}

/// Handles an exit that is the monitor's, unless it sends a message that is the kernel's. It has
/// the same signature as what it calls, so that the loop's code is as if that were called there.
#[inline(never)]
fn monitors(k: &mut Kernel<Hardware>, id: Id<Thread>, processor: &mut Processor, state: &State, exit: HwExit) {
    if let HwExit::Msr { write: true, number: msr::X2APIC_COMMAND } = exit
        && message::send(k, processor, state)
    {
        processor.advance(WRMSR);
        add_one(&state.counters[counter::MESSAGES]);
    } else {
        return_to_monitor(k, id, processor, state, exit);
    }
}

/// Takes over the guest's task priority, which it changes without an exit: what may end its wait
/// depends on that.
#[inline]
fn note_task_priority(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, processor: &Processor) {
    k.m.get(vcpu).apic.set_task_priority(processor.task_priority());
}

#[inline(always)]
fn signal(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, argument: u64) -> Result<(), Error> {
    if argument & dual::CALM != 0 {
        k.guest_urgency(vcpu, 0)?;
    }
    k.guest_signal(vcpu, argument & !dual::CALM)
}

/// Carries out a hypercall that is the kernel's, and returns its result.
#[inline]
fn hypercall(k: &mut Kernel<Hardware>, vcpu: Id<Vcpu>, processor: &Processor, state: &State) -> Option<u64> {
    let register = |number: usize| state.gpr[number].get();
    let result = match processor.hypercall()? {
        dual::SIGNAL => signal(k, vcpu, register(gpr::RBX)),
        dual::URGENCY => k.guest_urgency(vcpu, register(gpr::RBX)),
        dual::WAIT => {
            note_task_priority(k, vcpu, processor);
            k.guest_wait(vcpu)
        }
        dual::TAKEN => return Some(taken::taken(k, vcpu, register(gpr::RBX))),
        _ => return None,
    };
    Some(match result {
        Ok(()) => 0,
        Err(Error::Unsupported) => errno::NO_SUCH_CALL,
        Err(_) => errno::INVALID,
    })
}
