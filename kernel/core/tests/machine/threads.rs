//! Threads: which one runs, which are ready, and which wait for what.

use super::{
    Fake,
    relations::{receiver, visitors},
    world::World,
};
use pillion_core::{
    Id,
    endpoint::Endpoint,
    heap::{Node, Nodes},
    notification::Notification,
    thread::{State, Thread},
    timer::Due,
    vcpu::Vcpu,
    x86_64::apic::GuestApic,
};
use std::collections::BTreeSet;

struct Callers<'a>(&'a mut Fake);

impl Nodes<Id<Thread>> for Callers<'_> {
    fn node(&mut self, id: Id<Thread>) -> &mut Node<Id<Thread>> {
        &mut self.0.peek(id).waiting
    }
}

/// The ready queue in order, read by emptying a copy; the threads' links are restored.
fn ready_order(w: &mut World) -> Vec<Id<Thread>> {
    let threads = w.k.m.all::<Thread>();
    let saved: Vec<_> = threads
        .iter()
        .map(|t| {
            let t = w.k.m.peek(*t);
            (t.queued, t.previous, t.next)
        })
        .collect();
    let mut copy = w.k.cpu.ready.clone();
    let mut order = Vec::new();
    while let Some(id) = copy.pop(&mut w.k.m) {
        order.push(id);
        assert!(order.len() <= threads.len(), "the ready queue has a cycle");
    }
    assert_eq!(copy.top(), 0);
    for (t, saved) in threads.iter().zip(saved) {
        let t = w.k.m.peek(*t);
        (t.queued, t.previous, t.next) = saved;
    }
    w.k.m.gets.set(0);
    order
}

pub fn ready(w: &mut World) {
    let top = w.k.cpu.ready.top();
    let order = ready_order(w);
    assert_eq!(order.first().map_or(0, |t| w.priority(*t)), top, "the bitmap of levels is wrong");
    assert!(order.is_sorted_by_key(|t| std::cmp::Reverse(w.k.m.peek(*t).priority)));
    let unique: BTreeSet<u32> = order.iter().map(|t| t.number()).collect();
    assert_eq!(unique.len(), order.len());
    for id in w.k.m.all::<Thread>() {
        let t = w.k.m.peek(id);
        let (queued, state, context, priority) = (t.queued, t.state, t.context, t.priority);
        assert_eq!(queued, unique.contains(&id.number()), "{id:?} {state:?}");
        if queued {
            assert_eq!(state, State::Ready);
            assert!(context.is_some() && priority > 0, "{id:?} is queued without a context");
            assert_ne!(w.k.cpu.current, Some(id), "the current thread is queued");
        }
    }
}

/// The current thread is ready, has a context, and no ready thread is more urgent. Every other
/// ready thread that has a context is queued or waits for its replenishment.
pub fn running(w: &mut World) {
    let charged = w.k.cpu.charged;
    if let Some(id) = w.k.cpu.current {
        let t = w.k.m.peek(id);
        assert_eq!(t.state, State::Ready, "{id:?}");
        let (context, priority) = (t.context, t.priority);
        assert!(context.is_some(), "{id:?} runs without a context");
        assert_eq!(charged, context);
        assert!(priority >= w.k.cpu.ready.top(), "{id:?} at {priority} runs before {}", w.k.cpu.ready.top());
    } else {
        assert_eq!(w.k.cpu.ready.top(), 0, "the CPU is idle although a thread is ready");
        assert_eq!(charged, None);
    }
    for id in w.k.m.all::<Thread>() {
        let t = w.k.m.peek(id);
        if t.state != State::Ready || t.queued || w.k.cpu.current == Some(id) {
            continue;
        }
        let Some(context) = w.k.m.peek(id).context else { continue };
        let c = w.k.m.peek(context);
        assert!(c.is_limited() && c.left == 0 && c.refill.is_linked(), "{id:?} is ready but not queued: {c:?}");
    }
}

/// Queues, servers, receivers, notifications and guests agree with the threads' states.
pub fn waiting(w: &mut World) {
    let m = &mut w.k.m;
    let mut queued = BTreeSet::new();
    for id in m.all::<Endpoint>() {
        let (mut heap, own_priority) = (m.peek(id).queue, m.peek(id).own_priority);
        let mut nodes = Vec::new();
        let mut last = 0;
        for t in m.all::<Thread>() {
            nodes.push((t, m.peek(t).waiting));
        }
        while let Some(t) = heap.pop(&mut Callers(m)) {
            assert!(queued.insert(t.number()), "{t:?} is in two queues");
            let key = Callers(m).node(t).key();
            assert!(key >= last);
            last = key;
            let thread = m.peek(t);
            assert_eq!((thread.state, thread.waiting_at), (State::Calling, Some(id)));
            let urgency = if own_priority { 0 } else { u64::from(255 - thread.priority) };
            assert_eq!(key >> 56, urgency, "{t:?} is queued with another priority");
        }
        for (t, node) in nodes {
            m.peek(t).waiting = node;
        }
        let visitors = visitors(m, id);
        let first = m.peek(id).visitors.first();
        assert_eq!(first.is_some(), !visitors.is_empty());
        let Endpoint { is_awaited, ref queue, .. } = *m.peek(id);
        assert_eq!(is_awaited, first.is_some() || queue.first().is_some());
        for visitor in visitors {
            let here = m.number;
            let key = m.peek(visitor.visit()).due.key();
            let away = m.peek(visitor.away());
            assert_eq!(away.trip.at(), here, "{visitor:?} is queued at {id:?}, and elsewhere");
            let (priority, is_known) = (away.trip.priority(), !away.trip.has_news());
            let urgency = if own_priority { 0 } else { u64::from(255 - priority) };
            assert!(!is_known || key >> 56 == urgency, "{visitor:?} is queued with another priority");
            let Some(Due::Visit(first)) = first else { panic!("{first:?} in a queue") };
            assert!(m.peek(first.visit()).due.key() <= key);
            if let Some(receiver) = receiver(m, id) {
                let t = m.peek(receiver);
                let (state, has_own) = (t.state, t.own_context.is_some());
                let waits_for_time = !has_own
                    && m.peek(id).context.is_none_or(|c| {
                        let c = m.peek(c);
                        c.user.is_some() || c.refill.is_linked()
                    });
                let is_due = state != State::Receiving || waits_for_time;
                assert!(is_due, "{visitor:?} waits although {receiver:?} is waiting");
            }
        }
        if let Some(receiver) = receiver(m, id) {
            assert_eq!(m.peek(receiver).endpoint, Some(id));
            if let Some(first) = m.peek(id).queue.first() {
                assert_ne!(m.peek(receiver).state, State::Receiving, "callers wait although the receiver is waiting");
                let priority = m.peek(first).priority;
                let inherits = m.peek(receiver).priority >= priority || m.peek(id).own_priority;
                assert!(inherits, "{receiver:?} does not inherit from {first:?}");
            }
        }
    }
    let current = w.k.cpu.current;
    let m = &mut w.k.m;
    for id in m.all::<Thread>() {
        let bound = id.notification(m);
        let t = m.peek(id);
        let (state, caller, server, at, on, endpoint, guest) =
            (t.state, t.caller, t.server, t.waiting_at, t.waiting_for, t.endpoint, t.guest);
        let (faulted, priority) = (t.faulted, t.priority);
        assert_eq!(state == State::Calling, queued.contains(&id.number()), "{id:?} {state:?}");
        assert_eq!(state == State::Calling, at.is_some());
        assert_eq!(state == State::Waiting, on.is_some());
        assert_eq!(state == State::Served, server.is_some());
        assert!(!faulted || matches!(state, State::Calling | State::Served | State::Away));
        if let Some(s) = server {
            assert!(m.is_live(s) && m.peek(s).caller == Some(id));
            let own_priority = m.peek(s).endpoint.is_some_and(|e| m.peek(e).own_priority);
            assert!(m.peek(s).priority >= priority || own_priority, "{s:?} does not inherit from {id:?}");
        }
        if let Some(c) = caller {
            assert!(m.is_live(c) && m.peek(c).server == Some(id));
            assert_ne!(state, State::Receiving);
        }
        if let Some(n) = on {
            assert!(m.is_live(n) && m.peek(n).waiter == Some(id) && m.peek(n).bits == 0);
        }
        if let Some(e) = endpoint {
            assert!(m.is_live(e) && receiver(m, e) == Some(id));
            if let (true, Some(own)) = (m.peek(e).own_priority, m.peek(id).own_context) {
                assert_eq!(priority, m.peek(own).priority, "{id:?} does not run at its own priority");
            }
        }
        if let Some(v) = guest {
            assert!(m.is_live(v) && m.peek(v).thread == Some(id));
            assert!(matches!(state, State::Ready | State::Halted));
        }
        assert!(state != State::Halted || guest.is_some());
        if let Some(n) = bound {
            assert_eq!(m.peek(n).bound, Some(id));
        }
        if state == State::Calling || state == State::Waiting {
            assert!(current != Some(id));
        }
    }
    for id in m.all::<Notification>() {
        let n = m.peek(id);
        let (waiter, bound) = (n.waiter, n.bound);
        if let Some(t) = waiter {
            assert!(m.is_live(t) && m.peek(t).waiting_for == Some(id));
        }
        if let Some(t) = bound {
            assert!(m.is_live(t) && t.notification(m) == Some(id));
            let t = m.peek(t);
            if t.state == State::Receiving && t.own_context.is_some() {
                assert_eq!(m.peek(id).bits, 0, "the bits did not wake the receiver");
            }
        }
    }
    for id in m.all::<Vcpu>() {
        let v = m.peek(id);
        let (thread, user) = (v.thread, v.user);
        if user {
            assert!(!v.timer.is_linked(), "a user vCPU has a timer");
            assert_eq!(v.apic, GuestApic::new(), "a user vCPU has interrupts");
        }
        if let Some(t) = thread {
            assert!(m.is_live(t) && m.peek(t).guest == Some(id));
            assert!(!user || m.peek(t).state != State::Halted);
        }
    }
    for id in w.k.cpu.vectors.into_iter().flatten() {
        assert!(w.k.m.is_live(id));
    }
    if let Some(v) = w.k.cpu.passenger {
        assert!(w.k.m.is_live(v) && !w.k.m.peek(v).user);
    }
}
