//! I/O ports.

use pillion_abi::vcpu::{Io, State, dirty, gpr};
use pillion_runtime::{call, info::slot};
use pillion_vmm_devices::{
    notes, ones, pci,
    power::{self, Request},
};

use crate::{
    lifecycle::End,
    machine::{Machine, state},
    ports, report,
};

pub fn handle(machine: &mut Machine) -> Option<End> {
    let s = state();
    let io = s.io;
    s.rip = io.next_rip;
    s.dirty |= dirty::CORE;
    if io.is_string != 0 {
        // Linux moves no strings through ports that exit; whoever does gets nothing.
        return None;
    }
    if io.is_in != 0 {
        let value = read(machine, io);
        load(s, io.width, value);
        return None;
    }
    write(machine, io, s.gpr[gpr::RAX] as u32 & ones(io.width) as u32)
}

/// Puts what was read into al, ax or eax.
fn load(s: &mut State, width: u8, value: u32) {
    let mask = ones(width);
    let kept = if width == 4 { 0 } else { s.gpr[gpr::RAX] & !mask };
    s.gpr[gpr::RAX] = kept | u64::from(value) & mask;
}

fn read(machine: &mut Machine, io: Io) -> u32 {
    match machine.pci.read(io.port, io.width) {
        pci::Outcome::Value(value) => return value,
        pci::Outcome::Pass { address, port } => return ports::config_read(address, port, io.width),
        pci::Outcome::Elsewhere => {}
    }
    match machine.power.read(io.port, io.width) {
        power::Outcome::Value(value) => return value,
        power::Outcome::Pass(_) => return call::port_in(slot::PORTS, io.port, io.width).unwrap_or(u32::MAX),
        power::Outcome::Request(_) | power::Outcome::NotMine => {}
    }
    if io.port == notes::PORT || ports::is_hidden(machine, io.port, io.width) {
        return if io.port == notes::PORT { notes::PORT.into() } else { u32::MAX };
    }
    call::port_in(slot::PORTS, io.port, io.width).unwrap_or(u32::MAX)
}

fn write(machine: &mut Machine, io: Io, value: u32) -> Option<End> {
    match machine.pci.write(io.port, io.width, value) {
        pci::Outcome::Value(_) => return None,
        pci::Outcome::Pass { address, port } => {
            ports::guest_config_write(machine, address, port, io.width, value);
            return None;
        }
        pci::Outcome::Elsewhere => {}
    }
    match machine.power.write(io.port, io.width, value) {
        power::Outcome::Request(Request::Reset) => return Some(End::Reboot),
        power::Outcome::Request(Request::PowerOff { .. }) => return Some(End::PowerOff),
        power::Outcome::Value(_) => return None,
        power::Outcome::Pass(value) => {
            let _ = call::port_out(slot::PORTS, io.port, io.width, value);
            return None;
        }
        power::Outcome::NotMine => {}
    }
    if io.port == notes::PORT {
        if let Some(line) = machine.notes.push(value as u8) {
            report::note(line);
        }
    } else if !ports::is_hidden(machine, io.port, io.width) {
        let _ = call::port_out(slot::PORTS, io.port, io.width, value);
    }
    None
}
