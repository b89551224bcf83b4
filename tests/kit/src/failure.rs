//! The reason why a test failed, as text that fits on the stack.

use core::fmt::{self, Write};

/// Result of a test.
pub type Checked<T = ()> = Result<T, Failure>;

/// A line of text; what does not fit is cut off.
#[derive(Clone, Copy)]
pub struct Failure {
    bytes: [u8; 200],
    used: usize,
}

impl Failure {
    /// A failure at a line of a file.
    pub fn new(file: &str, line: u32, why: fmt::Arguments<'_>) -> Failure {
        let mut failure = Failure { bytes: [0; 200], used: 0 };
        let name = file.rsplit('/').next().unwrap_or(file);
        let _ = write!(failure, "{name}:{line}: ");
        let _ = failure.write_fmt(why);
        failure
    }
}

impl Write for Failure {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for (to, from) in self.bytes[self.used..].iter_mut().zip(s.bytes()) {
            *to = from;
            self.used += 1;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(&self.bytes[..self.used]).unwrap_or("?"))
    }
}

/// Makes a [`Failure`] at this line, with a reason as for `format!`.
#[macro_export]
macro_rules! failure {
    ($($why:tt)*) => { $crate::Failure::new(file!(), line!(), format_args!($($why)*)) };
}

/// The value of a call that must succeed.
#[macro_export]
macro_rules! done {
    ($call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => return Err($crate::failure!("{}: {error:?}", stringify!($call))),
        }
    };
}

/// A call that must be refused with an error.
#[macro_export]
macro_rules! refused {
    ($call:expr, $error:expr) => {
        match $call {
            Err(error) if error == $error => {}
            other => return Err($crate::failure!("{}: {other:?}, not {:?}", stringify!($call), $error)),
        }
    };
}

/// Two values that must be the same.
#[macro_export]
macro_rules! same {
    ($found:expr, $wanted:expr) => {{
        let (found, wanted) = ($found, $wanted);
        if found != wanted {
            return Err($crate::failure!("{} is {found:?}, not {wanted:?}", stringify!($found)));
        }
    }};
}

/// A condition that must hold.
#[macro_export]
macro_rules! check {
    ($condition:expr, $($why:tt)*) => {
        if !$condition {
            return Err($crate::failure!($($why)*));
        }
    };
}
