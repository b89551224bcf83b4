//! Interrupts that Linux's processors send each other. Those for processors on which Linux has a
//! vCPU are the kernel's, and do not wake the monitor.

use crate::arch::{self, MAX_CPUS, virt::Vcpu as Processor};
use crate::hardware::Hardware;
use pillion_abi::vcpu::State;
use pillion_core::{
    Kernel,
    machine::Devices as _,
    x86_64::message::{Message, Receivers},
};
use pillion_post::Messages;

/// What has been sent to the passenger of each processor.
static MESSAGES: [Messages; MAX_CPUS] = [const { Messages::new() }; MAX_CPUS];

/// Sends what the guest writes to its command register, if it is the kernel's to do so and reaches
/// a passenger. At most one message of the local interrupt controller for each processor.
#[cold]
#[inline(never)]
pub fn send(k: &Kernel<Hardware>, processor: &Processor, state: &State) -> bool {
    if !k.m.several() || state.messages.get() == 0 {
        return false;
    }
    let command = processor.msr_value(state);
    let Some(message) = Message::decode(command) else { return false };
    let mut is_reached = false;
    for number in 0..arch::processors() as usize {
        let Some(messages) = MESSAGES.get(number).filter(|messages| messages.is_open()) else { continue };
        let is_for = match message.to {
            Receivers::One(id) => arch::has_apic(number, id),
            Receivers::All => true,
            Receivers::Others => number != k.m.cpu.index(),
        };
        if is_for {
            is_reached = true;
            if messages.put(message.vector) {
                arch::interrupt_passenger(number);
            }
        }
    }
    if is_reached {
        state.command.set(command);
    }
    is_reached
}

/// Takes what other processors have sent a processor's passenger, a bit for each vector.
pub fn take(own: usize) -> [u64; 4] {
    MESSAGES.get(own).map_or([0; 4], Messages::take)
}

/// Forgets what was sent to a processor's passenger, which accepts messages from now on, or does
/// not.
pub fn accept(own: usize, accept: bool) {
    if let Some(messages) = MESSAGES.get(own) {
        messages.open(accept);
        let _ = messages.take();
    }
}
