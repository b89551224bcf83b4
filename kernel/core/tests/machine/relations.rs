//! Relations between two objects: both sides record the same.

use super::{Fake, world::World};
use pillion_abi::RT_VECTOR_FIRST;
use pillion_core::{
    Cap, Id, Opt, Slot,
    context::Context,
    endpoint::Endpoint,
    interrupt::Interrupt,
    notification::Notification,
    thread::{State, Thread, place},
    timer::Timer,
    vcpu::Vcpu,
};
use std::collections::BTreeSet;

/// Checks all of them.
pub fn check(w: &mut World) {
    time(&mut w.k.m);
    loans(&mut w.k.m);
    calls(&mut w.k.m);
    priorities(&mut w.k.m);
    held(&mut w.k.m);
    interrupts(w);
    guests(w);
}

/// `c.user == t` exactly if `t.context == c`, and `c.owner == t` exactly if `t.own_context == c`.
fn time(m: &mut Fake) {
    for c in m.all::<Context>() {
        let Context { user, owner, .. } = *m.peek(c);
        if let Some(t) = user {
            assert!(m.is_live(t) && m.peek(t).context == Some(c), "{c:?} has the user {t:?}, which does not use it");
        }
        if let Some(t) = owner {
            assert!(
                m.is_live(t) && m.peek(t).own_context == Some(c),
                "{c:?} has the owner {t:?}, which does not own it"
            );
        }
    }
    for t in m.all::<Thread>() {
        let Thread { context, own_context, .. } = *m.peek(t);
        if let Some(c) = context {
            assert!(m.is_live(c) && m.peek(c).user == Some(t), "{t:?} uses {c:?}, which has another user");
        }
        if let Some(c) = own_context {
            assert!(m.is_live(c) && m.peek(c).owner == Some(t), "{t:?} owns {c:?}, which has another owner");
        }
    }
}

/// A donated context returns to a thread that has none: in a chain of a thread and servers without
/// a context of their own, each serving the previous one, at most one has a context.
fn loans(m: &mut Fake) {
    for first in m.all::<Thread>() {
        let mut holder = m.peek(first).context.map(|_| first);
        let mut at = first;
        while let Some(server) = m.peek(at).server {
            let Thread { context, own_context, .. } = *m.peek(server);
            if own_context.is_some() {
                break;
            }
            if context.is_some() {
                assert!(holder.is_none(), "{server:?} will return its context towards {at:?}, but {holder:?} has one");
                holder = Some(server);
            }
            at = server;
        }
    }
}

/// Caller and server, queue and members, endpoint and receiver, waiter and notification.
fn calls(m: &mut Fake) {
    for t in m.all::<Thread>() {
        let Thread { state, caller, server, waiting_at, waiting_for, endpoint, guest, .. } = *m.peek(t);
        assert_eq!(server.is_some(), state == State::Served, "{t:?}");
        assert_eq!(waiting_at.is_some(), state == State::Calling, "{t:?}");
        assert_eq!(waiting_for.is_some(), state == State::Waiting, "{t:?}");
        assert_eq!(
            m.peek(t).waiting.is_linked(),
            state == State::Calling,
            "{t:?}: queued, or calling without being queued"
        );
        assert!(guest.is_none() || matches!(state, State::Ready | State::Halted), "{t:?}");
        let mutual = |ok: bool, what: &str| assert!(ok, "{t:?} and its {what} do not agree");
        mutual(caller.is_none_or(|o| m.is_live(o) && m.peek(o).server == Some(t)), "caller");
        mutual(server.is_none_or(|o| m.is_live(o) && m.peek(o).caller == Some(t)), "server");
        mutual(waiting_at.is_none_or(|o| m.is_live(o)), "queue");
        mutual(waiting_for.is_none_or(|o| m.is_live(o) && m.peek(o).waiter == Some(t)), "notification");
        mutual(endpoint.is_none_or(|o| m.is_live(o) && m.peek(o).slot.cap == Cap::Thread(t)), "endpoint");
        mutual(guest.is_none_or(|o| m.is_live(o) && m.peek(o).thread == Some(t)), "guest");
        let bound = m.peek(t).notification();
        mutual(bound.is_none_or(|o| m.is_live(o) && m.peek(o).bound == Some(t)), "bound notification");
    }
    for e in m.all::<Endpoint>() {
        if let Cap::Thread(t) = m.peek(e).slot.cap {
            assert!(m.is_live(t) && m.peek(t).endpoint == Some(e), "{e:?} and its receiver do not agree");
        }
    }
    for n in m.all::<Notification>() {
        let Notification { waiter, bound, .. } = *m.peek(n);
        let waits = waiter.is_none_or(|t| m.is_live(t) && m.peek(t).waiting_for == Some(n));
        let binds = bound.is_none_or(|t| m.is_live(t) && m.peek(t).notification() == Some(n));
        assert!(waits && binds, "{n:?} and its thread do not agree");
    }
}

/// Every thread that has a context, or is being served, has exactly the priority that it should
/// have: with less, threads that wait for it would wait for others; with more, it would take time
/// from others. A thread with neither gets its priority with its next context.
fn priorities(m: &mut Fake) {
    for t in m.all::<Thread>() {
        if m.peek(t).context.is_none() && m.peek(t).server.is_none() {
            continue;
        }
        let Thread { state, priority, context, own_context, endpoint, caller, .. } = *m.peek(t);
        let lent = || if caller.is_none() { comes_back(m, t) } else { None };
        let own = context.or(own_context).or_else(lent).map_or(0, |c| m.peek(c).priority);
        let served = caller.map_or(0, |c| m.peek(c).priority);
        let first = endpoint.and_then(|e| m.peek(e).queue.first());
        let waiting = first.map_or(0, |c| m.peek(c).priority);
        let open = endpoint.is_none_or(|e| !m.peek(e).own_priority);
        let follows = open || own_context.is_none();
        let due = own.max(if follows { served } else { 0 }).max(if open { waiting } else { 0 });
        assert_eq!(
            priority, due,
            "{t:?}, {state:?}: {own} of its own, {served} from its caller, {waiting} from its queue"
        );
    }
}

/// The context that a thread without one has passed on.
fn comes_back(m: &mut Fake, first: Id<Thread>) -> Opt<Context> {
    let mut at = m.peek(first).server?;
    while m.peek(at).own_context.is_none() {
        if let Some(context) = m.peek(at).context {
            return Some(context);
        }
        at = m.peek(at).server?;
    }
    None
}

/// Objects hold derived capabilities of the right kind, from which nothing was derived.
fn held(m: &mut Fake) {
    type Test = fn(&Cap) -> bool;
    let mut slots: Vec<(Id<Slot>, Test)> = Vec::new();
    let at = |physical: u64, offset: usize| Id::<Slot>::at(physical + offset as u64).unwrap();
    use std::mem::offset_of;
    for t in m.all::<Thread>() {
        let tests: [(usize, Test); 4] = [
            (place::SPACE, |c| matches!(c, Cap::AddressSpace(_))),
            (place::CAPS, |c| matches!(c, Cap::CapSpace(_))),
            (place::FAULT, |c| matches!(c, Cap::Endpoint(_))),
            (place::NOTIFICATION, |c| matches!(c, Cap::Notification(_))),
        ];
        slots.extend(tests.map(|(i, test)| (at(t.physical(), offset_of!(Thread, slots) + 64 * i), test)));
    }
    let notification: Test = |c| matches!(c, Cap::Notification(_));
    let of = |physical, offset, test| (at(physical, offset), test);
    slots.extend(m.all::<Timer>().iter().map(|t| of(t.physical(), offset_of!(Timer, slot), notification)));
    slots.extend(m.all::<Interrupt>().iter().map(|i| of(i.physical(), offset_of!(Interrupt, slot), notification)));
    let thread: Test = |c| matches!(c, Cap::Thread(_));
    slots.extend(m.all::<Endpoint>().iter().map(|e| of(e.physical(), offset_of!(Endpoint, slot), thread)));
    let (space, page): (Test, Test) = (|c| matches!(c, Cap::GuestSpace(_)), |c| matches!(c, Cap::Memory { .. }));
    slots.extend(m.all::<Vcpu>().iter().map(|v| of(v.physical(), offset_of!(Vcpu, space), space)));
    slots.extend(m.all::<Vcpu>().iter().map(|v| of(v.physical(), offset_of!(Vcpu, state), page)));
    let signals: Test = |c| matches!(c, Cap::CapSpace(_));
    slots.extend(m.all::<Vcpu>().iter().map(|v| of(v.physical(), offset_of!(Vcpu, signals), signals)));
    for (id, right_kind) in slots {
        let Slot { cap, original, depth, previous, next, .. } = *m.peek(id);
        if cap == Cap::None {
            continue;
        }
        assert!(right_kind(&cap), "{id:?} holds {cap:?}");
        assert!(!original, "an object holds the original of {cap:?}");
        assert!(
            next.is_none_or(|n| m.peek(n).depth <= depth),
            "a capability was derived from one that an object holds"
        );
        // Only the first thread's capability space was given, not derived.
        assert!(previous.is_some() || matches!(cap, Cap::CapSpace(_)), "{id:?} was not derived");
    }
}

/// A vector belongs to exactly one interrupt, a line to one interrupt or to the passenger.
fn interrupts(w: &mut World) {
    let (vectors, m) = (w.k.cpu.vectors, &mut w.k.m);
    let mut lines = BTreeSet::new();
    for id in m.all::<Interrupt>() {
        let Interrupt { line, vector, .. } = *m.peek(id);
        assert_eq!(vectors[usize::from(vector - RT_VECTOR_FIRST)], Some(id), "{id:?} has lost its vector");
        assert!(line.is_none_or(|l| lines.insert(l)), "{line:?} belongs to two interrupts");
    }
    let routed = w.k.cpu.passenger_lines;
    assert!(w.k.cpu.passenger.is_some() || routed.is_empty(), "lines are routed although the passenger ended");
    assert!(lines.iter().all(|l| !routed.has(*l as u8)), "a line belongs to an interrupt and to the passenger");
    let taken: Vec<Opt<Interrupt>> = vectors.into_iter().filter(Option::is_some).collect();
    assert_eq!(taken.len(), m.all::<Interrupt>().len(), "a vector belongs to an interrupt that ended");
}

/// A vCPU and its thread agree; the passenger is the only configured vCPU that is not a user vCPU.
fn guests(w: &mut World) {
    let (passenger, m) = (w.k.cpu.passenger, &mut w.k.m);
    for v in m.all::<Vcpu>() {
        let (thread, user) = (m.peek(v).thread, m.peek(v).user);
        assert!(thread.is_none_or(|t| m.is_live(t) && m.peek(t).guest == Some(v)), "{v:?} and its thread do not agree");
        assert!(m.peek(v).signals.cap == Cap::None || passenger == Some(v), "{v:?} signals but is not the passenger");
        let configured = m.peek(v).space.cap != Cap::None || m.peek(v).state.cap != Cap::None;
        assert!(!configured || user || passenger == Some(v), "{v:?} is a second passenger");
    }
    assert!(passenger.is_none_or(|v| m.is_live(v) && !m.peek(v).user));
}
