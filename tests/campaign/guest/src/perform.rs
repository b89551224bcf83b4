//! Makes a step.

use core::arch::asm;

use pillion_campaign::guest::{End, Place, Step, Way};

use crate::{
    facts::{self, Device, Facts},
    instruction,
    place::{KERNEL, address},
    port, processor, witness,
};

/// Makes a step. Does not return if there is an exception: the next step follows.
pub fn step(step: &Step) {
    match *step {
        Step::PortIn { port, width } => drop(port::read(port, width)),
        Step::PortOut { port, width, value } => port::write(port, width, value),
        Step::PortString { port, width, out, count, place } => port::string(port, width, out, count, address(place)),
        Step::ReadRegister(number) => drop(processor::read(number)),
        Step::WriteRegister(number, value) => processor::write(number, value),
        Step::Config { way, bus, device, function, register, width, value } => {
            config(way, (bus, device, function), register, width, value);
        }
        Step::Load { place: Place::Device(number, offset), width } if port_of(number).is_some() => {
            port::read(port_of(number).unwrap_or(0).wrapping_add(offset as u16 & 0x3f), width.min(4));
        }
        Step::Store { place: Place::Device(number, offset), width, value } if port_of(number).is_some() => {
            port::write(port_of(number).unwrap_or(0).wrapping_add(offset as u16 & 0x3f), width.min(4), value as u32);
        }
        Step::Load { place, width } => load(address(place), width),
        Step::Store { place, width, value } => store(address(place), width, value),
        Step::Hypercall { number, argument } => hypercall(number, argument),
        Step::Flip { register, bits } => processor::flip(register, bits),
        Step::Identify { leaf, subleaf } => drop(processor::identify(leaf, subleaf)),
        Step::Run(instruction) => instruction::run(&instruction),
        Step::Spin { ns, open } => processor::spin(ns, open),
        Step::Sleep { ns } => processor::sleep(ns),
        Step::End(end) => self::end(end),
    }
}

fn port_of(number: u8) -> Option<u16> {
    match Facts::get().device(number) {
        Some(Device::Port(first)) => Some(first),
        _ => None,
    }
}

fn config(way: Way, (bus, device, function): (u8, u8, u8), register: u16, width: u8, value: Option<u32>) {
    let address = facts::config_address(bus, device, function, register);
    match (way, value) {
        (Way::Ports, None) => {
            witness::configuration(facts::config_read(bus, device, function, register, width), address);
        }
        (Way::Ports, Some(value)) => facts::config_write(bus, device, function, register, width, value),
        (Way::Memory, _) if Facts::get().config == 0 => {}
        (Way::Memory, None) => load(address, width),
        (Way::Memory, Some(value)) => store(address, width, value.into()),
    }
}

/// Reads memory by a plain move.
fn load(address: u64, width: u8) {
    let mut value = 0u64;
    // SAFETY: any address may be tried; an exception ends the step, and any value is acceptable.
    unsafe {
        match width {
            1 => asm!("mov {:l}, [{}]", inout(reg) value, in(reg) address),
            2 => asm!("mov {:x}, [{}]", inout(reg) value, in(reg) address),
            4 => asm!("mov {:e}, [{}]", inout(reg) value, in(reg) address),
            _ => asm!("mov {}, [{}]", inout(reg) value, in(reg) address),
        }
    }
    witness::memory(value, address);
    witness::configuration(value as u32, address);
}

/// Writes memory by a plain move.
fn store(address: u64, width: u8, value: u64) {
    // SAFETY: this program exists to do what it must not; the damage is its own.
    unsafe {
        match width {
            1 => asm!("mov [{}], {:l}", in(reg) address, in(reg) value),
            2 => asm!("mov [{}], {:x}", in(reg) address, in(reg) value),
            4 => asm!("mov [{}], {:e}", in(reg) address, in(reg) value),
            _ => asm!("mov [{}], {}", in(reg) address, in(reg) value),
        }
    }
}

fn hypercall(number: u64, argument: u64) {
    // SAFETY: as in `store`. `rbx` is the compiler's, and is restored.
    unsafe {
        asm!("xchg rbx, {argument}", "vmmcall", "mov rbx, {argument}",
            argument = inout(reg) argument => _, inout("rax") number => _)
    };
}

fn end(end: End) {
    // SAFETY: this life ends here.
    unsafe {
        match end {
            End::Halt | End::Done => asm!("cli", "hlt"),
            End::Reset => port::write(0xcf9, 1, 6),
            End::RunAway => asm!("jmp {}", in(reg) KERNEL, options(noreturn)),
            End::TripleFault => {
                let nothing = [0u64; 2];
                asm!("lidt [{}]", "ud2", in(reg) &raw const nothing, options(noreturn))
            }
        }
    }
}
