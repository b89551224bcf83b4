//! Tests every kernel object on the machine itself, from user mode. Times are counted: a nanosecond
//! is an instruction.
#![no_std]
#![no_main]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod budget;
mod capability;
mod cells;
mod endpoint;
mod endpoint_end;
mod exits;
mod fault;
mod fault_handler;
mod fpu;
mod guest_interrupt;
mod guest_signal;
mod guest_wait;
mod inheritance;
mod interrupt;
mod mappings;
mod notification;
mod port;
mod preemption;
mod refusal;
mod refusal_limits;
mod refusal_state;
mod refusal_target;
mod region;
mod scheduling;
mod thread;
mod time;
mod urgency;
mod user_vcpu;
mod user_vcpu_beside;
mod without_svm;

use pillion_abi::boot::feature;
use pillion_runtime::{println, task};
use pillion_test_kit::{Checked, Kit, end};

task!(main);

/// A test and its name.
type Test = (&'static str, fn(&mut Kit) -> Checked);

const ALL: [&[Test]; 27] = [
    refusal::TESTS,
    refusal_target::TESTS,
    refusal_state::TESTS,
    refusal_limits::TESTS,
    capability::TESTS,
    region::TESTS,
    mappings::TESTS,
    notification::TESTS,
    time::TESTS,
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
    exits::TESTS,
    guest_signal::TESTS,
    guest_wait::TESTS,
    user_vcpu::TESTS,
    user_vcpu_beside::TESTS,
];

/// The tests that run on a processor without virtualisation.
const WITHOUT_SVM: [&[Test]; 6] =
    [without_svm::TESTS, region::TESTS, notification::TESTS, endpoint::TESTS, fault_handler::TESTS, fpu::TESTS];

fn tests(has_svm: bool) -> impl Iterator<Item = &'static Test> {
    let groups: &[&'static [Test]] = if has_svm { &ALL } else { &WITHOUT_SVM };
    let guests = if has_svm { guest_interrupt::TESTS } else { &[] };
    groups.iter().copied().flatten().chain(guests)
}

/// # Safety
/// Only the entry point calls it, with the kernel's argument.
unsafe fn main(argument: u64) -> ! {
    // SAFETY: by the contract of this function.
    let Some(mut kit) = (unsafe { Kit::new(argument) }) else {
        println!("tests cannot begin");
        end(0, false)
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests(kit.info.features & feature::SVM != 0) {
        cells::clear();
        let outcome = kit.begin().and_then(|()| test(&mut kit));
        // A failed test is cleaned up all the same.
        match outcome.and(kit.end()) {
            Ok(()) => {
                println!("test {name} ok");
                passed += 1;
            }
            Err(why) => {
                println!("test {name} FAILED {why}");
                failed += 1;
                let _ = kit.end();
            }
        }
    }
    println!("tests {passed} passed {failed} failed");
    end(kit.info.tsc_hz, failed == 0)
}
