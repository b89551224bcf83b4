//! Notifications.

use crate::{Test, cells, order};
use pillion_abi::{
    NEVER,
    boot::slot,
    call::LABEL_NOTIFIED,
    object::Kind,
    status::Error::{BadState, Busy, Gone, Timeout},
};
use pillion_runtime::{
    cap_delete, endpoint_bind, now, receive, signal, thread_bind_notification, thread_suspend, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("notification/bits-gather", gather),
    ("notification/wakes-across-spaces", across),
    ("notification/wakes-the-more-urgent-at-once", urgent),
    ("notification/one-waiter", one_waiter),
    ("notification/deadline", deadline),
    ("notification/ends-while-waited-for", ends),
    ("notification/bound-wakes-receiver", bound),
    ("notification/waiter-ends", waiter_ends),
];

fn gather(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let caps = [done!(kit.badged(n, 1)), done!(kit.badged(n, 4)), done!(kit.badged(n, 1 << 40))];
    for cap in caps.into_iter().chain(caps) {
        done!(signal(cap));
    }
    same!(done!(wait(n, NEVER))[0], 1 << 40 | 5);
    refused!(wait(n, now()), Timeout);
    // A signal without a badge sets nothing.
    done!(signal(n));
    refused!(wait(n, now()), Timeout);
    Ok(())
}

extern "C" fn waiter(_: u64) -> ! {
    loop {
        match wait(cells::cap(0), NEVER) {
            Ok([bits, _]) => cells::log(bits),
            Err(error) => {
                cells::set(1, error as u64);
                stop()
            }
        }
    }
}

fn across(kit: &mut Kit) -> Checked {
    let (space, n) = (done!(kit.space()), done!(kit.make(Kind::Notification, 0)));
    cells::set(0, n);
    let (one, two) = (done!(kit.badged(n, 1)), done!(kit.badged(n, 2)));
    done!(kit.start(Setup::new(20, waiter).within(space)));
    kit.rest(5_000);
    done!(signal(one));
    done!(signal(two));
    kit.rest(5_000);
    done!(signal(two));
    kit.rest(5_000);
    // The first signal woke it; the second came before it ran.
    order!(1, 2, 2);
    Ok(())
}

fn urgent(kit: &mut Kit) -> Checked {
    let (space, n) = (done!(kit.space()), done!(kit.make(Kind::Notification, 0)));
    cells::set(0, n);
    let one = done!(kit.badged(n, 1));
    done!(kit.start(Setup::new(200, waiter).within(space)));
    for _ in 0..3 {
        cells::log(100);
        done!(signal(one));
        cells::log(101);
    }
    order!(100, 1, 101, 100, 1, 101, 100, 1, 101);
    Ok(())
}

fn one_waiter(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(0, n);
    done!(kit.start(Setup::new(200, waiter)));
    refused!(wait(n, NEVER), Busy);
    Ok(())
}

fn deadline(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    for distance in [500, 5_000, 100_000] {
        let end = now() + distance;
        refused!(wait(n, end), Timeout);
        let late = now().wrapping_sub(end);
        check!(late < 2_000, "late by {late}");
    }
    Ok(())
}

fn ends(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(0, n);
    done!(kit.start(Setup::new(20, waiter)));
    kit.rest(5_000);
    done!(cap_delete(0, n));
    kit.rest(5_000);
    same!(cells::get(1), Gone as u64);
    Ok(())
}

fn bound(kit: &mut Kit) -> Checked {
    let (n, endpoint) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Endpoint, 0)));
    done!(endpoint_bind(endpoint, slot::THREAD));
    done!(thread_bind_notification(slot::THREAD, n));
    let (bit, timer) = (done!(kit.badged(n, 8)), done!(kit.make(Kind::Timer, 0)));
    done!(signal(bit));
    let message = done!(receive(NEVER));
    same!([message.label, message.words[0]], [LABEL_NOTIFIED, 8]);
    done!(pillion_runtime::timer_bind(timer, n, 16));
    done!(pillion_runtime::timer_set(timer, now() + 5_000));
    let message = done!(receive(now() + 100_000));
    same!([message.label, message.words[0]], [LABEL_NOTIFIED, 16]);
    done!(thread_bind_notification(slot::THREAD, 0));
    done!(signal(bit));
    refused!(receive(now() + 1_000).map(|_| ()), Timeout);
    same!(done!(wait(n, 0))[0], 8);
    Ok(())
}

fn waiter_ends(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(0, n);
    let one = done!(kit.badged(n, 1));
    for _ in 0..3 {
        let t = done!(kit.start(Setup::new(200, waiter)));
        done!(thread_suspend(t.thread));
        done!(cap_delete(0, t.thread));
        done!(signal(one));
        same!(done!(wait(n, 0))[0], 1);
    }
    order!();
    refused!(pillion_runtime::reply(0, [0; 8]), BadState);
    Ok(())
}
