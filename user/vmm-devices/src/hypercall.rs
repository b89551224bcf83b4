//! The hypercalls by which a kernel module reaches real-time tasks
//! ([`pillion_abi::channel::hypercall`]).

use core::cell::Cell;
use pillion_abi::{channel::hypercall, vcpu::gpr};

/// Length of the instruction in bytes.
pub const LENGTH: u64 = 3;

/// There is no such call (`ENOSYS`).
pub const UNKNOWN: i64 = -38;

/// An argument is out of range (`EINVAL`).
pub const INVALID: i64 = -22;

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hypercall {
    /// The module is loaded (true) or unloaded (false).
    Hello(bool),
    /// This task has something to check.
    Kick(u32),
    /// Have the resource manager carry out a command.
    Command,
    /// A call that only returns this result.
    Answer(i64),
}

/// Decodes the hypercall that the guest makes with these general registers and this code segment,
/// on a system with `tasks` tasks. Only the guest's most privileged mode can make one.
pub fn decode(registers: &[Cell<u64>; 16], code_segment: u16, tasks: u64) -> Option<Hypercall> {
    if code_segment & 3 != 0 {
        return None;
    }
    let argument = registers[gpr::RBX].get();
    Some(match (registers[gpr::RAX].get(), argument) {
        (hypercall::HELLO, 0 | 1) => Hypercall::Hello(argument == 1),
        (hypercall::KICK, _) if argument < tasks => Hypercall::Kick(argument as u32),
        (hypercall::COMMAND, _) => Hypercall::Command,
        (hypercall::HELLO | hypercall::KICK, _) => Hypercall::Answer(INVALID),
        _ => Hypercall::Answer(UNKNOWN),
    })
}
