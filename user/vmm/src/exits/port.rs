//! I/O ports.

use pillion_abi::vcpu::{Io, State, dirty, gpr};
use pillion_runtime::{call, info::slot};
use pillion_vmm_devices::{
    ones,
    port::{Access, Answer},
    power::Request,
};

use crate::{
    lifecycle::End,
    machine::{Machine, state},
    ports, report,
};

pub fn handle(machine: &mut Machine) -> Option<End> {
    let s = state();
    let io = s.io.get();
    s.rip.set(io.next_rip);
    s.dirty.update(|bits| bits | dirty::CORE);
    if io.is_string != 0 {
        // Linux moves no strings through ports that exit; whoever does gets nothing.
        return None;
    }
    if io.is_in != 0 {
        let value = read(machine, io);
        load(s, io.width, value);
        return None;
    }
    write(machine, io, s.gpr[gpr::RAX].get() as u32 & ones(io.width) as u32)
}

/// Puts what was read into al, ax or eax.
fn load(s: &State, width: u8, value: u32) {
    let mask = ones(width);
    let kept = if width == 4 { 0 } else { s.gpr[gpr::RAX].get() & !mask };
    s.gpr[gpr::RAX].set(kept | u64::from(value) & mask);
}

fn read(machine: &mut Machine, io: Io) -> u32 {
    match machine.ports().read(access(io)) {
        Answer::Value(value) => value,
        Answer::Config { address, port } => ports::config_read(address, port, io.width),
        Answer::Machine(_) | Answer::Note(_) | Answer::Request(_) => {
            call::port_in(slot::PORTS, io.port, io.width).unwrap_or(u32::MAX)
        }
    }
}

fn write(machine: &mut Machine, io: Io, value: u32) -> Option<End> {
    match machine.ports().write(access(io), value) {
        Answer::Value(_) => {}
        Answer::Config { address, port } => ports::guest_config_write(machine, address, port, io.width, value),
        Answer::Machine(value) => {
            let _ = call::port_out(slot::PORTS, io.port, io.width, value);
        }
        Answer::Note(byte) => {
            if let Some(line) = machine.notes.push(byte) {
                report::note(line);
            }
        }
        Answer::Request(Request::Reset) => return Some(End::Reboot),
        Answer::Request(Request::PowerOff { .. }) => return Some(End::PowerOff),
    }
    None
}

fn access(io: Io) -> Access {
    Access { port: io.port, width: io.width }
}
