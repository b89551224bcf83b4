//! Visitors of a receiver without a scheduling context of its own: it serves them on the context of
//! the endpoint's visitors.

use super::visitors::Scene;
use crate::machine::world::{World, args, slot};
use pillion_abi::{NEVER, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, Id, context::Context, thread::State};

const BUDGET: u64 = 100;
const PERIOD: u64 = 1_000;
const NEED: u64 = 60;

/// A server without a context, and the context of its visitors.
fn scene() -> (Scene, u64) {
    let mut visitors = 0;
    let s = Scene::with(|w, end| {
        visitors = w.context(1, BUDGET, PERIOD);
        w.server_on(end, None, NEED, visitors)
    });
    (s, visitors)
}

fn context(w: &mut World, slot: u64) -> Id<Context> {
    let Cap::Context(context) = w.cap(slot) else { panic!() };
    context.id()
}

/// Delivers the call of the only thread of a processor, and looks at the first one.
fn arrives(s: &mut Scene, processor: u8, priority: u8, label: u64) -> crate::machine::world::Worker {
    let caller = s.caller(processor, priority);
    s.call(caller, processor, label);
    s.w.deliver();
    s.w.on(0);
    caller
}

#[test]
fn a_visitor_is_served_on_its_context_at_the_visitor_s_priority() {
    let (mut s, visitors) = scene();
    let c = context(&mut s.w, visitors);
    let caller = arrives(&mut s, 1, 20, 7);
    assert_eq!((s.w.current(), s.w.priority(s.server.id)), (s.server.id, 20));
    assert_eq!(s.w.k.m.peek(c).user, Some(s.server.id));
    s.w.k.m.clock += 30;
    s.w.on(0);
    s.w.enter(Call::ReplyReceive as u64, args([0, 8]));
    assert_eq!((s.w.state(s.server.id), s.w.k.cpu.current), (State::Receiving, None));
    let Context { user, left, .. } = *s.w.k.m.peek(c);
    assert_eq!((user, s.w.k.m.peek(c.used()).so_far(), left), (None, [30, 0], BUDGET - 30));
    s.w.deliver();
    assert_eq!(s.at_home(caller, 1), (State::Ready, None));
    assert_eq!(s.w.frame(caller.id).rsi, 8);
}

#[test]
fn a_request_begins_only_with_the_time_that_it_needs() {
    let (mut s, _) = scene();
    let (first, second) = (arrives(&mut s, 1, 20, 1), arrives(&mut s, 2, 30, 2));
    // More urgent than what is served, and there is time: so it raises the server.
    assert_eq!(s.w.priority(s.server.id), 30);
    let begin = s.w.k.m.clock;
    s.w.k.m.clock += 50;
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    s.w.deliver();
    assert_eq!(s.at_home(first, 1), (State::Ready, None));
    // 50 are left, and 60 are needed: it waits for the replenishment.
    s.w.on(0);
    assert_eq!((s.w.state(s.server.id), s.w.k.cpu.current), (State::Receiving, None));
    s.w.pass(begin + PERIOD - s.w.k.m.clock - 1);
    assert_eq!(s.w.state(s.server.id), State::Receiving);
    s.w.pass(1);
    assert_eq!((s.w.current(), s.w.priority(s.server.id), s.w.frame(s.server.id).rsi), (s.server.id, 30, 2));
    s.answer(0);
    assert_eq!(s.at_home(second, 2), (State::Ready, None));
}

/// The replenishment that the receiver waited for is the next visitor's then, or nobody's.
#[test]
fn a_receiver_that_ends_without_time_leaves_no_replenishment() {
    for another_waits in [false, true] {
        let (mut s, visitors) = scene();
        let c = context(&mut s.w, visitors);
        arrives(&mut s, 1, 20, 1);
        s.w.pass(BUDGET);
        assert_eq!((s.w.k.cpu.current, s.w.k.m.peek(c).refill.is_linked()), (None, true));
        if another_waits {
            arrives(&mut s, 2, 10, 2);
        }
        s.w.root(Call::CapDelete, [0, s.server.thread]);
        s.w.on(0);
        assert_eq!(s.w.k.m.peek(c).refill.is_linked(), another_waits);
    }
}

/// Else the requests of local callers would run at the priority of a visitor for as long as that
/// waits for time.
#[test]
fn a_visitor_without_time_raises_nobody() {
    let (mut s, visitors) = scene();
    let local = s.w.worker(10);
    arrives(&mut s, 1, 20, 1);
    s.w.k.m.clock += 50;
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    s.w.deliver();
    arrives(&mut s, 2, 30, 2);
    assert_eq!(s.w.current(), local.id);
    s.w.enter(Call::Call as u64, args([s.end, 3]));
    assert_eq!((s.w.current(), s.w.priority(s.server.id)), (s.server.id, 10));
    arrives(&mut s, 1, 35, 4);
    assert_eq!(s.w.priority(s.server.id), 10);
    // With its time, it does.
    s.w.pass(PERIOD);
    assert_eq!((s.w.priority(s.server.id), s.w.frame(s.server.id).rsi), (35, 3));
    // A new budget is time as well.
    s.w.root(Call::ContextConfigure, [slot::SCHED, visitors, 1, NEED - 1, PERIOD, 1]);
    s.w.on(0);
    assert_eq!(s.w.priority(s.server.id), 35, "a whole budget is enough, if it is less than the need");
    assert_eq!(s.answer(0), 4);
}

#[test]
fn local_callers_and_visitors_take_turns_in_order_of_priority() {
    let (mut s, _) = scene();
    let local = s.w.worker(25);
    s.w.on(0);
    s.w.enter(Call::Call as u64, args([s.end, 1]));
    arrives(&mut s, 1, 20, 2);
    arrives(&mut s, 2, 30, 3);
    assert_eq!((s.w.frame(s.server.id).rsi, s.w.priority(s.server.id)), (1, 30));
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    assert_eq!((s.w.current(), s.w.frame(s.server.id).rsi), (s.server.id, 3));
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    // The other visitor comes when nothing more urgent runs.
    assert_eq!(s.w.current(), local.id);
    s.w.enter(Call::Sleep as u64, args([0, NEVER]));
    s.w.come_down();
    assert_eq!((s.w.current(), s.w.frame(s.server.id).rsi, s.w.priority(s.server.id)), (s.server.id, 2, 20));
}

#[test]
fn a_visitor_that_waits_for_time_can_leave() {
    let (mut s, visitors) = scene();
    let c = context(&mut s.w, visitors);
    let first = arrives(&mut s, 1, 20, 1);
    s.w.k.m.clock += 90;
    s.answer(0);
    s.w.root(Call::ThreadSuspend, [first.thread]);
    let second = arrives(&mut s, 1, 20, 2);
    assert!(s.w.k.m.peek(c).refill.is_linked());
    s.w.root(Call::ContextSetPriority, [second.context, 40]);
    s.w.deliver();
    s.w.on(0);
    assert_eq!(s.w.k.m.peek(c).refill.level, 40);
    s.w.root(Call::ThreadSuspend, [second.thread]);
    assert_eq!(s.at_home(second, 1), (State::Stopped, Some(Error::Gone)));
    s.w.on(0);
    assert!(!s.w.k.m.peek(c).refill.is_linked());
}

/// The server goes on, on the same time; what it answers reaches nobody.
#[test]
fn a_visitor_that_is_served_can_leave() {
    let (mut s, visitors) = scene();
    let c = context(&mut s.w, visitors);
    let first = arrives(&mut s, 1, 20, 1);
    s.w.root(Call::ThreadSuspend, [first.thread]);
    s.w.on(0);
    assert_eq!((s.w.current(), s.w.priority(s.server.id)), (s.server.id, 1));
    arrives(&mut s, 2, 30, 2);
    assert_eq!(s.w.priority(s.server.id), 30);
    assert_eq!(s.answer(0), 2);
    assert_eq!(s.w.k.m.peek(c).user, Some(s.server.id));
}

/// It is lent as a caller's is, and comes back.
#[test]
fn a_server_passes_the_context_on() {
    let (mut s, visitors) = scene();
    let c = context(&mut s.w, visitors);
    let inner = s.w.make(Kind::Endpoint, 0);
    let next = s.w.server(inner, None);
    let caller = arrives(&mut s, 1, 20, 1);
    s.w.enter(Call::Call as u64, args([inner, 5]));
    assert_eq!((s.w.current(), s.w.priority(next.id)), (next.id, 20));
    let second = arrives(&mut s, 2, 30, 2);
    assert_eq!(s.w.priority(next.id), 30, "raised through the chain");
    s.w.root(Call::CapRevoke, [0, s.server.thread]);
    s.w.root(Call::CapDelete, [0, s.server.thread]);
    assert_eq!(s.at_home(caller, 1), (State::Ready, Some(Error::Gone)));
    // Another receiver waits for the context, which the second server still runs on.
    let receiver = s.w.worker(40);
    s.w.root_fails(Call::EndpointBind, [s.end, receiver.thread, 0, NEED, visitors], Error::Busy);
    s.w.on(0);
    assert_eq!(s.w.k.m.peek(c).user, Some(next.id));
    s.w.root(Call::ContextSetPriority, [receiver.context, 1]);
    s.w.on(0);
    assert_eq!(s.w.current(), next.id);
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    assert_eq!(s.w.k.m.peek(c).user, None);
    s.w.root(Call::EndpointBind, [s.end, receiver.thread, 0, NEED, visitors]);
    s.w.on(0);
    s.w.enter(Call::Receive as u64, args([0, NEVER]));
    assert_eq!((s.w.frame(receiver.id).rsi, s.at_home(second, 2).0), (2, State::Away));
}

#[test]
fn which_context_can_be_the_visitors() {
    let mut w = World::of(2);
    let (a, b) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let (first, _) = w.bare_thread();
    let (second, _) = w.bare_thread();
    let owned = w.worker(10);
    let (bare, there) = (w.make(Kind::SchedContext, 0), w.make(Kind::SchedContext, 1));
    let visitors = w.context(1, BUDGET, PERIOD);
    w.root_fails(Call::EndpointBind, [a, first, 0, 0, owned.context], Error::Busy);
    w.root_fails(Call::EndpointBind, [a, first, 0, 0, bare], Error::BadState);
    w.root_fails(Call::EndpointBind, [a, first, 0, 0, there], Error::Elsewhere);
    w.root_fails(Call::EndpointBind, [a, first, 0, 0, b], Error::WrongKind);
    w.root(Call::EndpointBind, [a, first, 0, 0, visitors]);
    w.root_fails(Call::EndpointBind, [b, second, 0, 0, visitors], Error::Busy);
    w.root_fails(Call::ThreadBindContext, [first, visitors], Error::Busy);
    w.root(Call::CapDelete, [0, a]);
    w.root(Call::EndpointBind, [b, second, 0, 0, visitors]);
    // Without it, callers elsewhere are refused.
    w.root(Call::CapDelete, [0, visitors]);
    let caller = w.limited_of(1, 20, NEVER, 0);
    w.on(1);
    assert_eq!(w.current(), caller.id);
    w.fails(Call::Call, [b, 1], Error::Elsewhere);
}

/// Callers of two processors that do nothing else get the budget of each period, and no more.
#[test]
fn a_flood_takes_the_budget_and_no_more() {
    const STEP: u64 = 25;
    let (mut s, visitors) = scene();
    let c = context(&mut s.w, visitors);
    let local = s.w.worker(5);
    let callers = [(s.caller(1, 20), 1), (s.caller(2, 30), 2)];
    let begin = s.w.k.m.clock;
    let mut served = 0;
    while s.w.k.m.clock < begin + 20 * PERIOD {
        for (caller, processor) in callers {
            s.w.on(processor);
            if s.w.k.cpu.current == Some(caller.id) {
                s.w.enter(Call::Call as u64, args([s.way, 1]));
            }
        }
        s.w.deliver();
        s.w.on(0);
        if s.w.k.cpu.current == Some(s.server.id) {
            s.w.pass(STEP);
            s.w.on(0);
            s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
            served += 1;
        } else {
            assert_eq!(s.w.current(), local.id);
            s.w.pass(STEP);
        }
        let [consumed, exhausted] = s.w.k.m.peek(c.used()).so_far();
        let periods = (s.w.k.m.clock - begin) / PERIOD + 1;
        assert!(consumed <= periods * BUDGET && exhausted == 0, "{consumed} in {periods} periods");
    }
    // Of each budget, two requests: after them less is left than a third needs.
    assert!((38..=42).contains(&served), "{served} requests");
}

/// All of them in one region, in the order in which they were made.
#[test]
fn everything_is_deleted_while_visitors_wait_for_time() {
    for every in [0, 1, 2] {
        let mut w = World::of(2).interrupted_every(every);
        let region = w.make(Kind::Region, 32 * pillion_abi::PAGE);
        let make = |w: &mut World, kind: Kind, processor: u64| {
            let at = w.free_slot();
            w.root(Call::RegionCreate, [region, kind as u64, processor, at]);
            at
        };
        let before = w.k.m.live.len();
        let (end, visitors) = (make(&mut w, Kind::Endpoint, 0), make(&mut w, Kind::SchedContext, 0));
        w.root(Call::ContextConfigure, [slot::SCHED, visitors, 1, BUDGET, PERIOD, 1]);
        let thread = |w: &mut World, processor: u64, priority: u64| {
            let (thread, context) = (make(w, Kind::Thread, processor), make(w, Kind::SchedContext, processor));
            w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
            w.root(Call::ContextConfigure, [slot::SCHED, context, priority, NEVER, 0, 200]);
            w.root(Call::ThreadBindContext, [thread, context]);
            thread
        };
        let server = thread(&mut w, 0, 30);
        w.root(Call::EndpointBind, [end, server, 0, NEED, visitors]);
        w.root(Call::ThreadResume, [server]);
        w.call(Call::Receive, [0, NEVER]);
        w.root(Call::ThreadBindContext, [server, 0]);
        for priority in [20, 21, 20] {
            let caller = thread(&mut w, 1, priority);
            w.root(Call::ThreadResume, [caller]);
            w.on(1);
            w.enter(Call::Call as u64, args([end, 1]));
            w.deliver();
            w.on(0);
            if w.k.cpu.current.is_some() {
                w.k.m.clock += 50;
                w.enter(Call::ReplyReceive as u64, args([0, 0]));
                w.deliver();
                w.on(1);
                w.enter(Call::Call as u64, args([end, 1]));
                w.deliver();
            }
        }
        w.root(Call::RegionReset, [region]);
        assert_eq!(w.k.m.live.len(), before);
    }
}
