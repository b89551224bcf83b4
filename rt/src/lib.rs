//! The RTLinux API for C programs in a task with a skin.
//!
//! A program is compiled C, this library and parts of a C library, linked at a fixed address.
//! [`start`] runs its constructors and `init_module` on the *main thread* (number 0), which
//! afterwards does what Linux did in RTLinux. The resource manager has created all other threads in
//! advance; `pthread_create` picks a free one.
//!
//! # What the modules share
//!
//! - [`lock`]: the task's lock, "interrupts off" for the program. `let token = lock::enter();`
//!   takes it until the token is dropped; a thread may enter again. [`cell::Guarded`] data asks for
//!   a `&Token` as proof that the caller holds the lock. Blocking releases the lock fully and takes
//!   it again.
//! - [`thread`]: `thread::current()` is the calling thread, a `&'static Thread`;
//!   `Thread::number()`, `thread::by_number(n)`. `thread::unstoppable(|| ..)` keeps other threads
//!   from stopping the caller half-way, for calls to servers.
//! - [`wait`]: [`wait::Queue`] is a word of waiting threads. It is empty when it is zero, so it can
//!   lie in a C structure. `wait::block(token, Some(&queue), how, deadline)` consumes the token,
//!   waits, and returns why the wait ended; `queue.wake_one(&token)` and `queue.wake_all(&token)`
//!   wake. The woken thread runs when the token is dropped. Deadlines are ticks of the time-stamp
//!   counter ([`time::deadline`] converts from nanoseconds; [`pillion_abi::NEVER`]). The caller
//!   checks its condition again after each return.
//! - [`error`]: errno of the calling thread: `error::set_errno(EINVAL)`; `error::fail(EINVAL)` does
//!   that and returns -1.
//! - [`main_thread`]: `main_thread::on_kick(f)` has `f` run on the main thread whenever Linux has
//!   kicked the task; [`main_thread::is_current`].
//! - [`thread::cancel_point`]: ends the calling thread if it was cancelled; called where POSIX or
//!   RTLinux has a cancellation point.
//! - [`time::now_ns`]: the time that `gethrtime` returns.
#![no_std]

mod broker;
pub mod cell;
pub mod compat;
mod constructors;
pub mod error;
mod fifo;
pub mod irq;
mod kernel_entry;
pub mod libc;
mod linux;
pub mod lock;
pub mod main_thread;
mod manager;
mod mbuff;
pub mod mqueue;
pub mod named;
pub mod notice;
mod params;
mod port_io;
mod posixio;
pub mod print;
pub mod share;
pub mod signal;
pub mod start;
pub mod sync;
pub mod thread;
pub mod time;
pub mod tracer;
mod unload;
pub mod wait;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    pillion_runtime::log::panic(info)
}
