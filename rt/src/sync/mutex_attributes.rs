//! Mutex attributes.

use super::{mutex::flag, prio_ok};
use crate::error::{EINVAL, ENOTSUP, number};
use core::ffi::c_int;

/// `pthread_mutexattr_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    pub(super) flags: u32,
    pub(super) ceiling: u32,
}

impl Attributes {
    fn replace(&mut self, mask: u32, flags: u32) {
        self.flags = self.flags & !mask | flags;
    }
}

/// The flags of the protocols, by the program's numbers.
const PROTOCOLS: [u32; 3] = [0, flag::INHERIT, flag::PROTECT];

/// Initializes the attributes: a normal mutex without inheritance.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_init(attributes: &mut Attributes) -> c_int {
    *attributes = Attributes::default();
    0
}

/// Does nothing: attributes hold no resources.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_destroy(_: &mut Attributes) -> c_int {
    0
}

/// Sets the type.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_settype(attributes: &mut Attributes, kind: c_int) -> c_int {
    let known = (flag::NORMAL as c_int..=flag::ERRORCHECK as c_int).contains(&kind);
    number(known.then(|| attributes.replace(flag::TYPE, kind as u32)).ok_or(EINVAL))
}

/// Gets the type.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_gettype(attributes: &Attributes, kind: &mut c_int) -> c_int {
    *kind = (attributes.flags & flag::TYPE) as c_int;
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_setprotocol(attributes: &mut Attributes, protocol: c_int) -> c_int {
    let Some(flags) = usize::try_from(protocol).ok().and_then(|p| PROTOCOLS.get(p)) else { return ENOTSUP };
    attributes.replace(flag::INHERIT | flag::PROTECT, *flags);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_getprotocol(attributes: &Attributes, protocol: &mut c_int) -> c_int {
    let flags = attributes.flags & (flag::INHERIT | flag::PROTECT);
    *protocol = PROTOCOLS.iter().position(|p| *p == flags).unwrap_or(0) as c_int;
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_setprioceiling(attributes: &mut Attributes, ceiling: c_int) -> c_int {
    number(prio_ok(ceiling).then(|| attributes.ceiling = ceiling as u32).ok_or(EINVAL))
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_getprioceiling(attributes: &Attributes, ceiling: &mut c_int) -> c_int {
    *ceiling = attributes.ceiling as c_int;
    0
}

/// Sets whether the mutex is robust: whether it outlives its owner.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_setrobust(attributes: &mut Attributes, robust: c_int) -> c_int {
    let known = robust == 0 || robust == 1;
    number(known.then(|| attributes.replace(flag::ROBUST, robust as u32 * flag::ROBUST)).ok_or(EINVAL))
}

/// Gets whether the mutex is robust.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_getrobust(attributes: &Attributes, robust: &mut c_int) -> c_int {
    *robust = c_int::from(attributes.flags & flag::ROBUST != 0);
    0
}

/// Changes nothing: all threads of this task can use it, and no others.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_setpshared(_: &mut Attributes, shared: c_int) -> c_int {
    number(if shared == 0 || shared == 1 { Ok(()) } else { Err(EINVAL) })
}

/// Always private to this task.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_mutexattr_getpshared(_: &Attributes, shared: &mut c_int) -> c_int {
    *shared = 0;
    0
}
