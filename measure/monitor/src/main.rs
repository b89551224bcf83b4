//! Software monitor: interrupts every system call at every instruction and reports how long the
//! most urgent thread then waits for the processor.
#![no_std]
#![no_main]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod curve;
mod name;
mod scan;
mod scan_capabilities;
mod scan_devices;
mod scan_guests;
mod scan_memory;
mod scan_messages;
mod scan_threads;
mod scan_time;
mod scan_trace;
mod watch;

use pillion_runtime::{println, task};
use pillion_test_kit::{Checked, Kit, end};

task!(main);

/// Scans one call, or one use of it.
type Case = fn(&mut Kit) -> Checked;

/// All scans, in groups.
const ALL: [&[Case]; 8] = [
    scan_messages::CASES,
    scan_time::CASES,
    scan_memory::CASES,
    scan_capabilities::CASES,
    scan_threads::CASES,
    scan_devices::CASES,
    scan_guests::CASES,
    scan_trace::CASES,
];

/// # Safety
/// Only the entry point calls it, with the kernel's argument.
unsafe fn main(argument: u64) -> ! {
    // SAFETY: by the contract of this function.
    let Some(mut kit) = (unsafe { Kit::new(argument) }) else {
        println!("invalid the monitor cannot begin");
        end(0, false)
    };
    let mut ok = true;
    for case in ALL.into_iter().flatten() {
        let outcome = kit.begin().and_then(|()| case(&mut kit)).and_then(|()| kit.end());
        if let Err(failure) = outcome {
            println!("invalid {failure}");
            ok = false;
            break;
        }
    }
    scan::conclude(&kit);
    end(kit.info.tsc_hz, ok)
}
