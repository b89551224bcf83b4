//! Selectors of the segments.
#![allow(missing_docs, reason = "the names say it")]
pub const KERNEL_CODE: u16 = 0x08;
pub const KERNEL_DATA: u16 = 0x10;
/// SYSRET counts from here: user data is the next one, user code the one after.
pub const SYSRET_BASE: u16 = 0x18 | 3;
pub const USER_DATA: u16 = 0x20 | 3;
pub const USER_CODE: u16 = 0x28 | 3;
pub const TASK_STATE: u16 = 0x30;
