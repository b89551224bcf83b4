//! The demonstration task: wakes up every period and records how late it was.
#![no_std]
#![no_main]

use core::arch::asm;
use pillion_histogram::Histogram;
use pillion_runtime::{
    info::{self, address},
    now, park, println, sleep, task,
};

task!(main);

fn main(_: u64) -> ! {
    let info = info::task();
    if info.period == 0 || info.tsc_hz == 0 {
        println!("[{}] the system file gives this task no period_us; it has nothing to do", info::text(&info.name));
        park();
    }
    // SAFETY: the resource manager maps zeroed memory for the histogram there; only this thread
    // writes it.
    let histogram = unsafe { &*(address::HISTOGRAM as *const Histogram) };
    run(info.period, info.tsc_hz, histogram)
}

fn run(period: u64, tsc_hz: u64, histogram: &Histogram) -> ! {
    // Nanoseconds per tick in 32.32 fixed point: the loop has no division.
    let scale = (1_000_000_000u128 << 32) / u128::from(tsc_hz);
    let mut release = now() + period;
    loop {
        let _ = sleep(release);
        let late = now().wrapping_sub(release);
        // SAFETY: a no-operation, the marker `Late` of measure/plugin/own.c, which reads RAX; it
        // does not access the memory that its operand seems to name.
        unsafe {
            asm!("nop dword ptr [rax + 0x6574614c]", in("rax") late, options(nomem, nostack, preserves_flags));
        }
        histogram.record(((u128::from(late) * scale) >> 32) as u64);
        release += period;
        let behind = now();
        if behind > release {
            let missed = (behind - release) / period + 1;
            histogram.overrun(missed);
            release += missed * period;
        }
    }
}
