//! Creating threads.

use super::attributes::{Attributes, Entry, Kind, Start};
use super::stop::reap;
use super::{Life, MAGIC, Thread, all, current, end, level};
use crate::error::{EAGAIN, EINVAL, number};
use crate::lock::{self, Token};
use crate::{log_line, main_thread, signal};
use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::channel::{thread_mode, thread_state};
use pillion_rt_core::release::Releases;
use pillion_runtime::call;
use pillion_runtime::info::{self, skin};

/// Stack that the library itself may need beyond what the program asks for, mostly to format text.
const RESERVE: usize = 12 << 10;

/// Creates a thread.
///
/// # Safety
/// `thread` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut *mut Thread,
    attributes: Option<&Attributes>,
    entry: Option<Entry>,
    argument: *mut c_void,
) -> c_int {
    let none = Attributes::of_none();
    let attributes = attributes.unwrap_or(&none);
    let Some(entry) = entry else { return EINVAL };
    if attributes.stack_addr.is_null() && !main_thread::is_current() {
        return EAGAIN;
    }
    let created = start(&attributes.start(entry, argument), |new| {
        if !thread.is_null() {
            // SAFETY: the caller's promise.
            unsafe { thread.write(new.pointer()) };
        }
    });
    number(created.map(|_| ()))
}

/// Starts a thread; `made` is called before the thread runs.
pub(crate) fn start(how: &Start, made: impl FnOnce(&'static Thread)) -> Result<&'static Thread, c_int> {
    let token = lock::enter();
    let cpu = how.cpu.unwrap_or(info::task().cpu);
    let thread = find(&token, how.kind, cpu).ok_or_else(|| {
        let count = all().iter().filter(|t| t.processor() == cpu).count();
        let place = if info::task().skin.has_several() { "threads of a processor" } else { "threads" };
        log_line!("all {count} {place} are in use: raise threads of this task in the system file");
        EAGAIN
    })?;
    let (base, size) = if how.stack.is_null() {
        let size =
            how.stack_size.checked_add(RESERVE).and_then(|size| size.checked_next_multiple_of(16)).ok_or(EAGAIN)?;
        let stack = crate::libc::alloc(size, 16);
        if stack.is_null() {
            return Err(EAGAIN);
        }
        thread.stack.store(stack, Relaxed);
        (stack, size)
    } else {
        (how.stack, how.stack_size)
    };
    let top = base.addr().checked_add(size).ok_or(EINVAL)? & !15;
    prepare(&token, thread, how);
    made(thread);
    let cap = thread.slot(skin::slot::THREADS);
    let begun = call::thread_set_registers(cap, thread_entry as *const () as u64, top as u64, thread.pointer() as u64)
        .and_then(|_| call::thread_resume(cap));
    if begun.is_err() {
        end::free(&token, thread);
        return Err(EAGAIN);
    }
    Ok(thread)
}

fn find(token: &Token, kind: Kind, cpu: u64) -> Option<&'static Thread> {
    let threads = all().get(1..)?;
    threads.iter().filter(|t| t.life.get(token) == Life::Gone).for_each(|t| reap(token, t));
    let free = |t: &&'static Thread| t.life.get(token) == Life::Free && t.processor() == cpu;
    match kind {
        Kind::RealTime => threads.iter().find(free),
        Kind::Handlers => threads.iter().rev().find(free),
    }
}

fn prepare(token: &Token, thread: &'static Thread, how: &Start) {
    thread.entry.store(how.entry as usize, Relaxed);
    thread.argument.store(how.argument, Relaxed);
    thread.result.store(null_mut(), Relaxed);
    thread.detached.set(token, how.detached);
    thread.priority.set(token, how.priority);
    thread.real_time.set(token, how.kind == Kind::RealTime);
    thread.releases.set(token, Releases::NONE);
    thread.pending.store(0, Relaxed);
    thread.awaits.set(token, 0);
    // A new thread blocks the signals that its creator blocks.
    thread.masked.store(current().masked.load(Relaxed) & signal::USER_BITS, Relaxed);
    thread.errno.store(0, Relaxed);
    thread.late.store(0, Relaxed);
    thread.between_waits.store(false, Relaxed);
    thread.asynchronous.store(false, Relaxed);
    thread.ending.store(false, Relaxed);
    let mode = if how.kind == Kind::RealTime { thread_mode::REAL_TIME } else { thread_mode::INTERRUPT };
    thread.show_new(mode, how.entry as usize as u64);
    thread.show_priority(how.priority);
    thread.show_state(thread_state::READY);
    thread.life.set(token, Life::Live);
    thread.magic.store(MAGIC, Relaxed);
    level::reset(token, thread);
}

/// First instructions of a thread. Its own address comes in the first argument. The floating-point
/// unit may be in the state that another thread left.
///
/// # Safety
/// Only the kernel calls it, as the start of a thread that `prepare` prepared.
#[unsafe(naked)]
unsafe extern "C" fn thread_entry() -> ! {
    naked_asm!(
        "wrfsbase rdi",
        "fninit",
        "push 0x1f80",
        "ldmxcsr [rsp]",
        "xor ebp, ebp",
        "and rsp, -16",
        "call {run}",
        "ud2",
        run = sym run,
    )
}

extern "C" fn run(thread: &'static Thread) -> ! {
    // SAFETY: `prepare` stored the address of an `Entry` there.
    let entry: Entry = unsafe { core::mem::transmute(thread.entry.load(Relaxed)) };
    let result = entry(thread.argument.load(Relaxed));
    end::pthread_exit(result)
}

/// Makes the caller, the task's first thread, the main thread.
///
/// # Safety
/// As for [`super::table::adopt_main`].
pub(crate) unsafe fn begin_main() {
    // SAFETY: the caller's promise.
    let main = unsafe { super::table::adopt_main() };
    let token = lock::enter();
    main.show_new(thread_mode::LINUX, 0);
    main.show_state(thread_state::READY);
    main.life.set(&token, Life::Live);
    main.magic.store(MAGIC, Relaxed);
    level::reset(&token, main);
}
