//! User vCPUs: code of a process in the guest, on the page tables that the guest's kernel made for
//! it. A user vCPU gets no interrupts: all that arrive are for the host.

use super::{interrupted, notified, return_to_monitor};
use crate::arch::virt::{HwExit, Vcpu as Processor};
use crate::{hardware::Hardware, trace::trace};
use pillion_abi::vcpu::{State, counter};
use pillion_core::{Id, Kernel, thread::Thread, vcpu::Vcpu};

/// Runs the code up to the next exit, or until another thread is to run.
pub fn run(k: &mut Kernel<Hardware>, id: Id<Thread>, vcpu: Id<Vcpu>, processor: &mut Processor, state: &State) {
    take_changes(processor, state);
    if notified(k, id, processor, state) {
        return processor.store_user_segments(state);
    }
    loop {
        k.m.load_fpu(Hardware::fpu_area(id));
        trace!(GuestEntry, vcpu.number(), 0u64);
        // SAFETY: interrupts are off; `init` enabled virtualisation here; the FPU was just loaded.
        let exit = unsafe { processor.enter_user(state) };
        trace!(GuestExit, vcpu.number(), 0u64);
        state.counters[counter::EXITS].update(|count| count.wrapping_add(1));
        let alone = match exit {
            HwExit::Interrupt => interrupted(k, state),
            HwExit::Taken => false,
            other => {
                processor.store_user_segments(state);
                return return_to_monitor(k, id, processor, state, other);
            }
        };
        if !alone || k.cpu.current != Some(id) || k.cpu.timers_changed {
            return;
        }
    }
}

/// Takes over what the monitor changed, and drops all translations: the guest's kernel may have run
/// since this vCPU did, and changes page tables without notice; so may another vCPU with the same
/// address-space number have run.
fn take_changes(processor: &mut Processor, state: &State) {
    if state.dirty.get() != 0 {
        processor.load_user_state(state);
    }
    processor.flush_translations();
}
