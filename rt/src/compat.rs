//! RTLinux's first interface, built on the calls of the third: tasks that start suspended, time in
//! ticks of the 8254 timer, small numbers for urgent tasks.

use crate::{
    cell::Shared,
    lock::{self, Token},
    signal,
    thread::{self, Thread},
    wait::{self, How, Queue},
};
use core::{
    ffi::{c_int, c_uint, c_void},
    ptr::null_mut,
};
use pillion_abi::{NEVER, channel::THREADS};
use pillion_rt_core::ticks;

/// `RT_TASK`: a `pthread_t`.
pub type RtTask = *mut c_void;

fn by_task(task: RtTask) -> Option<&'static Thread> {
    thread::by_pointer(task.cast())
}

type Function = extern "C" fn(c_int);

unsafe extern "C" {
    fn pillion_create_task(
        task: *mut RtTask,
        entry: extern "C" fn(*mut c_void) -> *mut c_void,
        stack: c_int,
        priority: c_int,
    ) -> c_int;
    fn pthread_make_periodic_np(thread: RtTask, start: i64, period: i64) -> c_int;
    fn pthread_wait_np() -> c_int;
    fn pthread_suspend_np(thread: RtTask) -> c_int;
    fn pthread_wakeup_np(thread: RtTask) -> c_int;
    fn pthread_delete_np(thread: RtTask) -> c_int;
    fn rtl_request_irq(irq: c_uint, handler: extern "C" fn(c_uint, *mut c_void) -> c_uint) -> c_int;
    fn rtl_free_irq(irq: c_uint) -> c_int;
    fn rtl_hard_enable_irq(irq: c_uint);
}

/// When a task's function begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// Not yet: the task is suspended.
    Later,
    /// At once.
    Now,
    /// At its first release.
    Released,
}

#[derive(Clone, Copy)]
struct Start {
    thread: thread::Identity,
    function: Function,
    argument: c_int,
    begin: Begin,
}

static STARTS: Shared<[Option<Start>; THREADS]> = Shared::new([None; THREADS]);
static QUEUES: [Queue; THREADS] = [const { Queue::new() }; THREADS];

/// Creates a task. It does nothing until it is made periodic or woken.
///
/// # Safety
///
/// `task` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_task_init(
    task: *mut RtTask,
    function: Function,
    argument: c_int,
    stack: c_int,
    priority: c_int,
) -> c_int {
    // The new thread takes the lock before it reads its start record.
    lock::with(|token| {
        // SAFETY: the caller's promise.
        let error = unsafe { pillion_create_task(task, run, stack, ticks::priority(priority)) };
        if error == 0 {
            // SAFETY: it was just written.
            let thread = by_task(unsafe { *task });
            thread.map(|thread| {
                let start = Start { thread: thread.identity(), function, argument, begin: Begin::Later };
                STARTS.borrow(token)[thread.number()].replace(start)
            });
        }
        -error
    })
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    let number = thread::current().number();
    loop {
        let token = lock::enter();
        let start = STARTS.borrow(&token)[number];
        let Some(Start { function, argument, begin, .. }) = start else { return null_mut() };
        if begin == Begin::Later {
            wait::block(token, Some(&QUEUES[number]), How { signals: signal::CANCEL_BIT, ..How::SUSPENDED }, NEVER);
            thread::cancel_point();
            continue;
        }
        STARTS.borrow(&token)[number] = None;
        drop(token);
        if begin == Begin::Released {
            // SAFETY: the calling thread was made periodic.
            unsafe { pthread_wait_np() };
        }
        function(argument);
        return null_mut();
    }
}

/// Starts a task that has not begun. Returns false if it has, or does not exist.
fn begin(token: &Token, task: RtTask, how: Begin) -> bool {
    let Some(thread) = by_task(task) else { return false };
    let starts = &mut *STARTS.borrow(token);
    let waits = |start: &&mut Start| start.begin == Begin::Later && start.thread == thread.identity();
    let Some(start) = starts[thread.number()].as_mut().filter(waits) else { return false };
    start.begin = how;
    QUEUES[thread.number()].wake_all(token);
    true
}

/// # Safety
///
/// `task` is null or readable.
unsafe fn thread_of(task: *const RtTask) -> RtTask {
    // SAFETY: the caller's promise.
    unsafe { task.as_ref() }.copied().unwrap_or(null_mut())
}

/// Makes a task periodic.
///
/// # Safety
///
/// `task` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_task_make_periodic(task: *const RtTask, start: i64, period: i64) -> c_int {
    // SAFETY: the caller's promise.
    let thread = unsafe { thread_of(task) };
    // SAFETY: the call checks the thread.
    let error = unsafe { pthread_make_periodic_np(thread, ticks::to_ns(start), ticks::to_ns(period)) };
    if error == 0 {
        lock::with(|token| begin(token, thread, Begin::Released));
    }
    -error
}

/// Waits for the next period.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_wait() -> c_int {
    // SAFETY: a call without arguments.
    unsafe { pthread_wait_np() }
}

/// Suspends a task.
///
/// # Safety
///
/// `task` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_task_suspend(task: *const RtTask) -> c_int {
    // SAFETY: the caller's promise; the call checks the thread.
    -unsafe { pthread_suspend_np(thread_of(task)) }
}

/// Wakes a task, or starts it if it has not begun.
///
/// # Safety
///
/// `task` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_task_wakeup(task: *const RtTask) -> c_int {
    // SAFETY: the caller's promise.
    let thread = unsafe { thread_of(task) };
    if lock::with(|token| begin(token, thread, Begin::Now)) {
        return 0;
    }
    // SAFETY: the call checks the thread.
    -unsafe { pthread_wakeup_np(thread) }
}

/// Ends a task.
///
/// # Safety
///
/// `task` is null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt_task_delete(task: *const RtTask) -> c_int {
    // SAFETY: the caller's promise; the call checks the thread.
    -unsafe { pthread_delete_np(thread_of(task)) }
}

/// All tasks may use floating point.
#[unsafe(no_mangle)]
pub extern "C" fn rt_use_fp(_: c_int) -> c_int {
    0
}

/// All tasks may use floating point.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_use_fp(_: *const RtTask, _: c_int) -> c_int {
    0
}

/// Time in ticks.
#[unsafe(no_mangle)]
pub extern "C" fn rt_get_time() -> i64 {
    ticks::from_ns(crate::time::now_ns())
}

/// Converts ticks to nanoseconds, for the clock's mode.
#[unsafe(no_mangle)]
pub extern "C" fn pillion_ticks_to_ns(ticks: i64) -> i64 {
    ticks::to_ns(ticks)
}

/// Number of lines that can have a handler.
const LINES: usize = 224;

static HANDLERS: Shared<[Option<extern "C" fn()>; LINES]> = Shared::new([None; LINES]);

/// Installs an interrupt handler. The line is enabled again when the handler returns.
#[unsafe(no_mangle)]
pub extern "C" fn request_RTirq(irq: c_uint, handler: extern "C" fn()) -> c_int {
    // SAFETY: a function of that type.
    let result = unsafe { rtl_request_irq(irq, handle) };
    if result == 0 && (irq as usize) < LINES {
        lock::with(|token| HANDLERS.borrow(token)[irq as usize] = Some(handler));
        // SAFETY: the line is the caller's now.
        unsafe { rtl_hard_enable_irq(irq) };
    }
    result
}

extern "C" fn handle(irq: c_uint, _: *mut c_void) -> c_uint {
    let handler = lock::with(|token| HANDLERS.borrow(token).get(irq as usize).copied().flatten());
    if let Some(handler) = handler {
        handler();
    }
    // SAFETY: the line is the task's.
    unsafe { rtl_hard_enable_irq(irq) };
    0
}

/// Removes the handler.
#[unsafe(no_mangle)]
pub extern "C" fn free_RTirq(irq: c_uint) -> c_int {
    // SAFETY: the call checks the line.
    unsafe { rtl_free_irq(irq) }
}
