//! Endpoints bound with `OWN_PRIORITY`: callers do not raise the receiver, and are served in order
//! of arrival.

use crate::machine::world::{World, slot};
use pillion_abi::{
    NEVER,
    call::{Call, endpoint},
    object::Kind,
    status::Error,
};
use pillion_core::thread::State;

/// A thread that is less urgent than the callers, but more urgent than the receiver, runs before
/// the receiver, whether the callers are served or queued.
#[test]
fn callers_of_such_an_endpoint_raise_nobody() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.worker(5);
    w.root_fails(Call::EndpointBind, [endpoint, server.thread, 2], Error::BadArgument);
    w.root(Call::EndpointBind, [endpoint, server.thread, endpoint::OWN_PRIORITY]);
    w.call(Call::Receive, [0, NEVER]);
    w.expect(server.id, State::Receiving);
    let middle = w.worker(20);
    let high = w.worker(30);
    w.call(Call::Call, [endpoint, 30]);
    assert_eq!((w.current(), w.priority(server.id)), (middle.id, 5), "served at the server's own priority");
    let second = w.worker(40);
    w.call(Call::Call, [endpoint, 40]);
    assert_eq!(
        (w.current(), w.priority(server.id)),
        (middle.id, 5),
        "a queued caller does not raise the server either"
    );
    w.root(Call::ContextConfigure, [slot::SCHED, server.context, 6, NEVER, 0, 255]);
    assert_eq!((w.current(), w.priority(server.id)), (middle.id, 6));
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), server.id);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), high.id, "the answered caller runs at once at its own priority");
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 40));
    w.call(Call::Reply, [0, 0]);
    assert_eq!((w.current(), w.priority(server.id)), (second.id, 6));
}

/// An urgent caller that calls again and again does not starve the others.
#[test]
fn callers_of_such_an_endpoint_are_served_in_order() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.worker(5);
    w.root(Call::EndpointBind, [endpoint, server.thread, endpoint::OWN_PRIORITY]);
    let low = w.worker(10);
    w.call(Call::Call, [endpoint, 10]);
    let high = w.worker(30);
    w.call(Call::Call, [endpoint, 30]);
    w.call(Call::Receive, [0, NEVER]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 10), "the first caller is served first");
    // A queued caller becomes more urgent, but does not overtake.
    w.root(Call::ContextConfigure, [slot::SCHED, high.context, 40, NEVER, 0, 255]);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), low.id);
    w.call(Call::Call, [endpoint, 11]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 30));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), high.id);
    w.call(Call::Call, [endpoint, 31]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 11));
}

/// The receiver does not pass on the priority that callers would lend it.
#[test]
fn inheritance_ends_at_such_an_endpoint() {
    let mut w = World::new();
    let (plain, behind) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let last = w.server(behind, Some(3));
    let server = w.worker(5);
    w.root(Call::EndpointBind, [plain, server.thread, endpoint::OWN_PRIORITY]);
    w.call(Call::Call, [behind, 1]);
    assert_eq!((w.current(), w.priority(last.id)), (last.id, 5));
    let high = w.worker(30);
    w.call(Call::Call, [plain, 1]);
    w.expect(high.id, State::Calling);
    assert_eq!((w.priority(server.id), w.priority(last.id)), (5, 5));
}

/// A receiver that has lost its context runs on its caller's, at the caller's priority; queued
/// callers still do not raise it.
#[test]
fn without_time_of_its_own_it_runs_at_its_callers_priority() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.worker(5);
    w.root(Call::EndpointBind, [endpoint, server.thread, endpoint::OWN_PRIORITY]);
    w.call(Call::Receive, [0, NEVER]);
    w.root(Call::CapDelete, [0, server.context]);
    let low = w.worker(10);
    w.call(Call::Call, [endpoint, 10]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 10));
    let middle = w.worker(20);
    w.call(Call::Call, [endpoint, 20]);
    let high = w.worker(30);
    w.call(Call::Call, [endpoint, 30]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 10), "queued callers do not raise it");
    w.root(Call::ContextSetPriority, [low.context, 12]);
    assert_eq!(w.priority(server.id), 12, "the caller that it serves raises it");
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.frame(server.id).rsi, w.priority(server.id)), (20, 20));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.frame(server.id).rsi, w.priority(server.id)), (server.id, 30, 30));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!((w.current(), w.priority(server.id)), (high.id, 0));
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), middle.id);
}

/// A queued caller that inherits a higher priority keeps its place.
#[test]
fn who_is_raised_keeps_its_place() {
    let mut w = World::new();
    let (ordered, plain) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let server = w.worker(5);
    w.root(Call::EndpointBind, [ordered, server.thread, endpoint::OWN_PRIORITY]);
    let first = w.worker(10);
    w.root(Call::EndpointBind, [plain, first.thread]);
    w.call(Call::Call, [ordered, 10]);
    let second = w.worker(15);
    w.call(Call::Call, [ordered, 15]);
    let high = w.worker(30);
    w.call(Call::Call, [plain, 30]);
    assert_eq!(w.priority(first.id), 30);
    w.expect(high.id, State::Calling);
    w.call(Call::Receive, [0, NEVER]);
    assert_eq!((w.current(), w.frame(server.id).rsi), (server.id, 10), "the first caller is served first");
    w.expect(second.id, State::Calling);
}

/// A thread that lost its endpoint but still serves an urgent caller drops to its own priority when
/// it is bound to such an endpoint.
#[test]
fn who_serves_is_not_raised_any_more_once_bound_to_such_an_endpoint() {
    let mut w = World::new();
    let (before, after) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let server = w.server(before, Some(5));
    let middle = w.worker(20);
    let high = w.worker(30);
    w.call(Call::Call, [before, 1]);
    w.root(Call::CapDelete, [0, before]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 30), "it still serves the caller");
    w.root(Call::EndpointBind, [after, server.thread, endpoint::OWN_PRIORITY]);
    assert_eq!((w.current(), w.priority(server.id)), (middle.id, 5));
    w.expect(high.id, State::Served);
}
