//! Nothing that is less urgent than the running thread interrupts it.

use crate::{Test, cells};
use pillion_abi::{NEVER, boot::slot, object::Kind};
use pillion_runtime::{interrupt_bind, interrupt_create, now, port_out, sleep, timer_bind, timer_set, wait};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same, stop};

pub const TESTS: &[Test] = &[
    ("urgency/sleepers-below-do-not-interrupt", sleepers),
    ("urgency/timers-below-do-not-interrupt", timers),
    ("urgency/refills-below-do-not-interrupt", refills),
    ("urgency/line-below-interrupts-once", line),
    ("urgency/most-urgent-first-of-many-at-once", first),
];

/// A pass of the watching loop takes less than this; entry into the kernel and exit take more.
const QUIET: u64 = 60;

/// What the check of a system file charges for an interrupt that does not switch (`user/system`).
const INTERRUPT: u64 = 400;

/// Number of threads at a time.
const MANY: u64 = 20;

/// Priority of the threads that must not be noticed; this task's own is 100.
const BELOW: u8 = 50;

/// Runs until a point in time. Returns how often and for how long in all it was interrupted.
fn watch(end: u64) -> (u64, u64) {
    let (mut times, mut lost, mut last) = (0, 0, now());
    while last < end {
        let here = now();
        if here - last > QUIET {
            times += 1;
            lost += here - last;
        }
        last = here;
    }
    (times, lost)
}

extern "C" fn sleeper(_: u64) -> ! {
    let _ = sleep(cells::get(0));
    cells::add(1, 1);
    stop()
}

fn sleepers(kit: &mut Kit) -> Checked {
    let at = now() + 400_000;
    cells::set(0, at);
    for _ in 0..MANY {
        done!(kit.start(Setup::new(BELOW, sleeper)));
    }
    kit.rest(50_000);
    check!(now() < at, "the threads were made too late by {} ns", now() - at);
    let (times, lost) = watch(at + 50_000);
    check!(times == 0, "interrupted {times} times, for {lost} ns");
    same!(cells::get(1), 0);
    kit.rest(50_000);
    same!(cells::get(1), MANY);
    Ok(())
}

extern "C" fn waiter(n: u64) -> ! {
    while wait(n as u32, NEVER).is_ok() {
        cells::add(1, 1);
    }
    stop()
}

fn timers(kit: &mut Kit) -> Checked {
    let at = now() + 400_000;
    for i in 0..MANY {
        let (t, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
        done!(timer_bind(t, n, 1));
        done!(timer_set(t, at + i % 3 * 100));
        done!(kit.start(Setup::new(BELOW, waiter).with(n.into())));
    }
    // A timer that no thread waits for.
    let (t, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
    done!(timer_bind(t, n, 4));
    done!(timer_set(t, at));
    kit.rest(50_000);
    let (times, lost) = watch(at + 50_000);
    check!(times == 0, "interrupted {times} times, for {lost} ns");
    same!(done!(wait(n, 0))[0], 4);
    kit.rest(50_000);
    same!(cells::get(1), MANY);
    Ok(())
}

extern "C" fn hungry(_: u64) -> ! {
    loop {
        cells::add(1, 1);
    }
}

fn refills(kit: &mut Kit) -> Checked {
    const PERIOD: u64 = 400_000;
    for _ in 0..MANY {
        done!(kit.start(Setup { budget: 5_000, period: PERIOD, ..Setup::new(BELOW, hungry) }));
    }
    kit.rest(200_000);
    let before = cells::get(1);
    let (times, lost) = watch(now() + 2 * PERIOD);
    check!(times == 0, "interrupted {times} times, for {lost} ns");
    same!(cells::get(1), before);
    kit.rest(PERIOD);
    check!(cells::get(1) > before, "nobody ran again");
    Ok(())
}

/// The interval timer's channel 0 raises an edge every 24 µs.
const CLOCK_LINE: u64 = 2;
const CLOCK_DIVISOR: u32 = 28;

fn set_clock(divisor: u32) -> Checked {
    const RATE_CHANNEL_0: u32 = 0x34;
    const ONE_SHOT_CHANNEL_0: u32 = 0x30;
    done!(port_out(slot::PORTS, 0x43, 1, if divisor == 0 { ONE_SHOT_CHANNEL_0 } else { RATE_CHANNEL_0 }));
    if divisor != 0 {
        done!(port_out(slot::PORTS, 0x40, 1, divisor & 0xff));
        done!(port_out(slot::PORTS, 0x40, 1, divisor >> 8));
    }
    Ok(())
}

fn line(kit: &mut Kit) -> Checked {
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, 0)));
    done!(interrupt_create(slot::IRQ_CONTROL, CLOCK_LINE, kit.interrupts(0), interrupt, kit.region()));
    done!(interrupt_bind(interrupt, n, 1));
    done!(kit.start(Setup::new(BELOW, waiter).with(n.into())));
    set_clock(CLOCK_DIVISOR)?;
    kit.rest(500_000);
    let before = cells::get(1);
    check!(before > 10, "{before} interrupts in 500 us");
    for _ in 0..3 {
        let before = cells::get(1);
        let (times, lost) = watch(now() + 500_000);
        check!(times <= 1, "interrupted {times} times, for {lost} ns");
        check!(lost <= INTERRUPT, "one interrupt took {lost} ns");
        same!(cells::get(1), before);
        // The handler is notified, and the line keeps working.
        kit.rest(500_000);
        check!(cells::get(1) > before + 10, "{} interrupts in 500 us", cells::get(1) - before);
    }
    set_clock(0)
}

extern "C" fn late(number: u64) -> ! {
    let at = cells::get(0);
    let _ = sleep(at);
    cells::log(number);
    cells::set(2 + number as usize, now() - at);
    stop()
}

/// Many timers are due at the same time: the most urgent thread does not wait for the others.
fn first(kit: &mut Kit) -> Checked {
    cells::set(0, now() + 300_000);
    for i in 0..MANY {
        done!(kit.start(Setup::new(BELOW + (i * 7 % MANY) as u8, late).with(i * 7 % MANY)));
    }
    kit.rest(400_000);
    let top = MANY as usize - 1;
    check!(cells::get(2 + top) < 1_000, "the most urgent came {} ns late", cells::get(2 + top));
    check!(cells::get(1 + top) > cells::get(2 + top), "another came before it");
    Ok(())
}
