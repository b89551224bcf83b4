//! Budgets: a thread gets its share of the time and no more.

use crate::{Test, cells};
use core::arch::global_asm;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use pillion_abi::{NEVER, boot::slot};
use pillion_runtime::{context_configure, context_consumed, now, sleep, thread_set_sequence, thread_suspend};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same};

pub const TESTS: &[Test] = &[
    ("budget/share-and-no-more", share),
    ("budget/others-proceed", others),
    ("budget/two-shares", two),
    ("budget/unused-time-does-not-pile-up", no_saving),
    ("budget/can-be-changed", changed),
    ("budget/consumed-is-what-was-used", consumed),
    ("budget/restartable-sequence", sequence),
];

const PERIOD: u64 = 100_000;
const BUDGET: u64 = 20_000;

extern "C" fn counter(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
    }
}

extern "C" fn rare(_: u64) -> ! {
    loop {
        let _ = sleep(now() + 10 * PERIOD);
        let start = now();
        cells::spin(2 * BUDGET);
        cells::set(1, now() - start);
        cells::add(2, 1);
    }
}

fn limited(priority: u8) -> Setup {
    Setup { budget: BUDGET, period: PERIOD, ..Setup::new(priority, counter) }
}

fn share(kit: &mut Kit) -> Checked {
    let space = done!(kit.space());
    let t = done!(kit.start(limited(150).within(space)));
    // Only the time left over is ours, although the other thread is more urgent.
    let start = now();
    kit.rest(50 * PERIOD);
    let took = now() - start;
    let [used, exhausted] = done!(context_consumed(t.context));
    let most = (took / PERIOD + 2) * BUDGET;
    check!(used >= 49 * BUDGET, "used {used} of {}", 50 * BUDGET);
    // Each overrun is no longer than it takes to stop the thread.
    check!(used <= most + 52 * 1_000, "used {used}, may use {most}");
    check!((48..=52).contains(&exhausted), "ran out {exhausted} times");
    Ok(())
}

fn others(kit: &mut Kit) -> Checked {
    done!(kit.start(limited(50).with(0)));
    done!(kit.start(Setup::new(20, counter).with(1)));
    kit.rest(20 * PERIOD);
    let (high, low) = (cells::get(0), cells::get(1));
    check!(high > 0 && low > 3 * high && low < 5 * high, "{high} and {low}, not 1 to 4");
    Ok(())
}

fn two(kit: &mut Kit) -> Checked {
    let a = done!(kit.start(limited(50).with(0)));
    let b = done!(kit.start(Setup { budget: 2 * BUDGET, ..limited(40).with(1) }));
    kit.rest(20 * PERIOD);
    let (a, b) = (done!(context_consumed(a.context))[0], done!(context_consumed(b.context))[0]);
    check!(a.abs_diff(20 * BUDGET) < 2 * BUDGET, "first used {a}");
    check!(b.abs_diff(40 * BUDGET) < 4 * BUDGET, "second used {b}");
    Ok(())
}

fn no_saving(kit: &mut Kit) -> Checked {
    done!(kit.start(Setup { entry: rare, ..limited(50) }));
    kit.rest(25 * PERIOD);
    same!(cells::get(2) > 0, true);
    // Two budgets' worth of work take one whole period and the second budget.
    let took = cells::get(1);
    check!((PERIOD..PERIOD + 2 * BUDGET).contains(&took), "took {took}");
    Ok(())
}

fn changed(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(limited(50).with(0)));
    kit.rest(10 * PERIOD);
    done!(context_configure(slot::SCHED_CONTROL, t.context, 50, BUDGET / 4, PERIOD, 0));
    kit.rest(PERIOD);
    let before = done!(context_consumed(t.context))[0];
    kit.rest(20 * PERIOD);
    let used = done!(context_consumed(t.context))[0] - before;
    check!(used.abs_diff(5 * BUDGET) < BUDGET, "used {used}, not {}", 5 * BUDGET);
    done!(context_configure(slot::SCHED_CONTROL, t.context, 50, NEVER, 0, 0));
    kit.rest(PERIOD);
    let before = done!(context_consumed(t.context))[0];
    kit.rest(10 * PERIOD);
    let used = done!(context_consumed(t.context))[0] - before;
    check!(used > 9 * PERIOD, "used {used} without a limit");
    Ok(())
}

fn consumed(kit: &mut Kit) -> Checked {
    let before = done!(context_consumed(slot::CONTEXT))[0];
    cells::spin(50_000);
    let t = done!(kit.start(Setup::new(50, counter)));
    let middle = done!(context_consumed(slot::CONTEXT))[0];
    kit.rest(200_000);
    let after = done!(context_consumed(slot::CONTEXT))[0];
    check!(after - before > 50_000 && after - middle < 60_000, "{} and {}", after - before, after - middle);
    let used = done!(context_consumed(t.context))[0];
    check!(used.abs_diff(200_000) < 5_000, "{used} of 200000");
    Ok(())
}

/// A sum, and how often each of two threads added one to it.
static SUMS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

// Adds one to the sum in three steps, then counts it.
global_asm!(
    "adds_in_steps:",
    "adds_first: mov rax, [rdi]",
    "add rax, 1",
    "mov [rdi], rax",
    "adds_end: add qword ptr [rdi + 8], 1",
    "jmp adds_in_steps",
);

unsafe extern "C" {
    fn adds_in_steps(sums: u64) -> !;
    static adds_first: u8;
    static adds_end: u8;
}

extern "C" fn adds_at_once(_: u64) -> ! {
    loop {
        SUMS[0].fetch_add(1, SeqCst);
        SUMS[2].fetch_add(1, SeqCst);
    }
}

/// How many of both threads' additions were lost to the other's; one has that budget.
fn lost(kit: &mut Kit, budget: u64, is_sequence: bool) -> Checked<i64> {
    SUMS.iter().for_each(|sum| sum.store(0, SeqCst));
    let setup = Setup { entry: adds_in_steps, budget, ..limited(50) };
    let steps = done!(kit.start(setup.with(SUMS.as_ptr() as u64)));
    if is_sequence {
        let [first, end] = [&raw const adds_first, &raw const adds_end].map(|place| place as u64);
        done!(thread_set_sequence(steps.thread, first, end));
    }
    let at_once = done!(kit.start(Setup::new(20, adds_at_once)));
    kit.rest(100 * PERIOD);
    done!(thread_suspend(steps.thread));
    done!(thread_suspend(at_once.thread));
    let [sum, first, second] = [0, 1, 2].map(|index: usize| SUMS[index].load(SeqCst) as i64);
    check!(first > 0 && second > 0, "{first} and {second} additions");
    Ok(first + second - sum)
}

fn sequence(kit: &mut Kit) -> Checked {
    let mut shown = 0;
    // A budget may always end at the same instruction of the loop, and that where nothing is lost.
    for budget in BUDGET..BUDGET + 5 {
        if lost(kit, budget, false)? > 0 {
            shown += 1;
            // Each may have added without having counted it yet.
            let with = lost(kit, budget, true)?;
            check!((-2..=0).contains(&with), "lost {with} additions");
        }
    }
    check!(shown > 0, "nothing is lost without a sequence, so this test shows nothing");
    Ok(())
}
