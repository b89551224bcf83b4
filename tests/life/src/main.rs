//! A task without a skin that asks the resource manager for what it may, or may not, have. Its
//! arguments choose its part:
//!
//! - `mischief`: makes every request that it may not make, and expects every single one to be
//!   refused;
//! - `starter`: starts Linux as soon as Linux is off, lets it run for four seconds, and ends the
//!   system.
#![no_std]
#![no_main]

use pillion_abi::call::{LABEL_FAULT, LABEL_NOTIFIED, MESSAGE_WORDS};
use pillion_runtime::{
    call::call,
    info::{self, label, slot},
    now, park, println, sleep, task,
};

const EPERM: i64 = -1;
const EBUSY: i64 = -16;

/// Label of an answer that refuses.
const REFUSED: u64 = 1;

task!(main);

fn main(_: u64) -> ! {
    let facts = info::task();
    match info::text(&facts.arguments) {
        "mischief" => mischief(),
        _ => starter(facts.tsc_hz),
    }
}

/// The manager's answer: label and first word.
fn say(label: u64) -> (u64, i64) {
    call(slot::MANAGER, label, [0; MESSAGE_WORDS])
        .map_or((u64::MAX, 0), |answer| (answer.label, answer.words[0] as i64))
}

fn mischief() -> ! {
    let labels = (0..0x400).filter(|label| label & 0xff != label::LOG);
    let forged = [label::END | 1 << 63, LABEL_FAULT, LABEL_NOTIFIED];
    for label in labels.chain(forged) {
        let answered = say(label);
        if answered != (REFUSED, EPERM) {
            println!("test mischief FAILED label {label:#x} was answered {answered:?}");
            park();
        }
    }
    println!("test mischief ok");
    println!("tests 1 passed 0 failed");
    park()
}

fn starter(tsc_hz: u64) -> ! {
    let pause = |quarters: u64| sleep(now() + quarters * tsc_hz / 4);
    let mut busy = 0;
    loop {
        match say(label::LINUX_START) {
            (0, 0) => break,
            (0, EBUSY) => busy += 1,
            other => {
                println!("[starter] cannot start Linux: {other:?}");
                park();
            }
        }
        let _ = pause(1);
    }
    println!("[starter] Linux is started again; it was there before: {}", busy != 0);
    let _ = pause(16);
    println!("[starter] ends the system");
    say(label::END);
    park()
}
