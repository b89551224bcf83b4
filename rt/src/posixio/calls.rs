//! The calls on devices.

use super::{descriptor::Descriptor, device};
use crate::{
    error::{EFAULT, EINVAL, ENOENT, fail},
    print,
};
use core::{
    ffi::{CStr, c_char, c_int, c_long, c_ulong, c_void},
    ptr::null_mut,
};
use pillion_rt_core::device_name::parse;

/// Result of a call in POSIX's form.
fn posix(result: Result<c_long, c_int>) -> c_long {
    result.unwrap_or_else(|error| fail(error).into())
}

/// Result of a device's operation.
fn checked(result: c_long) -> Result<c_long, c_int> {
    if result < 0 { Err(c_int::try_from(-result).unwrap_or(EINVAL)) } else { Ok(result) }
}

/// Opens a device: `/dev/NAME` and a number.
///
/// # Safety
/// `path` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int) -> c_int {
    if path.is_null() {
        return fail(EFAULT);
    }
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    posix(open_device(path, flags as u32 as c_ulong)) as c_int
}

fn open_device(path: &[u8], flags: c_ulong) -> Result<c_long, c_int> {
    let named = parse(path).ok_or(ENOENT)?;
    let operations = device::find(named.name).ok_or(ENOENT)?;
    let descriptor = Descriptor::take(operations, named.minor, flags)?;
    if let Some(open) = descriptor.operations().open {
        // SAFETY: the device's own function, with its file.
        if let Err(error) = checked(unsafe { open(descriptor.file()) }.into()) {
            descriptor.give_back();
            return Err(error);
        }
    }
    Ok(descriptor.opened().into())
}

/// Opens a device with `O_CREAT`.
///
/// # Safety
/// As for [`open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn creat(path: *const c_char, _mode: u32) -> c_int {
    const WRITE_CREATE_TRUNCATE: c_int = 0o1101;
    // SAFETY: the caller's promise.
    unsafe { open(path, WRITE_CREATE_TRUNCATE) }
}

/// Closes a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn close(number: c_int) -> c_int {
    let result = Descriptor::closing(number).and_then(|descriptor| {
        // SAFETY: the device's own function, with its file.
        let result = descriptor.operations().release.map_or(0, |release| unsafe { release(descriptor.file()) });
        descriptor.give_back();
        checked(result.into())
    });
    posix(result) as c_int
}

/// Reads.
///
/// # Safety
/// `to` is writable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(number: c_int, to: *mut c_void, count: usize) -> isize {
    let result = Descriptor::open(number).and_then(|descriptor| {
        let (read, file) = (descriptor.operations().read.ok_or(EINVAL)?, descriptor.file());
        // SAFETY: the device's own function, with its file; the caller's promise.
        checked(unsafe { read(file, to.cast(), count, &raw mut (*file).position) } as c_long)
    });
    posix(result) as isize
}

/// Writes. Descriptors 1 and 2 are the log.
///
/// # Safety
/// `from` is readable for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(number: c_int, from: *const c_void, count: usize) -> isize {
    if number == 1 || number == 2 {
        // SAFETY: the caller's promise.
        unsafe { print::pillion_print(from.cast(), count) };
        return count as isize;
    }
    let result = Descriptor::open(number).and_then(|descriptor| {
        let (write, file) = (descriptor.operations().write.ok_or(EINVAL)?, descriptor.file());
        // SAFETY: as above.
        checked(unsafe { write(file, from.cast(), count, &raw mut (*file).position) } as c_long)
    });
    posix(result) as isize
}

/// Moves the position in a device.
#[unsafe(no_mangle)]
pub extern "C" fn lseek(number: c_int, offset: c_long, whence: c_int) -> c_long {
    posix(Descriptor::open(number).and_then(|descriptor| {
        let seek = descriptor.operations().seek.ok_or(EINVAL)?;
        // SAFETY: the device's own function, with its file.
        checked(unsafe { seek(descriptor.file(), offset, whence) })
    }))
}

/// Controls a device. The header declares it with variable arguments, of which a device gets one.
///
/// # Safety
/// `argument` is what the device expects for this request, such as the address of an `int` for a
/// FIFO's length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(number: c_int, request: c_int, argument: c_ulong) -> c_int {
    let result = Descriptor::open(number).and_then(|descriptor| {
        let ioctl = descriptor.operations().ioctl.ok_or(EINVAL)?;
        // SAFETY: the device's own function, with its file; the caller's promise.
        checked(unsafe { ioctl(descriptor.file(), request as u32, argument) }.into())
    });
    posix(result) as c_int
}

/// Maps a device.
///
/// # Safety
/// `address` is null, or an address that the device accepts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    number: c_int,
    offset: c_long,
) -> *mut c_void {
    const FAILED: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
    let result = Descriptor::open(number).and_then(|descriptor| {
        let mmap = descriptor.operations().mmap.ok_or(EINVAL)?;
        let mut mapped = null_mut();
        let file = descriptor.file();
        // SAFETY: the device's own function, with its file; the caller's promise.
        let result = unsafe { mmap(file, address, length, protection, flags, offset, &raw mut mapped) };
        checked(result.into())?;
        Ok(mapped.cast())
    });
    result.unwrap_or_else(|error| {
        let _ = fail(error);
        FAILED
    })
}

/// Unmaps, by the open device that knows the address.
///
/// # Safety
/// The mapping is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, length: usize) -> c_int {
    let is_undone = Descriptor::all().any(|descriptor| {
        // SAFETY: the device's own function, with its file; the caller's promise.
        descriptor.operations().munmap.is_some_and(|munmap| unsafe { munmap(descriptor.file(), address, length) } >= 0)
    });
    if is_undone { 0 } else { fail(EINVAL) }
}
