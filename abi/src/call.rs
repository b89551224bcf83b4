//! The system calls.
//!
//! Calls are made with the `syscall` instruction. On entry `rax` holds the number of the call,
//! `rdi` the index of the capability that it is made on, and `rsi, rdx, r10, r8, r9` the arguments.
//! On return `rax` holds 0 or the negative of an [`crate::status::Error`], and `rdx` and `rsi` hold
//! results; `rcx` and `r11` are lost, all other registers keep their values. Calls that pass a
//! message carry its label in `rsi` and its words in `rdx, r10, r8, r9, r12, r13, r14, r15`, in and
//! out; the receiver gets the badge in `rdi`.
//!
//! A call with a lot to do (making, deleting, revoking, mapping) is interrupted when something more
//! urgent is pending, and continues where it left off; user code sees one call.

/// Number of words in a message.
pub const MESSAGE_WORDS: usize = 8;

#[macro_use]
mod table;

use crate::object::Kind;

/// Types of arguments that are not capabilities, as a user task passes them.
pub mod argument {
    pub use crate::object::Kind;

    /// Index of a slot, whatever it holds; an argument named `to` is the slot to fill.
    pub type Slot = u32;
    /// Bytes, or the unit of the object's kind.
    pub type Size = u64;
    /// Virtual or guest-physical address.
    pub type Address = u64;
    /// Absolute time in ticks of the time-stamp counter; [`crate::NEVER`] never comes.
    pub type Deadline = u64;
    /// Length of time in ticks of the time-stamp counter.
    pub type Ticks = u64;
    /// Flags that the call documents.
    pub type Flags = u64;
    /// Bits of a notification, or a badge, which is the same.
    pub type Bits = u64;
    /// Rights as in [`crate::object::right`].
    pub type Rights = u8;
    /// A label and [`super::MESSAGE_WORDS`] words, in registers of their own.
    pub enum Message {}
    /// A register that is ignored.
    pub enum Unused {}
}

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The index of a capability.
    Cap {
        /// Kind of object that it names.
        kind: Kind,
        /// Rights that the call needs, whatever the other arguments are.
        rights: u8,
        /// Another kind that it may be of; [`Kind::None`]: it may be 0.
        or: Option<Kind>,
    },
    /// A value of the type of this name in [`argument`].
    Value(&'static str),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub class: Class,
}

/// The rights of an argument, from the table's letters.
#[macro_export]
macro_rules! rights {
    (@ R) => { $crate::object::right::READ };
    (@ W) => { $crate::object::right::WRITE };
    (@ X) => { $crate::object::right::EXECUTE };
    (@ C) => { $crate::object::right::CONTROL };
    ($($letter:ident)*) => { 0 $(| $crate::rights!(@ $letter))* };
}

macro_rules! class {
    ($type:ident) => { Class::Value(stringify!($type)) };
    ($kind:ident ($($right:ident)*)) => { class!(@ $kind ($($right)*) None) };
    ($kind:ident ($($right:ident)*) or 0) => { class!(@ $kind ($($right)*) Some(Kind::None)) };
    ($kind:ident ($($right:ident)*) or $other:ident) => { class!(@ $kind ($($right)*) Some(Kind::$other)) };
    (@ $kind:ident ($($right:ident)*) $or:expr) => {
        Class::Cap { kind: Kind::$kind, rights: rights!($($right)*), or: $or }
    };
}

macro_rules! define {
    ($($group:ident {$(
        $(#[$doc:meta])*
        $call:ident = $number:literal, $stub:ident(
            $($argument:ident: $class:ident $(($($right:ident)*))? $(or $other:tt)?),*
        ) $(-> $($result:ident),+)?;
    )*})*) => {
        /// Number of a system call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u64)]
        pub enum Call { $($($(#[$doc])* $call = $number,)*)* }

        impl Call {
            /// All calls, in order of their numbers.
            pub const ALL: &'static [Call] = &[$($(Call::$call,)*)*];

            /// The call with that number.
            #[inline]
            #[must_use]
            pub const fn from_raw(raw: u64) -> Option<Call> {
                match raw { $($($number => Some(Call::$call),)*)* _ => None }
            }

            /// Name, as in the documentation.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(Call::$call => stringify!($call),)*)* }
            }

            /// Name of the function that makes the call.
            #[must_use]
            pub const fn stub(self) -> &'static str {
                match self { $($(Call::$call => stringify!($stub),)*)* }
            }

            /// The arguments, in the order of their registers.
            #[must_use]
            pub const fn arguments(self) -> &'static [Argument] {
                match self {$($(
                    Call::$call => &[$(Argument {
                        name: stringify!($argument),
                        class: class!($class $(($($right)*))? $(or $other)?),
                    }),*],
                )*)*}
            }

            /// Names of the results.
            #[must_use]
            pub const fn results(self) -> &'static [&'static str] {
                match self { $($(Call::$call => &[$($(stringify!($result)),+)?],)*)* }
            }
        }
    };
}

calls!(define);

/// Label of the message that [`Call::Receive`] returns when the bound notification has bits; the
/// bits are in the first word.
pub const LABEL_NOTIFIED: u64 = u64::MAX;

/// Label of the message that the kernel sends for a thread that faulted. Words: vector, error code,
/// address, `rip`, `rsp`, `rflags`. A reply with label 0 resumes the thread where it was, one with
/// label 1 at the `rip` in word 0; any other leaves it stopped.
pub const LABEL_FAULT: u64 = u64::MAX - 1;

/// Line number that asks [`Call::InterruptCreate`] for a message-signalled interrupt.
pub const IRQ_MSI: u64 = u64::MAX;

/// Flags of [`Call::InterruptCreate`].
pub mod irq {
    /// Level-triggered.
    pub const LEVEL: u64 = 1;
    /// Active low.
    pub const LOW: u64 = 2;
    /// First of the eight bits with the number of the processor that is interrupted.
    pub const HOME_SHIFT: u32 = 8;
}

/// Flags of [`Call::EndpointBind`].
pub mod endpoint {
    /// Callers do not raise the receiver's priority: it serves them at its own, in order of
    /// arrival.
    pub const OWN_PRIORITY: u64 = 1;
}

/// Flags of [`Call::ThreadConfigure`].
pub mod thread {
    /// The thread uses the floating-point and vector registers.
    pub const FPU: u64 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_round_trip() {
        for call in Call::ALL {
            assert_eq!(Call::from_raw(*call as u64), Some(*call), "{}", call.name());
        }
        assert_eq!(Call::from_raw(u64::MAX), None);
    }
}
