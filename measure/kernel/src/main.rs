//! Measures the kernel: reads the time-stamp counter before and after; nothing is subtracted. With
//! the word `several` on the kernel's command line, another list of paths is marked instead, which
//! the emulator's plug-in counts.
#![no_std]
#![no_main]
#![allow(clippy::result_large_err, reason = "a failure carries its text, and there is no heap")]

mod call_paths;
mod guest_path;
mod message_paths;
mod notify_path;
mod ready_paths;
mod series;
mod several_paths;
mod timer_path;
mod wake_path;

use pillion_runtime::{println, task};
use pillion_test_kit::{Checked, Kit, end};

task!(main);

/// A measurement.
type Measure = fn(&mut Kit) -> Checked;

/// All measurements by the time-stamp counter.
const ALL: &[Measure] = &[
    call_paths::null,
    timer_path::to_user,
    timer_path::to_user_past_guest,
    guest_path::interrupt,
    wake_path::interrupt,
    notify_path::to_user,
    call_paths::passive,
    call_paths::passive_full,
    call_paths::active,
    ready_paths::wake,
    ready_paths::yields,
];

/// # Safety
/// Only the entry point calls it, with the kernel's argument.
unsafe fn main(argument: u64) -> ! {
    // SAFETY: by the contract of this function.
    let Some(mut kit) = (unsafe { Kit::new(argument) }) else {
        println!("the measurements cannot begin");
        end(0, false)
    };
    let mut words = kit.info.command_line.split(|byte| matches!(byte, 0 | b' '));
    let all = if words.any(|word| word == b"several") { several_paths::ALL } else { ALL };
    let mut ok = true;
    for measure in all {
        let outcome = kit.begin().and_then(|()| measure(&mut kit)).and_then(|()| kit.end());
        if let Err(failure) = outcome {
            println!("measurement failed: {failure}");
            ok = false;
            break;
        }
    }
    end(kit.info.tsc_hz, ok)
}
