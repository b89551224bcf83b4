//! From the deadline of a sleeping task to its first instruction.

use crate::{
    series::Series,
    wake_path::{HIGH, LOW, work},
};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, object::Kind};
use pillion_runtime::{Cap, now, signal, sleep, wait};
use pillion_test_kit::{Checked, Kit, Setup, done, guest::Guest, stop};

const PERIOD: u64 = 20_000;

static END: AtomicU64 = AtomicU64::new(0);
static TASK: Series = Series::new();
static PAST_GUEST: Series = Series::new();

/// # Safety
/// The argument is the address of one of the two series above.
unsafe extern "C" fn sleeper(series: u64) -> ! {
    // SAFETY: the caller's promise.
    let series = unsafe { &*(series as *const Series) };
    let mut release = now() + PERIOD;
    loop {
        let _ = sleep(release);
        let woken = now();
        if series.add(woken.wrapping_sub(release)) {
            let _ = signal(END.load(Relaxed) as Cap);
            stop()
        }
        release += PERIOD;
    }
}

extern "C" fn spinner(_: u64) -> ! {
    loop {
        work(1_000);
    }
}

/// Runs a guest, again and again.
pub extern "C" fn runner(vcpu: u64) -> ! {
    loop {
        let _ = pillion_runtime::vcpu_run(vcpu as Cap);
    }
}

fn measure(kit: &mut Kit, name: &str, series: &'static Series, meanwhile: Setup) -> Checked {
    let (high, low) = (done!(kit.space()), done!(kit.space()));
    let end = done!(kit.make(Kind::Notification, 0));
    END.store(done!(kit.badged(end, 1)).into(), Relaxed);
    done!(kit.start(meanwhile.within(low)));
    done!(kit.start(Setup::new(HIGH, sleeper).within(high).with(series as *const Series as u64)));
    done!(wait(end, NEVER));
    series.print(kit, name)
}

/// From the timer to user mode, while another task runs.
pub fn to_user(kit: &mut Kit) -> Checked {
    measure(kit, "timer_to_user", &TASK, Setup::new(LOW, spinner))
}

/// From the timer to user mode, while a guest runs.
pub fn to_user_past_guest(kit: &mut Kit) -> Checked {
    const SPIN: [u8; 2] = [0xeb, 0xfe];
    let mut guest = Guest::new(kit)?;
    guest.put(0, &SPIN);
    measure(kit, "timer_to_user_guest", &PAST_GUEST, Setup::new(LOW, runner).with(guest.vcpu.into()))
}
