//! What a deletion changes while it goes on: who is to run then does not wait for the rest.

use crate::{Test, cells};
use pillion_abi::{NEVER, boot::slot, object::Kind};
use pillion_runtime::{
    Cap, call, cap_move, context_configure, endpoint_bind, now, println, receive, region_create, region_reset, signal,
    thread_bind_context, thread_configure, thread_register, thread_resume, thread_set_registers, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, stop};

pub const TESTS: &[Test] = &[
    ("deletion/wakes-a-more-urgent-thread", wakes),
    ("deletion/lowers-its-caller", lowers),
    ("deletion/takes-its-callers-time", takes_time),
];

/// Cells: a notification and a region, and when the thread that is to run became ready, ran, and
/// the deletion ended.
const NOTE: usize = 0;
const REGION: usize = 1;
const READY: usize = 2;
const RAN: usize = 3;
const OVER: usize = 4;

/// The longest that a thread may wait for one that has no right to run before it, in ns.
const BOUND: u64 = 10_000;

extern "C" fn waiter(notification: u64) -> ! {
    let _ = wait(notification as Cap, NEVER);
    cells::set(RAN, now());
    stop()
}

/// Makes a thread of a lower priority ready, and deletes.
fn delete() -> ! {
    let _ = signal(cells::cap(NOTE));
    cells::set(READY, now());
    let _ = region_reset(cells::cap(REGION));
    cells::set(OVER, now());
    stop()
}

extern "C" fn deleter(_: u64) -> ! {
    delete()
}

/// Deletes while it serves a caller.
extern "C" fn server(_: u64) -> ! {
    let _ = receive(NEVER);
    delete()
}

extern "C" fn caller(endpoint: u64) -> ! {
    let _ = call(endpoint as Cap, 1, [0; 8]);
    stop()
}

/// A region of which a large capability space is made: what is made of it later ends before that.
pub fn region(kit: &mut Kit) -> Checked<Cap> {
    let [region, caps] = [kit.slot(), kit.slot()];
    done!(region_create(kit.region(), Kind::Region, 4 << 20, region));
    done!(region_create(region, Kind::CapSpace, 0x7fff, caps));
    Ok(region)
}

/// A context of that region.
fn context(kit: &mut Kit, region: Cap, priority: u8) -> Checked<Cap> {
    let context = kit.slot();
    done!(region_create(region, Kind::SchedContext, kit.number(0), context));
    done!(context_configure(slot::SCHED_CONTROL, context, priority, NEVER, 0, 0));
    Ok(context)
}

/// Whether the thread ran soon after it became ready.
fn ran_soon(name: &str, ready: u64) -> Checked {
    let late = cells::get(RAN).wrapping_sub(ready);
    println!("deletion {name}: another thread ran after {late} ns");
    check!(late < BOUND, "it waited for {late} ns, allowed are {BOUND}");
    Ok(())
}

/// It waits for what ends first.
fn wakes(kit: &mut Kit) -> Checked {
    let (region, notification) = (region(kit)?, kit.slot());
    done!(region_create(region, Kind::Notification, kit.number(0), notification));
    done!(kit.grant(notification));
    done!(kit.start(Setup::new(200, waiter).with(notification.into())));
    kit.rest(1_000);
    let start = now();
    done!(region_reset(region));
    let took = now() - start;
    check!(took > 10 * BOUND, "it took {took} ns only");
    ran_soon("wakes", start)
}

/// Starts a thread that the deleter makes ready, and gives the deleter the region.
fn prepare(kit: &mut Kit, region: Cap) -> Checked {
    let note = done!(kit.make(Kind::Notification, 0));
    done!(cap_move(kit.workers(), region, region));
    cells::set(NOTE, note);
    cells::set(REGION, region);
    done!(kit.start(Setup::new(50, waiter).with(note.into())));
    kit.rest(10_000);
    Ok(())
}

/// A server deletes the caller that it has its priority from.
fn lowers(kit: &mut Kit) -> Checked {
    let (region, endpoint, thread) = (region(kit)?, done!(kit.make(Kind::Endpoint, 0)), kit.slot());
    let context = context(kit, region, 90)?;
    done!(region_create(region, Kind::Thread, kit.number(0), thread));
    done!(thread_configure(thread, slot::ADDRESS_SPACE, kit.workers(), 0, 0));
    done!(thread_bind_context(thread, context));
    let [_, stack] = done!(thread_register(done!(kit.prepare(Setup::new(20, caller))).thread, 0));
    done!(thread_set_registers(thread, caller as *const () as u64, stack, endpoint.into()));
    prepare(kit, region)?;
    let server = done!(kit.prepare(Setup::new(10, server)));
    done!(endpoint_bind(endpoint, server.thread));
    done!(thread_resume(server.thread));
    kit.rest(10_000);
    done!(thread_resume(thread));
    kit.rest(2_000_000);
    check!(cells::get(OVER) - cells::get(READY) > 10 * BOUND, "the deletion is short");
    ran_soon("lowers", cells::get(READY))
}

/// A thread deletes the context that it runs on.
fn takes_time(kit: &mut Kit) -> Checked {
    let region = region(kit)?;
    let context = context(kit, region, 60)?;
    prepare(kit, region)?;
    let deleter = done!(kit.prepare(Setup::new(60, deleter)));
    done!(thread_bind_context(deleter.thread, 0));
    done!(thread_bind_context(deleter.thread, context));
    done!(thread_resume(deleter.thread));
    kit.rest(2_000_000);
    ran_soon("takes-time", cells::get(READY))
}
