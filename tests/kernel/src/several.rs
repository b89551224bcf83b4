//! Objects of another processor than this task's. A loop here has PAUSE: an emulator that counts
//! gives a processor's turn away only there, and where it halts.

use crate::{
    Test, cells, fpu,
    guest_interrupt::runner,
    mappings::{peek, poke},
    order,
    thread::{FULL, all, full},
};
use core::arch::x86_64::__cpuid;
use pillion_abi::{NEVER, PAGE, boot::slot, call::IRQ_MSI, object::Kind, status::Error};
use pillion_runtime::{
    call, cap_revoke, context_configure, context_consumed, context_set_priority, endpoint_bind, endpoint_bind_with,
    interrupt_ack, interrupt_bind, interrupt_create, now, receive, region_create, reply_receive, sleep,
    thread_bind_context, thread_bind_notification, thread_register, thread_resume, thread_set_registers,
    thread_suspend, timer_bind, timer_set, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, edu::Edu, guest::Guest, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("several/runs-at-the-same-time", runs),
    ("several/stops-and-goes-on", stops),
    ("several/registers-are-read", registers),
    ("several/sleeps", sleeps),
    ("several/timers", timers),
    ("several/budget", budget),
    ("several/vector-registers", vectors),
    ("several/calls-there", calls),
    ("several/calls-of-a-server-without-time", visits),
    ("several/messages-of-a-device", messages),
    ("several/waits-for-what-is-more-urgent", away),
    ("several/bound-to-what-has-another-home", mixed),
    ("several/state-page-is-taken-away", state_page),
    ("several/unknown-home", unknown),
];

/// The processor of these tests' threads.
const OTHER: u64 = 1;

/// What memory is filled with that must not change.
const FILLED: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Notes where it runs, and counts.
extern "C" fn counter(cell: u64) -> ! {
    cells::set(1, __cpuid(1).ebx >> 24);
    loop {
        cells::add(cell as usize, 1);
        core::hint::spin_loop();
    }
}

fn runs(kit: &mut Kit) -> Checked {
    // Less urgent than this thread, which does not let it run on this processor.
    let t = done!(kit.start(Setup::new(20, counter).on(OTHER)));
    let before = cells::get(0);
    cells::spin(20_000);
    let after = cells::get(0);
    check!(after > before, "it does not run: {before} and {after}");
    same!(cells::get(1), u64::from(kit.apic_id(OTHER)));
    refused!(thread_resume(t.thread), Error::BadState);
    Ok(())
}

fn stops(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(Setup::new(20, counter).on(OTHER)));
    for round in 0..20 {
        cells::spin(3_000);
        done!(thread_suspend(t.thread));
        let count = cells::get(0);
        check!(count > round, "it stands still at {count}");
        cells::spin(3_000);
        same!(cells::get(0), count);
        done!(thread_resume(t.thread));
    }
    Ok(())
}

fn registers(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(Setup::new(20, full).on(OTHER)));
    kit.rest(5_000);
    // While it runs.
    same!(all(t.thread)?, FULL);
    let [_, stack] = done!(thread_register(t.thread, 0));
    refused!(thread_set_registers(t.thread, 0x1000, stack, 0), Error::BadState);
    done!(thread_suspend(t.thread));
    same!(all(t.thread)?, FULL);
    done!(thread_set_registers(t.thread, counter as *const () as u64, stack, 5));
    done!(thread_resume(t.thread));
    kit.rest(5_000);
    check!(cells::get(5) > 0, "it did not begin anew");
    Ok(())
}

/// Sleeps again and again, and notes how often, and how late it woke up at most.
extern "C" fn sleeper(count: u64) -> ! {
    for _ in 0..count {
        let end = now() + 5_000;
        let _ = sleep(end);
        cells::raise(1, now().checked_sub(end).unwrap_or(u64::MAX));
        cells::add(0, 1);
    }
    stop()
}

fn sleeps(kit: &mut Kit) -> Checked {
    done!(kit.start(Setup::new(20, sleeper).on(OTHER).with(20)));
    cells::spin(300_000);
    same!(cells::get(0), 20);
    check!(cells::get(1) < 5_000, "{} ns late", cells::get(1));
    Ok(())
}

/// Notes when its notification is signalled.
extern "C" fn waiter(_: u64) -> ! {
    while let Ok([bits, _]) = wait(cells::cap(0), NEVER) {
        cells::set(1, now());
        cells::log(bits);
    }
    stop()
}

fn timers(kit: &mut Kit) -> Checked {
    let (timer, n) = (done!(kit.make(Kind::Timer, OTHER)), done!(kit.make(Kind::Notification, OTHER)));
    cells::set(0, n);
    done!(timer_bind(timer, n, 6));
    done!(kit.start(Setup::new(20, waiter).on(OTHER)));
    let end = now() + 50_000;
    done!(timer_set(timer, end));
    cells::spin(20_000);
    order!();
    cells::spin(60_000);
    order!(6);
    check!((end..end + 5_000).contains(&cells::get(1)), "at {}, not {end}", cells::get(1));
    done!(timer_set(timer, now() + 20_000));
    done!(timer_set(timer, NEVER));
    cells::spin(60_000);
    order!(6);
    Ok(())
}

fn budget(kit: &mut Kit) -> Checked {
    const PERIOD: u64 = 100_000;
    const BUDGET: u64 = 20_000;
    let setup = Setup { budget: BUDGET, period: PERIOD, ..Setup::new(150, counter).on(OTHER) };
    let t = done!(kit.start(setup));
    cells::spin(20 * PERIOD);
    let [used, exhausted] = done!(context_consumed(t.context));
    check!((18 * BUDGET..22 * BUDGET).contains(&used), "used {used} of {}", 20 * BUDGET);
    check!((18..=22).contains(&exhausted), "ran out {exhausted} times");
    // Without a limit it never stops.
    done!(context_configure(slot::SCHED_CONTROL, t.context, 20, NEVER, 0, 0));
    cells::spin(2 * PERIOD);
    // Its kernel has not looked at the clock meanwhile, as nothing happened there: a call has it do
    // that.
    let [before, exhausted] = done!(context_consumed(t.context));
    check!(before - used < PERIOD, "used {} more", before - used);
    done!(context_configure(slot::SCHED_CONTROL, t.context, 20, NEVER, 0, 0));
    let [later, still] = done!(context_consumed(t.context));
    check!(later - used > PERIOD && still == exhausted, "used {} more, ran out {still} times", later - used);
    Ok(())
}

fn vectors(kit: &mut Kit) -> Checked {
    let ids = [0x1234_5605, 0x0bad_cafe_0006, 0x7fff_0007];
    for (id, home) in ids.iter().zip([OTHER, OTHER, 0]) {
        done!(kit.start(fpu::with_fpu(fpu::vectors, *id).on(home)));
    }
    fpu::run(kit, &ids)
}

/// Receives, and replies with one more.
extern "C" fn server(_: u64) -> ! {
    let mut message = receive(NEVER);
    while let Ok(m) = message {
        message = reply_receive(m.label + 1, m.words);
    }
    stop()
}

extern "C" fn client(_: u64) -> ! {
    for label in [4, 14, 24] {
        cells::log(call(cells::cap(0), label, [0; 8]).map_or(0, |m| m.label));
    }
    stop()
}

fn calls(kit: &mut Kit) -> Checked {
    let endpoint = done!(kit.make(Kind::Endpoint, OTHER));
    cells::set(0, endpoint);
    let server = done!(kit.prepare(Setup::new(30, server).on(OTHER)));
    done!(endpoint_bind(endpoint, server.thread));
    done!(thread_resume(server.thread));
    done!(kit.start(Setup::new(20, client).on(OTHER)));
    cells::spin(20_000);
    order!(5, 15, 25);
    Ok(())
}

/// Calls as often as it can, and counts the answers in a cell.
extern "C" fn flood(cell: u64) -> ! {
    while call(cells::cap(0), 1, [0; 8]).is_ok_and(|m| m.label == 2) {
        cells::add(cell as usize, 1);
    }
    stop()
}

/// Three callers of another processor get the budget of their context, and no more, from a receiver
/// that has none of its own; they wait for its replenishment.
fn visits(kit: &mut Kit) -> Checked {
    const PERIOD: u64 = 4_000_000;
    const BUDGET: u64 = PERIOD / 10;
    const NEED: u64 = BUDGET / 4;
    const PERIODS: u64 = 10;
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    cells::set(0, endpoint);
    let visitors = done!(kit.make(Kind::SchedContext, 0));
    done!(context_configure(slot::SCHED_CONTROL, visitors, 1, BUDGET, PERIOD, 0));
    let server = done!(kit.prepare(Setup::new(30, server)));
    done!(endpoint_bind_with(endpoint, server.thread, 0, NEED, visitors));
    done!(thread_resume(server.thread));
    kit.rest(20_000);
    done!(thread_bind_context(server.thread, 0));
    let begin = now();
    for (cell, priority) in [(1, 20), (2, 21), (3, 20)] {
        done!(kit.start(Setup::new(priority, flood).with(cell).on(OTHER)));
    }
    kit.rest(PERIODS * PERIOD);
    let [used, exhausted] = done!(context_consumed(visitors));
    let periods = (now() - begin) / PERIOD + 1;
    check!(used > PERIODS * BUDGET / 2 && used <= periods * BUDGET, "used {used} in {periods} periods of {BUDGET}");
    same!(exhausted, 0);
    check!((1..4).all(|cell| cells::get(cell) > PERIODS), "one is not served");
    Ok(())
}

fn messages(kit: &mut Kit) -> Checked {
    let edu = Edu::find(kit, slot::ADDRESS_SPACE)?;
    let (interrupt, n) = (kit.slot(), done!(kit.make(Kind::Notification, OTHER)));
    let home = kit.interrupts(OTHER);
    let [address, data] = done!(interrupt_create(slot::IRQ_CONTROL, IRQ_MSI, home, interrupt, kit.region()));
    same!(address >> 12 & 0xff, u64::from(kit.apic_id(OTHER)));
    same!(edu.function.set_message(address, data), true);
    cells::set(0, n);
    done!(interrupt_bind(interrupt, n, 9));
    done!(kit.start(Setup::new(20, waiter).on(OTHER)));
    for value in [1, 2] {
        edu.raise(value);
        cells::spin(10_000);
        edu.acknowledge(value);
        done!(interrupt_ack(interrupt));
    }
    order!(9, 9);
    Ok(())
}

/// Counts in cell 0, and sleeps for a moment when cell 2 says so.
extern "C" fn urgent(_: u64) -> ! {
    loop {
        if cells::get(2) == 1 {
            let _ = sleep(now() + 5_000);
            cells::set(2, 2u64);
        }
        cells::add(0, 1);
        core::hint::spin_loop();
    }
}

/// Suspends the thread in cell 3.
extern "C" fn suspender(_: u64) -> ! {
    let done = thread_suspend(cells::cap(3)).is_ok();
    cells::log(done.into());
    stop()
}

fn moves(what: &str) -> Checked {
    let before = cells::get(0);
    cells::spin(20_000);
    check!(cells::get(0) > before, "{what}");
    Ok(())
}

fn away(kit: &mut Kit) -> Checked {
    let busy = done!(kit.start(Setup::new(90, urgent).on(OTHER)));
    cells::set(3, busy.thread);
    let caller = done!(kit.start(Setup::new(50, suspender)));
    kit.rest(20_000);
    order!();
    moves("a less urgent visit did not wait")?;
    // Called back, it leaves nothing there.
    done!(thread_suspend(caller.thread));
    cells::set(2, 1u64);
    moves("it is suspended by a call that was taken back")?;
    same!(cells::get(2), 2);
    // The call is made again.
    done!(thread_resume(caller.thread));
    kit.rest(20_000);
    order!();
    done!(context_set_priority(busy.context, 10));
    kit.rest(20_000);
    order!(1);
    let count = cells::get(0);
    cells::spin(20_000);
    same!(cells::get(0), count);
    Ok(())
}

fn mixed(kit: &mut Kit) -> Checked {
    let t = done!(kit.prepare(Setup::new(20, counter).on(OTHER)));
    let (timer, n, e) = (
        done!(kit.make(Kind::Timer, OTHER)),
        done!(kit.make(Kind::Notification, 0)),
        done!(kit.make(Kind::Endpoint, 0)),
    );
    refused!(timer_bind(timer, n, 1), Error::Elsewhere);
    refused!(thread_bind_notification(t.thread, n), Error::Elsewhere);
    refused!(endpoint_bind(e, t.thread), Error::Elsewhere);
    done!(thread_bind_context(t.thread, 0));
    refused!(thread_bind_context(t.thread, slot::CONTEXT), Error::Elsewhere);
    let there = done!(kit.make(Kind::Notification, OTHER));
    refused!(wait(there, NEVER), Error::Elsewhere);
    Ok(())
}

/// The page of a guest that runs there goes to another owner.
fn state_page(kit: &mut Kit) -> Checked {
    let mut guest = Guest::on(kit, OTHER)?;
    // jmp self
    guest.put(0, &[0xeb, 0xfe]);
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into()).on(OTHER)));
    cells::spin(20_000);
    same!(cells::get(1), 0);
    let page = core::ptr::from_ref(guest.state()) as u64;
    done!(cap_revoke(0, guest.state_memory));
    (page..page + PAGE).step_by(8).for_each(|word| poke(word, FILLED));
    cells::spin(20_000);
    same!(cells::get(0), Error::Gone as u64);
    for word in (page..page + PAGE).step_by(8) {
        same!(peek(word), FILLED);
    }
    Ok(())
}

fn unknown(kit: &mut Kit) -> Checked {
    let at = kit.slot();
    for home in [kit.info.cpus, 255, 256, u64::MAX] {
        for kind in [Kind::Thread, Kind::SchedContext, Kind::Endpoint, Kind::Notification, Kind::Timer, Kind::Vcpu] {
            refused!(region_create(kit.region(), kind, home, at), Error::BadArgument);
        }
    }
    Ok(())
}
