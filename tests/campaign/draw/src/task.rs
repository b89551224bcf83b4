//! The steps of a hostile task.

use crate::{Actor, Rng};
use pillion_abi::call::Call;

/// A class of steps; its number is its bit in a mask of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Calls with any capability and argument.
    Calls,
    /// Messages to the manager, the broker and other endpoints.
    Messages,
    /// Writes to shared memory.
    Memory,
    /// Passing time.
    Time,
}

impl Class {
    /// All classes, by their bits.
    pub const ALL: [Class; 4] = [Class::Calls, Class::Messages, Class::Memory, Class::Time];

    /// The class's bit in a mask.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// One step of a task. Numbers stand for themselves; a deadline counts from the moment of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A system call: number, capability and arguments.
    Call(u64, u64, [u64; 5]),
    /// A call whose argument is a deadline in this many ns.
    Wait(Call, u64, u32),
    /// A message by `Call`: endpoint, label and words.
    Message(u64, u64, [u64; 8]),
    /// Writes a word at an offset into shared memory: 0 its part of the window, 1 the pool, 2 its
    /// transfer memory, 3 its status.
    Write(u8, u32, u64),
    /// Spins for this many ns.
    Spin(u32),
    /// Touches an address: most fault, and a fault is the task's end.
    Touch(u64, bool),
}

/// The number of steps that a task makes.
pub const STEPS: u32 = 1500;

/// The step with this number, and its class.
#[must_use]
pub fn step(seed: u64, actor: Actor, number: u32) -> (Class, Step) {
    let mut rng = Rng::new(seed, (actor as u64) << 32 | u64::from(number));
    let skinned = actor == Actor::Skinned;
    let class = match rng.below(20) {
        0..=10 => Class::Calls,
        11..=15 => Class::Messages,
        16 | 17 if skinned => Class::Memory,
        _ => Class::Time,
    };
    let step = match class {
        Class::Calls => call(&mut rng),
        Class::Messages => message(&mut rng, skinned),
        Class::Memory => memory(&mut rng),
        Class::Time => time(&mut rng),
    };
    (class, step)
}

fn slot(rng: &mut Rng) -> u64 {
    match rng.below(8) {
        0 => rng.number(),
        1 => rng.below(300),
        2 => 64 + rng.below(4),
        3 => 128 + rng.below(4),
        4 => 192 + rng.below(4),
        _ => rng.below(12),
    }
}

fn argument(rng: &mut Rng) -> u64 {
    match rng.below(6) {
        0 | 1 => slot(rng),
        2 => 4096 * rng.below(0x2_0000),
        3 => rng.below(256),
        _ => rng.number(),
    }
}

fn call(rng: &mut Rng) -> Step {
    let call = rng.pick(Call::ALL);
    match call {
        Call::Sleep | Call::Wait | Call::Receive | Call::TimerSet => Step::Wait(call, slot(rng), deadline(rng)),
        // This call would wait without a deadline.
        Call::ReplyReceive => Step::Spin(100),
        Call::CapDelete | Call::CapRevoke | Call::CapMove | Call::ThreadSuspend if !rng.one_in(20) => {
            Step::Call(call as u64, 0, [300 + rng.below(9), slot(rng), slot(rng), 0, 0])
        }
        _ => {
            let number = if rng.one_in(16) { rng.number() } else { call as u64 };
            // Leave out calls that could wait forever by chance.
            let number = if number == Call::ReplyReceive as u64 { u64::MAX } else { number };
            Step::Call(number, slot(rng), core::array::from_fn(|_| argument(rng)))
        }
    }
}

fn message(rng: &mut Rng, skinned: bool) -> Step {
    let endpoint = match rng.below(8) {
        0 => slot(rng),
        1..=3 if skinned => 9,
        _ => 1,
    };
    let label = match rng.below(4) {
        // END of a task with a skin only seldom: that task may end itself.
        0 => rng.number(),
        1 => rng.below(64) << 8 | 1,
        _ => 1 + rng.below(12),
    };
    let words = core::array::from_fn(|_| if rng.one_in(3) { rng.number() } else { rng.below(16) });
    Step::Message(endpoint, label, words)
}

fn memory(rng: &mut Rng) -> Step {
    Step::Write(rng.below(4) as u8, rng.next() as u32, rng.number())
}

fn deadline(rng: &mut Rng) -> u32 {
    if rng.one_in(4) { 0 } else { (rng.number() % 200_000) as u32 }
}

fn time(rng: &mut Rng) -> Step {
    match rng.below(200) {
        0 => Step::Touch(rng.number(), rng.one_in(2)),
        n if n % 2 == 0 => Step::Spin((rng.number() % 20_000) as u32),
        _ => Step::Wait(Call::Sleep, 0, deadline(rng)),
    }
}
