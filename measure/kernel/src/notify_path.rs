//! From a task that signals a notification to the higher-priority task that waits for it.

use crate::{
    series::Series,
    wake_path::{HIGH, LOW, Shared, record, work},
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{NEVER, object::Kind};
use pillion_runtime::{Cap, now, signal, wait};
use pillion_test_kit::{Checked, Kit, Setup, done};

static SHARED: Shared = Shared::new();
static SERIES: Series = Series::new();

extern "C" fn waiter(_: u64) -> ! {
    record(&SHARED, &SERIES)
}

extern "C" fn signaller(notification: u64) -> ! {
    loop {
        work(50);
        SHARED.start.store(now(), Relaxed);
        let _ = signal(notification as Cap);
    }
}

/// From the signal to user mode.
pub fn to_user(kit: &mut Kit) -> Checked {
    let (high, low) = (done!(kit.space()), done!(kit.space()));
    let (wake, end) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Notification, 0)));
    let (badged, last) = (done!(kit.badged(wake, 1)), done!(kit.badged(end, 1)));
    SHARED.wake.store(wake.into(), Relaxed);
    SHARED.end.store(last.into(), Relaxed);
    done!(kit.start(Setup::new(HIGH, waiter).within(high)));
    done!(kit.start(Setup::new(LOW, signaller).within(low).with(badged.into())));
    done!(wait(end, NEVER));
    SERIES.print(kit, "notify_to_user")
}
