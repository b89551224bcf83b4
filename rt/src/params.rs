//! Parameters: sets the program's variables from the task's arguments before `init_module` runs.

use crate::{error::EINVAL, libc, log_line};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::{self, Display, Formatter};
use pillion_rt_core::parameters::{Argument, Kind, Problem, Type, arguments, number};
use pillion_runtime::info;

/// What `MODULE_PARM` makes; also in `linux/module.h`.
#[repr(C)]
struct Parameter {
    name: *const c_char,
    kind: *const c_char,
    variable: *mut c_void,
    size: u64,
}

unsafe extern "C" {
    /// The program's parameters lie between these (`rt/task.ld`).
    static __pillion_params_start: [Parameter; 0];
    static __pillion_params_end: [Parameter; 0];
}

fn all() -> &'static [Parameter] {
    let (start, end) = (&raw const __pillion_params_start, &raw const __pillion_params_end);
    let count = (end.addr() - start.addr()) / size_of::<Parameter>();
    // SAFETY: the linker puts the parameters of all sources there, one after the other.
    unsafe { core::slice::from_raw_parts(start.cast(), count) }
}

impl Parameter {
    fn name(&self) -> &str {
        // SAFETY: `MODULE_PARM` makes it from a name.
        unsafe { CStr::from_ptr(self.name) }.to_str().unwrap_or_default()
    }

    fn kind(&self) -> Result<Type, Problem> {
        // SAFETY: `MODULE_PARM` makes it from a text.
        let text = unsafe { CStr::from_ptr(self.kind) }.to_str().unwrap_or_default();
        Type::parse(text)?.for_variable(self.size as usize).ok_or(Problem::Type)
    }

    fn set(&self, argument: &Argument<'_>) -> Result<(), Problem> {
        let kind = self.kind()?;
        if !(kind.least..=kind.most).contains(&argument.values().count()) {
            return Err(Problem::Count);
        }
        for (index, value) in argument.values().enumerate() {
            let offset = index * kind.kind.stride();
            match kind.kind {
                Kind::Number { bytes, unsigned } => {
                    self.store(offset, &number(value, bytes, unsigned)?.to_le_bytes()[..bytes])
                }
                Kind::Text => self.store(offset, &(text(value).ok_or(Problem::Length)? as usize).to_le_bytes()),
                Kind::Characters(most) if value.len() >= most => return Err(Problem::Length),
                Kind::Characters(_) => {
                    self.store(offset, value.as_bytes());
                    self.store(offset + value.len(), &[0]);
                }
            }
        }
        Ok(())
    }

    fn store(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.size as usize);
        // SAFETY: inside the variable, which is the program's: only its constructors have run, and
        // Rust has no reference to it.
        unsafe { self.variable.cast::<u8>().add(offset).copy_from(bytes.as_ptr(), bytes.len()) };
    }
}

/// A permanent copy, ended by a zero. `None` if there is no memory.
fn text(value: &str) -> Option<*mut u8> {
    let copy = libc::alloc(value.len() + 1, 1);
    if copy.is_null() {
        return None;
    }
    // SAFETY: it was just allocated, with one byte more than the text.
    unsafe {
        copy.copy_from(value.as_ptr(), value.len());
        copy.add(value.len()).write(0);
    }
    Some(copy)
}

/// The names of the program's parameters, each preceded by a blank.
struct Names;

impl Display for Names {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if all().is_empty() {
            return f.write_str(" none");
        }
        all().iter().try_for_each(|parameter| write!(f, " {}", parameter.name()))
    }
}

fn apply(argument: Result<Argument<'_>, Problem>) -> Result<(), c_int> {
    let Ok(argument) = argument else {
        log_line!("a parameter without a value: parameters are given as name=value");
        return Err(EINVAL);
    };
    let Some(parameter) = all().iter().find(|p| p.name() == argument.name) else {
        log_line!("unknown parameter {}: the program has{Names}", argument.name);
        return Err(EINVAL);
    };
    parameter.set(&argument).map_err(|problem| {
        let why = match problem {
            Problem::Count => "it has too few or too many values",
            Problem::Length => "it is too long",
            Problem::Type => "its MODULE_PARM does not fit its variable",
            Problem::Number | Problem::NoValue => "a value is not a number, or does not fit",
        };
        log_line!("parameter {}={}: {why}", argument.name, argument.value);
        EINVAL
    })
}

/// Sets all parameters that the task's arguments name. On failure, writes a line to the log and
/// returns an error number.
pub fn load() -> Result<(), c_int> {
    arguments(info::text(&info::task().arguments)).try_for_each(apply)
}
