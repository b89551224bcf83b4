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

/// Sends what the guest writes to its command register, if it is the kernel's to do so. At most one
/// message of the local interrupt controller for each processor.
#[cold]
#[inline(never)]
pub fn send(k: &Kernel<Hardware>, processor: &Processor, state: &State) -> bool {
    if !k.m.several() || state.messages.get() == 0 {
        return false;
    }
    let command = processor.msr_value(state);
    let Some(message) = Message::decode(command) else { return false };
    let own = k.m.cpu.index();
    let all = 0..arch::processors() as usize;
    let is_open = |number: &usize| MESSAGES.get(*number).is_some_and(Messages::is_open);
    match message.to {
        Receivers::One(id) => {
            let Some(number) = all.filter(is_open).find(|number| arch::has_apic(*number, id)) else { return false };
            tell(number, message.vector);
        }
        Receivers::All => all.filter(is_open).for_each(|number| tell(number, message.vector)),
        Receivers::Others => {
            let others = all.filter(is_open).filter(|number| *number != own);
            others.for_each(|number| tell(number, message.vector));
        }
    }
    state.command.set(command);
    true
}

fn tell(number: usize, vector: u8) {
    if MESSAGES.get(number).is_some_and(|messages| messages.put(vector)) {
        arch::interrupt_passenger(number);
    }
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
