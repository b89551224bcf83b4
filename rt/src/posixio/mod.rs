//! `open`, `read`, `write`, `ioctl` and `mmap` of real-time code: a table of descriptors for the
//! whole task, and devices behind it.

mod calls;
mod descriptor;
mod dev_mem;
mod device;
mod fifo;
mod system;

use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// `struct rtl_file`; also in `rtl_posixio.h`.
#[repr(C)]
#[derive(Debug)]
pub struct File {
    operations: *const Operations,
    flags: c_ulong,
    minor: c_uint,
    position: c_long,
    private: *mut c_void,
}

/// `struct rtl_file_operations`; also in `rtl_posixio.h`. Each returns a negative errno on failure.
#[repr(C)]
#[derive(Debug)]
pub struct Operations {
    seek: Option<unsafe extern "C" fn(*mut File, c_long, c_int) -> c_long>,
    read: Option<unsafe extern "C" fn(*mut File, *mut c_char, usize, *mut c_long) -> isize>,
    write: Option<unsafe extern "C" fn(*mut File, *const c_char, usize, *mut c_long) -> isize>,
    ioctl: Option<unsafe extern "C" fn(*mut File, c_uint, c_ulong) -> c_int>,
    mmap: Option<unsafe extern "C" fn(*mut File, *mut c_void, usize, c_int, c_int, c_long, *mut *mut c_char) -> c_int>,
    munmap: Option<unsafe extern "C" fn(*mut File, *mut c_void, usize) -> c_int>,
    open: Option<unsafe extern "C" fn(*mut File) -> c_int>,
    release: Option<unsafe extern "C" fn(*mut File) -> c_int>,
}

impl Operations {
    /// A device that implements nothing.
    const NONE: Operations = Operations {
        seek: None,
        read: None,
        write: None,
        ioctl: None,
        mmap: None,
        munmap: None,
        open: None,
        release: None,
    };
}

/// `O_CREAT`.
const CREATE: c_ulong = 0o100;

/// `O_NONBLOCK`.
const NONBLOCK: c_ulong = 0o4000;
