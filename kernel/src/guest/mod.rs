//! Running a guest: enter it, handle the exits that are the kernel's, hand the rest to the VM
//! monitor.

pub mod message;
mod passenger;
pub mod taken;
mod user;

use crate::arch::{
    self, machine_check,
    virt::{self, HwExit, Vcpu as Processor},
};
use crate::{hardware::Hardware, interrupt, trace::add_one};
use pillion_abi::{
    RT_VECTOR_FIRST,
    status::Error,
    vcpu::{Exit, Fault, State, counter},
};
use pillion_core::{
    Id, Kernel,
    machine::{Objects as _, Threads as _},
    thread::Thread,
    vcpu::Vcpu,
};

/// Results of a hypercall, as Linux numbers errors.
mod errno {
    pub const INVALID: u64 = -22_i64 as u64;
    pub const NO_SUCH_CALL: u64 = -38_i64 as u64;
}

/// Runs the guest of the current thread up to the next exit that does not concern it alone.
pub fn run(k: &mut Kernel<Hardware>, id: Id<Thread>) {
    let Some(vcpu) = k.m.get(id).guest else { return };
    let v = k.m.get(vcpu);
    let user = v.user;
    if !v.configured {
        k.leave_guest_with(id, 0, 0);
        k.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
        return;
    }
    // SAFETY: that was just checked.
    let (processor, state) = unsafe { parts(vcpu) };
    if user {
        user::run(k, id, vcpu, processor, state);
    } else {
        passenger::run(k, id, vcpu, processor, state);
    }
}

/// As [`run`], for a thread that is in `VcpuRun` with a user vCPU. Returns whether the exit was for
/// that thread, and nothing else happened: it goes on as before the call.
///
/// # Safety
/// The vCPU is configured.
#[inline(always)]
pub unsafe fn run_user(k: &mut Kernel<Hardware>, id: Id<Thread>, vcpu: Id<Vcpu>) -> bool {
    // SAFETY: as the caller says.
    let (processor, state) = unsafe { parts(vcpu) };
    user::run(k, id, vcpu, processor, state)
}

/// # Safety
/// The vCPU is configured; the references are not used after the next system call, nor after an
/// interrupt of [`RT_VECTOR_FIRST`] or above, in which another processor's call may be carried out.
#[inline(always)]
unsafe fn parts<'a>(vcpu: Id<Vcpu>) -> (&'a mut Processor, &'a State) {
    // SAFETY: `VcpuConfigure` came before, says the caller. Nothing that is called while the guest
    // runs takes a second reference or deletes a vCPU: only system calls do, and visits, after
    // which the caller uses neither.
    unsafe { (Hardware::processor(vcpu), Hardware::shared_state(vcpu)) }
}

/// Returns the thread from the guest if its bound notification has bits.
#[inline]
fn notified(k: &mut Kernel<Hardware>, id: Id<Thread>, processor: &Processor, state: &State) -> bool {
    let bits = k.take_bound_bits(id);
    if bits != 0 {
        processor.store_state(state, false);
        k.leave_guest_with(id, Exit::Notified as u64, bits);
    }
    bits != 0
}

/// Handles the physical interrupt that ended the guest's run. Returns whether it concerned a guest
/// alone.
#[inline(always)]
fn interrupted(k: &mut Kernel<Hardware>, state: &State) -> bool {
    add_one(&state.counters[counter::INTERRUPTS]);
    let Some(number) = arch::take_pending_interrupt(k.m.cpu) else { return false };
    interrupt::handle(k, number);
    number < RT_VECTOR_FIRST
}

/// Handles a machine check in the guest: the guest ends and the kernel clears it, or the machine
/// stops if the processor's own state is lost. While the guest has machine checks switched off, one
/// appears as a shutdown (15.12.18).
fn machine_checked(exit: HwExit, state: &State) -> HwExit {
    match exit {
        HwExit::MachineCheck => {}
        HwExit::Shutdown if machine_check::in_progress() => {}
        _ => return exit,
    }
    let found = machine_check::gravest();
    if !found.contained() {
        machine_check::log_all();
        arch::fatal("a machine check, and the processor's state is lost");
    }
    machine_check::end();
    state.fault.set(Fault { address: found.status, info: virt::MACHINE_CHECK });
    HwExit::MachineCheck
}

/// Ends `VcpuRun`, with the reason for the monitor.
fn return_to_monitor(k: &mut Kernel<Hardware>, id: Id<Thread>, processor: &mut Processor, state: &State, exit: HwExit) {
    let number = |info: u64| Fault { address: 0, info };
    let exit = machine_checked(exit, state);
    let (reason, value) = match exit {
        HwExit::Halt => (Exit::Halted, 0),
        HwExit::Cpuid => (Exit::Cpuid, 0),
        HwExit::Msr { write: true, number } => (Exit::WriteMsr, number.into()),
        HwExit::Msr { write: false, number } => (Exit::ReadMsr, number.into()),
        HwExit::Port(io) => {
            state.io.set(io);
            (Exit::Port, 0)
        }
        HwExit::NestedFault(fault) => {
            state.fault.set(fault);
            (Exit::Memory, 0)
        }
        HwExit::Shutdown => (Exit::Shutdown, 0),
        HwExit::Invalid { code } => {
            state.fault.set(number(code));
            (Exit::Invalid, 0)
        }
        HwExit::Hypercall => (Exit::Hypercall, 0),
        HwExit::Refused => (Exit::Refused, 0),
        HwExit::Exception(fault) => {
            state.fault.set(fault);
            (Exit::Exception, 0)
        }
        HwExit::Unexpected { code } => {
            state.fault.set(number(code));
            (Exit::Unexpected, 0)
        }
        HwExit::MachineCheck => (Exit::Unexpected, 0),
        HwExit::Interrupt | HwExit::Taken | HwExit::Handled => return,
    };
    let ended = matches!(reason, Exit::Shutdown | Exit::Invalid | Exit::Unexpected);
    processor.store_state(state, ended);
    state.tpr.set(processor.task_priority().into());
    add_one(&state.counters[counter::RETURNS]);
    k.leave_guest_with(id, reason as u64, value);
}
