//! Calls that are interrupted between two steps while other threads make calls.

use crate::machine::world::{World, args, slot};
use pillion_abi::{
    PAGE,
    call::Call,
    object::{Kind, map},
    status::Error,
};
use pillion_core::{Cap, Id, Outcome, Slot, thread::State};

/// Makes a call as the current thread and interrupts it at its first preemption point.
fn interrupted<const N: usize>(w: &mut World, call: Call, given: [u64; N]) {
    w.k.m.interrupt_every = 1;
    assert_eq!(w.enter(call as u64, args(given)), Outcome::Restart);
    w.k.m.interrupt_every = 0;
}

/// An aligned object leaves a gap before it. If its creation is interrupted, another thread may
/// create an object in the gap, which must be clear.
#[test]
fn the_gap_before_an_object_is_cleared() {
    let mut w = World::new();
    let region = w.make(Kind::Region, 16 * PAGE);
    let Cap::Region { base, .. } = w.cap(region) else { panic!() };
    let worker = w.worker(10);
    let memory = w.free_slot();
    w.root(Call::RegionCreate, [region, Kind::Memory as u64, PAGE, memory]);
    for at in (base..base + PAGE).step_by(8) {
        w.k.m.poke(at, 0x1111_2222_3333_4444);
    }
    w.root(Call::RegionReset, [region]);
    let (note, thread, caps) = (w.free_slot(), w.free_slot(), w.free_slot());
    w.root(Call::RegionCreate, [region, Kind::Notification as u64, 0, note]);
    assert_eq!(w.current(), worker.id);
    interrupted(&mut w, Call::RegionCreate, [region, Kind::Thread as u64, 0, thread]);
    w.root(Call::RegionCreate, [region, Kind::CapSpace as u64, 16, caps]);
    let Cap::CapSpace(id) = w.cap(caps) else { panic!() };
    assert!((1..=16).all(|i| w.k.m.peek(Id::<Slot>::at(id.physical() + 64 * i).unwrap()).is_empty()));
}

/// Memory whose unmapping was interrupted cannot be mapped again, neither where it was nor where
/// the rest is.
#[test]
fn memory_is_not_mapped_while_it_is_unmapped() {
    let mut w = World::new();
    let memory = w.free_slot();
    w.root(Call::RegionCreate, [slot::REGION, Kind::Memory as u64, 40 * PAGE, memory]);
    let space = w.make(Kind::AddressSpace, 8);
    let Cap::AddressSpace(id) = w.cap(space) else { panic!() };
    let at = 0x40_0000;
    w.root(Call::MemoryMap, [memory, space, at, map::WRITE]);
    let worker = w.worker(10);
    assert_eq!(w.current(), worker.id);
    interrupted(&mut w, Call::MemoryUnmap, [memory]);
    let Cap::Memory { address: rest, base, .. } = w.cap(memory) else { panic!() };
    assert_ne!(rest, at, "nothing was unmapped");
    w.root_fails(Call::MemoryMap, [memory, space, rest, map::EXECUTE], Error::Busy);
    w.root_fails(Call::MemoryMap, [memory, space, at, map::WRITE], Error::Busy);
    w.ok(Call::MemoryUnmap, [memory]);
    w.root(Call::MemoryMap, [memory, space, at, map::EXECUTE]);
    let pages = w.k.m.mappings(id);
    assert!(pages.into_iter().eq((0..40).map(|i| (at + i * PAGE, base + i * PAGE))));
}

/// Binding a thread to an endpoint that has lost its receiver cannot close a cycle of threads that
/// wait for each other.
#[test]
fn a_receiver_does_not_wait_for_its_callers() {
    let mut w = World::new();
    let (lost, kept) = (w.make(Kind::Endpoint, 0), w.make(Kind::Endpoint, 0));
    let receiver = w.worker(100);
    w.root(Call::EndpointBind, [lost, receiver.thread, 0, 0]);
    w.root(Call::ThreadSuspend, [receiver.thread]);
    let first = w.worker(50);
    w.root(Call::EndpointBind, [kept, first.thread, 0, 0]);
    w.call(Call::Call, [lost, 1]);
    w.expect(first.id, State::Calling);
    w.root(Call::CapRevoke, [0, receiver.thread]);
    let second = w.worker(60);
    w.call(Call::Call, [kept, 2]);
    w.expect(second.id, State::Calling);
    w.root_fails(Call::EndpointBind, [lost, second.thread, 0, 0], Error::BadState);
}
