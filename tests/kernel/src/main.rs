//! Tests every kernel object on the machine itself, from user mode. Times are counted: a nanosecond
//! is an instruction.
#![no_std]
#![no_main]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod budget;
mod capability;
mod cells;
mod counts;
mod deletion;
mod elsewhere;
mod endpoint;
mod endpoint_end;
mod exits;
mod fault;
mod fault_handler;
mod fpu;
mod guest_interrupt;
mod guest_message;
mod guest_nmi;
mod guest_signal;
mod guest_wait;
mod inheritance;
mod interrupt;
mod mappings;
mod notification;
mod port;
mod posts;
mod preemption;
mod refusal;
mod refusal_limits;
mod refusal_state;
mod refusal_target;
mod region;
mod scheduling;
mod several;
mod start_up;
mod stress;
mod thread;
mod time;
mod trace;
mod translations;
mod urgency;
mod user_vcpu;
mod user_vcpu_beside;
mod without_svm;

use pillion_abi::boot::feature;
use pillion_runtime::{println, task};
use pillion_test_kit::{Checked, Kit, end, stop};

task!(main);

/// A test and its name.
type Test = (&'static str, fn(&mut Kit) -> Checked);

const ALL: [&[Test]; 31] = [
    refusal::TESTS,
    refusal_target::TESTS,
    refusal_state::TESTS,
    refusal_limits::TESTS,
    capability::TESTS,
    region::TESTS,
    mappings::TESTS,
    notification::TESTS,
    time::TESTS,
    trace::TESTS,
    urgency::TESTS,
    scheduling::TESTS,
    budget::TESTS,
    thread::TESTS,
    endpoint::TESTS,
    endpoint_end::TESTS,
    inheritance::TESTS,
    fault::TESTS,
    fault_handler::TESTS,
    fpu::TESTS,
    port::TESTS,
    interrupt::TESTS,
    preemption::TESTS,
    deletion::TESTS,
    exits::TESTS,
    start_up::TESTS,
    guest_nmi::TESTS,
    guest_signal::TESTS,
    guest_wait::TESTS,
    user_vcpu::TESTS,
    user_vcpu_beside::TESTS,
];

/// The tests that run on a processor without virtualisation.
const WITHOUT_SVM: [&[Test]; 6] =
    [without_svm::TESTS, region::TESTS, notification::TESTS, endpoint::TESTS, fault_handler::TESTS, fpu::TESTS];

fn tests(has_svm: bool, cpus: u64) -> impl Iterator<Item = &'static Test> {
    let groups: &[&'static [Test]] = if has_svm { &ALL } else { &WITHOUT_SVM };
    let guests = if has_svm { guest_interrupt::TESTS } else { &[] };
    let elsewhere = if cpus > 1 { several::TESTS } else { &[] };
    let among_four: [&[Test]; 5] = if cpus > 3 {
        [posts::TESTS, translations::TESTS, counts::TESTS, guest_message::TESTS, elsewhere::TESTS]
    } else {
        [&[]; 5]
    };
    groups.iter().copied().flatten().chain(guests).chain(elsewhere).chain(among_four.into_iter().flatten())
}

/// # Safety
/// Only the entry point calls it, with the kernel's argument.
unsafe fn main(argument: u64) -> ! {
    // SAFETY: by the contract of this function.
    let Some(mut kit) = (unsafe { Kit::new(argument) }) else {
        println!("tests cannot begin");
        end(0, false)
    };
    if let Some(seconds) = option(&kit, b"stress=") {
        let (name, seed) = ("stress", option(&kit, b"seed=").unwrap_or(1));
        let patience = option(&kit, b"patience=").unwrap_or(30);
        let outcome = stress::run(&mut kit, seconds, seed, patience);
        finish(&kit, u64::from(report(name, outcome)), 1)
    }
    let on = option(&kit, b"on=").unwrap_or(0);
    if kit.number(0) == on {
        run(&mut kit)
    }
    // The tests run elsewhere, and this processor sleeps.
    if let Err(error) = kit.begin_on(on) {
        println!("tests cannot begin on processor {on}: {error:?}");
        end(0, false)
    }
    stop()
}

/// A number of the kernel's command line, behind this word.
fn option(kit: &Kit, name: &[u8]) -> Option<u64> {
    let words = kit.info.command_line.split(|byte| matches!(byte, b' ' | 0));
    let value = words.filter_map(|word| word.strip_prefix(name)).next()?;
    core::str::from_utf8(value).ok()?.parse().ok()
}

fn run(kit: &mut Kit) -> ! {
    let (mut passed, mut all) = (0, 0);
    for (name, test) in tests(kit.info.features & feature::SVM != 0, kit.info.cpus) {
        cells::clear();
        let outcome = kit.begin().and_then(|()| test(kit));
        // A failed test is cleaned up all the same.
        let outcome = outcome.and(kit.end());
        if outcome.is_err() {
            let _ = kit.end();
        }
        all += 1;
        passed += u64::from(report(name, outcome));
    }
    finish(kit, passed, all)
}

/// Reports a test. Returns whether it passed.
fn report(name: &str, outcome: Checked) -> bool {
    match &outcome {
        Ok(()) => println!("test {name} ok"),
        Err(why) => println!("test {name} FAILED {why}"),
    }
    outcome.is_ok()
}

fn finish(kit: &Kit, passed: u64, all: u64) -> ! {
    println!("tests {passed} passed {} failed", all - passed);
    end(kit.info.tsc_hz, passed == all)
}
