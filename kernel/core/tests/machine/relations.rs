//! Relations between two objects: both sides record the same.

use super::{Fake, world::World};
use pillion_abi::RT_VECTOR_FIRST;
use pillion_core::{
    Cap, Id, Opt, Slot,
    away::{About, Place},
    context::Context,
    endpoint::Endpoint,
    interrupt::{Interrupt, LineUser},
    notification::Notification,
    post::MAIL,
    slot::Entry,
    thread::{State, Thread, place},
    timer::Timer,
    vcpu::Vcpu,
};
use std::{collections::BTreeSet, sync::atomic::Ordering::Relaxed};

/// Checks all of them.
pub fn check(w: &mut World) {
    time(&mut w.k.m);
    loans(&mut w.k.m);
    calls(&mut w.k.m);
    visits(&mut w.k.m);
    posts(w);
    priorities(&mut w.k.m);
    held(&mut w.k.m);
    interrupts(w);
    guests(w);
}

/// `c.user == t` exactly if `t.context == c`, and `c.owner == t` exactly if `t.own_context == c`.
fn time(m: &mut Fake) {
    for c in m.all::<Context>() {
        let Context { user, owner, endpoint, .. } = *m.peek(c);
        if let Some(e) = endpoint {
            assert!(m.is_live(e) && m.peek(e).context == Some(c), "{c:?} is for {e:?}, which has another");
            assert!(owner.is_none(), "{c:?} is for visitors and has an owner");
        }
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
        let visitor = m.peek(t).visitor;
        mutual(visitor.is_none_or(|o| m.peek(o.visit()).place == Place::Service(t)), "visitor");
        mutual(visitor.is_none() || caller.is_none(), "caller and visitor");
        mutual(waiting_at.is_none_or(|o| m.is_live(o)), "queue");
        mutual(waiting_for.is_none_or(|o| m.is_live(o) && m.peek(o).waiter == Some(t)), "notification");
        mutual(endpoint.is_none_or(|o| m.is_live(o) && receiver(m, o) == Some(t)), "endpoint");
        mutual(guest.is_none_or(|o| m.is_live(o) && m.peek(o).thread == Some(t)), "guest");
        let bound = t.notification(m);
        mutual(bound.is_none_or(|o| m.is_live(o) && m.peek(o).bound == Some(t)), "bound notification");
    }
    for e in m.all::<Endpoint>() {
        if let Some(t) = receiver(m, e) {
            assert!(m.is_live(t) && m.peek(t).endpoint == Some(e), "{e:?} and its receiver do not agree");
        }
        if let Some(c) = m.peek(e).context {
            assert!(m.is_live(c) && m.peek(c).endpoint == Some(e), "{e:?} and its context do not agree");
        }
    }
    for n in m.all::<Notification>() {
        let Notification { waiter, bound, .. } = *m.peek(n);
        let waits = waiter.is_none_or(|t| m.is_live(t) && m.peek(t).waiting_for == Some(n));
        let binds = bound.is_none_or(|t| m.is_live(t) && t.notification(m) == Some(n));
        assert!(waits && binds, "{n:?} and its thread do not agree");
    }
}

/// A thread of this processor is away exactly if the letter with its call is on its way, or the
/// call waits on the holder's agenda, in the queue of an endpoint, or for a reply. Nothing is left
/// of one that is back, but its news may be on their way.
fn visits(m: &mut Fake) {
    for t in m.all::<Thread>() {
        let is_away = m.peek(t).state == State::Away;
        let (letter, news) = (letter_of(m, About::Away(t)), letter_of(m, About::News(t)));
        let visit = m.peek(t.visit());
        let is_queued = matches!(visit.place, Place::Agenda | Place::Queue(_));
        let is_served = matches!(visit.place, Place::Service(_));
        assert_eq!(visit.due.is_linked(), is_queued, "{t:?}: {visit:?}");
        let places = u8::from(is_queued) + u8::from(is_served) + u8::from(letter.is_some());
        assert_eq!(places, u8::from(is_away), "{t:?}: {visit:?}");
        assert!(!m.peek(t).faulted || m.peek(t).state != State::Away || m.peek(t.visit()).faulted);
        let away = m.peek(t.away());
        let at = away.trip.at();
        assert!(letter.is_none_or(|to| to == at) && (is_away || at == away.trip.home()), "{t:?}: {away:?}");
        assert_eq!(news.is_some(), away.trip.has_news(), "{t:?}: {away:?}");
        let is_told = news.is_some() || at == away.trip.home() || letter.is_some();
        assert!(!away.trip.is_recalled() || is_away && is_told, "{t:?} is not called back: {away:?}");
        let priority = away.trip.priority();
        assert!(!is_away || m.peek(t).priority <= priority, "{t:?} is away at {priority}");
    }
}

/// A notification's post is busy exactly if its letter is on its way here or the post is held,
/// which it is only while there are bits to take. Nothing is in a post that is not busy.
fn posts(w: &mut World) {
    let (here, m) = (w.k.cpu.number, &mut w.k.m);
    let mut held_posts = 0;
    for n in m.all::<Notification>() {
        let letter = letter_of(m, About::Signal(n));
        let Notification { bits, held, .. } = *m.peek(n);
        let post = m.peek(n.post());
        let places = u8::from(held) + u8::from(letter.is_some());
        assert_eq!(places, u8::from(post.busy.load(Relaxed)), "{n:?}: {post:?}");
        assert!(places == 1 || post.bits.load(Relaxed) == 0, "{n:?}: {post:?}");
        assert!(letter.is_none_or(|to| to == here), "{n:?}: {letter:?}");
        assert!(!held || bits != 0, "nobody takes what the post of {n:?} is held for");
        held_posts += u32::from(held);
    }
    assert_eq!(w.k.cpu.held_posts, held_posts);
    assert_eq!(w.k.cpu.held_lines & MAIL != 0, held_posts != 0);
}

/// Where a letter is on its way to.
fn letter_of(m: &mut Fake, about: About) -> Option<u8> {
    let letters = m.letters.clone();
    letters.into_iter().find(|(_, letter)| m.peek(*letter).about == about).map(|(to, _)| to)
}

/// The threads of other processors that wait in the queue of an endpoint.
pub fn visitors(m: &mut Fake, endpoint: Id<Endpoint>) -> Vec<Id<Thread>> {
    let all = m.everywhere::<Thread>();
    all.into_iter().filter(|t| m.peek(t.visit()).place == Place::Queue(endpoint)).collect()
}

/// The receiver of an endpoint.
pub fn receiver(m: &mut Fake, endpoint: Id<Endpoint>) -> Opt<Thread> {
    endpoint.receiver(m)
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
        let mut served = caller.map_or(0, |c| m.peek(c).priority);
        let first = endpoint.and_then(|e| m.peek(e).queue.first());
        let local = first.map_or(0, |c| m.peek(c).priority);
        let mut waiting = local;
        // Those of visitors follow when the news arrive.
        let mut is_known = true;
        if let Some(visitor) = m.peek(t).visitor {
            let away = m.peek(visitor.away());
            (served, is_known) = (served.max(away.trip.priority()), !away.trip.has_news());
        }
        for visitor in endpoint.map_or(Vec::new(), |e| visitors(m, e)) {
            let away = m.peek(visitor.away());
            (waiting, is_known) = (waiting.max(away.trip.priority()), is_known && !away.trip.has_news());
        }
        if !is_known {
            continue;
        }
        let open = endpoint.is_none_or(|e| !m.peek(e).own_priority);
        let follows = open || own_context.is_none();
        let due = |waiting: u8| own.max(if follows { served } else { 0 }).max(if open { waiting } else { 0 });
        // Visitors whose context lacks time, or is in use, raise nobody.
        let has_time =
            own_context.is_some() || context.is_some() && context == endpoint.and_then(|e| m.peek(e).context);
        assert!(
            priority == due(waiting) || !has_time && priority == due(local),
            "{t:?}, {state:?} at {priority}: {own} of its own, {served} from its caller, {waiting} from its queue"
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
    for t in m.all::<Thread>() {
        let tests: [(usize, Test); 4] = [
            (place::SPACE, |c| matches!(c, Cap::AddressSpace(_))),
            (place::CAPS, |c| matches!(c, Cap::CapSpace(_))),
            (place::FAULT, |c| matches!(c, Cap::Endpoint(_))),
            (place::NOTIFICATION, |c| matches!(c, Cap::Notification(_))),
        ];
        slots.extend(tests.map(|(index, test)| (t.place(index), test)));
    }
    let notification: Test = |c| matches!(c, Cap::Notification(_));
    slots.extend(m.all::<Timer>().iter().map(|t| (t.slot(), notification)));
    slots.extend(m.all::<Interrupt>().iter().map(|i| (i.slot(), notification)));
    let thread: Test = |c| matches!(c, Cap::Thread(_));
    slots.extend(m.all::<Endpoint>().iter().map(|e| (e.slot(), thread)));
    let (space, page): (Test, Test) = (|c| matches!(c, Cap::GuestSpace(_)), |c| matches!(c, Cap::StatePage));
    let signals: Test = |c| matches!(c, Cap::CapSpace(_));
    for v in m.all::<Vcpu>() {
        slots.extend([(v.space(), space), (v.state(), page), (v.signals(), signals)]);
    }
    for (id, right_kind) in slots {
        let Entry { cap, original, within, depth, previous, next, .. } = m.peek(id).entry();
        if cap == Cap::None {
            continue;
        }
        assert!(right_kind(&cap), "{id:?} holds {cap:?}");
        assert!(!original, "an object holds the original of {cap:?}");
        assert!(within == Some(m.number) || previous.is_none(), "{id:?} may be emptied elsewhere: {within:?}");
        assert!(
            next.is_none_or(|n| m.peek(n).entry().depth <= depth),
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
    assert!(
        lines.iter().all(|l| m.line_users[l] == LineUser::Interrupt),
        "an interrupt's line is not known to be one's"
    );
    let here = LineUser::Passenger(m.number);
    let mut passengers = m.line_users.iter().filter(|(_, user)| **user == here).map(|(line, _)| *line as u8);
    assert!(passengers.all(|line| routed.has(line)), "the passenger would leave a line behind");
    let taken: Vec<Opt<Interrupt>> = vectors.into_iter().filter(Option::is_some).collect();
    assert_eq!(taken.len(), m.all::<Interrupt>().len(), "a vector belongs to an interrupt that ended");
}

/// A vCPU and its thread agree; the passenger is the only configured vCPU that is not a user vCPU.
fn guests(w: &mut World) {
    let (passenger, m) = (w.k.cpu.passenger, &mut w.k.m);
    for v in m.all::<Vcpu>() {
        let (thread, user) = (m.peek(v).thread, m.peek(v).user);
        assert!(thread.is_none_or(|t| m.is_live(t) && m.peek(t).guest == Some(v)), "{v:?} and its thread do not agree");
        assert!(m.peek(v.signals()).is_empty() || passenger == Some(v), "{v:?} signals but is not the passenger");
        let configured = !m.peek(v.space()).is_empty() || !m.peek(v.state()).is_empty();
        let complete = !m.peek(v.space()).is_empty() && !m.peek(v.state()).is_empty();
        assert_eq!(m.peek(v).configured, complete, "{v:?}");
        assert!(!configured || user || passenger == Some(v), "{v:?} is a second passenger");
    }
    assert!(passenger.is_none_or(|v| m.is_live(v) && !m.peek(v).user));
}
