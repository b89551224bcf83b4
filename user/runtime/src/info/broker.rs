//! The broker's endpoint, for objects that several tasks use.
//!
//! The broker runs on its caller's time. No operation blocks there: if the caller has to wait, the
//! answer says so; the caller waits for its notification ([`super::wake::THREAD`]) and calls again
//! with [`crate::broker::Request::Finish`]. The first word of an answer is 0 or more, or a negative
//! errno.

/// Bytes at [`super::address::TRANSFER`]; messages and FIFO data go through them.
pub const TRANSFER_SIZE: u64 = 64 << 10;

/// First word of an answer: the caller must wait, and will be woken.
pub const WAIT: u64 = u64::MAX / 2;

/// First word of an answer: the caller must repeat the request.
pub const MORE: u64 = WAIT - 1;

/// In the broker's capability space: notification of thread `t` of task `k` is at
/// `WAKERS + k * 64 + t`.
pub const WAKERS: u32 = 64;

/// In the broker's address space: the transfer memory of task `k` is at
/// `TRANSFERS + k * TRANSFER_SIZE`.
pub const TRANSFERS: u64 = 0x62_0000_0000;
