//! User vCPUs: code of a process in the guest, on the page tables that the guest's kernel made for
//! it. A user vCPU gets no interrupts: all that arrive are for the host.

use super::{interrupted, return_to_monitor};
use crate::arch::virt::{HwExit, UserExit, Vcpu as Processor};
use crate::{
    entry::change_fpu,
    hardware::Hardware,
    trace::{add_one, trace, trace_or_several},
    virtualisation,
};
use pillion_abi::vcpu::{Exit, State, counter};
use pillion_core::{Id, Kernel, thread::Thread, vcpu::Vcpu};

/// Runs the code up to the next exit. Returns whether that was for the thread, and nothing else
/// happened.
///
/// Translations are dropped at each entry: the guest's kernel may have run since this vCPU did, and
/// changes page tables without notice; so may another vCPU with the same address-space number have
/// run. On other processors the guest's kernel changes them at any time: where a thread uses them,
/// it interrupts this one ([`super::taken`]).
#[inline(always)]
pub fn run(k: &mut Kernel<Hardware>, id: Id<Thread>, vcpu: Id<Vcpu>, processor: &mut Processor, state: &State) -> bool {
    if state.dirty.get() != 0 {
        processor.load_user_state(state);
    }
    let bits = k.take_bound_bits(id);
    if bits != 0 {
        processor.store_user_state(state);
        k.leave_guest_with(id, Exit::Notified as u64, bits);
        return false;
    }
    if !k.m.opens_fpu(Hardware::fpu_area(id)) {
        change_fpu(k, id);
    }
    trace_or_several!(GuestEntry, vcpu.number(), 0u64, virtualisation::show_guest(processor));
    // SAFETY: interrupts are off; `init` enabled virtualisation here; the FPU was just loaded.
    let exit = unsafe { processor.enter_user(state) };
    trace!(GuestExit, vcpu.number(), 0u64);
    add_one(&state.counters[counter::EXITS]);
    match exit {
        Ok(fault) => {
            state.fault.set(fault);
            processor.store_user_state(state);
            add_one(&state.counters[counter::RETURNS]);
            k.leave_user_guest(id, vcpu, Exit::Exception as u64);
            true
        }
        Err(other) => {
            handle(k, id, processor, state, other);
            false
        }
    }
}

/// Handles an exit that is not an exception.
#[inline(never)]
fn handle(k: &mut Kernel<Hardware>, id: Id<Thread>, processor: &mut Processor, state: &State, exit: UserExit) {
    match processor.decode_user(exit) {
        HwExit::Interrupt => _ = interrupted(k, state),
        HwExit::Taken => {}
        other => {
            processor.store_user_state(state);
            return_to_monitor(k, id, processor, state, other);
        }
    }
}
