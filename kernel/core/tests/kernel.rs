//! The kernel's logic on a machine made of host memory: every call, how calls interact, and the
//! invariants after each of them.

#[allow(dead_code, reason = "each test uses some of it")]
mod machine;
mod random;
mod scenarios;
