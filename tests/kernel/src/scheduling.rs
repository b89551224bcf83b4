//! Which thread runs when.

use crate::{Test, cells, order};
use pillion_abi::{NEVER, boot::slot, object::Kind};
use pillion_runtime::{
    cap_delete, context_configure, context_set_priority, signal, signal_yield, thread_bind_context, thread_resume,
    thread_suspend, wait, yield_now,
};
use pillion_test_kit::{Checked, Kit, Setup, done, same, stop};

pub const TESTS: &[Test] = &[
    ("scheduling/most-urgent-first", urgent_first),
    ("scheduling/first-come-first-served", fifo),
    ("scheduling/yield-turns-among-equals", turns),
    ("scheduling/signal-and-yield", gives_way),
    ("scheduling/preempted-goes-on-first", preempted),
    ("scheduling/resume-preempts-at-once", resume),
    ("scheduling/priority-changes", changes),
    ("scheduling/suspended-does-not-run", suspended),
    ("scheduling/no-context-no-time", no_context),
    ("scheduling/every-priority", every_priority),
];

extern "C" fn logger(number: u64) -> ! {
    cells::log(number);
    stop()
}

extern "C" fn yielder(number: u64) -> ! {
    for _ in 0..3 {
        cells::log(number);
        yield_now();
    }
    stop()
}

extern "C" fn counter(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
    }
}

extern "C" fn twice(number: u64) -> ! {
    cells::log(number);
    cells::spin(20_000);
    cells::log(number);
    stop()
}

extern "C" fn woken(number: u64) -> ! {
    while wait(cells::cap(0), NEVER).is_ok() {
        cells::log(number);
    }
    stop()
}

fn urgent_first(kit: &mut Kit) -> Checked {
    for priority in [30u8, 10, 50, 20, 40] {
        done!(kit.start(Setup::new(priority, logger).with(priority.into())));
    }
    order!();
    kit.rest(50_000);
    order!(50, 40, 30, 20, 10);
    Ok(())
}

fn fifo(kit: &mut Kit) -> Checked {
    for number in 1..=5 {
        done!(kit.start(Setup::new(20, logger).with(number)));
    }
    kit.rest(50_000);
    order!(1, 2, 3, 4, 5);
    Ok(())
}

fn turns(kit: &mut Kit) -> Checked {
    for number in 1..=3 {
        done!(kit.start(Setup::new(20, yielder).with(number)));
    }
    kit.rest(50_000);
    order!(1, 2, 3, 1, 2, 3, 1, 2, 3);
    Ok(())
}

fn gives_way(kit: &mut Kit) -> Checked {
    /// Priority of the first task.
    const SAME: u8 = 100;
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(0, n);
    let bit = done!(kit.badged(n, 1));
    done!(kit.start(Setup::new(SAME, woken).with(1)));
    kit.rest(5_000);
    done!(signal_yield(bit));
    cells::log(2);
    order!(1, 2);
    done!(signal(bit));
    cells::log(3);
    order!(1, 2, 3);
    Ok(())
}

fn preempted(kit: &mut Kit) -> Checked {
    for number in 1..=2 {
        done!(kit.start(Setup::new(20, twice).with(number)));
    }
    // Comes in the middle of the first one's work, which continues before the second begins.
    kit.rest(10_000);
    cells::log(9);
    kit.rest(100_000);
    order!(1, 9, 1, 2, 2);
    Ok(())
}

fn resume(kit: &mut Kit) -> Checked {
    let t = done!(kit.prepare(Setup::new(101, logger).with(1)));
    cells::log(0);
    done!(thread_resume(t.thread));
    cells::log(2);
    order!(0, 1, 2);
    Ok(())
}

fn changes(kit: &mut Kit) -> Checked {
    let a = done!(kit.prepare(Setup::new(20, logger).with(1)));
    let b = done!(kit.prepare(Setup::new(30, logger).with(2)));
    done!(thread_resume(a.thread));
    done!(thread_resume(b.thread));
    done!(context_configure(slot::SCHED_CONTROL, a.context, 40, NEVER, 0, 0));
    kit.rest(20_000);
    order!(1, 2);
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(0, n);
    let (c, bit) = (done!(kit.start(Setup::new(30, woken).with(3))), done!(kit.badged(n, 1)));
    kit.rest(5_000);
    done!(context_configure(slot::SCHED_CONTROL, c.context, 150, NEVER, 0, 0));
    done!(signal(bit));
    order!(1, 2, 3);
    let d = done!(kit.start(Setup::new(30, logger).with(4)));
    done!(context_configure(slot::SCHED_CONTROL, d.context, 150, NEVER, 0, 0));
    order!(1, 2, 3, 4);
    // Its own priority: a thread that is more urgent now runs first.
    done!(kit.start(Setup::new(60, logger).with(5)));
    done!(context_configure(slot::SCHED_CONTROL, slot::CONTEXT, 50, NEVER, 0, 100));
    cells::log(6);
    done!(context_set_priority(slot::CONTEXT, 100));
    order!(1, 2, 3, 4, 5, 6);
    done!(kit.start(Setup::new(60, logger).with(7)));
    done!(context_set_priority(slot::CONTEXT, 50));
    cells::log(8);
    done!(context_set_priority(slot::CONTEXT, 100));
    order!(1, 2, 3, 4, 5, 6, 7, 8);
    Ok(())
}

fn suspended(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(Setup::new(20, counter).with(1)));
    kit.rest(10_000);
    done!(thread_suspend(t.thread));
    let before = cells::get(1);
    kit.rest(10_000);
    same!(cells::get(1), before);
    done!(thread_resume(t.thread));
    kit.rest(10_000);
    same!(cells::get(1) > before, true);
    Ok(())
}

fn no_context(kit: &mut Kit) -> Checked {
    let t = done!(kit.prepare(Setup::new(20, counter).with(1)));
    done!(thread_bind_context(t.thread, 0));
    done!(thread_resume(t.thread));
    kit.rest(10_000);
    same!(cells::get(1), 0);
    done!(thread_bind_context(t.thread, t.context));
    kit.rest(10_000);
    same!(cells::get(1) > 0, true);
    done!(cap_delete(0, t.context));
    let before = cells::get(1);
    kit.rest(10_000);
    same!(cells::get(1), before);
    Ok(())
}

fn every_priority(kit: &mut Kit) -> Checked {
    for block in 0..12u8 {
        cells::clear();
        for i in 1..=8u8 {
            let priority = 1 + block * 8 + (i * 5) % 8;
            done!(kit.start(Setup::new(priority, logger).with(priority.into())));
        }
        kit.rest(50_000);
        let p = |i: u8| u64::from(1 + block * 8 + 7 - i);
        order!(p(0), p(1), p(2), p(3), p(4), p(5), p(6), p(7));
        kit.end()?;
        kit.begin()?;
    }
    Ok(())
}
