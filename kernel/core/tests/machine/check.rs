//! What is true whenever the kernel is left.

use super::{What, world::World};
use pillion_abi::{NEVER, PAGE};
use pillion_core::{
    Cap, Id, Slot,
    cap::{CapSpace, DEPTH},
    context::Context,
    endpoint::Endpoint,
    heap::{Heap, Node, Nodes},
    interrupt::Interrupt,
    notification::Notification,
    space::Space,
    thread::{State, Thread, place},
    timer::{Due, Timer},
    vcpu::Vcpu,
    x86_64::apic::GuestApic,
};
use std::collections::{BTreeMap, BTreeSet};

use super::Fake;

struct Dues<'a>(&'a mut Fake);

impl Nodes<Due> for Dues<'_> {
    fn node(&mut self, due: Due) -> &mut Node<Due> {
        match due {
            Due::Thread(id) => &mut self.0.peek(id).timeout,
            Due::Context(id) => &mut self.0.peek(id).refill,
            Due::Notification(id) => &mut self.0.peek(id).due,
            Due::Vcpu(id) => &mut self.0.peek(id).timer,
        }
    }
}

struct OfNotification<'a>(&'a mut Fake);

impl Nodes<Id<Timer>> for OfNotification<'_> {
    fn node(&mut self, id: Id<Timer>) -> &mut Node<Id<Timer>> {
        &mut self.0.peek(id).node
    }
}

struct Callers<'a>(&'a mut Fake);

impl Nodes<Id<Thread>> for Callers<'_> {
    fn node(&mut self, id: Id<Thread>) -> &mut Node<Id<Thread>> {
        &mut self.0.peek(id).waiting
    }
}

/// Everything.
pub fn check(w: &mut World) {
    slots(w);
    memory(w);
    ready(w);
    timers(w);
    contexts(w);
    waiting(w);
    mappings(w);
    running(w);
    super::relations::check(w);
}

/// The slots that exist, with what holds them.
pub fn all_slots(m: &mut Fake) -> Vec<Id<Slot>> {
    let mut found = Vec::new();
    for space in m.all::<CapSpace>() {
        let count = u64::from(m.peek(space).count);
        found.extend((0..count).map(|i| Id::at(space.physical() + 64 * (1 + i)).unwrap()));
    }
    for (address, l) in m.live.clone() {
        if l.ended {
            continue;
        }
        use std::mem::offset_of;
        let offsets: Vec<usize> = match l.what {
            What::Thread => (0..4).map(|i| offset_of!(Thread, slots) + 64 * i).collect(),
            What::Endpoint => vec![offset_of!(Endpoint, slot)],
            What::Timer => vec![offset_of!(Timer, slot)],
            What::Interrupt => vec![offset_of!(Interrupt, slot)],
            What::Vcpu => vec![offset_of!(Vcpu, space), offset_of!(Vcpu, state)],
            _ => vec![],
        };
        found.extend(offsets.into_iter().map(|o| Id::at(address + o as u64).unwrap()));
    }
    found
}

fn object_of(cap: &Cap) -> Option<(u64, What)> {
    Some(match cap {
        Cap::CapSpace(id) => (id.physical(), What::CapSpace),
        Cap::AddressSpace(id) | Cap::GuestSpace(id) => (id.physical(), What::Space),
        Cap::Thread(id) => (id.physical(), What::Thread),
        Cap::Context(id) => (id.physical(), What::Context),
        Cap::Endpoint(id) => (id.physical(), What::Endpoint),
        Cap::Notification(id) => (id.physical(), What::Notification),
        Cap::Timer(id) => (id.physical(), What::Timer),
        Cap::Interrupt(id) => (id.physical(), What::Interrupt),
        Cap::Vcpu(id) => (id.physical(), What::Vcpu),
        _ => return None,
    })
}

/// The list of derivation is well formed; every object has one original capability, and no capability outlives its object.
fn slots(w: &mut World) {
    let m = &mut w.k.m;
    let all = all_slots(m);
    let mut originals = BTreeSet::new();
    let mut seen = 0;
    let mut full = 0;
    for &id in &all {
        let s = *m.peek(id);
        if s.cap == Cap::None {
            assert!(s.previous.is_none() && s.next.is_none() && !s.original, "{id:?} is empty but linked: {s:?}");
            continue;
        }
        full += 1;
        assert!(s.depth <= DEPTH);
        if let Some((address, what)) = object_of(&s.cap) {
            let l = m.live.get(&address);
            assert!(l.is_some_and(|l| l.what == what && !l.ended), "{id:?} outlives its object: {s:?}");
            if s.original {
                assert!(originals.insert(address), "two originals of {address:#x}");
            }
        }
        if let Some(n) = s.next {
            let next = *m.peek(n);
            assert_eq!(next.previous, Some(id), "{id:?} is not the previous of its next {n:?}");
            assert!(next.depth >= 1, "a root in the middle");
        }
        match s.previous {
            Some(p) => {
                let previous = *m.peek(p);
                assert_eq!(previous.next, Some(id), "{id:?} is not the next of its previous {p:?}");
                assert!(!s.original || matches!(parent(m, id).map(|p| m.peek(p).cap), Some(Cap::Region { .. })));
            }
            None => {
                // The start of a list: walk it.
                let mut at = Some(id);
                while let Some(slot) = at {
                    seen += 1;
                    assert!(seen <= all.len(), "a circle");
                    at = m.peek(slot).next;
                }
            }
        }
        if let Some(parent) = parent(m, id) {
            let p = *m.peek(parent);
            assert!(s.rights & !p.rights == 0, "more rights than its parent");
            if !s.original {
                assert_eq!(object_of(&s.cap), object_of(&p.cap), "{id:?} {s:?} {p:?}");
            }
        }
    }
    assert_eq!(seen, full, "slots outside of every list");
    for (address, l) in m.live.clone() {
        assert!(
            l.ended || originals.contains(&address) || address == super::BASE,
            "{:?} at {address:#x} has no original",
            l.what
        );
    }
}

/// What a slot was derived from.
pub fn parent(m: &mut Fake, id: Id<Slot>) -> Option<Id<Slot>> {
    let depth = m.peek(id).depth;
    let mut at = m.peek(id).previous;
    while let Some(p) = at {
        if m.peek(p).depth < depth {
            return Some(p);
        }
        at = m.peek(p).previous;
    }
    None
}

/// Objects lie inside the used part of the region that they were made of, and share no byte.
fn memory(w: &mut World) {
    let m = &mut w.k.m;
    for id in all_slots(m) {
        let s = *m.peek(id);
        let (start, bytes) = match s.cap {
            Cap::Region { base, size, used, cleared, .. } => {
                assert!(used <= size && cleared <= size);
                (base, size)
            }
            Cap::Memory { base, size, .. } => (base, size),
            _ => match object_of(&s.cap) {
                Some((at, _)) if s.original => (at, m.live[&at].bytes),
                _ => continue,
            },
        };
        let Some(mut ancestor) = parent(m, id) else { continue };
        loop {
            let end = match m.peek(ancestor).cap {
                Cap::Region { base, used, .. } if s.original && start >= base => base + used,
                Cap::Memory { base, size, .. } if start >= base => base + size,
                _ => 0,
            };
            if start + bytes <= end {
                break;
            }
            // One whose region was cut out of a circle belongs to one further up.
            ancestor = parent(m, ancestor).unwrap_or_else(|| panic!("{s:?} lies outside of its region"));
        }
    }
    let mut end = 0;
    for (start, l) in &m.live {
        assert!(*start >= end, "objects overlap");
        end = start + l.bytes;
    }
}

/// The ready queue, in order. Read by emptying a copy; the threads' links are put back.
pub fn ready_order(w: &mut World) -> Vec<Id<Thread>> {
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
        assert!(order.len() <= threads.len(), "a circle in the ready queue");
    }
    assert_eq!(copy.top(), 0);
    for (t, saved) in threads.iter().zip(saved) {
        let t = w.k.m.peek(*t);
        (t.queued, t.previous, t.next) = saved;
    }
    w.k.m.gets = 0;
    order
}

fn ready(w: &mut World) {
    let top = w.k.cpu.ready.top();
    let order = ready_order(w);
    assert_eq!(order.first().map_or(0, |t| w.priority(*t)), top, "the map of levels is wrong");
    assert!(order.is_sorted_by_key(|t| std::cmp::Reverse(w.k.m.peek(*t).priority)));
    let unique: BTreeSet<u32> = order.iter().map(|t| t.number()).collect();
    assert_eq!(unique.len(), order.len());
    for id in w.k.m.all::<Thread>() {
        let t = w.k.m.peek(id);
        let (queued, state, context, priority) = (t.queued, t.state, t.context, t.priority);
        assert_eq!(queued, unique.contains(&id.number()), "{id:?} {state:?}");
        if queued {
            assert_eq!(state, State::Ready);
            assert!(context.is_some() && priority > 0, "{id:?} is queued without time");
            assert_ne!(w.k.cpu.current, Some(id), "the current thread is queued");
        }
    }
}

/// The current thread is ready, has time, and nobody more urgent is ready; nobody who has time is forgotten.
fn running(w: &mut World) {
    let charged = w.k.cpu.charged;
    if let Some(id) = w.k.cpu.current {
        let t = w.k.m.peek(id);
        assert_eq!(t.state, State::Ready, "{id:?}");
        let (context, priority) = (t.context, t.priority);
        assert!(context.is_some(), "{id:?} runs without time");
        assert_eq!(charged, context);
        assert!(priority >= w.k.cpu.ready.top(), "{id:?} at {priority} runs before {}", w.k.cpu.ready.top());
    } else {
        assert_eq!(w.k.cpu.ready.top(), 0, "idle though somebody is ready");
        assert_eq!(charged, None);
    }
    programmed(w);
    for id in w.k.m.all::<Thread>() {
        let t = w.k.m.peek(id);
        if t.state != State::Ready || t.queued || w.k.cpu.current == Some(id) {
            continue;
        }
        let Some(context) = w.k.m.peek(id).context else { continue };
        let c = w.k.m.peek(context);
        assert!(c.is_limited() && c.left == 0 && c.refill.is_linked(), "{id:?} is ready and forgotten: {c:?}");
    }
}

/// The timer is programmed for the end of the budget that is used and for the first that can concern the running thread or somebody more
/// urgent, and for nothing else; the passenger's interrupts, and lines, come through if they can concern somebody.
fn programmed(w: &mut World) {
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
    assert_eq!(w.k.m.programmed, next, "the timer is programmed for something else");
    let passenger = w.k.cpu.passenger.map_or(u8::MAX, |v| w.k.m.peek(v).level);
    assert_eq!(w.k.m.holds_passenger, level > passenger, "level {level}, the passenger's {passenger}");
    for (index, id) in w.k.cpu.vectors.into_iter().enumerate() {
        let held = w.k.cpu.held_lines >> index & 1 == 1;
        let Some(id) = id else {
            assert!(!held, "a line of nobody is held back");
            continue;
        };
        let i = w.k.m.peek(id);
        let (line, cap, held_for) = (i.line, i.slot.cap, i.held_for);
        if !held {
            continue;
        }
        assert!(w.k.m.masked.contains(&line.expect("a message is held back")));
        match (held_for, cap) {
            (Some(t), _) => {
                let runs = w.k.cpu.current == Some(t);
                assert!(w.priority(t) <= level && !runs, "{id:?} is held back from its handler");
            }
            (None, Cap::Notification(n)) => assert_ne!(w.k.m.peek(n).bits, 0, "{id:?} is held back for nothing"),
            (None, _) => {}
        }
    }
}

fn all_dues(m: &mut Fake) -> Vec<Due> {
    let mut dues: Vec<Due> = Vec::new();
    dues.extend(m.all::<Thread>().into_iter().map(Due::Thread));
    dues.extend(m.all::<Context>().into_iter().map(Due::Context));
    dues.extend(m.all::<Notification>().into_iter().map(Due::Notification));
    dues.extend(m.all::<Vcpu>().into_iter().map(Due::Vcpu));
    dues
}

fn physical(due: Due) -> u64 {
    match due {
        Due::Thread(id) => id.physical(),
        Due::Context(id) => id.physical(),
        Due::Notification(id) => id.physical(),
        Due::Vcpu(id) => id.physical(),
    }
}

/// What is armed is on the agenda, at the level of whom it is for.
fn timers(w: &mut World) {
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
            assert!(armed.contains_key(&physical(due)), "{due:?} is due but not armed");
            assert!(popped.insert(physical(due)), "twice on the agenda");
            let node = *Dues(m).node(due);
            assert!(node.key() >= last && node.level == level, "not the first, or of another level");
            last = node.key();
        }
    }
    assert_eq!(popped.len(), armed.len(), "armed but not on the agenda: {armed:?}");
    for (due, node) in armed.into_values() {
        *Dues(&mut w.k.m).node(due) = node;
        if let Some(urgency) = urgency(w, due) {
            assert_eq!(node.level, urgency, "{due:?} stands at another level");
        }
        if let Due::Thread(id) = due {
            assert!(matches!(w.state(id), State::Waiting | State::Sleeping | State::Receiving));
        }
    }
    w.k.m.gets = 0;
    notification_timers(w);
}

/// The priority of the thread that something due is for; none where there is none that it could bring onto the CPU.
fn urgency(w: &mut World, due: Due) -> Option<u8> {
    let m = &mut w.k.m;
    match due {
        Due::Thread(id) => Some(m.peek(id).priority),
        Due::Context(id) => {
            let user = m.peek(id).user?;
            Some(m.peek(user).priority)
        }
        Due::Notification(id) => {
            let n = m.peek(id);
            let (waiter, bound) = (n.waiter, n.bound);
            let t = m.peek(waiter.or(bound).expect("nobody is to hear of it"));
            (waiter.is_some() || t.own_context.is_some() || t.guest.is_some()).then_some(t.priority)
        }
        Due::Vcpu(id) => {
            let thread = m.peek(id).thread?;
            Some(m.peek(thread).priority)
        }
    }
}

/// Timers that are set stand at their notifications, and these on the agenda if somebody is to hear of it.
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

fn contexts(w: &mut World) {
    let m = &mut w.k.m;
    for id in m.all::<Context>() {
        let c = m.peek(id);
        let (user, owner) = (c.user, c.owner);
        assert!(!c.is_limited() || c.left <= c.budget);
        if let Some(user) = user {
            assert_eq!(m.peek(user).context, Some(id), "{user:?} does not know that it uses {id:?}");
        }
        if let Some(owner) = owner {
            assert_eq!(m.peek(owner).own_context, Some(id), "{owner:?} does not know that it owns {id:?}");
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
                assert_eq!(other, c, "{id:?} has time of its own and runs on that of another");
            }
        }
    }
    if let Some(c) = w.k.cpu.charged {
        assert!(w.k.m.is_live(c));
    }
}

/// Who waits for whom.
fn waiting(w: &mut World) {
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
            assert!(queued.insert(t.number()), "in two queues");
            let key = Callers(m).node(t).key();
            assert!(key >= last);
            last = key;
            let thread = m.peek(t);
            assert_eq!((thread.state, thread.waiting_at), (State::Calling, Some(id)));
            let urgency = if own_priority { 0 } else { u64::from(255 - thread.priority) };
            assert_eq!(key >> 56, urgency, "queued with another priority");
        }
        for (t, node) in nodes {
            m.peek(t).waiting = node;
        }
        if let Cap::Thread(receiver) = m.peek(id).slot.cap {
            assert_eq!(m.peek(receiver).endpoint, Some(id));
            if let Some(first) = m.peek(id).queue.first() {
                assert_ne!(m.peek(receiver).state, State::Receiving, "callers wait for a receiver that waits");
                let priority = m.peek(first).priority;
                let inherits = m.peek(receiver).priority >= priority || m.peek(id).own_priority;
                assert!(inherits, "{receiver:?} does not inherit from {first:?}");
            }
        }
    }
    let current = w.k.cpu.current;
    let m = &mut w.k.m;
    for id in m.all::<Thread>() {
        let t = m.peek(id);
        let (state, caller, server, at, on, endpoint, guest) =
            (t.state, t.caller, t.server, t.waiting_at, t.waiting_for, t.endpoint, t.guest);
        let (faulted, bound, priority) = (t.faulted, t.notification(), t.priority);
        assert_eq!(state == State::Calling, queued.contains(&id.number()), "{id:?} {state:?}");
        assert_eq!(state == State::Calling, at.is_some());
        assert_eq!(state == State::Waiting, on.is_some());
        assert_eq!(state == State::Served, server.is_some());
        assert!(!faulted || matches!(state, State::Calling | State::Served));
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
            assert!(m.is_live(e) && m.peek(e).slot.cap == Cap::Thread(id));
            if let (true, Some(own)) = (m.peek(e).own_priority, m.peek(id).own_context) {
                assert_eq!(priority, m.peek(own).priority, "{id:?} runs at another priority than its own");
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
            assert!(m.is_live(t) && m.peek(t).slots[place::NOTIFICATION].cap == Cap::Notification(id));
            let t = m.peek(t);
            if t.state == State::Receiving && t.own_context.is_some() {
                assert_eq!(m.peek(id).bits, 0, "bits that wake nobody");
            }
        }
    }
    for id in m.all::<Vcpu>() {
        let v = m.peek(id);
        let (thread, user) = (v.thread, v.user);
        if user {
            assert!(!v.timer.is_linked(), "a timer of a user vCPU");
            assert_eq!(v.apic, GuestApic::new(), "interrupts of a user vCPU");
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

/// Lists of what is mapped, against the tables.
fn mappings(w: &mut World) {
    let m = &mut w.k.m;
    let mut listed = BTreeSet::new();
    for id in m.all::<Space>() {
        let mut pages = BTreeMap::new();
        let (mut at, mut before) = (m.peek(id).mapped, None);
        while let Some(slot) = at {
            assert!(listed.insert(slot.physical()), "in two lists, or a circle");
            let s = *m.peek(slot);
            let Cap::Memory { base, size, address, space, previous, next, .. } = s.cap else { panic!("{s:?}") };
            assert_eq!((space, previous), (Some(id), before));
            for page in 0..u64::from(s.mapped_pages) {
                assert!(pages.insert(address + page * PAGE, base..base + size).is_none());
            }
            (before, at) = (Some(slot), next);
        }
        let used = m.peek(id).used;
        assert!(used <= m.peek(id).pages);
        if used == 1 {
            assert!(pages.is_empty());
            continue;
        }
        let real = m.mappings(id);
        assert!(real.keys().eq(pages.keys()), "what is mapped is not what is listed");
        for (address, physical) in real {
            assert!(pages[&address].contains(&physical));
        }
    }
    for slot in all_slots(m) {
        if let Cap::Memory { space: Some(_), .. } = m.peek(slot).cap {
            assert!(listed.contains(&slot.physical()), "mapped but in no list");
        }
    }
}
