//! `/dev/mem`: physical memory, of which no task has any but its own. It cannot be opened.

use super::{File, Operations};
use crate::error::EACCES;
use core::ffi::c_int;

pub(super) static OPERATIONS: Operations = Operations { open: Some(open), ..Operations::NONE };

unsafe extern "C" fn open(_: *mut File) -> c_int {
    -EACCES
}
