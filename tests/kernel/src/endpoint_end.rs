//! Calls whose other side goes away, and circles and chains that are too long.

use crate::{
    Test, cells,
    endpoint::{serve, server},
    order,
};
use pillion_abi::{
    NEVER,
    boot::slot,
    object::Kind,
    status::Error::{BadState, Gone, TooDeep},
};
use pillion_runtime::{
    Cap, call, cap_delete, endpoint_bind, now, receive, reply, reply_receive, sleep, thread_bind_context,
    thread_suspend,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("endpoint/server-ends", server_ends),
    ("endpoint/passive-server-ends", passive_server_ends),
    ("endpoint/endpoint-ends", endpoint_ends),
    ("endpoint/caller-ends", caller_ends),
    ("endpoint/caller-of-a-passive-server-ends", caller_of_passive_ends),
    ("endpoint/receive-without-reply", no_reply),
    ("endpoint/calling-oneself", oneself),
    ("endpoint/chain-too-deep", too_deep),
    ("endpoint/context-of-the-caller-ends", context_ends),
];

extern "C" fn sleeper(_: u64) -> ! {
    let _ = receive(NEVER);
    let _ = sleep(NEVER);
    stop()
}

extern "C" fn caller(number: u64) -> ! {
    let status = call(cells::cap(0), number, [0; 8]).err();
    cells::log(number * 100 + status.map_or(0, |e| e as u64));
    stop()
}

fn ends(kit: &mut Kit, passive: bool) -> Checked {
    let (endpoint, t) = serve(kit, Setup::new(50, sleeper), passive)?;
    cells::set(0, endpoint);
    done!(kit.start(Setup::new(30, caller).with(1)));
    kit.rest(10_000);
    order!();
    done!(cap_delete(0, t.thread));
    kit.rest(10_000);
    order!(100 + Gone as u64);
    refused!(call(endpoint, 0, [0; 8]).map(|_| ()), BadState);
    // The endpoint can have another receiver.
    let u = done!(kit.prepare(Setup::new(50, server)));
    done!(endpoint_bind(endpoint, u.thread));
    done!(pillion_runtime::thread_resume(u.thread));
    same!(done!(call(endpoint, 7, [0; 8])).label, 7);
    Ok(())
}

fn server_ends(kit: &mut Kit) -> Checked {
    ends(kit, false)
}

fn passive_server_ends(kit: &mut Kit) -> Checked {
    ends(kit, true)
}

fn endpoint_ends(kit: &mut Kit) -> Checked {
    let (endpoint, _) = serve(kit, Setup::new(10, sleeper), false)?;
    cells::set(0, endpoint);
    for number in 1..=4 {
        done!(kit.start(Setup::new(30, caller).with(number)));
    }
    kit.rest(20_000);
    done!(cap_delete(0, endpoint));
    kit.rest(20_000);
    // The first is being served, the others are queued.
    order!(200 + Gone as u64, 300 + Gone as u64, 400 + Gone as u64);
    Ok(())
}

fn caller_ends(kit: &mut Kit) -> Checked {
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    done!(endpoint_bind(endpoint, slot::THREAD));
    cells::set(0, endpoint);
    let served = done!(kit.start(Setup::new(20, caller).with(1)));
    let queued = done!(kit.start(Setup::new(20, caller).with(2)));
    done!(kit.start(Setup::new(20, caller).with(3)));
    same!(done!(receive(now() + 50_000)).label, 1);
    kit.rest(10_000);
    done!(cap_delete(0, served.thread));
    done!(cap_delete(0, queued.thread));
    refused!(reply(0, [0; 8]), BadState);
    same!(done!(reply_receive(0, [0; 8])).label, 3);
    done!(reply(0, [0; 8]));
    kit.rest(10_000);
    order!(300);
    Ok(())
}

extern "C" fn slow(ticks: u64) -> ! {
    let mut next = receive(NEVER);
    while next.is_ok() {
        cells::spin(ticks);
        cells::log(9);
        next = reply_receive(0, [0; 8]);
    }
    stop()
}

fn caller_of_passive_ends(kit: &mut Kit) -> Checked {
    let (endpoint, _) = serve(kit, Setup::new(50, slow).with(30_000), true)?;
    cells::set(0, endpoint);
    let t = done!(kit.start(Setup::new(30, caller).with(1)));
    kit.rest(10_000);
    // In the middle of the call. The server finishes it on the time that the caller leaves behind.
    done!(cap_delete(0, t.thread));
    kit.rest(60_000);
    order!(9);
    done!(kit.start(Setup::new(30, caller).with(2)));
    kit.rest(60_000);
    order!(9, 9, 200);
    Ok(())
}

extern "C" fn forgetful(_: u64) -> ! {
    for _ in 0..3 {
        let message = receive(NEVER);
        cells::log(message.map_or(99, |m| m.label));
    }
    cells::log(77);
    stop()
}

fn no_reply(kit: &mut Kit) -> Checked {
    // The callers are more urgent than the server, which never replies.
    let (endpoint, _) = serve(kit, Setup::new(10, forgetful), false)?;
    cells::set(0, endpoint);
    for number in 1..=3 {
        done!(kit.start(Setup::new(30, caller).with(number)));
        kit.rest(20_000);
    }
    kit.rest(20_000);
    order!(1, 100 + Gone as u64, 2, 200 + Gone as u64, 3, 77);
    Ok(())
}

extern "C" fn selfish(_: u64) -> ! {
    let status = call(cells::cap(0), 0, [0; 8]).err();
    cells::log(status.map_or(0, |e| e as u64));
    stop()
}

fn oneself(kit: &mut Kit) -> Checked {
    let (endpoint, t) = (done!(kit.make(Kind::Endpoint, 0)), done!(kit.prepare(Setup::new(50, selfish))));
    done!(endpoint_bind(endpoint, t.thread));
    cells::set(0, endpoint);
    done!(pillion_runtime::thread_resume(t.thread));
    kit.rest(10_000);
    order!(BadState as u64);
    Ok(())
}

extern "C" fn link(next: u64) -> ! {
    let _ = receive(NEVER);
    if next == 0 {
        let _ = sleep(NEVER);
    }
    let _ = call(next as Cap, 0, [0; 8]);
    stop()
}

fn too_deep(kit: &mut Kit) -> Checked {
    let mut next = 0;
    for _ in 0..18 {
        next = serve(kit, Setup::new(50, link).with(next), false)?.0.into();
    }
    cells::set(0, next as Cap);
    done!(kit.start(Setup::new(40, caller).with(1)));
    kit.rest(50_000);
    refused!(call(next as Cap, 0, [0; 8]).map(|_| ()), TooDeep);
    order!();
    Ok(())
}

fn context_ends(kit: &mut Kit) -> Checked {
    let (endpoint, _) = serve(kit, Setup::new(50, slow).with(30_000), true)?;
    cells::set(0, endpoint);
    let t = done!(kit.start(Setup::new(30, caller).with(1)));
    kit.rest(10_000);
    done!(cap_delete(0, t.context));
    kit.rest(60_000);
    order!();
    check!(thread_bind_context(t.thread, 0).is_ok(), "the thread is not free of its context");
    done!(thread_suspend(t.thread));
    Ok(())
}
