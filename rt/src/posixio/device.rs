//! Built-in devices and those that the program registers.

use super::{Operations, dev_mem, fifo};
use crate::cell::Shared;
use crate::error::{EBUSY, EINVAL};
use crate::lock;
use core::ffi::{CStr, c_char, c_int, c_uint};

/// Maximum number of devices that a program registers.
const MOST: usize = 32;

/// Longest name.
const LONGEST: usize = 31;

/// Major numbers are below this.
const MAJORS: c_uint = 256;

#[derive(Clone, Copy)]
struct Device {
    name: [u8; LONGEST],
    length: usize,
    major: c_uint,
    operations: *const Operations,
}

// SAFETY: the operations are the program's, which uses them from all its threads.
unsafe impl Send for Device {}

impl Device {
    fn name(&self) -> &[u8] {
        &self.name[..self.length]
    }
}

static REGISTERED: Shared<[Option<Device>; MOST]> = Shared::new([None; MOST]);

fn built_in(name: &[u8]) -> Option<&'static Operations> {
    match name {
        b"rtf" => Some(&fifo::OPERATIONS),
        b"mem" => Some(&dev_mem::OPERATIONS),
        _ => None,
    }
}

/// The operations of a device.
pub(super) fn find(name: &[u8]) -> Option<*const Operations> {
    if let Some(operations) = built_in(name) {
        return Some(operations);
    }
    lock::with(|token| REGISTERED.borrow(token).iter().flatten().find(|d| d.name() == name).map(|d| d.operations))
}

/// Registers a device for this task: /dev/NAME followed by a number.
///
/// # Safety
/// `name` is null or ends with a zero; `operations` is null or lasts until the device is
/// unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_register_rtldev(
    major: c_uint,
    name: *const c_char,
    operations: *const Operations,
) -> c_int {
    if name.is_null() || operations.is_null() || major >= MAJORS {
        return -EINVAL;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.is_empty() || name.len() > LONGEST {
        return -EINVAL;
    }
    lock::with(|token| {
        let devices = &mut *REGISTERED.borrow(token);
        let is_taken = devices.iter().flatten().any(|d| d.name() == name || major != 0 && d.major == major);
        if is_taken || built_in(name).is_some() {
            return -EBUSY;
        }
        let Some(free) = devices.iter_mut().find(|d| d.is_none()) else { return -EBUSY };
        let mut device = Device { name: [0; LONGEST], length: name.len(), major, operations };
        device.name[..name.len()].copy_from_slice(name);
        *free = Some(device);
        0
    })
}

/// Ends a registration.
///
/// # Safety
/// `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_unregister_rtldev(major: c_uint, name: *const c_char) -> c_int {
    if name.is_null() {
        return -EINVAL;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    lock::with(|token| {
        let devices = &mut *REGISTERED.borrow(token);
        let found = devices.iter_mut().find(|d| d.is_some_and(|d| d.name() == name && d.major == major));
        found.map_or(-EINVAL, |device| {
            *device = None;
            0
        })
    })
}
