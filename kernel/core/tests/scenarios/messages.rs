//! Call and reply, with donation of time and priority.

use crate::machine::world::{Worker, World, args, slot};
use pillion_abi::{
    NEVER,
    call::{Call, LABEL_FAULT, LABEL_NOTIFIED},
    object::Kind,
    status::Error,
};
use pillion_core::{Outcome, thread::State};

/// A receiving server, with or without a context of its own, and its endpoint.
fn with_server(priority: Option<u8>) -> (World, u64, Worker) {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server(endpoint, priority);
    (w, endpoint, server)
}

#[test]
fn a_call_lends_time_and_brings_it_back() {
    let (mut w, endpoint, server) = with_server(None);
    let client = w.worker(10);
    let badged = w.free_slot();
    w.root(Call::CapDerive, [0, badged, endpoint, 15, 77]);
    w.call(Call::Call, [badged, 5, 1, 2, 3, 4]);
    assert_eq!(w.current(), server.id);
    let f = w.frame(server.id);
    assert_eq!((f.rax, f.rdi, f.rsi, f.words[..4].to_vec()), (0, 77, 5, vec![1, 2, 3, 4]));
    w.expect(client.id, State::Served);
    assert_eq!(w.priority(server.id), 10);
    w.call(Call::ReplyReceive, [0, 6, 9, 8, 7, 6]);
    assert_eq!(w.current(), client.id);
    let f = w.frame(client.id);
    assert_eq!((f.rax, f.rdi, f.rsi, f.words[..4].to_vec()), (0, 0, 6, vec![9, 8, 7, 6]));
    w.expect(server.id, State::Receiving);
}

#[test]
fn a_server_with_time_of_its_own_keeps_it() {
    let (mut w, endpoint, server) = with_server(Some(5));
    let client = w.worker(10);
    w.call(Call::Call, [endpoint, 5]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 10));
    w.call(Call::Reply, [0, 1]);
    assert_eq!((w.current(), w.priority(server.id)), (client.id, 5));
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), server.id);
    w.fails(Call::Reply, [0, 1], Error::BadState);
    w.call(Call::Receive, [0, NEVER]);
    w.expect(server.id, State::Receiving);
    assert_eq!(w.k.cpu.current, None);
}

/// A server without a context of its own cannot continue after a plain reply; the other threads are
/// unaffected.
#[test]
fn a_reply_without_time_takes_the_server_off() {
    let (mut w, endpoint, server) = with_server(None);
    let other = w.worker(7);
    let client = w.worker(10);
    w.call(Call::Call, [endpoint, 5]);
    w.call(Call::Reply, [0, 1]);
    assert_eq!(w.current(), client.id);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), other.id);
    w.expect(server.id, State::Ready);
}

#[test]
fn callers_are_served_by_priority() {
    let (mut w, endpoint, server) = with_server(Some(1));
    let low = w.worker(10);
    w.call(Call::Call, [endpoint, 10]);
    let high = w.worker(30);
    w.call(Call::Call, [endpoint, 30]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 30));
    let middle = w.worker(20);
    assert_eq!(w.current(), server.id, "a thread of medium priority must not run first");
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 30));
    assert_eq!(w.priority(server.id), 30);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), high.id);
    w.expect(server.id, State::Receiving);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), middle.id);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), low.id);
}

/// A server does not keep one caller's priority for the next.
#[test]
fn inheritance_ends_with_the_caller() {
    let (mut w, endpoint, server) = with_server(Some(1));
    let first = w.worker(40);
    w.call(Call::Call, [endpoint, 1]);
    let low = w.worker(10);
    assert_eq!(w.current(), server.id);
    w.root(Call::ThreadSuspend, [first.thread]);
    assert_eq!((w.current(), w.priority(server.id)), (low.id, 1));
    w.call(Call::Call, [endpoint, 10]);
    let second = w.worker(60);
    w.call(Call::Call, [endpoint, 60]);
    let third = w.worker(20);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 60));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.frame(server.id).rsi, 60);
    w.root(Call::ThreadSuspend, [second.thread]);
    assert_eq!((w.current(), w.priority(server.id)), (third.id, 10), "the caller of priority 10 still waits");
    w.expect(server.id, State::Ready);
}

#[test]
fn a_busy_server_comes_down_between_callers() {
    let (mut w, endpoint, server) = with_server(Some(1));
    let one = w.worker(10);
    w.call(Call::Call, [endpoint, 10]);
    let two = w.worker(8);
    let three = w.worker(50);
    w.call(Call::Call, [endpoint, 50]);
    w.call(Call::ReplyReceive, [0, 0]);
    // The server serves 50 now. To let 8 call, suspend 10 and let the server sleep.
    assert_eq!(w.frame(server.id).rsi, 50);
    w.root(Call::ThreadSuspend, [one.thread]);
    w.call(Call::Sleep, [0, 5000]);
    assert_eq!(w.current(), two.id);
    w.call(Call::Call, [endpoint, 8]);
    w.pass(10_000);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 50));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), three.id);
    assert_eq!(w.priority(server.id), 8);
}

#[test]
fn inheritance_goes_through_a_chain_of_servers() {
    let mut w = World::new();
    let (a, b) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let far = w.server(b, Some(2));
    let near = w.server(a, Some(3));
    let low = w.worker(10);
    w.call(Call::Call, [a, 1]);
    assert_eq!(w.current(), near.id);
    w.call(Call::Call, [b, 1]);
    assert_eq!((w.current(), w.priority(far.id)), (far.id, 10));
    let other = w.worker(30);
    w.call(Call::Call, [b, 30]);
    let high = w.worker(50);
    let middle = w.worker(40);
    assert_eq!(w.current(), high.id);
    w.call(Call::Call, [a, 50]);
    assert_eq!((w.priority(near.id), w.priority(far.id)), (50, 50));
    assert_eq!(w.current(), far.id);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), near.id, "the answered server is the most urgent thread");
    assert_eq!(w.priority(far.id), 30);
    let _ = (low, other, middle);
}

/// A server in another server's queue moves forward when it inherits a priority.
#[test]
fn inheritance_reorders_a_queue() {
    let mut w = World::new();
    let (a, b) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let far = w.server(b, Some(2));
    let near = w.server(a, Some(3));
    let first = w.worker(5);
    w.call(Call::Call, [b, 1]);
    let second = w.worker(6);
    w.call(Call::Call, [a, 1]);
    w.call(Call::Call, [b, 2]); // near, at priority 6, behind `first`
    w.expect(near.id, State::Calling);
    let third = w.worker(20);
    w.call(Call::Call, [b, 3]);
    let urgent = w.worker(90);
    w.call(Call::Call, [a, 4]);
    assert_eq!(w.priority(far.id), 90);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.frame(far.id).rsi, 2, "near must be served before the thread of priority 20");
    let _ = (first, second, third, urgent);
}

#[test]
fn errors_of_calls() {
    let (mut w, endpoint, server) = with_server(Some(3));
    let note = w.make(Kind::Notification, 0);
    let lonely = w.make(Kind::Endpoint, 0);
    let read_only = w.free_slot();
    w.root(Call::CapDerive, [0, read_only, endpoint, 1, 0]);
    let client = w.worker(10);
    w.fails(Call::Call, [4096], Error::BadCap);
    w.fails(Call::Call, [w.next], Error::BadCap);
    w.fails(Call::Call, [note], Error::WrongKind);
    w.fails(Call::Call, [read_only], Error::NoRight);
    w.fails(Call::Call, [lonely], Error::BadState);
    w.fails(Call::ReplyReceive, [0], Error::BadState);
    w.fails(Call::Receive, [0, NEVER], Error::BadState);
    w.fails(Call::Reply, [0], Error::BadState);
    w.enter(7777, [0; 6]);
    assert_eq!(Error::from_raw(w.frame(client.id).rax), Some(Error::BadCall));
    w.call(Call::Call, [endpoint]);
    assert_eq!(w.current(), server.id);
    w.fails(Call::Call, [endpoint], Error::BadState);
    w.fails(Call::Receive, [0, 0], Error::Timeout);
    assert_eq!(Error::from_raw(w.frame(client.id).rax), Some(Error::Gone));
}

#[test]
fn circles_and_long_chains_are_refused() {
    let mut w = World::new();
    let ends: Vec<u64> = (0..18).map(|_| w.make(Kind::Endpoint, 0)).collect();
    let servers: Vec<Worker> = ends.iter().map(|e| w.server(*e, Some(5))).collect();
    let _client = w.worker(5);
    w.call(Call::Call, [ends[0], 1]);
    // Each server calls the next, which is receiving: such chains have no limit.
    for i in 0..17 {
        assert_eq!(w.current(), servers[i].id);
        w.call(Call::Call, [ends[i + 1], 1]);
    }
    assert_eq!(w.current(), servers[17].id);
    w.fails(Call::Call, [ends[17], 1], Error::BadState);
    w.fails(Call::Call, [ends[10], 1], Error::BadState);
    let other = w.worker(9);
    assert_eq!(w.current(), other.id);
    w.fails(Call::Call, [ends[0], 1], Error::TooDeep);
    w.call(Call::Call, [ends[4], 1]);
    w.expect(other.id, State::Calling);
    assert_eq!(w.priority(servers[17].id), 9);
}

#[test]
fn time_limits() {
    let (mut w, _endpoint, server) = with_server(Some(3));
    let note = w.make(Kind::Notification, 0);
    let start = w.k.m.clock;
    let t = w.worker(10);
    w.fails(Call::Wait, [note, start], Error::Timeout);
    w.call(Call::Wait, [note, start + 100]);
    w.expect(t.id, State::Waiting);
    w.pass(99);
    w.expect(t.id, State::Waiting);
    w.pass(1);
    assert_eq!(Error::from_raw(w.frame(t.id).rax), Some(Error::Timeout));
    assert_eq!(w.current(), t.id);
    w.ok(Call::Sleep, [0, start + 300]);
    w.pass(199);
    w.expect(t.id, State::Sleeping);
    w.pass(1);
    assert_eq!((w.current(), w.frame(t.id).rax), (t.id, 0));
    w.ok(Call::Sleep, [0, 5]);
    w.call(Call::Wait, [note, start + 400]);
    let n = w.worker(8);
    w.call(Call::Signal, [note]);
    assert_eq!(
        (w.current(), w.k.cpu.agenda.is_empty()),
        (t.id, true),
        "the signal wakes it and disarms the timeout; without a badge there are no bits"
    );
    let _ = (n, server);
}

#[test]
fn receive_with_a_limit() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let t = w.worker(10);
    w.root(Call::EndpointBind, [endpoint, t.thread]);
    let now = w.k.m.clock;
    w.call(Call::Receive, [0, now + 50]);
    w.expect(t.id, State::Receiving);
    w.pass(50);
    assert_eq!(Error::from_raw(w.frame(t.id).rax), Some(Error::Timeout));
    w.call(Call::Receive, [0, now + 500]);
    let client = w.worker(9);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), t.id);
    assert!(w.k.cpu.agenda.is_empty());
    let _ = client;
}

#[test]
fn a_bound_notification_wakes_a_receiver() {
    let (mut w, endpoint, server) = with_server(Some(20));
    let note = w.make(Kind::Notification, 0);
    let badged = w.free_slot();
    w.root(Call::CapDerive, [0, badged, note, 15, 6]);
    w.root(Call::ThreadBindNotification, [server.thread, note]);
    let client = w.worker(10);
    w.call(Call::Signal, [badged]);
    assert_eq!(w.current(), server.id);
    let f = w.frame(server.id);
    assert_eq!((f.rax, f.rsi, f.words[0]), (0, LABEL_NOTIFIED, 6));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), client.id);
    w.call(Call::Call, [endpoint, 3]);
    w.root_runs();
    w.ok(Call::Signal, [badged]);
    w.root_waits();
    assert_eq!(w.current(), server.id);
    w.call(Call::ReplyReceive, [0, 4]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, LABEL_NOTIFIED));
    assert_eq!(w.frame(client.id).rsi, 4);
    w.root_fails(Call::ThreadBindNotification, [client.thread, note], Error::Busy);
    w.root(Call::ThreadBindNotification, [server.thread, note]);
    w.root(Call::ThreadBindNotification, [server.thread, 0]);
    w.root(Call::ThreadBindNotification, [client.thread, note]);
}

/// A failed bind leaves the existing binding as it is.
#[test]
fn a_bind_that_fails_changes_nothing() {
    let (mut w, _endpoint, server) = with_server(Some(20));
    let (note, other) = (w.make(Kind::Notification, 0), w.make(Kind::Notification, 0));
    let t = w.worker(4);
    w.root(Call::ThreadBindNotification, [server.thread, note]);
    w.root(Call::ThreadBindNotification, [t.thread, other]);
    w.root_fails(Call::ThreadBindNotification, [server.thread, other], Error::Busy);
    w.root_fails(Call::ThreadBindNotification, [server.thread, slot::PORTS], Error::WrongKind);
    assert!(server.id.notification(&w.k.m).is_some());
}

/// A receiver gets bits that were set before the notification was bound to it.
#[test]
fn a_receiver_gets_bits_that_were_there_before() {
    let (mut w, _endpoint, server) = with_server(Some(20));
    let note = w.make(Kind::Notification, 0);
    let badged = w.free_slot();
    w.root(Call::CapDerive, [0, badged, note, 15, 6]);
    w.root(Call::Signal, [badged]);
    w.root(Call::ThreadBindNotification, [server.thread, note]);
    assert_eq!((w.current(), w.frame(server.id).words[0]), (server.id, 6));
}

#[test]
fn faults_are_delivered_and_answered() {
    for (label, running) in [(0, true), (1, true), (2, false)] {
        let (mut w, endpoint, handler) = with_server(Some(30));
        let badged = w.free_slot();
        w.root(Call::CapDerive, [0, badged, endpoint, 15, 42]);
        let t = w.worker(10);
        w.root(Call::ThreadSuspend, [t.thread]);
        w.root(Call::ThreadConfigure, [t.thread, slot::SPACE, slot::CAPS, badged, 0]);
        w.root(Call::ThreadSetRegisters, [t.thread, 0x5000, 0x6000, 0]);
        w.root(Call::ThreadResume, [t.thread]);
        let before = w.frame(t.id);
        w.fault([14, 6, 0xdead, 0x5000, 0x6000, 2]);
        assert_eq!(w.current(), handler.id);
        let f = w.frame(handler.id);
        assert_eq!((f.rdi, f.rsi, f.words), (42, LABEL_FAULT, [14, 6, 0xdead, 0x5000, 0x6000, 2, 0, 0]));
        w.expect(t.id, State::Served);
        w.call(Call::ReplyReceive, [0, label, 0x7000]);
        w.expect(handler.id, State::Receiving);
        w.expect(t.id, if running { State::Ready } else { State::Stopped });
        let rip = if label == 1 { 0x7000 } else { before.rip };
        assert_eq!(w.frame(t.id), crate::machine::Frame { rip, ..before }, "only rip may change");
        assert_eq!(w.k.cpu.current, running.then_some(t.id));
    }
}

#[test]
fn a_fault_without_handler_stops_the_thread() {
    let mut w = World::new();
    let t = w.worker(10);
    w.fault([6, 0, 0, 0x1000, 0, 0]);
    w.expect(t.id, State::Stopped);
    assert!(w.k.m.events.contains(&crate::machine::Event::Fault(t.id.number())));
}

/// A caller is suspended while a server runs on its context, and resumed before the server is done.
#[test]
fn a_suspended_caller_gets_its_time_back() {
    for reply in [Call::ReplyReceive, Call::Receive, Call::Sleep] {
        let (mut w, endpoint, server) = with_server(None);
        let client = w.worker(10);
        w.call(Call::Call, [endpoint, 1]);
        w.root(Call::ThreadSuspend, [client.thread]);
        assert_eq!(
            Error::from_raw(w.frame(client.id).rax),
            Some(Error::Gone),
            "the caller must learn that its call was not answered"
        );
        assert_eq!(w.current(), server.id);
        w.root(Call::ThreadResume, [client.thread]);
        assert_eq!(w.current(), server.id);
        if reply == Call::Sleep {
            w.root(Call::CapDelete, [0, server.thread]);
        } else {
            w.call(reply, [0, NEVER]);
            w.expect(server.id, State::Receiving);
        }
        assert_eq!(w.k.cpu.current, Some(client.id), "{reply:?}");
    }
}

/// A holder of a capability for a thread cannot take the thread's context away while a server runs
/// on it: other callers wait for that server.
#[test]
fn time_that_is_lent_stays_until_the_reply() {
    let (mut w, endpoint, server) = with_server(None);
    let client = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    w.root_fails(Call::ThreadBindContext, [client.thread, 0], Error::Busy);
    let other = w.worker(20);
    w.call(Call::Call, [endpoint, 2]);
    assert_eq!(w.current(), server.id);
    w.call(Call::ReplyReceive, [0, 0]);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), other.id);
    w.root(Call::ThreadBindContext, [client.thread, 0]);
    w.root(Call::ThreadBindContext, [other.thread, 0]);
    assert_eq!(w.k.cpu.current, None);
}

/// If an endpoint states how much time it needs, a caller's budget runs out before the call, not
/// while the receiver works on it.
#[test]
fn a_call_waits_for_the_time_that_it_needs() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server_that_needs(endpoint, None, 100);
    let client = w.limited(10, 150, 1_000);
    let began = w.k.m.clock;
    w.pass(50);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), server.id, "the 100 ticks that are left are enough");
    w.pass(20);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), client.id);
    assert_eq!(
        w.enter(Call::Call as u64, [endpoint, 1, 0, 0, 0, 0]),
        Outcome::Restart,
        "the 80 ticks that are left are too few"
    );
    assert_eq!(w.k.cpu.current, None, "it waits for the next budget before it calls");
    w.expect(server.id, State::Receiving);
    w.pass(935);
    assert_eq!((w.current(), w.k.m.clock - began > 1_000), (client.id, true));
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), server.id);
    w.call(Call::ReplyReceive, [0, 0]);
    // A budget that is too small as a whole.
    w.limited(20, 99, 1_000);
    w.fails(Call::Call, [endpoint, 1], Error::BadState);
    // A budget that is just enough, but never when the call is made.
    let short = w.limited(25, 100, 1_000);
    w.k.m.clock += 1;
    assert_eq!(w.enter(Call::Call as u64, [endpoint, 1, 0, 0, 0, 0]), Outcome::Restart);
    while w.k.cpu.current != Some(short.id) {
        w.pass(1);
    }
    w.k.m.clock += 1;
    w.fails(Call::Call, [endpoint, 1], Error::BadState);
    w.worker(30);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), server.id);
}

/// A server that faults releases its caller even if its fault cannot be delivered.
#[test]
fn a_fault_that_nobody_hears_of_lets_the_caller_go() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server(endpoint, None);
    let client = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), server.id);
    w.fault([14, 6, 0xdead, 0x5000, 0x6000, 2]);
    assert_eq!(w.current(), client.id);
    assert_eq!(Error::from_raw(w.frame(client.id).rax), Some(Error::Gone));
    w.expect(server.id, State::Stopped);
}

/// A queued caller that loses its context leaves the queue: a server without a context of its own
/// could not serve it.
#[test]
fn a_caller_without_time_leaves_the_queue() {
    for delete in [false, true] {
        let (mut w, endpoint, server) = with_server(None);
        let first = w.worker(10);
        w.call(Call::Call, [endpoint, 1]);
        let second = w.worker(20);
        w.call(Call::Call, [endpoint, 2]);
        w.expect(second.id, State::Calling);
        if delete {
            w.root(Call::CapDelete, [0, second.context]);
        } else {
            w.root(Call::ThreadBindContext, [second.thread, 0]);
        }
        assert_eq!(w.current(), server.id);
        w.call(Call::ReplyReceive, [0, 0]);
        assert_eq!(w.current(), first.id);
        assert_eq!(Error::from_raw(w.frame(second.id).rax), Some(Error::Gone));
    }
}

/// A context's new priority reaches the thread that runs on it or waits with it, and its server.
#[test]
fn a_new_priority_is_passed_on() {
    let (mut w, endpoint, server) = with_server(Some(3));
    let a = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    let b = w.worker(20);
    w.call(Call::Call, [endpoint, 2]);
    w.root(Call::ContextConfigure, [slot::SCHED, server.context, 4, NEVER, 0]);
    assert_eq!(w.priority(server.id), 20);
    w.root(Call::ContextConfigure, [slot::SCHED, b.context, 30, NEVER, 0]);
    assert_eq!(w.priority(server.id), 30);
    w.root(Call::ContextConfigure, [slot::SCHED, a.context, 40, NEVER, 0]);
    assert_eq!(w.priority(server.id), 40);
    w.root(Call::ContextConfigure, [slot::SCHED, b.context, 6, NEVER, 0]);
    w.root(Call::ContextConfigure, [slot::SCHED, a.context, 7, NEVER, 0]);
    assert_eq!(w.priority(server.id), 7);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.frame(server.id).rsi, w.priority(server.id)), (2, 6));
}

/// The same for a donated context: the donor has the new priority when it continues.
#[test]
fn a_new_priority_is_passed_on_with_the_time() {
    let (mut w, endpoint, server) = with_server(None);
    let a = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    w.root(Call::ContextConfigure, [slot::SCHED, a.context, 40, NEVER, 0]);
    assert_eq!(w.priority(server.id), 40);
    w.root(Call::ContextConfigure, [slot::SCHED, a.context, 5, NEVER, 0]);
    assert_eq!(w.priority(server.id), 5);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.priority(a.id)), (a.id, 5));
}

/// A receiver that is bound while callers wait serves these callers.
#[test]
fn callers_wait_for_a_new_receiver() {
    let (mut w, endpoint, server) = with_server(Some(3));
    let a = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    let b = w.worker(20);
    w.call(Call::Call, [endpoint, 2]);
    w.root(Call::CapDelete, [0, server.thread]);
    assert_eq!(w.current(), a.id, "the served caller continues, without an answer");
    assert_eq!(Error::from_raw(w.frame(a.id).rax), Some(Error::Gone));
    w.expect(b.id, State::Calling);
    // The new receiver waited at an endpoint that was deleted.
    let other = w.make(Kind::Endpoint, 0);
    let second = w.server(other, Some(4));
    w.root(Call::CapDelete, [0, other]);
    w.expect(second.id, State::Ready);
    assert_eq!(Error::from_raw(w.frame(second.id).rax), Some(Error::Gone));
    w.root(Call::EndpointBind, [endpoint, second.thread]);
    assert_eq!((w.current(), w.priority(second.id)), (second.id, 20), "the new receiver inherits at once");
    w.call(Call::Receive, [0, NEVER]);
    assert_eq!((w.current(), w.frame(second.id).rsi), (second.id, 2));
    // The endpoint has a receiver now.
    w.root(Call::ThreadSuspend, [a.thread]);
    let busy = w.worker(5);
    w.root_fails(Call::EndpointBind, [endpoint, busy.thread], Error::Busy);
    w.root_fails(Call::EndpointBind, [w.next, busy.thread], Error::BadCap);
    w.root_fails(Call::EndpointBind, [endpoint, endpoint], Error::WrongKind);
}

/// A thread that receives drops to its own priority; the thread that runs instead keeps its state.
#[test]
fn receive_after_inheritance() {
    let (mut w, endpoint, server) = with_server(Some(3));
    let a = w.worker(10);
    w.call(Call::Call, [endpoint, 1]);
    w.root(Call::CapDelete, [0, a.thread]);
    let b = w.worker(8);
    assert_eq!((w.current(), w.priority(server.id)), (b.id, 3));
    w.call(Call::Call, [endpoint, 8]);
    w.call(Call::Receive, [0, NEVER]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 8));
    w.call(Call::Receive, [0, NEVER]);
    w.expect(server.id, State::Receiving);
    assert_eq!((w.current(), w.priority(server.id)), (b.id, 3));
    assert_eq!(Error::from_raw(w.frame(b.id).rax), Some(Error::Gone));
}

/// A call that was cut short is made once more, whichever path it takes then.
#[test]
fn a_call_that_is_made_again_is_made_once() {
    let mut w = World::new();
    let end = w.make(Kind::Endpoint, 0);
    let server = w.server_that_needs(end, None, 80);
    let caller = w.limited(10, 100, 1_000);
    w.k.m.clock += 50;
    assert_eq!(w.enter(Call::Call as u64, args([end, 7])), Outcome::Restart);
    let (number, again) = w.again[&caller.id.number()];
    w.root(Call::ContextConfigure, [slot::SCHED, caller.context, 10, NEVER, 0, 255]);
    assert_eq!(w.current(), caller.id);
    w.enter(number, again);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 7));
    assert!(!w.again.contains_key(&caller.id.number()));
}
