//! Thread attributes.

use crate::error::{EINVAL, number};
use crate::irq::{may_be_on, processor, processor_exists};
use crate::sync::{SchedParam, prio_ok};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

/// Function that a thread begins with.
pub type Entry = extern "C" fn(*mut c_void) -> *mut c_void;

/// Purpose of a new thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A thread of the program.
    RealTime,
    /// Runs interrupt handlers.
    Handlers,
}

/// Properties of a new thread.
#[derive(Debug)]
pub(crate) struct Start {
    pub kind: Kind,
    /// Processor; `None` for the one that the task starts on.
    pub cpu: Option<u64>,
    pub priority: u32,
    pub detached: bool,
    /// Stack provided by the program, or null.
    pub stack: *mut u8,
    pub stack_size: usize,
    pub entry: Entry,
    pub argument: *mut c_void,
}

/// Minimum size of a stack.
const STACK_MIN: usize = 8192;

/// Size of a stack unless the program says otherwise.
const STACK_DEFAULT: usize = 20480;

/// `PTHREAD_CREATE_DETACHED`.
const DETACHED: c_int = 1;

/// `pthread_attr_t`; also in `pthread.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// Bytes of the stack.
    pub stack_size: usize,
    /// Lowest address of the stack, or null.
    pub stack_addr: *mut c_void,
    /// Priority.
    pub sched_param: SchedParam,
    /// `PTHREAD_CREATE_JOINABLE` or `PTHREAD_CREATE_DETACHED`.
    pub detachstate: c_int,
    /// Processor. If the program writes one here that the task has not, it is the creator's.
    pub cpu: c_int,
    /// Whether the thread uses floating point; it may in any case.
    pub use_fp: c_int,
}

impl Attributes {
    const DEFAULT: Attributes = Attributes {
        stack_size: STACK_DEFAULT,
        stack_addr: null_mut(),
        sched_param: SchedParam { sched_priority: 0 },
        detachstate: 0,
        cpu: 0,
        use_fp: 0,
    };

    /// The attributes of a thread that the caller creates without any.
    pub(super) fn of_none() -> Attributes {
        Attributes { cpu: processor(), ..Attributes::DEFAULT }
    }

    pub(super) fn start(&self, entry: Entry, argument: *mut c_void) -> Start {
        Start {
            kind: Kind::RealTime,
            cpu: Some(if processor_exists(self.cpu) { self.cpu } else { processor() } as u64),
            priority: self.sched_param.sched_priority.max(0) as u32,
            detached: self.detachstate == DETACHED,
            stack: self.stack_addr.cast(),
            stack_size: self.stack_size.max(STACK_MIN),
            entry,
            argument,
        }
    }
}

/// Fills the attributes with the defaults.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_init(attributes: &mut Attributes) -> c_int {
    *attributes = Attributes::of_none();
    0
}

/// Does nothing: attributes hold no resources.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_destroy(_: &mut Attributes) -> c_int {
    0
}

fn set(valid: bool, set: impl FnOnce()) -> c_int {
    number(valid.then(set).ok_or(EINVAL))
}

macro_rules! attributes {
    ($($set:ident, $get:ident: $type:ty = $field:ident where |$value:ident| $valid:expr;)*) => {$(
        #[doc = concat!("Sets `", stringify!($field), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $set(attributes: &mut Attributes, $value: $type) -> c_int {
            set($valid, || attributes.$field = $value)
        }

        #[doc = concat!("Gets `", stringify!($field), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $get(attributes: &Attributes, value: &mut $type) -> c_int {
            *value = attributes.$field;
            0
        }
    )*};
}

attributes! {
    pthread_attr_setstacksize, pthread_attr_getstacksize: usize = stack_size where |v| v >= STACK_MIN;
    pthread_attr_setstackaddr, pthread_attr_getstackaddr: *mut c_void = stack_addr where |v| !v.is_null();
    pthread_attr_setdetachstate, pthread_attr_getdetachstate: c_int = detachstate where |v| v == 0 || v == DETACHED;
    pthread_attr_setcpu_np, pthread_attr_getcpu_np: c_int = cpu where |v| may_be_on(v);
    pthread_attr_setcpu, pthread_attr_getcpu: c_int = cpu where |v| may_be_on(v);
    pthread_attr_setfp_np, pthread_attr_getfp_np: c_int = use_fp where |_v| true;
}

/// Sets the stack's address and size.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_setstack(attributes: &mut Attributes, base: *mut c_void, size: usize) -> c_int {
    set(!base.is_null() && size >= STACK_MIN, || (attributes.stack_addr, attributes.stack_size) = (base, size))
}

/// Sets the priority.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_setschedparam(attributes: &mut Attributes, parameters: &SchedParam) -> c_int {
    set(prio_ok(parameters.sched_priority), || attributes.sched_param = *parameters)
}

/// Gets the priority.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_getschedparam(attributes: &Attributes, parameters: &mut SchedParam) -> c_int {
    *parameters = attributes.sched_param;
    0
}

/// Does nothing: all policies are the same.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_setschedpolicy(_: &mut Attributes, _: c_int) -> c_int {
    0
}

/// All policies are `SCHED_FIFO`.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_getschedpolicy(_: &Attributes, policy: &mut c_int) -> c_int {
    *policy = super::schedule::SCHED_FIFO;
    0
}

/// Does nothing: attributes are never inherited.
#[unsafe(no_mangle)]
pub extern "C" fn pthread_attr_setinheritsched(_: &mut Attributes, _: c_int) -> c_int {
    0
}
