//! The system calls as functions, generated from the table in [`pillion_abi`].

use core::arch::asm;
use pillion_abi::{
    call::{Call, MESSAGE_WORDS, argument::*},
    status::{Error, Result},
};

/// Slot of a capability in the task's own capability space.
pub type Cap = u32;

/// Two result values.
pub type Values = [u64; 2];

/// Makes a system call. Returns its status and values.
#[inline(always)]
fn syscall(number: u64, a: [u64; 6]) -> (u64, Values) {
    let (status, first, second): (u64, u64, u64);
    // SAFETY: the kernel changes no register but those named here. What a call does to the address
    // space (it maps, unmaps, starts a thread) is outside of Rust's memory, like the effect of
    // writes to files under /proc: code that makes a reference to memory by its address is
    // responsible for what is mapped there.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => status,
            in("rdi") a[0],
            inlateout("rsi") a[1] => second,
            inlateout("rdx") a[2] => first,
            in("r10") a[3],
            in("r8") a[4],
            in("r9") a[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    (status, [first, second])
}

#[inline(always)]
fn raw(call: Call, a: [u64; 6]) -> Result<Values> {
    let (status, values) = syscall(call as u64, a);
    match Error::from_raw(status) {
        None => Ok(values),
        Some(error) => Err(error),
    }
}

/// A system call by number, with unchecked arguments. For tests.
#[inline(always)]
pub fn raw_call(number: u64, a: [u64; 6]) -> u64 {
    syscall(number, a).0
}

/// The Rust type of an argument in the table.
macro_rules! given {
    ($kind:ident $rights:tt) => {
        Cap
    };
    ($type:ident) => {
        $type
    };
}

/// The function for an entry of the table.
macro_rules! stub {
    // These are written by hand below: each has a shape of its own, and an arm for it would be
    // longer than the function.
    (Call $($rest:tt)*) => {};
    (ReplyReceive $($rest:tt)*) => {};
    (Receive $($rest:tt)*) => {};
    (Reply $($rest:tt)*) => {};
    (Signal $($rest:tt)*) => {};
    (Sleep $($rest:tt)*) => {};
    (Yield $($rest:tt)*) => {};
    (PortIn $($rest:tt)*) => {};
    ($call:ident $(#[$doc:meta])* $stub:ident($($argument:ident: $class:ident $(($($right:ident)*))?),*)) => {
        $(#[$doc])*
        #[inline]
        pub fn $stub($($argument: given!($class $(($($right)*))?)),*) -> Result<Values> {
            let given = [$($argument as u64),*];
            let mut a = [0; 6];
            a[..given.len()].copy_from_slice(&given);
            raw(Call::$call, a)
        }
    };
}

macro_rules! stubs {
    ($($group:ident {$(
        $(#[$doc:meta])*
        $call:ident = $number:literal, $stub:ident(
            $($argument:ident: $class:ident $(($($right:ident)*))? $(or $other:tt)?),*
        ) $(-> $($result:ident),+)?;
    )*})*) => {
        $($(stub! { $call $(#[$doc])* $stub($($argument: $class $(($($right)*))?),*) })*)*
    };
}

pillion_abi::calls!(stubs);

/// Adds the badge's bits to a notification. It is the call that real-time threads make most often,
/// so it leaves alone the registers that it takes no argument from.
#[inline]
pub fn signal(notification: Cap) -> Result<Values> {
    let (status, first, second): (u64, u64, u64);
    // SAFETY: as in `syscall`.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") Call::Signal as u64 => status,
            in("rdi") u64::from(notification),
            lateout("rsi") second,
            lateout("rdx") first,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    Error::from_raw(status).map_or(Ok([first, second]), Err)
}

/// Makes a thread the receiver of an endpoint, without flags, need or visitors:
/// see [`endpoint_bind_with`].
#[inline]
pub fn endpoint_bind(endpoint: Cap, thread: Cap) -> Result<Values> {
    endpoint_bind_with(endpoint, thread, 0, 0, 0)
}

/// Sleeps until a deadline.
#[inline(always)]
pub fn sleep(deadline: u64) -> Result<Values> {
    raw(Call::Sleep, [0, deadline, 0, 0, 0, 0])
}

/// Lets other threads of the same priority run first.
pub fn yield_now() {
    let _ = raw(Call::Yield, [0; 6]);
}

/// Reads a port.
#[inline]
pub fn port_in(ports: Cap, port: u16, width: u8) -> Result<u32> {
    raw(Call::PortIn, [u64::from(ports), u64::from(port), u64::from(width), 0, 0, 0]).map(|[value, _]| value as u32)
}

/// A message, and the badge that it arrived with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Badge of the capability that the sender used; 0 in replies.
    pub badge: u64,
    /// Label.
    pub label: u64,
    /// Words.
    pub words: [u64; MESSAGE_WORDS],
}

#[inline(always)]
fn exchange(call: Call, first: u64, mut label: u64, mut w: [u64; MESSAGE_WORDS]) -> Result<Message> {
    let (mut status, mut badge) = (call as u64, first);
    // SAFETY: as in `syscall`; all registers that carry the message are named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") status,
            inlateout("rdi") badge,
            inlateout("rsi") label,
            inlateout("rdx") w[0],
            inlateout("r10") w[1],
            inlateout("r8") w[2],
            inlateout("r9") w[3],
            inlateout("r12") w[4],
            inlateout("r13") w[5],
            inlateout("r14") w[6],
            inlateout("r15") w[7],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    match Error::from_raw(status) {
        None => Ok(Message { badge, label, words: w }),
        Some(error) => Err(error),
    }
}

/// Calls an endpoint and waits for the reply.
#[inline(always)]
pub fn call(endpoint: Cap, label: u64, words: [u64; MESSAGE_WORDS]) -> Result<Message> {
    exchange(Call::Call, u64::from(endpoint), label, words)
}

/// Replies and receives the next message.
#[inline(always)]
pub fn reply_receive(label: u64, words: [u64; MESSAGE_WORDS]) -> Result<Message> {
    exchange(Call::ReplyReceive, 0, label, words)
}

/// Receives, with a deadline.
#[inline(always)]
pub fn receive(deadline: u64) -> Result<Message> {
    exchange(Call::Receive, 0, deadline, [0; MESSAGE_WORDS])
}

/// Replies and continues.
#[inline]
pub fn reply(label: u64, words: [u64; MESSAGE_WORDS]) -> Result<()> {
    exchange(Call::Reply, 0, label, words).map(|_| ())
}
