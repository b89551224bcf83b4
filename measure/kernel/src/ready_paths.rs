//! The cost of switching as the number of other ready threads grows.

use crate::{
    series::{SAMPLES, Series, WARM_UP, nanoseconds},
    wake_path::{HIGH, LOW, Shared, record, work},
};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::{NEVER, boot::slot, object::Kind, status::Result};
use pillion_runtime::{
    Cap, context_configure, now, println, region_create, signal, thread_bind_context, thread_configure, thread_resume,
    thread_set_registers, wait, yield_now,
};
use pillion_test_kit::{Checked, Kit, Setup, done, stop};

/// Ready threads besides those that are measured.
const READY: [usize; 8] = [0, 1, 2, 10, 50, 200, 500, 1_000];
/// Below all measured threads; `EQUAL` is the priority of those that yield.
const LESS_URGENT: u8 = 10;
const EQUAL: u8 = 60;
/// Rounds of yields, each through all ready threads.
const ROUNDS: u64 = 20;

static SHARED: Shared = Shared::new();
static END: AtomicU64 = AtomicU64::new(0);
static WAKE: [Series; READY.len()] = [const { Series::new() }; READY.len()];
static TOOK: AtomicU64 = AtomicU64::new(0);

extern "C" fn waiter(series: u64) -> ! {
    record(&SHARED, &WAKE[series as usize])
}

/// Wakes the waiter as often as it needs, and then ends, so that the next one can run.
extern "C" fn signaller(notification: u64) -> ! {
    for _ in 0..WARM_UP + SAMPLES {
        work(50);
        SHARED.start.store(now(), Relaxed);
        let _ = signal(notification as Cap);
    }
    stop()
}

extern "C" fn compute(_: u64) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

extern "C" fn yield_for_ever(_: u64) -> ! {
    loop {
        yield_now();
    }
}

extern "C" fn yield_and_measure(_: u64) -> ! {
    yield_now();
    let start = now();
    (0..ROUNDS).for_each(|_| yield_now());
    TOOK.store(now() - start, Relaxed);
    let _ = signal(END.load(Relaxed) as Cap);
    stop()
}

/// Makes a thread without a stack, as there are not enough for all: its code needs none.
fn start(kit: &mut Kit, priority: u8, entry: extern "C" fn(u64) -> !) -> Result<()> {
    let (thread, context) = (kit.slot(), kit.slot());
    region_create(kit.region(), Kind::Thread, 0, thread)?;
    region_create(kit.region(), Kind::SchedContext, 0, context)?;
    thread_configure(thread, slot::ADDRESS_SPACE, kit.workers(), 0, 0)?;
    context_configure(slot::SCHED_CONTROL, context, priority, NEVER, 0, 0)?;
    thread_bind_context(thread, context)?;
    thread_set_registers(thread, entry as *const () as u64, 0, 0)?;
    thread_resume(thread).map(|_| ())
}

/// From a signal to the more urgent thread that it wakes, with less urgent threads ready.
pub fn wake(kit: &mut Kit) -> Checked {
    let (wake, end) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Notification, 0)));
    let (badged, last) = (done!(kit.badged(wake, 1)), done!(kit.badged(end, 1)));
    SHARED.wake.store(wake.into(), Relaxed);
    SHARED.end.store(last.into(), Relaxed);
    // Before the others are made: threads can only use the first slots.
    let mut pairs = [[0; 2]; READY.len()];
    for (index, pair) in pairs.iter_mut().enumerate() {
        let high = done!(kit.prepare(Setup::new(HIGH, waiter).with(index as u64)));
        *pair = [high.thread, done!(kit.prepare(Setup::new(LOW, signaller).with(badged.into()))).thread];
    }
    let mut ready = 0;
    for (index, &wanted) in READY.iter().enumerate() {
        for _ in ready..wanted {
            done!(start(kit, LESS_URGENT, compute));
        }
        ready = wanted;
        for thread in pairs[index] {
            done!(thread_resume(thread));
        }
        done!(wait(end, NEVER));
        println!("points wake 1 ns {wanted}:{}", WAKE[index].mean(kit.info.tsc_hz));
    }
    tell("wake", WAKE[0].mean(kit.info.tsc_hz), WAKE[READY.len() - 1].mean(kit.info.tsc_hz));
    Ok(())
}

/// A yield among ready threads of the same priority.
pub fn yields(kit: &mut Kit) -> Checked {
    let end = done!(kit.make(Kind::Notification, 0));
    END.store(done!(kit.badged(end, 1)).into(), Relaxed);
    let mut measured = [0; READY.len()];
    for thread in &mut measured {
        *thread = done!(kit.prepare(Setup::new(EQUAL, yield_and_measure))).thread;
    }
    let (mut ready, mut first, mut last) = (0, None, 0);
    for (wanted, thread) in READY.into_iter().zip(measured) {
        for _ in ready..wanted {
            done!(start(kit, EQUAL, yield_for_ever));
        }
        ready = wanted;
        done!(thread_resume(thread));
        done!(wait(end, NEVER));
        let switches = ROUNDS * (wanted as u64 + 1);
        last = nanoseconds(TOOK.load(Relaxed) / switches, kit.info.tsc_hz);
        first.get_or_insert(last);
        println!("points yield_equal 1 ns {wanted}:{last}");
    }
    tell("yield_equal", first.unwrap_or(0), last);
    Ok(())
}

/// Prints both ends of a curve.
fn tell(name: &str, first: u64, last: u64) {
    println!("figure {name}_0 {first} ns");
    println!("figure {name}_1000 {last} ns");
}
