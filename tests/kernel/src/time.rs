//! Sleeping and timers.

use crate::{Test, cells, order};
use pillion_abi::{NEVER, object::Kind, status::Error::Timeout};
use pillion_runtime::{cap_delete, now, sleep, timer_bind, timer_set, wait};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("time/sleep-is-never-early-and-hardly-late", punctual),
    ("time/sleep-into-the-past", past),
    ("time/periodic-in-another-space", periodic),
    ("time/many-sleepers-in-order", sleepers),
    ("time/timer-signals", timer),
    ("time/timer-set-again-and-stopped", again),
    ("time/many-timers", many),
    ("time/timer-ends", ends),
];

/// The longest that a wake-up may take.
const LATE: u64 = 2_000;

fn punctual(_: &mut Kit) -> Checked {
    for distance in [1, 10, 100, 999, 10_000, 1_000_000, 30_000_000] {
        let end = now() + distance;
        done!(sleep(end));
        let woken = now();
        check!(woken >= end, "{distance}: early by {}", end - woken);
        check!(woken - end < LATE, "{distance}: late by {}", woken - end);
    }
    Ok(())
}

fn past(_: &mut Kit) -> Checked {
    let start = now();
    for deadline in [0, 1, start - 1, start] {
        done!(sleep(deadline));
    }
    check!(now() - start < 4 * LATE, "took {}", now() - start);
    Ok(())
}

extern "C" fn periodic_task(period: u64) -> ! {
    let mut release = now() + period;
    for _ in 0..200 {
        let _ = sleep(release);
        cells::raise(0, now().wrapping_sub(release));
        cells::add(1, 1);
        release += period;
    }
    stop()
}

extern "C" fn spinner(_: u64) -> ! {
    loop {
        cells::spin(1_000);
    }
}

fn periodic(kit: &mut Kit) -> Checked {
    let spaces = [done!(kit.space()), done!(kit.space())];
    done!(kit.start(Setup::new(200, periodic_task).within(spaces[0]).with(10_000)));
    done!(kit.start(Setup::new(20, spinner).within(spaces[1])));
    kit.rest(200 * 10_000 + 50_000);
    same!(cells::get(1), 200);
    check!(cells::get(0) < 1_500, "late by {}", cells::get(0));
    Ok(())
}

extern "C" fn sleeper(number: u64) -> ! {
    let _ = sleep(cells::get(0) + number * 3_000);
    cells::log(number);
    stop()
}

fn sleepers(kit: &mut Kit) -> Checked {
    cells::set(0, now() + 200_000);
    for number in [5, 3, 8, 1, 9, 2, 7, 4, 6] {
        done!(kit.start(Setup::new(50, sleeper).with(number)));
    }
    kit.rest(400_000);
    order!(1, 2, 3, 4, 5, 6, 7, 8, 9);
    Ok(())
}

fn timer(kit: &mut Kit) -> Checked {
    let (t, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
    done!(timer_bind(t, n, 0x22));
    let end = now() + 20_000;
    done!(timer_set(t, end));
    same!(done!(wait(n, NEVER))[0], 0x22);
    let woken = now();
    check!(woken >= end && woken - end < LATE, "{} after the deadline", woken.wrapping_sub(end));
    done!(timer_set(t, 0));
    same!(done!(wait(n, now() + LATE))[0], 0x22);
    Ok(())
}

fn again(kit: &mut Kit) -> Checked {
    let (t, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
    done!(timer_bind(t, n, 1));
    done!(timer_set(t, now() + 5_000));
    done!(timer_set(t, now() + 50_000));
    refused!(wait(n, now() + 20_000), Timeout);
    done!(wait(n, now() + 50_000));
    done!(timer_set(t, now() + 5_000));
    done!(timer_set(t, NEVER));
    done!(timer_set(t, NEVER));
    refused!(wait(n, now() + 20_000), Timeout);
    Ok(())
}

fn many(kit: &mut Kit) -> Checked {
    const COUNT: u64 = 32;
    let n = done!(kit.make(Kind::Notification, 0));
    let start = now() + 400_000;
    for i in 0..COUNT {
        let t = done!(kit.make(Kind::Timer, 0));
        done!(timer_bind(t, n, 1 << i));
        // Some share a deadline.
        done!(timer_set(t, start + (i * 7 % COUNT) / 2 * 2_000));
    }
    let mut seen = 0;
    while seen != (1 << COUNT) - 1 {
        let bits = done!(wait(n, start + 2_000 * COUNT))[0];
        check!(seen & bits == 0, "{bits:#x} came twice");
        seen |= bits;
    }
    Ok(())
}

fn ends(kit: &mut Kit) -> Checked {
    let (t, n) = (done!(kit.make(Kind::Timer, 0)), done!(kit.make(Kind::Notification, 0)));
    done!(timer_bind(t, n, 1));
    done!(timer_set(t, now() + 5_000));
    done!(cap_delete(0, t));
    refused!(wait(n, now() + 20_000), Timeout);
    let t = done!(kit.make(Kind::Timer, 0));
    done!(timer_bind(t, n, 1));
    done!(timer_set(t, now() + 5_000));
    done!(cap_delete(0, n));
    kit.rest(20_000);
    done!(timer_set(t, 0));
    Ok(())
}
