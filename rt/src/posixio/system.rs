//! Calls about the system and its memory.

use crate::error::{EFAULT, EINVAL, fail};
use core::ffi::{c_int, c_long, c_void};

/// Bytes of a field of `struct utsname`, and the number of fields.
const FIELD: usize = 65;
const FIELDS: [&[u8]; 6] = [b"RTLinux", b"pillion", b"3.2", b"Pillion", b"x86_64", b""];

/// Names the system, in a `struct utsname`.
#[unsafe(no_mangle)]
pub extern "C" fn uname(names: Option<&mut [[u8; FIELD]; FIELDS.len()]>) -> c_int {
    let Some(names) = names else { return fail(EFAULT) };
    for (to, name) in names.iter_mut().zip(FIELDS) {
        *to = [0; FIELD];
        to[..name.len()].copy_from_slice(name);
    }
    0
}

/// Always fails, as in RTLinux.
#[unsafe(no_mangle)]
pub extern "C" fn sysconf(_: c_int) -> c_long {
    fail(EINVAL).into()
}

macro_rules! nothing_to_do {
    ($($name:ident($($type:ty),*);)*) => {$(
        /// Succeeds: a task's memory is always there.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $type),*) -> c_int {
            0
        }
    )*};
}

nothing_to_do! {
    mlock(*const c_void, usize);
    munlock(*const c_void, usize);
    mlockall(c_int);
    munlockall();
    mprotect(*mut c_void, usize, c_int);
    msync(*mut c_void, usize, c_int);
}
