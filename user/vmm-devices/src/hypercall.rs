//! The calls that a kernel module makes to reach real-time tasks
//! ([`pillion_abi::channel::hypercall`]).

use core::cell::Cell;
use pillion_abi::{channel::hypercall, vcpu::gpr};

/// Bytes of the instruction.
pub const LENGTH: u64 = 3;

/// No such call (`ENOSYS`).
pub const UNKNOWN: i64 = -38;

/// An argument out of range (`EINVAL`).
pub const INVALID: i64 = -22;

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hypercall {
    /// The module is there, or goes.
    Hello(bool),
    /// A task has something to look at.
    Kick(u32),
    /// The resource manager is to carry out a command.
    Command,
    /// A call that is answered by this alone.
    Answer(i64),
}

/// The call that the guest makes with those general registers and that code segment, where there
/// are that many tasks. Only its most privileged mode can make one.
#[must_use]
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
