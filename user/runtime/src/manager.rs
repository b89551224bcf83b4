//! Requests to the resource manager that consist of one value.

use crate::{call, info::slot};
use pillion_abi::call::MESSAGE_WORDS;

/// Calls the resource manager with a label of [`crate::info::label`] and a value. Returns the first
/// word of its answer; `EINVAL` (-22) if it does not answer.
pub fn tell(label: u64, value: i64) -> i64 {
    const EINVAL: i64 = -22;
    let mut words = [0; MESSAGE_WORDS];
    words[0] = value.cast_unsigned();
    call::call(slot::MANAGER, label, words).map_or(EINVAL, |answer| answer.words[0].cast_signed())
}
