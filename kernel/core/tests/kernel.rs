//! The kernel's logic on a machine made of host memory: every call, what the calls bring about
//! together, and what is true after each of them.

#[allow(dead_code, reason = "what one test leaves out another uses")]
mod machine;
mod random;
mod scenarios;
