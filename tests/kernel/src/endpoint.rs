//! Calls and replies.

use crate::{Test, cells, order};
use pillion_abi::{NEVER, boot::slot, object::Kind, status::Error::Timeout};
use pillion_runtime::{
    Cap, Message, call, context_consumed, endpoint_bind, now, receive, reply, reply_receive, thread_bind_context,
    thread_resume,
};
use pillion_test_kit::{Checked, Kit, Setup, Thread, check, done, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("endpoint/words-label-and-badge-both-ways", words),
    ("endpoint/passive-server", passive),
    ("endpoint/passive-server-uses-its-callers-time", time),
    ("endpoint/callers-in-order-of-priority", queue),
    ("endpoint/receive-deadline", deadline),
    ("endpoint/reply-and-go-on", go_on),
    ("endpoint/passive-reply-loses-nobody", passive_reply),
    ("endpoint/chain-of-servers", chain),
];

/// A server's answer.
fn answer(message: &Message) -> (u64, [u64; 8]) {
    let mut words = message.words.map(|w| w ^ 0xff);
    words.reverse();
    (message.label + message.badge, words)
}

pub extern "C" fn server(_: u64) -> ! {
    let mut next = receive(NEVER);
    loop {
        let Ok(message) = next else { stop() };
        cells::log(message.label);
        let (label, words) = answer(&message);
        next = reply_receive(label, words);
    }
}

/// Makes a waiting server, bound to a new endpoint. A passive one has no scheduling context.
pub fn serve(kit: &mut Kit, setup: Setup, passive: bool) -> Checked<(Cap, Thread)> {
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    let t = done!(kit.prepare(setup));
    done!(endpoint_bind(endpoint, t.thread));
    done!(thread_resume(t.thread));
    kit.rest(10_000);
    if passive {
        done!(thread_bind_context(t.thread, 0));
    }
    Ok((endpoint, t))
}

fn exchange(kit: &mut Kit, passive: bool) -> Checked {
    let space = done!(kit.space());
    let (endpoint, _) = serve(kit, Setup::new(50, server).within(space), passive)?;
    let badged = done!(kit.badged(endpoint, 1_000));
    let words = [1, 2, 3, 4, 5, 6, 7, u64::MAX];
    for label in 0..20 {
        let sent = Message { badge: 1_000, label, words };
        let got = done!(call(badged, label, words));
        let (label, words) = answer(&sent);
        same!(got, Message { badge: 0, label, words });
    }
    same!(done!(call(endpoint, 5, words)).label, 5);
    Ok(())
}

fn words(kit: &mut Kit) -> Checked {
    exchange(kit, false)
}

fn passive(kit: &mut Kit) -> Checked {
    exchange(kit, true)
}

extern "C" fn worker(ticks: u64) -> ! {
    let mut next = receive(NEVER);
    while next.is_ok() {
        cells::spin(ticks);
        next = reply_receive(0, [0; 8]);
    }
    stop()
}

extern "C" fn caller(number: u64) -> ! {
    let _ = call(cells::cap(0), number, [0; 8]);
    cells::log(100 + number);
    stop()
}

fn time(kit: &mut Kit) -> Checked {
    let (endpoint, t) = serve(kit, Setup::new(50, worker).with(30_000), true)?;
    cells::set(0, endpoint);
    let before = done!(context_consumed(t.context))[0];
    let client = done!(kit.start(Setup::new(60, caller)));
    kit.rest(100_000);
    let used = done!(context_consumed(client.context))[0];
    check!((30_000..40_000).contains(&used), "the caller paid {used}");
    same!(done!(context_consumed(t.context))[0], before);
    Ok(())
}

extern "C" fn late_server(ticks: u64) -> ! {
    cells::spin(ticks);
    server(0)
}

fn queue(kit: &mut Kit) -> Checked {
    let (endpoint, t) =
        (done!(kit.make(Kind::Endpoint, 0)), done!(kit.prepare(Setup::new(10, late_server).with(90_000))));
    done!(endpoint_bind(endpoint, t.thread));
    cells::set(0, endpoint);
    for number in [30u8, 10, 50, 20, 40, 31] {
        done!(kit.start(Setup::new(number.min(50) / 10 * 10 + 5, caller).with(number.into())));
    }
    kit.rest(20_000);
    done!(thread_resume(t.thread));
    kit.rest(300_000);
    order!(50, 150, 40, 140, 30, 31, 130, 131, 20, 120, 10, 110);
    Ok(())
}

fn deadline(kit: &mut Kit) -> Checked {
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    done!(endpoint_bind(endpoint, slot::THREAD));
    for distance in [1_000, 50_000] {
        let end = now() + distance;
        refused!(receive(end).map(|_| ()), Timeout);
        let late = now().wrapping_sub(end);
        check!(late < 2_000, "late by {late}");
    }
    cells::set(0, endpoint);
    done!(kit.start(Setup::new(20, caller).with(4)));
    same!(done!(receive(now() + 100_000)).label, 4);
    // The deadline that was not needed must not fire later.
    kit.rest(200_000);
    done!(reply(0, [0; 8]));
    kit.rest(20_000);
    order!(104);
    Ok(())
}

fn go_on(kit: &mut Kit) -> Checked {
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    done!(endpoint_bind(endpoint, slot::THREAD));
    cells::set(0, endpoint);
    for number in 1..=3 {
        done!(kit.start(Setup::new(20, caller).with(number)));
    }
    for number in 1..=3 {
        same!(done!(receive(now() + 100_000)).label, number);
        done!(reply(0, [0; 8]));
    }
    kit.rest(20_000);
    order!(101, 102, 103);
    Ok(())
}

extern "C" fn replier(_: u64) -> ! {
    let _ = receive(NEVER);
    let _ = reply(0, [0; 8]);
    cells::log(1);
    stop()
}

extern "C" fn other(_: u64) -> ! {
    cells::log(2);
    stop()
}

fn passive_reply(kit: &mut Kit) -> Checked {
    let (endpoint, t) = serve(kit, Setup::new(50, replier), true)?;
    cells::set(0, endpoint);
    // Ready while the passive server replies and loses its scheduling context.
    done!(kit.start(Setup::new(60, caller).with(5)));
    done!(kit.start(Setup::new(30, other)));
    kit.rest(50_000);
    order!(105, 2);
    done!(thread_bind_context(t.thread, t.context));
    kit.rest(50_000);
    order!(105, 2, 1);
    Ok(())
}

extern "C" fn link(next: u64) -> ! {
    let mut message = receive(NEVER);
    while let Ok(m) = message {
        let answer = if next == 0 { Ok(m) } else { call(next as Cap, m.label + 1, m.words) };
        let Ok(answer) = answer else { stop() };
        message = reply_receive(answer.label, answer.words);
    }
    stop()
}

fn chain(kit: &mut Kit) -> Checked {
    let mut next = 0;
    for depth in 0..10u64 {
        let setup = Setup::new(50, link).with(next);
        next = serve(kit, setup, depth % 2 == 0)?.0.into();
    }
    let got = done!(call(next as Cap, 0, [7; 8]));
    same!([got.label, got.words[3]], [9, 7]);
    Ok(())
}
