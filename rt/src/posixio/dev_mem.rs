//! `/dev/mem`: physical memory. No task has any but its own, so it cannot be opened.

use super::{File, Operations};
use crate::error::EACCES;
use core::ffi::c_int;

pub(super) static OPERATIONS: Operations = Operations { open: Some(open), ..Operations::NONE };

/// # Safety
/// None: it uses no argument.
unsafe extern "C" fn open(_: *mut File) -> c_int {
    -EACCES
}
