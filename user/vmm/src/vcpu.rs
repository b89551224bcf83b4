//! Linux's vCPU: the state that the monitor and the kernel share, and what the kernel does to it.

use pillion_abi::vcpu::{State, dirty};
use pillion_runtime::{
    call,
    info::{address, monitor},
};
use pillion_vmm_devices::answer::Route;

/// The state page.
pub fn state() -> &'static State {
    // SAFETY: the page is mapped for this, for good, and holds cells of integers, which the kernel
    // writes only while this thread is in `vcpu_run`, and atomics, which it writes whenever the
    // guest's timer fires.
    unsafe { &*(address::VCPU_STATE as *const State) }
}

/// Goes on after an instruction.
pub fn advance(bytes: u64) {
    go_on_at(state().rip.get().wrapping_add(bytes));
}

/// Goes on at that address.
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

/// Ends the most urgent interrupt in service.
pub fn end_of_interrupt() {
    let _ = call::vcpu_end_of_interrupt(monitor::slot::VCPU);
}

/// Forgets all interrupts.
pub fn reset() {
    let _ = call::vcpu_reset(monitor::slot::VCPU);
}

/// Hands one route to the kernel, which owns the real I/O APICs. A line that the real-time side has
/// is refused there, and stays with it.
pub fn route(route: Route) {
    let _ = call::vcpu_route_line(monitor::slot::VCPU, monitor::slot::IRQ_CONTROL, route.line.into(), route.word());
}
