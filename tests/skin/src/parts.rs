//! The parts of the other tasks.

use crate::{manager, spawn};
use core::{
    arch::naked_asm,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};
use pillion_abi::NEVER;
use pillion_runtime::info::{address, label, level, skin, wake};
use pillion_runtime::{now, park, sleep, wait};

/// A word in a shared buffer.
pub fn word(offset: i64) -> &'static AtomicU64 {
    assert!(offset % 8 == 0 && (0..pillion_runtime::info::task().skin.pool_size as i64).contains(&offset));
    // SAFETY: the pool is mapped for good, and the word lies in it; all users access it atomically.
    unsafe { &*((address::POOL + offset as u64) as *const AtomicU64) }
}

/// One thread counts in a shared buffer all the time; another faults once the count has begun.
pub fn victim() -> ! {
    let [_, offset, _] = manager::ask_about(label::MBUFF_HOLD, 4096, "pulse");
    manager::started(0);
    manager::print("about to fault\n");
    let _ = spawn::start(1, level::FIRST, count, offset as u64);
    while word(offset).load(Relaxed) < 3 {
        pause();
    }
    let _ = spawn::start(3, level::LAST, fault, 0xdead_0000);
    park()
}

fn pause() {
    let _ = sleep(now() + pillion_runtime::info::task().tsc_hz / 1000);
}

extern "C" fn count(offset: u64) -> ! {
    loop {
        word(offset as i64).fetch_add(1, Relaxed);
        pause();
    }
}

/// Faults two calls deep. The return addresses are those of the two `ud2`, which are never reached.
#[unsafe(naked)]
extern "C" fn fault(address: u64) -> ! {
    naked_asm!(
        "xor ebp, ebp",
        "call 2f",
        "ud2",
        "2: push rbp",
        "mov rbp, rsp",
        "call 3f",
        "ud2",
        "3: push rbp",
        "mov rbp, rsp",
        "mov [rdi], rdi",
        "ud2",
    )
}

/// Holds a buffer and a FIFO, and ends by itself.
pub fn leaver() -> ! {
    manager::ask_about(label::MBUFF_HOLD, 4096, "left");
    manager::ask_for(label::FIFO_CLAIM, 40);
    // Requests reserved for the monitor, or for a task that the system file permits them.
    for label in [label::END, label::COMMAND, label::LINUX_GONE, label::LINUX_START, label::STARTED | 1 << 8] {
        if manager::ask_for(label, 0) != -1 {
            manager::print("is not refused what it may not say\n");
        }
    }
    manager::started(0);
    manager::print("leaves without a line end");
    let _ = spawn::start(1, level::FIRST, idle, 0);
    manager::ended()
}

extern "C" fn idle(_: u64) -> ! {
    park()
}

/// Its `init_module` fails. The failure must not show while one of its threads can still run: that
/// thread would find the task's memory given to others.
pub fn failing() -> ! {
    let _ = spawn::start(1, level::LAST, watch, 0);
    manager::started(-5);
    // The manager ends the task in the call above.
    manager::print("failing lives on\n");
    park()
}

/// Checks every 2 us, too short for the manager to print a line, what others see of its task.
extern "C" fn watch(_: u64) -> ! {
    let pause = pillion_runtime::info::task().tsc_hz / 500_000;
    loop {
        if manager::result_of("failing") != 0 {
            manager::print("failing lives on\n");
            park()
        }
        let _ = sleep(now() + pause);
    }
}

/// Stays until it is asked to end, unless the parameter given at its start says otherwise.
pub fn visitor(parameter: &str) -> ! {
    if parameter == "start=never" {
        hog();
    }
    if parameter == "start=alone" {
        spin(0);
    }
    if parameter == "start=waiting" {
        park();
    }
    if parameter == "end=refused" {
        manager::started(-12);
    }
    manager::started(0);
    if parameter == "end=fault" {
        let _ = spawn::start(1, level::LAST, fault, 0xdead_0000);
    }
    manager::print("is there, ");
    manager::print(parameter);
    manager::print("\n");
    loop {
        let bits = wait(skin::slot::NOTIFICATIONS, NEVER).map_or(0, |[bits, _]| bits);
        if bits & wake::KICK != 0 {
            manager::print("kicked\n");
        }
        if bits & wake::UNLOAD != 0 && parameter == "end=never" {
            hog();
        }
        if bits & wake::UNLOAD != 0 {
            manager::print("unloaded\n");
            manager::ended();
        }
    }
}

/// Does not return, and leaves no time to anything below it: neither the manager nor Linux.
fn hog() -> ! {
    for number in 1..4 {
        let _ = spawn::start(number, level::LAST, spin, 0);
    }
    spin(0)
}

extern "C" fn spin(_: u64) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
