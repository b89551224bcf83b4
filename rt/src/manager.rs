//! Calls to the resource manager.

use crate::error::{EINVAL, EIO};
use crate::thread;
use core::ffi::c_int;
use pillion_abi::call::MESSAGE_WORDS;
use pillion_runtime::{call, info::slot};

/// Makes a request. If the manager refuses it, the first word of the answer is a negative errno.
pub fn ask(label: u64, given: &[u64]) -> Result<[u64; MESSAGE_WORDS], c_int> {
    let mut words = [0; MESSAGE_WORDS];
    words.get_mut(..given.len()).ok_or(EINVAL)?.copy_from_slice(given);
    // While the caller waits, the manager works on the request, and its answer must arrive.
    let answer = thread::unstoppable(|| call::call(slot::MANAGER, label, words)).map_err(|_| EIO)?;
    match answer.words[0] as i64 {
        error @ ..0 => Err(c_int::try_from(-error).unwrap_or(EIO)),
        _ => Ok(answer.words),
    }
}
