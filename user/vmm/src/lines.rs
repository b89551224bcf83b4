//! Interrupt lines: what Linux writes into its I/O APICs goes to the kernel, which owns the real one.

use pillion_runtime::{call, info::slot};
use pillion_vmm_devices::ioapic::Route;

use crate::machine::Machine;

/// Hands one route to the kernel. A line that the real-time side has is refused there, and stays with it.
pub fn hand(route: Route) {
    let _ = call::vcpu_route_line(slot::VCPU, slot::IRQ_CONTROL, route.line.into(), route.word());
}

/// Hands all routes over.
pub fn hand_all(machine: &Machine) {
    machine.io_apics.routes().for_each(hand);
}
