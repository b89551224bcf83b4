//! Ends the run after a while if the guest does not: a guest that spins is no fault, but costs the
//! emulator a second for each 30 ms.

use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::{
    call::call,
    info::{self, label, slot},
    now, park, sleep,
};

/// Waits for as many milliseconds as its arguments say, and ends the system.
pub fn run(arguments: &str) -> ! {
    let ms = arguments.rsplit("ms=").next().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let _ = sleep(now() + ms * info::task().tsc_hz / 1000);
    let _ = call(slot::MANAGER, label::END, [0; MESSAGE_WORDS]);
    park()
}
