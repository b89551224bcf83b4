//! Unloading by the program itself, starting Linux, ending the system. RTLinux has no such calls.

use crate::{error, main_thread, manager, thread};
use core::ffi::c_int;
use pillion_runtime::info::{label, wake};

/// Has `cleanup_module` run on the main thread and the task end, as `pillion unload` does. Returns
/// at once.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_unload() {
    main_thread::note(wake::UNLOAD);
    thread::nudge_main();
}

/// Starts a Linux that is off. Returns 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_start_linux() -> c_int {
    manager::ask(label::LINUX_START, &[]).map_or_else(error::fail, |_| 0)
}

/// Ends the system: with status `ok` if `status` is 0 and nothing else went wrong. Returns only if
/// the task may not do this: -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_end_system(status: c_int) -> c_int {
    manager::ask(label::END, &[u64::from(status != 0)]).map_or_else(error::fail, |_| 0)
}
