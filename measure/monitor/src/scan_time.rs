//! Notifications and time.

use crate::{Case, name::Name, scan::Trial};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use pillion_abi::{NEVER, call::Call, object::Kind};
use pillion_runtime::{
    Cap, cap_delete, now, raw_call, region_create, signal, signal_yield, sleep, timer_bind, timer_set, wait, yield_now,
};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

pub const CASES: &[Case] =
    &[signal_alone, signal_wakes, signal_yields, wait_ready, wait_blocks, sleeps, yields, arms_timer, binds_timer];

/// Priority of the first task.
const SAME: u8 = 100;

/// How long a call blocks that is meant to block.
const SHORT: u64 = 1_500;

/// The other thread's notification.
static OTHER: AtomicU32 = AtomicU32::new(0);

fn signal_alone(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let badged = done!(kit.badged(n, 1));
    let trial = Trial::new(|| Ok(()), |()| signal(badged), |()| wait(n, NEVER).map(drop));
    trial.scan(kit, Name::of(Call::Signal))
}

extern "C" fn waiter(_: u64) -> ! {
    while wait(OTHER.load(Relaxed) as Cap, NEVER).is_ok() {}
    stop()
}

fn signal_wakes(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let badged = done!(kit.badged(n, 1));
    OTHER.store(n, Relaxed);
    let space = done!(kit.space());
    done!(kit.start(Setup::new(200, waiter).within(space)));
    let trial = Trial::new(|| Ok(()), |()| signal(badged), |()| Ok(()));
    trial.scan(kit, Name::variant(Call::Signal, "wakes"))
}

/// Signals a thread of the same priority, and lets it run until it waits again.
fn signal_yields(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let badged = done!(kit.badged(n, 1));
    OTHER.store(n, Relaxed);
    let space = done!(kit.space());
    done!(kit.start(Setup::new(SAME, waiter).within(space)));
    let trial = Trial::new(|| Ok(()), |()| signal_yield(badged), |()| Ok(()));
    trial.scan(kit, Name::of(Call::SignalYield))
}

fn wait_ready(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let badged = done!(kit.badged(n, 1));
    let trial = Trial::new(|| signal(badged), |_| wait(n, NEVER), |_| Ok(()));
    trial.scan(kit, Name::of(Call::Wait))
}

/// Waits until the deadline; the processor is idle meanwhile.
fn wait_blocks(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let trial = Trial::new(
        || Ok(now() + SHORT),
        |&deadline| match wait(n, deadline) {
            Err(pillion_abi::status::Error::Timeout) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(pillion_abi::status::Error::BadState),
        },
        |_| Ok(()),
    );
    trial.scan(kit, Name::variant(Call::Wait, "blocks"))
}

fn sleeps(kit: &mut Kit) -> Checked {
    let trial = Trial::new(|| Ok(now() + SHORT), |&deadline| sleep(deadline), |_| Ok(()));
    trial.scan(kit, Name::of(Call::Sleep))
}

extern "C" fn peer(_: u64) -> ! {
    loop {
        yield_now();
    }
}

/// Yields to another thread of the same priority, which yields back.
fn yields(kit: &mut Kit) -> Checked {
    let space = done!(kit.space());
    done!(kit.start(Setup::new(SAME, peer).within(space)));
    let trial = Trial::new(
        || Ok(()),
        |()| pillion_abi::status::Error::from_raw(raw_call(Call::Yield as u64, [0; 6])).map_or(Ok(()), Err),
        |()| Ok(()),
    );
    trial.scan(kit, Name::of(Call::Yield))
}

fn arms_timer(kit: &mut Kit) -> Checked {
    let timer = done!(kit.make(Kind::Timer, 0));
    let trial = Trial::new(
        || Ok(now() + (1 << 40)),
        |&deadline| timer_set(timer, deadline),
        |_| timer_set(timer, NEVER).map(drop),
    );
    trial.scan(kit, Name::of(Call::TimerSet))
}

fn binds_timer(kit: &mut Kit) -> Checked {
    let (n, region, timer) = (done!(kit.make(Kind::Notification, 0)), kit.region(), kit.slot());
    let trial = Trial::new(
        || region_create(region, Kind::Timer, 0, timer),
        |_| timer_bind(timer, n, 1),
        |_| cap_delete(0, timer).map(drop),
    );
    trial.scan(kit, Name::of(Call::TimerBind))
}
