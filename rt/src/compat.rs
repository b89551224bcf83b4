//! RTLinux's first interface, built on the calls of the third: tasks that start suspended, time in
//! ticks of the 8254 timer, small numbers for urgent tasks.

use crate::cell::Shared;
use crate::irq::{rtl_free_irq, rtl_hard_enable_irq, rtl_request_irq};
use crate::lock::{self, Token};
use crate::signal;
use crate::thread::{
    self, Thread, pthread_delete_np, pthread_make_periodic_np, pthread_suspend_np, pthread_wait_np, pthread_wakeup_np,
};
use crate::wait::{self, How, Queue};
use core::ffi::{c_int, c_uint, c_void};
use core::ptr::null_mut;
use pillion_abi::{NEVER, channel::THREADS};
use pillion_rt_core::ticks;

/// `RT_TASK`: a `pthread_t`.
pub type RtTask = *mut Thread;

type Function = extern "C" fn(c_int);

unsafe extern "C" {
    fn pillion_create_task(
        task: *mut *mut c_void,
        entry: extern "C" fn(*mut c_void) -> *mut c_void,
        stack: c_int,
        priority: c_int,
    ) -> c_int;
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
        let error = unsafe { pillion_create_task(task.cast(), run, stack, ticks::priority(priority)) };
        if error == 0 {
            // SAFETY: it was just written.
            let thread = thread::by_pointer(unsafe { *task });
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
            pthread_wait_np();
        }
        function(argument);
        return null_mut();
    }
}

/// Starts a task that has not begun. Returns false if it has, or does not exist.
fn begin(token: &Token, task: RtTask, how: Begin) -> bool {
    let Some(thread) = thread::by_pointer(task) else { return false };
    let starts = &mut *STARTS.borrow(token);
    let waits = |start: &&mut Start| start.begin == Begin::Later && start.thread == thread.identity();
    let Some(start) = starts[thread.number()].as_mut().filter(waits) else { return false };
    start.begin = how;
    QUEUES[thread.number()].wake_all(token);
    true
}

/// The thread of a task, for calls that check it.
fn thread_of(task: Option<&RtTask>) -> RtTask {
    task.copied().unwrap_or(null_mut())
}

/// Makes a task periodic.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_make_periodic(task: Option<&RtTask>, start: i64, period: i64) -> c_int {
    let thread = thread_of(task);
    let error = pthread_make_periodic_np(thread, ticks::to_ns(start), ticks::to_ns(period));
    if error == 0 {
        lock::with(|token| begin(token, thread, Begin::Released));
    }
    -error
}

/// Waits for the next period.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_wait() -> c_int {
    pthread_wait_np()
}

/// Suspends a task.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_suspend(task: Option<&RtTask>) -> c_int {
    -pthread_suspend_np(thread_of(task))
}

/// Wakes a task, or starts it if it has not begun.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_wakeup(task: Option<&RtTask>) -> c_int {
    let thread = thread_of(task);
    if lock::with(|token| begin(token, thread, Begin::Now)) { 0 } else { -pthread_wakeup_np(thread) }
}

/// Ends a task.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_delete(task: Option<&RtTask>) -> c_int {
    -pthread_delete_np(thread_of(task))
}

/// All tasks may use floating point.
#[unsafe(no_mangle)]
pub extern "C" fn rt_use_fp(_: c_int) -> c_int {
    0
}

/// All tasks may use floating point.
#[unsafe(no_mangle)]
pub extern "C" fn rt_task_use_fp(_: Option<&RtTask>, _: c_int) -> c_int {
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

/// Installs an interrupt handler. The line is enabled again when the handler returns. No interrupt
/// comes before the handler is there: the task's lock is held.
#[unsafe(no_mangle)]
pub extern "C" fn request_RTirq(irq: c_uint, handler: extern "C" fn()) -> c_int {
    lock::with(|token| {
        let result = rtl_request_irq(irq, handle);
        if result == 0
            && let Some(free) = HANDLERS.borrow(token).get_mut(irq as usize)
        {
            *free = Some(handler);
        }
        result
    })
}

extern "C" fn handle(irq: c_uint, _: *mut c_void) -> c_uint {
    let handler = lock::with(|token| HANDLERS.borrow(token).get(irq as usize).copied().flatten());
    if let Some(handler) = handler {
        handler();
    }
    rtl_hard_enable_irq(irq);
    0
}

/// Removes the handler.
#[unsafe(no_mangle)]
pub extern "C" fn free_RTirq(irq: c_uint) -> c_int {
    rtl_free_irq(irq)
}
