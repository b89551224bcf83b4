//! Deletion and revocation, in every state and interrupted anywhere, have the same result.

use crate::machine::{
    What,
    slots::{all_slots, parents},
    world::{World, slot},
};
use pillion_abi::{NEVER, PAGE, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, Id, cap::CapSpace, thread::State};
use std::collections::BTreeMap;

/// Full slots, each with its kind and the slot that it was derived from, and the live objects.
type Picture = (BTreeMap<u64, (u8, Option<u64>)>, Vec<(u64, What)>);

/// The slots and objects that exist.
fn picture(w: &mut World) -> Picture {
    let m = &mut w.k.m;
    let (mut slots, parents) = (BTreeMap::new(), parents(m));
    for id in all_slots(m) {
        let kind = m.peek(id).cap().kind();
        if kind != Kind::None {
            slots.insert(id.physical(), (kind as u8, parents[&id.physical()].map(Id::physical)));
        }
    }
    (slots, m.live.iter().map(|(a, l)| (*a, l.what)).collect())
}

/// Creates objects of most kinds in one region; returns the region's slot.
fn populate(w: &mut World) -> u64 {
    let region = w.make(Kind::Region, 64 * PAGE);
    let make = |w: &mut World, kind: Kind, size: u64| {
        let at = w.free_slot();
        w.root(Call::RegionCreate, [region, kind as u64, size, at]);
        at
    };
    let space = make(w, Kind::AddressSpace, 5);
    let caps = make(w, Kind::CapSpace, 40);
    let inner = make(w, Kind::Region, 8 * PAGE);
    let memory = make(w, Kind::Memory, 20 * PAGE);
    let (endpoint, note, timer) = (make(w, Kind::Endpoint, 0), make(w, Kind::Notification, 0), make(w, Kind::Timer, 0));
    let thread = make(w, Kind::Thread, 0);
    let context = make(w, Kind::SchedContext, 0);
    w.root(Call::MemoryMap, [memory, space, 0x10_0000, 1]);
    let part = w.free_slot();
    w.root(Call::MemoryPart, [memory, PAGE, 3 * PAGE, part, 15]);
    w.root(Call::MemoryMap, [part, slot::SPACE, 0x40_0000, 0]);
    w.root(Call::CapMove, [caps, 3, inner]);
    for i in 0..10 {
        w.root(Call::CapDerive, [caps, 4 + 3 * i, if i % 2 == 0 { endpoint } else { memory }, 15, 0]);
    }
    w.root(Call::TimerBind, [timer, note, 1]);
    w.root(Call::ContextConfigure, [slot::SCHED, context, 9, NEVER, 0]);
    w.root(Call::ThreadConfigure, [thread, space, caps, endpoint, 0]);
    w.root(Call::ThreadBindContext, [thread, context]);
    w.root(Call::ThreadBindNotification, [thread, note]);
    w.root(Call::EndpointBind, [endpoint, thread]);
    w.root(Call::ThreadResume, [thread]);
    region
}

#[test]
fn a_reset_gives_the_same_result_wherever_it_is_interrupted() {
    let mut plain = World::new();
    let region = populate(&mut plain);
    plain.root(Call::RegionReset, [region]);
    let expected = picture(&mut plain);
    for every in 1..8 {
        let mut w = World::new();
        let region = populate(&mut w);
        w.k.m.interrupt_every = every;
        w.root(Call::RegionReset, [region]);
        assert_eq!(picture(&mut w), expected);
        let Cap::Region { used, cleared, .. } = w.cap(region) else { panic!() };
        assert_eq!((used, cleared), (0, 0));
        w.root(Call::RegionCreate, [region, Kind::Thread as u64, 0, region + 1]);
        w.root(Call::CapDelete, [0, region]);
        assert_eq!(w.cap(region), Cap::None);
    }
}

#[test]
fn creating_mapping_and_unmapping_interrupted_everywhere() {
    let mut plain = World::new();
    populate(&mut plain);
    let expected = picture(&mut plain);
    let mut w = World::new().interrupted_every(1);
    populate(&mut w);
    assert_eq!(picture(&mut w), expected);
    let big = w.make(Kind::Memory, 100 * PAGE);
    let part = w.free_slot();
    w.root(Call::MemoryPart, [big, 0, 60 * PAGE, part, 15]);
    w.root(Call::MemoryMap, [part, slot::SPACE, 0x80_0000, 0]);
    w.root(Call::MemoryUnmap, [part]);
    w.root(Call::MemoryMap, [part, slot::SPACE, 0x80_0000, 1]);
    w.root(Call::CapRevoke, [0, big]);
    assert_eq!(w.cap(part), Cap::None);
}

/// Deletes a thread in each state.
#[test]
fn a_thread_in_each_state() {
    for state in 0..10 {
        let mut w = World::new();
        let (endpoint, note) = (w.make(Kind::Endpoint, 0), w.make(Kind::Notification, 0));
        let server = w.server(endpoint, if state == 9 { None } else { Some(2) });
        let peer = w.worker(5);
        let t = w.worker(10);
        match state {
            0 => {}
            1 => {
                w.worker(11);
            }
            2 => _ = w.root(Call::ThreadSuspend, [t.thread]),
            3 => _ = w.call(Call::Wait, [note, 9000]),
            4 => _ = w.call(Call::Sleep, [0, 9000]),
            5 | 9 => _ = w.call(Call::Call, [endpoint, 1]),
            6 => {
                w.call(Call::Call, [endpoint, 1]);
                let second = w.worker(20);
                w.call(Call::Call, [endpoint, 1]);
                w.expect(second.id, State::Calling);
                w.root(Call::CapDelete, [0, second.thread]);
            }
            7 => {
                let e = w.make(Kind::Endpoint, 0);
                w.root(Call::EndpointBind, [e, t.thread]);
                w.call(Call::Receive, [0, 9000]);
                w.expect(t.id, State::Receiving);
            }
            _ => {
                // It serves a caller.
                let e = w.make(Kind::Endpoint, 0);
                w.root(Call::EndpointBind, [e, t.thread]);
                w.call(Call::Receive, [0, 9000]);
                assert_eq!(w.current(), peer.id);
                w.call(Call::Call, [e, 1]);
                assert_eq!(w.current(), t.id);
            }
        }
        w.root(Call::CapDelete, [0, t.thread]);
        assert!(!w.k.m.is_live(t.id));
        w.pass(20_000);
        if state == 8 {
            assert_eq!(Error::from_raw(w.frame(peer.id).rax), Some(Error::Gone));
        }
        if state == 9 {
            assert_eq!(w.current(), server.id, "the server finishes on the context that the deleted caller lent it");
            w.call(Call::ReplyReceive, [0, 0]);
            assert!(w.k.m.peek(server.id).context.is_none());
        }
        w.root(Call::CapDelete, [0, t.context]);
        w.root(Call::CapDelete, [0, server.thread]);
        w.root(Call::CapDelete, [0, endpoint]);
    }
}

#[test]
fn a_thread_deletes_itself() {
    for every in [0, 1] {
        let mut w = World::new();
        let low = w.worker(5);
        let t = w.worker(10);
        w.k.m.interrupt_every = every;
        w.enter(Call::CapDelete as u64, [0, t.thread, 0, 0, 0, 0]);
        assert_eq!(w.current(), low.id);
        assert!(!w.k.m.is_live(t.id));
    }
}

#[test]
fn a_thread_deletes_its_time() {
    let mut w = World::new();
    let low = w.worker(5);
    let t = w.worker(10);
    w.enter(Call::CapDelete as u64, [0, t.context, 0, 0, 0, 0]);
    assert_eq!((w.current(), w.frame(t.id).rax), (low.id, 0));
    let context = w.context(11, NEVER, 0);
    w.root(Call::ThreadBindContext, [t.thread, context]);
    assert_eq!(w.current(), t.id);
}

#[test]
fn a_thread_suspends_itself() {
    let mut w = World::new();
    let t = w.worker(10);
    w.call(Call::ThreadSuspend, [t.thread]);
    assert_eq!((w.k.cpu.current, w.frame(t.id).rax), (None, 0));
    w.root(Call::ThreadResume, [t.thread]);
    assert_eq!(w.current(), t.id);
    w.root_fails(Call::ThreadResume, [t.thread], Error::BadState);
}

#[test]
fn an_endpoint_with_a_queue() {
    for every in [0, 1] {
        let mut w = World::new();
        let endpoint = w.make(Kind::Endpoint, 0);
        let server = w.server(endpoint, Some(3));
        let callers: Vec<_> = (0..5)
            .map(|i| {
                let t = w.worker(10 + i);
                w.call(Call::Call, [endpoint, 1]);
                t
            })
            .collect();
        w.k.m.interrupt_every = every;
        w.root(Call::CapDelete, [0, endpoint]);
        for t in &callers[1..] {
            w.expect(t.id, State::Ready);
            assert_eq!(Error::from_raw(w.frame(t.id).rax), Some(Error::Gone));
        }
        assert_eq!(w.current(), callers[4].id);
        w.expect(callers[0].id, State::Served);
        for _ in 0..4 {
            w.call(Call::Sleep, [0, NEVER]);
        }
        assert_eq!(w.current(), server.id);
        w.fails(Call::ReplyReceive, [0, 5], Error::BadState);
    }
}

#[test]
fn a_notification_with_a_waiter_and_one_bound() {
    let mut w = World::new();
    let (note, other) = (w.make(Kind::Notification, 0), w.make(Kind::Notification, 0));
    let t = w.worker(10);
    w.root(Call::ThreadBindNotification, [t.thread, other]);
    w.call(Call::Wait, [note, 5000]);
    w.root(Call::CapDelete, [0, note]);
    assert_eq!((w.current(), Error::from_raw(w.frame(t.id).rax)), (t.id, Some(Error::Gone)));
    assert!(w.k.cpu.agenda.is_empty());
    w.root(Call::CapDelete, [0, other]);
    assert!(t.id.notification(&w.k.m).is_none());
}

#[test]
fn a_space_with_mappings_and_threads() {
    for every in [0, 1, 2] {
        let mut w = World::new();
        let space = w.make(Kind::AddressSpace, 8);
        let memory: Vec<u64> = (0..4).map(|_| w.make(Kind::Memory, 40 * PAGE)).collect();
        for (i, m) in memory.iter().enumerate() {
            w.root(Call::MemoryMap, [*m, space, 0x10_0000 * (1 + i as u64), 1]);
        }
        let t = w.worker(10);
        w.root(Call::ThreadSuspend, [t.thread]);
        w.root(Call::ThreadConfigure, [t.thread, space, slot::CAPS, 0, 0]);
        w.root(Call::ThreadResume, [t.thread]);
        w.k.m.interrupt_every = every;
        w.root(Call::CapDelete, [0, memory[1]]);
        w.root(Call::CapMove, [0, w.next, memory[2]]);
        w.root(Call::CapDelete, [0, space]);
        assert!(t.id.space(&w.k.m).is_none());
        w.root(Call::ThreadSuspend, [t.thread]);
        w.root_fails(Call::ThreadResume, [t.thread], Error::BadState);
        w.root(Call::MemoryMap, [memory[0], slot::SPACE, 0x10_0000, 1]);
    }
}

#[test]
fn spaces_inside_spaces() {
    let mut w = World::new();
    let outer = w.make(Kind::CapSpace, 30);
    let beside = w.make(Kind::CapSpace, 30);
    w.root_fails(Call::CapDerive, [outer, 1, outer, 15, 0], Error::BadArgument);
    w.root_fails(Call::CapMove, [outer, 1, beside], Error::BadArgument);
    w.root_fails(Call::CapDerive, [outer, 0, slot::NOTE, 15, 0], Error::BadArgument);
    w.root_fails(Call::CapDerive, [outer, 30, slot::NOTE, 15, 0], Error::BadCap);
    w.root(Call::CapDerive, [outer, 1, slot::NOTE, 15, 0]);
    w.root_fails(Call::CapDerive, [outer, 1, slot::NOTE, 15, 0], Error::SlotTaken);
    // A thread in the outer space creates an inner space.
    let region = w.make(Kind::Region, 40 * PAGE);
    w.root(Call::CapMove, [outer, 2, region]);
    let (thread, id) = w.bare_thread();
    w.root(Call::ThreadConfigure, [thread, slot::SPACE, outer, 0, 0]);
    let context = w.context(9, NEVER, 0);
    w.root(Call::ThreadBindContext, [thread, context]);
    w.root(Call::ThreadResume, [thread]);
    assert_eq!(w.current(), id);
    w.ok(Call::RegionCreate, [2, Kind::CapSpace as u64, 20, 3]);
    w.ok(Call::RegionCreate, [2, Kind::Region as u64, 4 * PAGE, 4]);
    w.ok(Call::RegionCreate, [4, Kind::Endpoint as u64, 0, 5]);
    w.ok(Call::CapMove, [3, 7, 5]);
    w.ok(Call::CapMove, [3, 8, 4]);
    w.fails(Call::CapMove, [3, 9, 3], Error::BadArgument);
    let Cap::CapSpace(inner) = cap_in(&mut w, outer, 3) else { panic!() };
    w.root(Call::CapDelete, [0, outer]);
    assert!(!w.k.m.is_live(inner));
    assert_eq!(w.k.cpu.current, Some(id), "it has lost its capability space but keeps running");
    w.fails(Call::Yield, [], Error::BadCap);
}

/// The capability in a slot of a space that the first thread holds.
fn cap_in(w: &mut World, space: u64, index: u64) -> Cap {
    let Cap::CapSpace(id) = w.cap(space) else { panic!() };
    let slot: Id<pillion_core::Slot> = Id::at(id.physical() + 64 * (1 + index)).unwrap();
    w.k.m.peek(slot).cap()
}

/// The capability for a region is in a capability space created in that region: deleting an
/// ancestor of both terminates.
#[test]
fn a_region_inside_what_was_made_of_it() {
    for every in [0, 1] {
        for target in 0..4 {
            let mut w = World::new();
            let outer = w.make(Kind::Region, 200 * PAGE);
            let (r, s, c, d) = (w.free_slot(), w.free_slot(), w.free_slot(), w.free_slot());
            w.root(Call::RegionCreate, [outer, Kind::Region as u64, 40 * PAGE, r]);
            w.root(Call::RegionCreate, [outer, Kind::Region as u64, 40 * PAGE, s]);
            w.root(Call::RegionCreate, [r, Kind::CapSpace as u64, 10, c]);
            w.root(Call::RegionCreate, [s, Kind::CapSpace as u64, 10, d]);
            w.root(Call::RegionCreate, [s, Kind::Notification as u64, 0, w.next]);
            // Each region's capability moves to the space created in the other region, or in its
            // own.
            let (to_r, to_s) = if target % 2 == 0 { (d, c) } else { (c, d) };
            w.root(Call::CapMove, [to_r, 5, r]);
            w.root(Call::CapMove, [to_s, 5, s]);
            w.k.m.interrupt_every = every;
            if target < 2 {
                w.root(Call::CapDelete, [0, c]);
            }
            w.root(Call::RegionReset, [outer]);
            assert_eq!(w.cap(c), Cap::None);
            assert_eq!(w.cap(d), Cap::None);
            assert_eq!(w.k.m.all::<CapSpace>().len(), 1);
        }
    }
}

/// Derivations up to the limit, revoked by one call.
#[test]
fn the_deepest_derivation() {
    let mut w = World::new();
    let first = w.make(Kind::Notification, 0);
    let mut last = first;
    for _ in 0..15 {
        let at = w.free_slot();
        w.root(Call::CapDerive, [0, at, last, 15, 0]);
        last = at;
    }
    w.root_fails(Call::CapDerive, [0, w.next, last, 15, 0], Error::TooDeep);
    w.root(Call::CapRevoke, [0, first]);
    assert_eq!(w.cap(last), Cap::None);
    assert_ne!(w.cap(first), Cap::None);
    // Regions nested that deep: nothing can be created in the last one.
    let mut region = w.make(Kind::Region, 20 * PAGE);
    for _ in 0..15 {
        let at = w.free_slot();
        w.root(Call::RegionCreate, [region, Kind::Region as u64, 20 * PAGE, at]);
        region = at;
    }
    w.root_fails(Call::RegionCreate, [region, Kind::Thread as u64, 0, w.next], Error::TooDeep);
}

/// A space whose deletion was interrupted is given to a thread: the space must not map memory that
/// is no longer listed as mapped, which may be reused.
#[test]
fn a_half_deleted_space() {
    let mut w = World::new();
    let space = w.make(Kind::AddressSpace, 8);
    for i in 0..3 {
        let memory = w.make(Kind::Memory, 2 * PAGE);
        w.root(Call::MemoryMap, [memory, space, 0x10_0000 * (1 + i), 1]);
    }
    let (thread, _) = w.bare_thread();
    let helper = w.worker(40);
    w.k.m.interrupt_every = 1;
    w.enter(Call::CapDelete as u64, [0, space, 0, 0, 0, 0]);
    assert!(w.again.contains_key(&helper.id.number()), "the deletion was not interrupted");
    // The checks compare the tables with the lists.
    w.root(Call::ThreadConfigure, [thread, space, slot::CAPS, 0, 0]);
    while let Some((number, a)) = w.again.get(&helper.id.number()).copied() {
        w.enter(number, a);
    }
    assert_eq!(w.cap(space), Cap::None);
}

#[test]
fn an_endpoint_under_a_receiver_that_waits() {
    for own_time in [false, true] {
        let mut w = World::new();
        let endpoint = w.make(Kind::Endpoint, 0);
        let server = w.server(endpoint, own_time.then_some(4));
        w.expect(server.id, State::Receiving);
        w.root(Call::CapDelete, [0, endpoint]);
        w.expect(server.id, State::Ready);
        assert_eq!(w.frame(server.id).rax, Error::Gone.to_raw());
        assert!(w.k.m.peek(server.id).endpoint.is_none());
    }
}
