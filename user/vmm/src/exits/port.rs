//! I/O ports.

use pillion_abi::vcpu::gpr;
use pillion_runtime::{call, info::monitor};
use pillion_vmm_devices::{
    answer::{Access, Answer},
    ones,
};

use super::effect::carry_out;
use crate::{end::End, host, linux_vcpu::Vcpu, virtual_machine::VirtualMachine};

pub fn handle(machine: &mut VirtualMachine, vcpu: &Vcpu) -> Option<End> {
    let s = vcpu.state;
    let io = s.io.get();
    vcpu.go_on_at(io.next_rip);
    if io.is_string != 0 {
        // Linux makes no string accesses to ports that exit; one made all the same has no effect.
        return None;
    }
    let access = Access { port: io.port, width: io.width };
    let (rax, mask) = (s.gpr[gpr::RAX].get(), ones(io.width));
    if io.is_in != 0 {
        let kept = if io.width == 4 { 0 } else { rax & !mask };
        s.gpr[gpr::RAX].set(kept | read(machine, access) & mask);
        return None;
    }
    write(machine, vcpu, access, (rax & mask) as u32)
}

fn read(machine: &VirtualMachine, access: Access) -> u64 {
    match machine.bus.read_port(access) {
        Answer::Value(value) => value,
        Answer::Config { address, port } => host::config_read(address, port, access.width).into(),
        Answer::Machine(_) | Answer::Effect(_) => {
            call::port_in(monitor::slot::PORTS, access.port, access.width).unwrap_or(u32::MAX).into()
        }
    }
}

fn write(machine: &mut VirtualMachine, vcpu: &Vcpu, access: Access, value: u32) -> Option<End> {
    match machine.bus.write_port(access, value) {
        Answer::Value(_) => {}
        Answer::Config { address, port } => machine.config_write(address, port, access.width, value),
        Answer::Machine(value) => {
            let _ = call::port_out(monitor::slot::PORTS, access.port, access.width, value);
        }
        Answer::Effect(effect) => return carry_out(machine, vcpu, effect),
    }
    None
}
