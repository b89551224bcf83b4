//! Paths between processors, and those of one while others are busy, between markers for the
//! plug-in that counts what each processor executes (measure/plugin/several.c): the time-stamp
//! counter counts what all of them do. Loops have PAUSE, where the emulator gives a processor's
//! turn away.

use crate::{
    Measure,
    call_paths::{empty_call, empty_server},
    message_paths,
    series::{SAMPLES, WARM_UP},
    timer_path::runner,
    wake_path::{HIGH, LOW, work},
};
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use pillion_abi::{
    NEVER, PAGE,
    boot::slot,
    object::{Kind, map, right},
    status,
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_revoke, endpoint_bind, memory_map, memory_unmap, now, region_create, region_reset,
    signal, sleep, thread_bind_context, thread_configure, thread_resume, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, done, guest::Guest, same, stop};

/// In the order of their series. All but the first three need four processors, and do nothing with
/// less.
pub const ALL: &[Measure] = &[
    timer,
    calls,
    notifies,
    signals,
    signals_past_guest,
    changes,
    message_paths::to_running,
    message_paths::to_halted,
];

/// nop dword ptr [rax + name], a name of four letters.
macro_rules! mark {
    ($name:literal) => {
        // SAFETY: a no-operation, whose operand is not accessed.
        unsafe {
            core::arch::asm!(
                ".byte 0x0f, 0x1f, 0x80",
                concat!(".ascii \"", $name, "\""),
                options(nostack, preserves_flags)
            )
        }
    };
}
pub(crate) use mark;

/// Samples of each path.
pub const ROUNDS: u64 = WARM_UP + SAMPLES;

/// The processor that the first one's signals go to, and that changes memory beside it. It is the
/// last, as the emulator asks for it: whatever ends its turn, others come before its next one.
pub const LAST: u64 = 3;

/// Between releases, in ticks: of each processor.
const PERIOD: u64 = 20_000;

/// What [`enough`] signals, and how often the response to a signal has come.
static END: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);

/// The error of a change, or 0.
static FAILED: AtomicU64 = AtomicU64::new(0);

/// In the argument of a thread: its rounds are those of the path.
const ENDS: u64 = 1 << 32;

/// Ends the path after the last of its rounds.
fn enough(argument: u64, rounds: u64) {
    if argument & ENDS != 0 && rounds == ROUNDS {
        let _ = signal(END.load(Relaxed) as Cap);
    }
}

/// Is released each period; the end of that is its response.
extern "C" fn sleeper(ends: u64) -> ! {
    for rounds in 1.. {
        let _ = sleep(now() + PERIOD);
        mark!("Resp");
        enough(ends, rounds);
    }
    stop()
}

extern "C" fn spinner(_: u64) -> ! {
    loop {
        work(1_000);
    }
}

/// Waits for a notification; the end of that is its response.
extern "C" fn waiter(notification: u64) -> ! {
    loop {
        let _ = wait(notification as Cap, NEVER);
        mark!("Resp");
        SEEN.fetch_add(1, SeqCst);
    }
}

/// Signals again and again.
extern "C" fn signaller(notification: u64) -> ! {
    for rounds in 1.. {
        work(50);
        mark!("From");
        let _ = signal(notification as Cap);
        enough(notification, rounds);
    }
    stop()
}

extern "C" fn client(endpoint: u64) -> ! {
    for rounds in 1.. {
        work(50);
        mark!("From");
        let (status, label) = empty_call(endpoint as Cap);
        mark!("Upto");
        if (status, label) == (0, 7) {
            enough(endpoint, rounds);
        }
    }
    stop()
}

/// A thread that is signalled, and one that signals it, in two address spaces of a processor.
fn start_signals(kit: &mut Kit, home: u64, ends: u64) -> Checked {
    let (high, low) = (done!(kit.space()), done!(kit.space()));
    let n = done!(kit.make(Kind::Notification, home));
    let badged = done!(kit.badged(n, 1));
    done!(kit.start(Setup::new(HIGH, waiter).within(high).with(n.into()).on(home)));
    done!(kit.start(Setup::new(LOW, signaller).within(low).with(ends | u64::from(badged)).on(home)));
    Ok(())
}

/// A thread that is released each period, in an address space of its own.
fn start_sleeper(kit: &mut Kit, home: u64, ends: u64) -> Checked {
    let space = done!(kit.space());
    done!(kit.start(Setup::new(HIGH, sleeper).within(space).with(ends).on(home)));
    Ok(())
}

/// A client and a server that runs on its time, in two address spaces of a processor.
fn start_calls(kit: &mut Kit, home: u64, ends: u64) -> Checked {
    let (there, here) = (done!(kit.space()), done!(kit.space()));
    let endpoint = done!(kit.make(Kind::Endpoint, home));
    let served = done!(kit.prepare(Setup::new(HIGH, empty_server).within(there).on(home)));
    done!(endpoint_bind(endpoint, served.thread));
    done!(thread_resume(served.thread));
    // Until it waits.
    kit.rest(PERIOD);
    done!(thread_bind_context(served.thread, 0));
    done!(kit.start(Setup::new(LOW, client).within(here).with(ends | u64::from(endpoint)).on(home)));
    Ok(())
}

/// All other processors signal, and release a thread each period.
fn keep_others_busy(kit: &mut Kit) -> Checked {
    for home in 1..kit.info.cpus {
        start_signals(kit, home, 0)?;
        start_sleeper(kit, home, 0)?;
    }
    Ok(())
}

/// A path of the first processor, while others are busy.
fn beside(kit: &mut Kit, path: impl FnOnce(&mut Kit) -> Checked) -> Checked {
    keep_others_busy(kit)?;
    kit.rest(4 * PERIOD);
    let end = done!(kit.make(Kind::Notification, 0));
    END.store(done!(kit.badged(end, 1)).into(), Relaxed);
    mark!("Mark");
    path(kit)?;
    done!(wait(end, NEVER));
    Ok(())
}

/// From the timer to a thread, another thread running.
fn timer(kit: &mut Kit) -> Checked {
    beside(kit, |kit| {
        let space = done!(kit.space());
        done!(kit.start(Setup::new(LOW, spinner).within(space)));
        start_sleeper(kit, 0, ENDS)
    })
}

/// A call and its reply.
fn calls(kit: &mut Kit) -> Checked {
    beside(kit, |kit| start_calls(kit, 0, ENDS))
}

/// A notification to a more urgent thread.
fn notifies(kit: &mut Kit) -> Checked {
    beside(kit, |kit| start_signals(kit, 0, ENDS))
}

/// Makes a thread of another processor that waits; returns what to signal.
fn start_waiter(kit: &mut Kit) -> Checked<Cap> {
    let space = done!(kit.space());
    let n = done!(kit.make(Kind::Notification, LAST));
    done!(kit.start(Setup::new(HIGH, waiter).within(space).with(n.into()).on(LAST)));
    Ok(done!(kit.badged(n, 1)))
}

/// Signals that thread, and waits for its response each time.
fn signal_other(notification: Cap) -> Checked {
    SEEN.store(0, SeqCst);
    work(100);
    mark!("Mark");
    for round in 0..ROUNDS {
        work(50);
        same!(SEEN.load(SeqCst), round);
        mark!("From");
        let signalled = signal(notification);
        mark!("Upto");
        done!(signalled);
        while SEEN.load(SeqCst) == round {
            core::hint::spin_loop();
        }
    }
    Ok(())
}

/// To a processor that sleeps.
fn signals(kit: &mut Kit) -> Checked {
    if kit.info.cpus <= LAST {
        return Ok(());
    }
    let notification = start_waiter(kit)?;
    signal_other(notification)
}

/// To one that runs a guest.
fn signals_past_guest(kit: &mut Kit) -> Checked {
    // 1: pause; jmp 1b
    const SPIN: [u8; 4] = [0xf3, 0x90, 0xeb, 0xfc];
    if kit.info.cpus <= LAST {
        return Ok(());
    }
    let mut guest = Guest::on(kit, LAST)?;
    guest.put(0, &SPIN);
    let notification = start_waiter(kit)?;
    let space = done!(kit.space());
    done!(kit.start(Setup::new(LOW, runner).within(space).with(guest.vcpu.into()).on(LAST)));
    signal_other(notification)
}

/// What [`change`] changes: a region, empty slots from this one on, and an address.
static REGION: AtomicU64 = AtomicU64::new(0);
static SLOTS: AtomicU64 = AtomicU64::new(0);
static ADDRESS: AtomicU64 = AtomicU64::new(0);

/// Slots that [`change`] fills: memory, a thread, and copies of the memory.
const NEEDED: Cap = 2 + 8;

/// Makes memory and a thread of the first processor, and ends them.
fn change() -> status::Result<()> {
    const SIZE: u64 = 16 * PAGE;
    let [region, memory] = [&REGION, &SLOTS].map(|cap| cap.load(Relaxed) as Cap);
    let thread = memory + 1;
    region_create(region, Kind::Memory, SIZE, memory)?;
    region_create(region, Kind::Thread, 0, thread)?;
    thread_configure(thread, slot::ADDRESS_SPACE, slot::CAP_SPACE, 0, 0)?;
    memory_map(memory, slot::ADDRESS_SPACE, ADDRESS.load(Relaxed), map::WRITE)?;
    for copy in thread + 1..memory + NEEDED {
        cap_derive(0, copy, memory, right::ALL, 0)?;
    }
    memory_unmap(memory)?;
    cap_revoke(0, memory)?;
    cap_delete(0, thread)?;
    region_reset(region).map(|_| ())
}

extern "C" fn changer(end: u64) -> ! {
    for _ in 0..ROUNDS {
        if let Err(error) = change() {
            FAILED.store(error.to_raw(), Relaxed);
            break;
        }
        core::hint::spin_loop();
    }
    let _ = signal(end as Cap);
    stop()
}

/// A thread on another processor changes memory and capabilities as fast as it can, in the address
/// space of a thread that runs here, where timers, signals and calls go on.
fn changes(kit: &mut Kit) -> Checked {
    if kit.info.cpus <= LAST {
        return Ok(());
    }
    let region = done!(kit.make(Kind::Region, 1 << 20));
    REGION.store(region.into(), Relaxed);
    SLOTS.store(kit.slot().into(), Relaxed);
    for _ in 1..NEEDED {
        kit.slot();
    }
    ADDRESS.store(kit.address(), Relaxed);
    start_signals(kit, 0, 0)?;
    start_calls(kit, 0, 0)?;
    done!(kit.start(Setup::new(LOW, spinner)));
    start_sleeper(kit, 0, 0)?;
    let end = done!(kit.make(Kind::Notification, 0));
    let badged = done!(kit.badged(end, 1));
    let changing = done!(kit.prepare(Setup::new(LOW, changer).with(badged.into()).on(LAST)));
    done!(thread_configure(changing.thread, slot::ADDRESS_SPACE, slot::CAP_SPACE, 0, 0));
    mark!("Mark");
    done!(thread_resume(changing.thread));
    done!(wait(end, NEVER));
    same!(FAILED.load(Relaxed), 0);
    Ok(())
}
