//! What is left to do after an access.

use pillion_vmm_devices::answer::{Effect, Request};

use crate::{end::End, linux_log, linux_vcpu::Vcpu, virtual_machine::VirtualMachine};

/// Carries out an effect of an access by a processor. Returns how Linux ended, if it did.
pub fn carry_out(machine: &mut VirtualMachine, vcpu: &Vcpu, effect: Effect) -> Option<End> {
    match effect {
        Effect::Interrupt(vector) => vcpu.inject(vector),
        Effect::Message(message) => machine.send(vcpu, message),
        Effect::EndOfInterrupt => vcpu.end_of_interrupt(),
        Effect::Route(route) => machine.route(route),
        Effect::Note(byte) => {
            if let Some(line) = machine.notes.push(byte) {
                linux_log::note(line);
            }
        }
        Effect::Request(Request::Reset) => return Some(End::Reboot),
        Effect::Request(Request::PowerOff { .. }) => return Some(End::PowerOff),
        Effect::Nmi => vcpu.interrupt_by_nmi(),
        Effect::None => {}
    }
    None
}
