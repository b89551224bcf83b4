//! From a device that raises its interrupt to a user task's first instruction, while another runs.

use crate::series::Series;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot, call::IRQ_MSI, object::Kind};
use pillion_runtime::{Cap, interrupt_bind, interrupt_create, now, signal, wait};
use pillion_test_kit::{Checked, Kit, Setup, done, edu::Edu, failure, same, stop};

/// State that the two tasks share.
pub struct Shared {
    /// Time stamp of the start of the current sample.
    pub start: AtomicU64,
    /// The notification that wakes the task.
    pub wake: AtomicU64,
    /// The notification that marks the end.
    pub end: AtomicU64,
}

impl Shared {
    /// The initial state.
    pub const fn new() -> Shared {
        Shared { start: AtomicU64::new(0), wake: AtomicU64::new(0), end: AtomicU64::new(0) }
    }
}

static SHARED: Shared = Shared::new();
static SERIES: Series = Series::new();

/// Priority of the task that is woken; [`LOW`] is that of the task that runs meanwhile.
pub const HIGH: u8 = 200;
/// See [`HIGH`].
pub const LOW: u8 = 50;

/// Waits for the notification and records samples.
pub fn record(shared: &Shared, series: &Series) -> ! {
    let (wake, end) = (shared.wake.load(Relaxed) as Cap, shared.end.load(Relaxed) as Cap);
    loop {
        let _ = wait(wake, NEVER);
        let woken = now();
        if series.add(woken.wrapping_sub(shared.start.load(Relaxed))) {
            let _ = signal(end);
            stop()
        }
    }
}

/// Spends some time in user mode.
#[inline(never)]
pub fn work(rounds: u64) {
    for _ in 0..rounds {
        core::hint::spin_loop();
    }
}

extern "C" fn handler(_: u64) -> ! {
    record(&SHARED, &SERIES)
}

/// # Safety
///
/// The argument is [`Edu::raiser`] of a device that is mapped.
unsafe extern "C" fn raiser(register: u64) -> ! {
    for round in 0.. {
        work(100 + round % 31);
        SHARED.start.store(now(), Relaxed);
        // SAFETY: the caller's promise; writing the register raises the interrupt.
        unsafe { (register as *mut u32).write_volatile(1) };
    }
    stop()
}

/// From a device's interrupt to user mode.
pub fn interrupt(kit: &mut Kit) -> Checked {
    let (high, low) = (done!(kit.space()), done!(kit.space()));
    let edu = Edu::find(kit, low)?;
    let (wake, end) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Notification, 0)));
    let (irq, signal) = (kit.slot(), done!(kit.badged(end, 1)));
    let [address, data] = done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, 0, irq, kit.region()));
    done!(interrupt_bind(irq, wake, 1));
    same!(edu.function.set_message(address, data), true);
    SHARED.wake.store(wake.into(), Relaxed);
    SHARED.end.store(signal.into(), Relaxed);
    done!(kit.start(Setup::new(HIGH, handler).within(high)));
    done!(kit.start(Setup::new(LOW, raiser).within(low).with(edu.raiser())));
    let bits = wait(end, NEVER).map_err(|e| failure!("{e:?}"))?;
    same!(bits[0], 1);
    SERIES.print(kit, "irq_to_user")
}
