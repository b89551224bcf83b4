//! Calls of endpoints, and faults, whose callers belong to other processors.

use crate::machine::world::{Worker, World, args, slot};
use pillion_abi::{
    NEVER,
    call::{Call, LABEL_FAULT, endpoint},
    object::Kind,
    status::Error,
};
use pillion_core::{
    Cap, Id, Outcome,
    away::Place,
    endpoint::Endpoint,
    thread::{State, Thread},
};

const BADGE: u64 = 77;

/// A server of processor 0 with a context of its own at priority 12.
pub(super) struct Scene {
    pub w: World,
    pub end: u64,
    /// The capability with a badge.
    pub way: u64,
    pub server: Worker,
}

impl Scene {
    fn new() -> Self {
        Self::with(|w, end| w.server(end, Some(12)))
    }

    /// With another server, which receives from the endpoint.
    pub fn with(server: impl FnOnce(&mut World, u64) -> Worker) -> Self {
        let mut w = World::of(3);
        let end = w.make(Kind::Endpoint, 0);
        let way = w.free_slot();
        w.root(Call::CapDerive, [0, way, end, 15, BADGE]);
        let server = server(&mut w, end);
        Scene { w, end, way, server }
    }

    pub fn caller(&mut self, processor: u8, priority: u8) -> Worker {
        self.w.limited_of(processor, priority, NEVER, 0)
    }

    /// Has a thread, which runs, call; its letter is on its way.
    pub fn call(&mut self, caller: Worker, processor: u8, label: u64) {
        self.w.on(processor);
        assert_eq!(self.w.current(), caller.id);
        let outcome = self.w.enter(Call::Call as u64, args([self.way, label, 1, 2, 3, 4]));
        assert_eq!((outcome, self.w.state(caller.id)), (Outcome::Arranged, State::Away));
    }

    /// Has the server answer, and receive the next call: its label.
    pub fn answer(&mut self, label: u64) -> u64 {
        self.w.on(0);
        assert_eq!(self.w.current(), self.server.id);
        self.w.enter(Call::ReplyReceive as u64, args([0, label, 5, 6, 7, 8]));
        self.w.deliver();
        self.w.on(0);
        self.w.frame(self.server.id).rsi
    }

    fn place(&mut self, caller: Worker) -> Place {
        self.w.k.m.peek(caller.id.visit()).place
    }

    fn queue(&mut self) -> Id<Endpoint> {
        let Cap::Endpoint(end) = self.w.cap(self.end) else { panic!() };
        end.id()
    }

    /// Lets letters and timers come until nothing is left to do.
    fn settle(&mut self) {
        for _ in 0..20 {
            self.w.deliver();
            for processor in 0..3 {
                self.w.on(processor);
                if self.w.k.m.programmed <= self.w.k.m.clock {
                    self.w.timer();
                }
            }
        }
    }

    /// The state of a caller at home, and the status of its call.
    pub fn at_home(&mut self, caller: Worker, processor: u8) -> (State, Option<Error>) {
        self.w.on(processor);
        (self.w.state(caller.id), Error::from_raw(self.w.frame(caller.id).rax))
    }
}

#[test]
fn a_call_travels_and_its_reply_comes_back() {
    let mut s = Scene::new();
    let caller = s.caller(1, 20);
    s.call(caller, 1, 9);
    s.w.deliver();
    s.w.on(0);
    assert_eq!((s.w.current(), s.w.priority(s.server.id)), (s.server.id, 20));
    let f = s.w.frame(s.server.id);
    assert_eq!((f.rax, f.rdi, f.rsi, &f.words[..4]), (0, BADGE, 9, &[1, 2, 3, 4][..]));
    s.answer(10);
    assert_eq!((s.w.state(s.server.id), s.w.priority(s.server.id)), (State::Receiving, 12));
    assert_eq!(s.at_home(caller, 1), (State::Ready, None));
    let f = s.w.frame(caller.id);
    assert_eq!((f.rax, f.rdi, f.rsi, &f.words[..4]), (0, 0, 10, &[5, 6, 7, 8][..]));
}

#[test]
fn a_reply_without_a_receive_answers_a_visitor() {
    let mut s = Scene::new();
    let caller = s.caller(1, 20);
    s.call(caller, 1, 9);
    s.w.deliver();
    s.w.on(0);
    s.w.ok(Call::Reply, [0, 10]);
    assert_eq!(s.at_home(caller, 1), (State::Ready, None));
    assert_eq!(s.w.frame(caller.id).rsi, 10);
    s.w.on(0);
    s.w.fails(Call::Reply, [0, 10], Error::BadState);
}

#[test]
fn visitors_are_served_among_local_callers_in_order_of_priority() {
    let mut s = Scene::new();
    let visitors = [20, 30, 40].map(|priority| s.caller(if priority == 30 { 2 } else { 1 }, priority));
    let (late, early) = (s.w.worker(35), s.w.worker(13));
    s.w.on(0);
    let wakes = s.w.k.m.clock + 100;
    s.w.enter(Call::Sleep as u64, args([0, wakes]));
    s.w.enter(Call::Call as u64, args([s.end, 1]));
    // Of the first processor's two, the more urgent one waits at first, as it would run.
    s.w.root(Call::ThreadSuspend, [visitors[2].thread]);
    s.call(visitors[0], 1, 2);
    s.w.deliver();
    s.call(visitors[1], 2, 3);
    s.w.deliver();
    s.w.on(0);
    s.w.pass(100);
    assert_eq!(s.w.current(), late.id);
    s.w.enter(Call::Call as u64, args([s.end, 4]));
    s.w.root(Call::ThreadResume, [visitors[2].thread]);
    s.call(visitors[2], 1, 5);
    s.w.deliver();
    s.w.on(0);
    assert_eq!((s.w.frame(s.server.id).rsi, s.w.priority(s.server.id)), (1, 40));
    assert_eq!((s.answer(0), s.w.priority(s.server.id)), (5, 40));
    assert_eq!((s.answer(0), s.w.priority(s.server.id)), (4, 35));
    // The local callers, answered, are more urgent than the rest or less than the server.
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    assert_eq!(s.w.current(), late.id);
    s.w.enter(Call::Sleep as u64, args([0, NEVER]));
    assert_eq!((s.w.frame(s.server.id).rsi, s.w.priority(s.server.id)), (3, 30));
    // That the one that it serves is less urgent by now is not told.
    s.w.root(Call::ContextSetPriority, [visitors[1].context, 16]);
    s.w.on(0);
    assert_eq!(s.w.priority(s.server.id), 30);
    assert_eq!((s.answer(0), s.w.priority(s.server.id)), (2, 20));
    s.w.enter(Call::ReplyReceive as u64, args([0, 0]));
    s.w.deliver();
    s.w.on(0);
    assert_eq!(s.w.current(), early.id);
    for (caller, processor) in [(visitors[0], 1), (visitors[1], 2), (visitors[2], 1)] {
        assert_eq!(s.at_home(caller, processor), (State::Ready, None));
    }
}

#[test]
fn a_receiver_that_callers_do_not_raise_serves_in_order_of_arrival() {
    let mut w = World::of(3);
    let end = w.make(Kind::Endpoint, 0);
    let server = w.worker(12);
    w.root(Call::EndpointBind, [end, server.thread, endpoint::OWN_PRIORITY]);
    w.call(Call::Receive, [0, NEVER]);
    let mut s = Scene { w, end, way: end, server };
    let callers = [s.caller(1, 20), s.caller(2, 40)];
    let third = s.caller(1, 50);
    s.call(third, 1, 1);
    s.w.deliver();
    s.call(callers[0], 1, 2);
    s.w.deliver();
    s.call(callers[1], 2, 3);
    s.w.deliver();
    s.w.on(0);
    assert_eq!((s.w.frame(s.server.id).rsi, s.w.priority(s.server.id)), (1, 12));
    assert_eq!(s.answer(0), 2);
    s.w.root(Call::ContextSetPriority, [callers[1].context, 60]);
    assert_eq!((s.answer(0), s.w.priority(s.server.id)), (3, 12));
}

/// Its registers may change as it is answered, so they are looked at by whoever could do so.
#[test]
fn the_registers_of_a_visitor_are_read_where_it_is() {
    let mut s = Scene::new();
    let (caller, third) = (s.caller(1, 20), s.caller(2, 60));
    let read = |s: &mut Scene, processor: u8| {
        let f = if processor == 0 {
            s.w.root(Call::ThreadRegister, [caller.thread, 0])
        } else {
            s.w.on(processor);
            assert_eq!(s.w.current(), third.id);
            s.w.ok(Call::ThreadRegister, [caller.thread, 0])
        };
        assert_eq!((f.words[0], f.rsi), (0x1000, 0x2000));
    };
    let read_from_all = |s: &mut Scene| [0, 2].iter().for_each(|processor| read(s, *processor));
    read_from_all(&mut s);
    s.call(caller, 1, 9);
    // Its letter is on its way, and the first processor's already.
    s.w.root_runs();
    s.w.enter(Call::ThreadRegister as u64, args([caller.thread, 0]));
    assert_eq!((s.w.k.m.letters.len(), s.w.frame(s.w.root).words[0]), (1, 0x1000));
    s.w.root_waits();
    read_from_all(&mut s);
    assert_eq!(s.place(caller), Place::Service(s.server.id));
    s.answer(10);
    read_from_all(&mut s);
}

/// At each place where a visitor can be.
#[test]
fn a_visitor_is_called_back_from_everywhere() {
    for delete in [false, true] {
        for step in 0..3 {
            let mut s = Scene::new();
            let (caller, other) = (s.caller(1, 40), s.caller(2, 30));
            if step == 2 {
                s.call(other, 2, 1);
                s.w.deliver();
            }
            s.call(caller, 1, 2);
            if step > 0 {
                s.w.deliver();
                s.w.on(0);
                let place = if step == 2 { Place::Queue(s.queue()) } else { Place::Service(s.server.id) };
                assert_eq!((s.place(caller), s.w.priority(s.server.id)), (place, 40));
            }
            s.w.root_runs();
            let (call, a) = match delete {
                true => (Call::CapDelete, args([0, caller.thread])),
                false => (Call::ThreadSuspend, args([caller.thread])),
            };
            s.w.enter(call as u64, a);
            // That it is called back is known before its letter arrives, if that is on its way.
            let last = s.w.k.m.letters.len() - 1;
            s.w.deliver_one(last);
            s.settle();
            s.w.on(0);
            s.w.root_waits();
            s.w.on(1);
            if delete {
                assert!(!s.w.k.m.is_live(caller.id));
            } else {
                assert_eq!(s.at_home(caller, 1), (State::Stopped, Some(Error::Gone)));
            }
            // The server's answer reaches nobody, and it goes on.
            s.w.on(0);
            assert_eq!(s.w.priority(s.server.id), if step == 2 { 30 } else { 12 });
            if step > 0 {
                s.answer(3);
            }
            s.w.on(0);
            assert_eq!((s.w.state(s.server.id), s.w.priority(s.server.id)), (State::Receiving, 12));
            assert_eq!(s.at_home(other, 2).0, State::Ready);
        }
    }
}

#[test]
fn a_priority_follows_to_the_queue_and_to_the_server() {
    let mut s = Scene::new();
    let (served, queued) = (s.caller(1, 20), s.caller(2, 25));
    s.call(served, 1, 1);
    s.w.deliver();
    s.call(queued, 2, 2);
    s.w.deliver();
    for (context, priority, due) in [
        (queued.context, 30, 30),
        (served.context, 40, 40),
        (served.context, 13, 40),
        (served.context, 39, 40),
        (queued.context, 14, 40),
        (queued.context, 45, 45),
    ] {
        s.w.root(Call::ContextSetPriority, [context, priority]);
        s.w.deliver();
        s.w.on(0);
        assert_eq!(s.w.priority(s.server.id), due);
    }
    // With its next call, each has the priority that it has then.
    s.answer(0);
    s.w.root(Call::ContextSetPriority, [queued.context, 16]);
    s.answer(0);
    assert_eq!(s.w.priority(s.server.id), 12);
    s.w.root(Call::ContextSetPriority, [served.context, 14]);
    s.call(served, 1, 1);
    s.w.deliver();
    s.w.on(0);
    assert_eq!(s.w.priority(s.server.id), 14);
}

#[test]
fn the_end_of_a_server_or_an_endpoint_releases_visitors() {
    for (endpoint, delivered) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut s = Scene::new();
        let (served, queued) = (s.caller(1, 20), s.caller(2, 25));
        s.call(served, 1, 1);
        s.w.deliver();
        s.call(queued, 2, 2);
        if delivered {
            s.w.deliver();
        }
        let object = if endpoint { s.end } else { s.server.thread };
        s.w.root(Call::CapDelete, [0, object]);
        s.w.deliver();
        let ends = |error| (State::Ready, Some(error));
        if endpoint {
            assert_eq!(s.at_home(served, 1), (State::Away, None), "its server is still there");
            let error = if delivered { Error::Gone } else { Error::BadCap };
            assert_eq!(s.at_home(queued, 2), ends(error));
            s.w.on(0);
            s.w.ok(Call::Reply, [0, 7]);
            assert_eq!(s.at_home(served, 1), (State::Ready, None));
        } else {
            assert_eq!(s.at_home(served, 1), ends(Error::Gone));
            if delivered {
                // It waits for the next receiver.
                assert_eq!(s.at_home(queued, 2).0, State::Away);
                let next = s.w.worker(60);
                s.w.root(Call::EndpointBind, [s.end, next.thread]);
                s.w.on(0);
                s.w.call(Call::Receive, [0, NEVER]);
                assert_eq!(s.w.frame(next.id).rsi, 2);
            } else {
                assert_eq!(s.at_home(queued, 2), ends(Error::BadState));
            }
        }
    }
}

#[test]
fn a_receiver_without_a_context_serves_no_visitor() {
    let mut s = Scene::new();
    s.w.root(Call::ThreadBindContext, [s.server.thread, 0]);
    let caller = s.caller(1, 20);
    s.call(caller, 1, 1);
    s.w.deliver();
    assert_eq!(s.at_home(caller, 1), (State::Ready, Some(Error::Elsewhere)));
}

#[test]
fn a_receiver_that_gets_a_context_serves_who_waits() {
    let mut s = Scene::new();
    let (first, second) = (s.caller(1, 20), s.caller(2, 25));
    s.call(first, 1, 1);
    s.w.deliver();
    s.call(second, 2, 2);
    s.w.deliver();
    s.w.root(Call::CapDelete, [0, s.server.thread]);
    // A thread that runs on its caller's context becomes the receiver.
    let end = s.w.make(Kind::Endpoint, 0);
    let next = s.w.server(end, None);
    s.w.worker(50);
    s.w.on(0);
    s.w.call(Call::Call, [end, 3]);
    s.w.root(Call::CapDelete, [0, end]);
    s.w.root(Call::EndpointBind, [s.end, next.thread]);
    s.w.on(0);
    assert_eq!(s.w.current(), next.id);
    s.w.enter(Call::Receive as u64, args([0, NEVER]));
    assert_eq!(s.w.state(next.id), State::Receiving);
    s.w.root(Call::ThreadBindContext, [next.thread, next.context]);
    s.w.on(0);
    assert_eq!((s.w.state(next.id), s.w.frame(next.id).rsi), (State::Ready, 2));
}

#[test]
fn a_fault_is_answered_from_elsewhere() {
    for label in [0, 1, 2] {
        let mut s = Scene::new();
        let caller = s.caller(1, 20);
        s.w.root(Call::ThreadSuspend, [caller.thread]);
        s.w.root(Call::ThreadConfigure, [caller.thread, slot::SPACE, slot::CAPS, s.way, 0]);
        s.w.root(Call::ThreadResume, [caller.thread]);
        s.w.on(1);
        s.w.fault([14, 1, 2, 3, 4, 5]);
        assert_eq!(s.w.state(caller.id), State::Away);
        s.w.deliver();
        s.w.on(0);
        let f = s.w.frame(s.server.id);
        assert_eq!((f.rdi, f.rsi, &f.words[..6]), (BADGE, LABEL_FAULT, &[14, 1, 2, 3, 4, 5][..]));
        assert_eq!(s.w.priority(s.server.id), 20);
        s.w.enter(Call::ReplyReceive as u64, args([0, label, 0x7000]));
        s.w.deliver();
        s.w.on(1);
        let state = if label == 2 { State::Stopped } else { State::Ready };
        let rip = if label == 1 { 0x7000 } else { 0x1000 };
        assert_eq!((s.w.state(caller.id), s.w.frame(caller.id).rip), (state, rip));
        let Thread { faulted, .. } = *s.w.k.m.peek(caller.id);
        assert!(!faulted);
    }
}

#[test]
fn a_fault_that_nobody_hears_of_stops_the_thread() {
    let mut s = Scene::new();
    let (caller, stopped) = (s.caller(1, 20), s.caller(1, 30));
    for thread in [caller.thread, stopped.thread] {
        s.w.root(Call::ThreadSuspend, [thread]);
        s.w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, s.way, 0]);
        s.w.root(Call::ThreadResume, [thread]);
    }
    s.w.on(1);
    s.w.fault([14, 1, 2, 3, 4, 5]);
    s.w.deliver();
    s.w.root(Call::ThreadSuspend, [stopped.thread]);
    assert_eq!(s.at_home(stopped, 1).0, State::Stopped);
    assert_eq!(s.w.current(), caller.id);
    s.w.fault([14, 1, 2, 3, 4, 5]);
    s.w.root(Call::CapDelete, [0, s.end]);
    s.w.deliver();
    assert_eq!(s.at_home(caller, 1).0, State::Stopped);
}

/// Receivers of both processors that call each other would wait for ever.
#[test]
fn who_may_be_waited_for_calls_lower_processors_only() {
    let mut s = Scene::new();
    let there = s.w.make(Kind::Endpoint, 1);
    let high = s.caller(1, 90);
    s.w.root(Call::EndpointBind, [there, high.thread]);
    // The server of the first processor serves nobody, and is still one.
    let caller = s.caller(2, 20);
    s.call(caller, 2, 1);
    s.w.deliver();
    s.w.on(0);
    s.w.fails(Call::Call, [there, 1], Error::BadState);
    // That of the second one may call it.
    s.call(high, 1, 2);
    s.w.deliver();
    assert_eq!(s.answer(0), 2);
    s.answer(0);
    assert_eq!(s.at_home(high, 1), (State::Ready, None));
}

#[test]
fn who_calls_elsewhere_becomes_no_receiver() {
    let mut s = Scene::new();
    let there = s.w.make(Kind::Endpoint, 1);
    let caller = s.caller(1, 20);
    s.call(caller, 1, 1);
    s.w.root_fails(Call::EndpointBind, [there, caller.thread], Error::BadState);
    s.w.deliver();
    s.w.root_fails(Call::EndpointBind, [there, caller.thread], Error::BadState);
    s.answer(0);
    s.w.root(Call::EndpointBind, [there, caller.thread]);
}
