//! The tests.

use crate::{
    Test,
    manager::{ask_about, ask_for, directory, print, soon, task},
    parts::word,
    spawn,
};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::channel::{MAGIC, Status, VERSION, task_state};
use pillion_abi::status::Error;
use pillion_runtime::info::{self, address, label, level, skin, wake};
use pillion_runtime::{context_consumed, context_set_priority, now, park, signal, sleep, thread_suspend, wait};
use pillion_test_kit::{Checked, done, failure};

/// All tests, in the order in which they run.
pub const ALL: &[Test] = &[
    ("skin/facts", facts),
    ("skin/directory", the_directory),
    ("skin/threads", threads_start),
    ("skin/levels", levels),
    ("skin/vectors", vectors),
    ("skin/time", time),
    ("skin/fifos", fifos),
    ("skin/buffers", buffers),
    ("skin/log", log),
    ("skin/fault", fault),
    ("skin/end", end),
    ("skin/failure", failing),
    ("skin/stopped", stopped),
];

macro_rules! check {
    ($condition:expr) => {
        if !$condition {
            return Err(failure!("not so: {}", stringify!($condition)));
        }
    };
}

/// The latest action of a thread.
static SEEN: AtomicU64 = AtomicU64::new(0);

fn facts() -> Checked {
    let skin = &info::task().skin;
    check!(skin.index == 0 && skin.threads == 8 && skin.shares == 1 && skin.linux == 0);
    check!((skin.main_level, skin.ceiling) == (3, 220));
    check!(skin.line_count == 0 && skin.port_count == 1 && skin.ports[0] == [0x300, 8]);
    // The memory for everybody, and the memory reserved for each of the five.
    check!(skin.pool_size == (64 + 5 * 16) << 10 && skin.share_size > 8 << 10 && skin.shared_fifos == 1 << 9);
    Ok(())
}

fn the_directory() -> Checked {
    let all = directory();
    check!(all.magic == MAGIC && all.version == VERSION && all.tsc_hz == info::task().tsc_hz);
    check!(all.task_count == 6);
    let names = ["checks", "victim", "leaver", "failing", "visitor", "broker"];
    check!(names.iter().zip(&all.tasks).all(|(name, task)| info::text(&task.name) == *name));
    check!(all.fifo_owner[9] == 6);
    Ok(())
}

extern "C" fn answer(number: u64) -> ! {
    loop {
        let bits = wait(skin::slot::NOTIFICATIONS + number as u32, pillion_abi::NEVER).map_or(0, |[bits, _]| bits);
        SEEN.store(number << 8 | bits, Relaxed);
        let _ = signal(skin::slot::NOTIFICATIONS);
    }
}

/// Each of the threads starts, is woken and wakes.
fn threads_start() -> Checked {
    for number in 1..info::task().skin.threads {
        done!(spawn::start(number, level::FIRST, answer, number.into()));
        done!(signal(skin::slot::NOTIFICATIONS + number));
        let [bits, _] = done!(wait(skin::slot::NOTIFICATIONS, now() + info::task().tsc_hz));
        check!((bits, SEEN.load(Relaxed)) == (wake::THREAD, u64::from(number) << 8 | wake::THREAD));
        done!(thread_suspend(skin::slot::THREADS + number));
    }
    Ok(())
}

fn levels() -> Checked {
    let context = skin::slot::CONTEXTS + 1;
    check!(context_set_priority(context, 220) == Ok([level::FIRST.into(), 0]));
    check!(context_set_priority(context, 221) == Err(Error::BadArgument));
    check!(context_set_priority(context, 17) == Ok([220, 0]));
    Ok(())
}

extern "C" fn add(_: u64) -> ! {
    let mut sum = 1023_u64 << 52;
    // SAFETY: Rust's own code has no use for the vector register, as it is built without them.
    unsafe {
        core::arch::asm!("movq xmm0, {sum}", "mov {n:e}, 100", "2: addsd xmm0, xmm0", "dec {n:e}", "jnz 2b", "movq {sum}, xmm0",
            sum = inout(reg) sum, n = out(reg) _);
    }
    SEEN.store(sum, Relaxed);
    park()
}

/// Every thread may use the vector registers.
fn vectors() -> Checked {
    done!(spawn::start(2, level::FIRST, add, 0));
    // Two to the power of a hundred, as the number's bits.
    check!(soon(|| SEEN.load(Relaxed) == (1023 + 100) << 52));
    done!(thread_suspend(skin::slot::THREADS + 2));
    Ok(())
}

fn time() -> Checked {
    let [ticks, exhausted] = done!(context_consumed(skin::slot::CONTEXTS));
    check!(ticks != 0 && exhausted == 0);
    Ok(())
}

fn fifos() -> Checked {
    check!(ask_for(label::FIFO_CLAIM, 64) == -22 && ask_for(label::FIFO_CLAIM, 9) == -13);
    check!(ask_for(label::FIFO_CLAIM, 3) == 0 && directory().fifo_owner[3] == 1);
    check!(ask_for(label::FIFO_RELEASE, 3) == 0 && directory().fifo_owner[3] == 0);
    check!(ask_for(label::FIFO_RELEASE, 3) == -22 && ask_for(label::FIFO_RELEASE, 9) == -22);
    Ok(())
}

fn buffers() -> Checked {
    let before = directory().generation;
    let [index, offset, size] = ask_about(label::MBUFF_HOLD, 5000, "one");
    check!(index >= 0 && size == 8192 && word(offset).load(Relaxed) == 0);
    word(offset).store(7, Relaxed);
    check!(ask_about(label::MBUFF_HOLD, 100, "one") == [index, offset, size]);
    check!(ask_about(label::MBUFF_HOLD, 9000, "one")[0] == -22);
    check!(ask_about(label::MBUFF_HOLD, 1 << 20, "large")[0] == -22);
    check!(directory().mbuffs[index as usize].task_count == 2 && directory().generation != before);
    check!(ask_about(label::MBUFF_RELEASE, 0, "one")[0] == 0 && ask_about(label::MBUFF_RELEASE, 0, "one")[0] == 0);
    check!(ask_about(label::MBUFF_RELEASE, 0, "one")[0] == -2);
    let [_, offset, _] = ask_about(label::MBUFF_HOLD, 8192, "two");
    check!(word(offset).load(Relaxed) == 0);
    check!(ask_about(label::MBUFF_RELEASE, 0, "two")[0] == 0);
    Ok(())
}

/// The task's output is in the system's log, where the test's expectations look for it.
fn log() -> Checked {
    for _ in 0..3 {
        print("a line that is printed\n");
    }
    // SAFETY: mapped for good; the manager only reads it.
    check!(unsafe { (&raw const (*(address::STATUS as *const Status)).log_written).read_volatile() } == 3 * 23);
    Ok(())
}

/// All threads of a task stop when one faults; the directory shows the task's state and the place.
fn fault() -> Checked {
    check!(soon(|| task("victim").is_some_and(|t| t.state == task_state::FAULTED)));
    let Some(victim) = task("victim") else { return Err(failure!("no victim")) };
    check!((victim.fault.vector, victim.fault.address, victim.fault.thread) == (14, 0xdead_0000, 3));
    let Some(buffer) = directory().mbuffs.into_iter().find(|b| info::text(&b.name) == "pulse") else {
        return Err(failure!("its buffer is gone"));
    };
    let pulse = word(buffer.offset as i64).load(Relaxed);
    let _ = sleep(now() + info::task().tsc_hz / 50);
    check!(pulse >= 3 && word(buffer.offset as i64).load(Relaxed) == pulse);
    Ok(())
}

/// What an ended task had is free again.
fn end() -> Checked {
    check!(soon(|| task("leaver").is_some_and(|t| t.state == task_state::STOPPED && t.starts == 1)));
    let all = directory();
    check!(all.fifo_owner[40] == 0 && !all.mbuffs.iter().any(|b| info::text(&b.name) == "left"));
    Ok(())
}

fn failing() -> Checked {
    check!(soon(|| task("failing").is_some_and(|t| t.state == task_state::STOPPED && t.result == -5)));
    Ok(())
}

/// A task that was not asked to end stays.
fn stopped() -> Checked {
    check!(task("visitor").is_some_and(|t| t.state == task_state::RUNNING));
    Ok(())
}
