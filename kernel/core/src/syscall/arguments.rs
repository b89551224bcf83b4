//! Views of a call's registers, made from the table in `pillion_abi`: each argument by its name.

/// Registers of a call: capability, then arguments.
pub type Registers = [u64; 6];

/// A capability that a call names.
#[derive(Clone, Copy)]
pub struct Named {
    /// Index in the caller's capability space.
    pub index: u64,
    /// Rights that the call needs.
    pub rights: u8,
}

/// The method that reads an argument, whose register is numbered by its name in `Place`.
macro_rules! argument {
    // Messages are copied from frame to frame.
    ($name:ident Message) => {};
    ($name:ident Unused) => {};
    ($name:ident $type:ident) => {
        #[inline(always)]
        pub fn $name(self) -> u64 {
            self.0[Place::$name as usize]
        }
    };
    ($name:ident $kind:ident ($($right:ident)*)) => {
        #[inline(always)]
        pub fn $name(self) -> Named {
            Named { index: self.0[Place::$name as usize], rights: pillion_abi::rights!($($right)*) }
        }
    };
}

macro_rules! views {
    ($($group:ident {$(
        $(#[$doc:meta])*
        $call:ident = $number:literal, $stub:ident(
            $($argument:ident: $class:ident $(($($right:ident)*))? $(or $other:tt)?),*
        ) $(-> $($result:ident),+)?;
    )*})*) => {$(
        /// A call of the group with a view of its arguments.
        #[allow(dead_code, reason = "of some calls no argument is looked at")]
        pub enum $group<'a> { $($call($call<'a>),)* }

        impl<'a> $group<'a> {
            /// The call of the group that has the number.
            #[inline(always)]
            pub fn decode(number: u64, registers: &'a Registers) -> Option<Self> {
                match number { $($number => Some($group::$call($call(registers))),)* _ => None }
            }
        }

        $(
            #[derive(Clone, Copy)]
            #[allow(dead_code, reason = "of some calls no argument is looked at")]
            pub struct $call<'a>(&'a Registers);

            const _: () = {
                #[allow(non_camel_case_types, dead_code, reason = "names of arguments")]
                enum Place { $($argument),* }

                impl $call<'_> { $(argument! { $argument $class $(($($right)*))? })* }
            };
        )*
    )*};
}

pillion_abi::calls!(views);
