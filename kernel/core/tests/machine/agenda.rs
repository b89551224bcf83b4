//! Time: which deadlines are armed and on the agenda, what the timer is programmed for, and which
//! thread uses which scheduling context.

use super::{Fake, world::World};
use pillion_abi::NEVER;
use pillion_core::{
    Id,
    away::Place,
    context::Context,
    heap::{Heap, Node, Nodes},
    interrupt::Interrupt,
    notification::Notification,
    thread::{State, Thread},
    timer::{Due, Timer},
    vcpu::Vcpu,
};
use std::collections::{BTreeMap, BTreeSet};

struct Dues<'a>(&'a mut Fake);

impl Nodes<Due> for Dues<'_> {
    fn node(&mut self, due: Due) -> &mut Node<Due> {
        match due {
            Due::Thread(id) => &mut self.0.peek(id).timeout,
            Due::Context(id) => &mut self.0.peek(id).refill,
            Due::Notification(id) => &mut self.0.peek(id).due,
            Due::Vcpu(id) => &mut self.0.peek(id).timer,
            Due::Visit(id) => &mut self.0.peek(id.visit()).due,
        }
    }
}

struct OfNotification<'a>(&'a mut Fake);

impl Nodes<Id<Timer>> for OfNotification<'_> {
    fn node(&mut self, id: Id<Timer>) -> &mut Node<Id<Timer>> {
        &mut self.0.peek(id).node
    }
}

/// Every armed deadline is on the agenda, at the priority of the thread that it is for.
pub fn timers(w: &mut World) {
    let mut armed: BTreeMap<u64, (Due, Node<Due>)> = BTreeMap::new();
    let m = &mut w.k.m;
    for due in all_dues(m) {
        let node = *Dues(m).node(due);
        if node.is_linked() {
            armed.insert(physical(due), (due, node));
        }
    }
    let mut popped = BTreeSet::new();
    for level in 0..=u8::MAX {
        let mut heap: Heap<Due> = *w.k.cpu.agenda.heap(level);
        let m = &mut w.k.m;
        let first = heap.first().map_or(NEVER, |due| Dues(m).node(due).key());
        assert_eq!(w.k.cpu.agenda.first(level), first);
        let mut last = 0;
        while let Some(due) = heap.pop(&mut Dues(m)) {
            assert!(armed.contains_key(&physical(due)), "{due:?} is on the agenda but not armed");
            assert!(popped.insert(physical(due)), "{due:?} is on the agenda twice");
            let node = *Dues(m).node(due);
            assert!(node.key() >= last && node.level == level, "{due:?} is out of order or at another level");
            last = node.key();
        }
    }
    assert_eq!(popped.len(), armed.len(), "armed but not on the agenda: {armed:?}");
    for (due, node) in armed.into_values() {
        *Dues(&mut w.k.m).node(due) = node;
        if let Some(urgency) = urgency(w, due) {
            assert_eq!(node.level, urgency, "{due:?} is at the wrong level");
        }
        if let Due::Thread(id) = due {
            assert!(matches!(w.state(id), State::Waiting | State::Sleeping | State::Receiving));
        }
    }
    w.k.m.gets.set(0);
    notification_timers(w);
}

fn all_dues(m: &mut Fake) -> Vec<Due> {
    let mut dues: Vec<Due> = Vec::new();
    dues.extend(m.all::<Thread>().into_iter().map(Due::Thread));
    dues.extend(m.all::<Context>().into_iter().map(Due::Context));
    dues.extend(m.all::<Notification>().into_iter().map(Due::Notification));
    dues.extend(m.all::<Vcpu>().into_iter().map(Due::Vcpu));
    let here = m.number;
    let mut visits = m.everywhere::<Thread>();
    visits.retain(|t| m.peek(t.away()).trip.at() == here && !matches!(m.peek(t.visit()).place, Place::Queue(_)));
    dues.extend(visits.into_iter().map(Due::Visit));
    dues
}

fn physical(due: Due) -> u64 {
    match due {
        Due::Thread(id) => id.physical(),
        Due::Context(id) => id.physical(),
        Due::Notification(id) => id.physical(),
        Due::Vcpu(id) => id.physical(),
        // Apart from the thread's own.
        Due::Visit(id) => id.visit().physical(),
    }
}

/// The priority of the thread that a deadline is for; none if it could not make a thread run.
fn urgency(w: &mut World, due: Due) -> Option<u8> {
    let m = &mut w.k.m;
    match due {
        Due::Thread(id) => Some(m.peek(id).priority),
        Due::Context(id) => {
            let Context { user, endpoint, .. } = *m.peek(id);
            if let Some(user) = user {
                return Some(m.peek(user).priority);
            }
            let Some(Due::Visit(first)) = m.peek(endpoint?).visitors.first() else { panic!("{id:?} is for nobody") };
            let away = m.peek(first.away());
            (!away.trip.has_news()).then_some(away.trip.priority())
        }
        Due::Notification(id) => {
            let n = m.peek(id);
            let (waiter, bound) = (n.waiter, n.bound);
            let t = m.peek(waiter.or(bound).expect("no thread waits for it or is bound to it"));
            (waiter.is_some() || t.own_context.is_some() || t.guest.is_some()).then_some(t.priority)
        }
        Due::Vcpu(id) => {
            let thread = m.peek(id).thread?;
            Some(m.peek(thread).priority)
        }
        // That of the thread, unless news of another are on their way.
        Due::Visit(id) => {
            let away = m.peek(id.away());
            (!away.trip.has_news()).then_some(away.trip.priority())
        }
    }
}

/// A timer that is set is in its notification's heap, and the notification is on the agenda if a
/// thread waits for it or is bound to it.
fn notification_timers(w: &mut World) {
    let m = &mut w.k.m;
    let mut found = BTreeSet::new();
    for id in m.all::<Notification>() {
        let nodes: Vec<_> = m.all::<Timer>().into_iter().map(|t| (t, m.peek(t).node)).collect();
        let n = m.peek(id);
        let (mut timers, due, heard) = (n.timers, n.due, n.waiter.or(n.bound).is_some());
        let first = timers.first();
        assert_eq!(due.is_linked(), first.is_some() && heard, "{id:?}");
        if let (true, Some(first)) = (due.is_linked(), first) {
            assert_eq!(due.key(), m.peek(first).node.key());
        }
        let mut last = 0;
        while let Some(t) = timers.pop(&mut OfNotification(m)) {
            assert!(m.is_live(t) && found.insert(t.number()));
            let timer = m.peek(t);
            assert_eq!((timer.armed_at, timer.node.key()), (Some(id), timer.deadline));
            assert!(timer.deadline >= last);
            last = timer.deadline;
        }
        for (t, node) in nodes {
            m.peek(t).node = node;
        }
    }
    for id in m.all::<Timer>() {
        let t = m.peek(id);
        assert_eq!(t.armed_at.is_some(), found.contains(&id.number()));
        assert_eq!(t.node.is_linked(), t.armed_at.is_some());
    }
}

/// The timer is programmed for the earlier of the end of the running budget and the first deadline
/// at the running priority or above, and for nothing else. The passenger's interrupts, and lines,
/// are held back only while they concern no thread of at least that priority.
pub fn programmed(w: &mut World) {
    let level = w.k.cpu.current.map_or(0, |t| w.priority(t));
    let mut next = match w.k.cpu.charged {
        Some(context) => w.k.m.peek(context).ends_at(w.k.cpu.since),
        None => NEVER,
    };
    for due in all_dues(&mut w.k.m) {
        let node = *Dues(&mut w.k.m).node(due);
        if node.is_linked() && node.level >= level {
            next = next.min(node.key());
        }
    }
    assert_eq!(w.k.m.programmed, next, "the timer is programmed for the wrong time");
    let passenger = w.k.cpu.passenger.map_or(u8::MAX, |v| w.k.m.peek(v).level);
    assert_eq!(w.k.m.holds_passenger, level > passenger, "running priority {level}, the passenger's {passenger}");
    for (index, id) in w.k.cpu.vectors.into_iter().enumerate() {
        let held = w.k.cpu.held_lines >> index & 1 == 1;
        let Some(id) = id else {
            assert!(!held, "a line is held back for a vector without an interrupt");
            continue;
        };
        let notification = id.notification(&w.k.m);
        let Interrupt { line, held_for, .. } = *w.k.m.peek(id);
        if !held {
            continue;
        }
        assert!(w.k.m.masked.contains(&line.expect("an interrupt without a line is held back")));
        match (held_for, notification) {
            (Some(t), _) => {
                let runs = w.k.cpu.current == Some(t);
                assert!(w.priority(t) <= level && !runs, "{id:?} is held back although its handler runs or should run");
            }
            (None, Some(n)) => {
                assert_ne!(w.k.m.peek(n).bits, 0, "{id:?} is held back without a reason")
            }
            (None, _) => {}
        }
    }
}

pub fn contexts(w: &mut World) {
    let m = &mut w.k.m;
    for id in m.all::<Context>() {
        let c = m.peek(id);
        let (user, owner) = (c.user, c.owner);
        assert!(!c.is_limited() || c.left <= c.budget);
        if let Some(user) = user {
            assert_eq!(m.peek(user).context, Some(id), "{id:?} has the user {user:?}, which does not use it");
        }
        if let Some(owner) = owner {
            assert_eq!(m.peek(owner).own_context, Some(id), "{id:?} has the owner {owner:?}, which does not own it");
        }
    }
    for id in m.all::<Thread>() {
        let t = m.peek(id);
        let (context, own) = (t.context, t.own_context);
        if let Some(c) = context {
            assert!(m.is_live(c) && m.peek(c).user == Some(id), "{id:?} runs on {c:?}, used by {:?}", m.peek(c).user);
        }
        if let Some(c) = own {
            assert!(m.is_live(c) && m.peek(c).owner == Some(id));
            if let Some(other) = context {
                assert_eq!(other, c, "{id:?} has a context of its own but runs on another");
            }
        }
    }
    if let Some(c) = w.k.cpu.charged {
        assert!(w.k.m.is_live(c));
    }
}
