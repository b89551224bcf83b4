//! Thread-specific values, by key.

use super::{Thread, current, table::KEYS};
use crate::cell::Shared;
use crate::error::{EAGAIN, EINVAL, number};
use crate::lock;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;

type Destructor = Option<extern "C" fn(*mut c_void)>;

/// For each key in use, its destructor.
static DESTRUCTORS: Shared<[Option<Destructor>; KEYS]> = Shared::new([None; KEYS]);

/// Maximum number of rounds of destructors, as they may leave new values behind.
const ROUNDS: usize = 4;

#[unsafe(no_mangle)]
pub extern "C" fn pthread_key_create(key: &mut c_int, destructor: Destructor) -> c_int {
    lock::with(|token| {
        let mut keys = DESTRUCTORS.borrow(token);
        let Some(free) = keys.iter().position(Option::is_none) else { return EAGAIN };
        keys[free] = Some(destructor);
        super::all().iter().for_each(|t| t.specific[free].store(null_mut(), Relaxed));
        *key = free as c_int;
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pthread_key_delete(key: c_int) -> c_int {
    lock::with(|token| {
        let mut keys = DESTRUCTORS.borrow(token);
        let slot = usize::try_from(key).ok().and_then(|k| keys.get_mut(k));
        number(slot.and_then(Option::take).map(drop).ok_or(EINVAL))
    })
}

/// Sets the calling thread's value.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_setspecific(key: c_int, value: *const c_void) -> c_int {
    let slot = usize::try_from(key).ok().and_then(|k| current().specific.get(k));
    number(slot.map(|s| s.store(value.cast_mut(), Relaxed)).ok_or(EINVAL))
}

/// The calling thread's value.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_getspecific(key: c_int) -> *mut c_void {
    let slot = usize::try_from(key).ok().and_then(|k| current().specific.get(k));
    slot.map_or(null_mut(), |s| s.load(Relaxed))
}

/// Runs the destructors of the calling thread's values.
pub(super) fn destroy_all(me: &Thread) {
    for _ in 0..ROUNDS {
        let mut any = false;
        for (key, value) in me.specific.iter().enumerate() {
            let value = value.swap(null_mut(), Relaxed);
            let destructor = lock::with(|token| DESTRUCTORS.borrow(token)[key].flatten());
            if let (false, Some(destructor)) = (value.is_null(), destructor) {
                destructor(value);
                any = true;
            }
        }
        if !any {
            return;
        }
    }
}
