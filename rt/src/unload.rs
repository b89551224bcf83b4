//! Unloading by the program itself. RTLinux has nothing like it: programs that test or measure end with it.

use crate::main_thread;
use pillion_runtime::info::wake;

/// Has `cleanup_module` run on the main thread and the task end, as `pillion unload` does. Returns at once.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_unload() {
    main_thread::note(wake::UNLOAD);
    main_thread::nudge();
}
