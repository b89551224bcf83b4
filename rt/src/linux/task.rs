//! The Linux context in the form of a Linux task: its tick, its sleep, its name.

use crate::time;
use crate::wait::{self, How};
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_long, c_ulong, c_void};
use pillion_runtime::{call, info};

/// Nanoseconds of a tick.
const JIFFY_NS: i64 = 10_000_000;

/// `MAX_SCHEDULE_TIMEOUT` in Linux: no timeout.
const FOREVER: c_long = c_long::MAX;

/// `struct task_struct`; also in `linux/sched.h`.
#[repr(C)]
pub struct Task {
    state: c_long,
    pid: c_int,
    comm: [u8; 32],
}

/// `struct module`.
#[repr(C)]
pub struct Module {
    name: *const c_char,
}

// SAFETY: the name is never written.
unsafe impl Sync for Module {}

/// The program as a module.
#[unsafe(no_mangle)]
pub static __this_module: Module =
    Module { name: (info::address::INFO as usize + core::mem::offset_of!(info::TaskInfo, name)) as *const c_char };

/// The only task. Programs may read it, and set its state, which nothing reads.
#[repr(transparent)]
struct Current(UnsafeCell<Task>);

// SAFETY: the library writes it once, before a second thread exists; then it is the program's.
unsafe impl Sync for Current {}

static CURRENT: Current = Current(UnsafeCell::new(Task { state: 0, pid: 1, comm: [0; 32] }));

/// Sets the task's name.
///
/// # Safety
/// The task has one thread, and nothing of the program has run.
pub(crate) unsafe fn start() {
    // SAFETY: the caller's promise: nobody else uses it.
    unsafe { (*CURRENT.0.get()).comm = info::task().name };
}

/// The result of `current`.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_current() -> *mut Task {
    CURRENT.0.get()
}

/// Ticks of 10 ms since boot.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_jiffies() -> c_ulong {
    (time::now_ns() / JIFFY_NS) as c_ulong
}

/// Time since boot in seconds and microseconds, the only time available without asking Linux.
#[unsafe(no_mangle)]
pub extern "C" fn gettimeofday(time: Option<&mut [i64; 2]>, _zone: *mut c_void) -> c_int {
    let us = time::now_ns() / 1_000;
    if let Some(time) = time {
        *time = [us / 1_000_000, us % 1_000_000];
    }
    0
}

/// As [`gettimeofday`], under the Linux kernel's name.
#[unsafe(no_mangle)]
pub extern "C" fn do_gettimeofday(time: Option<&mut [i64; 2]>) {
    gettimeofday(time, core::ptr::null_mut());
}

/// Sleeps for `ticks` ticks.
#[unsafe(no_mangle)]
pub extern "C" fn schedule_timeout(ticks: c_long) -> c_long {
    let deadline = match ticks {
        FOREVER => pillion_abi::NEVER,
        ticks => time::deadline(time::now_ns().saturating_add(ticks.max(0).saturating_mul(JIFFY_NS))),
    };
    wait::block(crate::lock::enter(), None, How::SLEEP, deadline);
    0
}

/// Lets other threads of the same priority go first.
#[unsafe(no_mangle)]
pub extern "C" fn schedule() {
    call::yield_now();
}

/// Busy-waits.
#[unsafe(no_mangle)]
pub extern "C" fn udelay(us: c_ulong) {
    time::spin(us.saturating_mul(1_000));
}

/// Busy-waits.
#[unsafe(no_mangle)]
pub extern "C" fn ndelay(ns: c_ulong) {
    time::spin(ns);
}

/// Busy-waits.
#[unsafe(no_mangle)]
pub extern "C" fn mdelay(ms: c_ulong) {
    time::spin(ms.saturating_mul(1_000_000));
}
