//! Physical interrupts: what each vector is for.

use crate::arch::{apic, apic::vector};
use crate::{hardware::Hardware, post, trace::trace};
use pillion_abi::RT_VECTOR_FIRST;
use pillion_core::{Kernel, machine::Devices as _};

/// Records a physical interrupt and handles it.
#[inline(always)]
pub fn handle(k: &mut Kernel<Hardware>, number: u8) {
    trace!(Interrupt, number, 0u64);
    handle_recorded(k, number);
}

/// Handles a physical interrupt.
#[inline(always)]
pub fn handle_recorded(k: &mut Kernel<Hardware>, number: u8) {
    match number {
        vector::TIMER => k.timer_interrupt(),
        // A spurious interrupt needs no EOI; but a device may have sent a message with this vector,
        // which holds everything back until its EOI.
        vector::SPURIOUS if !apic::in_service(number) => {}
        vector::SPURIOUS => k.m.end_of_interrupt(),
        vector::ERROR => k.m.end_of_interrupt(),
        // A device may have sent it: then there is no letter.
        vector::IPI => {
            k.m.end_of_interrupt();
            post::receive(k);
        }
        RT_VECTOR_FIRST.. => k.rt_interrupt(number),
        _ => k.passenger_interrupt(number),
    }
}
