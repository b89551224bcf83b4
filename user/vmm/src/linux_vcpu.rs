//! Linux's vCPU: the state that the monitor and the kernel share, and the calls on it.

use pillion_abi::vcpu::{State, dirty};
use pillion_runtime::{
    call,
    info::{address, monitor},
};
use pillion_vmm_devices::answer::Route;

pub fn state() -> &'static State {
    // SAFETY: the page is mapped at this address for good. It holds cells of integers, which the
    // kernel writes only while this thread is in `vcpu_run`, and atomics, which the kernel writes
    // whenever the guest's timer fires.
    unsafe { &*(address::VCPU_STATE as *const State) }
}

/// Continues after an instruction of that length.
pub fn advance(bytes: u64) {
    go_on_at(state().rip.get().wrapping_add(bytes));
}

/// Continues at that address.
pub fn go_on_at(rip: u64) {
    state().rip.set(rip);
    state().dirty.update(|bits| bits | dirty::CORE);
}

/// Delivers an exception instead of completing the instruction.
pub fn raise(event: u64) {
    state().event.set(event);
    state().dirty.update(|bits| bits | dirty::EVENT);
}

/// Makes a vector pending.
pub fn inject(vector: u8) {
    let _ = call::vcpu_inject(monitor::slot::VCPU, vector);
}

/// Ends the highest-priority interrupt in service.
pub fn end_of_interrupt() {
    let _ = call::vcpu_end_of_interrupt(monitor::slot::VCPU);
}

/// Discards all interrupts.
pub fn reset() {
    let _ = call::vcpu_reset(monitor::slot::VCPU);
}

/// Passes a route to the kernel, which owns the real I/O APICs. The kernel refuses a line that
/// belongs to the real-time side.
pub fn route(route: Route) {
    let _ = call::vcpu_route_line(monitor::slot::VCPU, monitor::slot::IRQ_CONTROL, route.line.into(), route.word());
}
