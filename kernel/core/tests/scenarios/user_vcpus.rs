//! User vCPUs beside the passenger.

use crate::machine::{
    Event,
    world::{World, slot},
};
use pillion_abi::{
    call::Call,
    object::Kind,
    status::Error,
    vcpu::{configure::USER, route},
};
use pillion_core::{Cap, Id, Outcome, thread::State, vcpu::Vcpu};

/// Creates a vCPU in a guest space; returns its slot, its handle and the slot of its state page.
fn vcpu(w: &mut World, space: u64, flags: u64) -> (u64, Id<Vcpu>, u64) {
    let (vcpu, state) = (w.make(Kind::Vcpu, 0), w.make(Kind::Memory, 4096));
    w.root(Call::VcpuConfigure, [vcpu, space, state, flags]);
    let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
    let id = made.id();
    (vcpu, id, state)
}

fn enter(w: &mut World, vcpu: u64) {
    assert_eq!(w.enter(Call::VcpuRun as u64, [vcpu, 0, 0, 0, 0, 0]), Outcome::Guest);
}

#[test]
fn there_are_many_beside_one_passenger() {
    let mut w = World::new();
    let space = w.make(Kind::GuestSpace, 4);
    let early = vcpu(&mut w, space, USER);
    assert!(w.k.cpu.passenger.is_none());
    let passenger = vcpu(&mut w, space, 0);
    let late = vcpu(&mut w, space, USER);
    assert_eq!(w.k.cpu.passenger, Some(passenger.1));
    assert_eq!([early.1, passenger.1, late.1].map(|id| w.k.m.peek(id).user), [true, false, true]);
    w.root(Call::CapDelete, [0, late.0]);
    assert_eq!(w.k.cpu.passenger, Some(passenger.1));
    w.root(Call::CapDelete, [0, passenger.0]);
    assert!(w.k.cpu.passenger.is_none() && w.k.m.is_live(early.1));
}

/// A vCPU that is configured again, perhaps as another kind, has no ports of its earlier guest: the
/// machine insists that it was prepared since.
#[test]
fn ports_close_when_it_is_configured_again() {
    for flags in [0, USER] {
        let mut w = World::new();
        let space = w.make(Kind::GuestSpace, 4);
        let (vcpu, _, state) = vcpu(&mut w, space, USER);
        w.root(Call::CapDelete, [0, space]);
        w.root(Call::CapDelete, [0, state]);
        let (space, state) = (w.make(Kind::GuestSpace, 4), w.make(Kind::Memory, 4096));
        w.root(Call::VcpuConfigure, [vcpu, space, state, flags]);
    }
}

/// The passenger's interrupts go to the passenger even while a user vCPU runs.
#[test]
fn interrupts_pass_it_by() {
    let mut w = World::new();
    let space = w.make(Kind::GuestSpace, 4);
    let linux = vcpu(&mut w, space, 0);
    let monitor = w.worker(3);
    enter(&mut w, linux.0);
    w.k.m.begin_entry();
    w.k.guest_halt(linux.1);
    w.leave("guest");
    let user = vcpu(&mut w, space, USER);
    let runner = w.worker(9);
    enter(&mut w, user.0);
    w.k.m.begin_entry();
    w.k.passenger_interrupt(0x41);
    w.leave("passenger");
    assert_eq!(w.current(), runner.id);
    w.expect(monitor.id, State::Ready);
    assert_eq!(w.k.m.peek(linux.1).apic.deliverable(), Some(0x41));
    assert_eq!(w.k.m.peek(user.1).apic.deliverable(), None);
    w.k.leave_guest_with(runner.id, 9, 0);
    w.leave("guest");
    w.k.m.begin_entry();
    w.k.block_current(State::Stopped);
    w.leave("stop");
    assert_eq!(w.current(), monitor.id);
}

#[test]
fn what_is_the_passenger_s_is_refused() {
    let mut w = World::new();
    let space = w.make(Kind::GuestSpace, 4);
    let ports = w.free_slot();
    w.root(Call::PortsPart, [slot::PORTS, 0x3f8, 8, ports]);
    let note = w.make(Kind::Notification, 0);
    let user = vcpu(&mut w, space, USER);
    w.worker(3);
    for (call, a) in [
        (Call::VcpuAllowPorts, [user.0, ports, 0, 0]),
        (Call::VcpuInject, [user.0, 0x30, 0, 0]),
        (Call::VcpuNotify, [user.0, 0x30, note, 0]),
        (Call::VcpuRouteLine, [user.0, slot::IRQ, 3, 0x40 | route::LEVEL]),
        (Call::VcpuReset, [user.0, 0, 0, 0]),
        (Call::VcpuEndOfInterrupt, [user.0, 0, 0, 0]),
        (Call::VcpuBindSignals, [user.0, slot::CAPS, 0, 0]),
    ] {
        w.fails(call, a, Error::BadState);
    }
    assert!(!w.k.m.events.contains(&Event::AllowPorts(0x3f8, 8)));
}

#[test]
fn it_is_configured_once_while_it_lasts() {
    let mut w = World::new();
    let space = w.make(Kind::GuestSpace, 4);
    let (fresh, blank) = (w.make(Kind::Memory, 4096), w.make(Kind::Vcpu, 0));
    let passenger = vcpu(&mut w, space, 0);
    let user = vcpu(&mut w, space, USER);
    let runner = w.worker(3);
    w.fails(Call::VcpuConfigure, [user.0, space, fresh, USER], Error::Busy);
    w.fails(Call::VcpuConfigure, [passenger.0, space, fresh, USER], Error::Busy);
    w.fails(Call::VcpuConfigure, [blank, space, fresh, 2], Error::BadArgument);
    w.fails(Call::VcpuConfigure, [blank, space, fresh, 0], Error::Busy);
    enter(&mut w, user.0);
    w.root(Call::CapDelete, [0, user.2]);
    w.root(Call::CapDelete, [0, space]);
    let other = w.make(Kind::GuestSpace, 4);
    // The thread inside would find itself in another guest.
    w.root_fails(Call::VcpuConfigure, [user.0, other, fresh, USER], Error::Busy);
    // The passenger has lost its space and page, but remains the passenger until it ends.
    w.root(Call::CapDelete, [0, passenger.2]);
    w.root_fails(Call::VcpuConfigure, [passenger.0, other, fresh, USER], Error::Busy);
    w.k.leave_guest_with(runner.id, 0, 0);
    w.leave("guest");
    w.root(Call::VcpuConfigure, [user.0, other, fresh, USER]);
}

/// Interrupts sent to a vCPU before it becomes a user vCPU are dropped.
#[test]
fn it_begins_without_interrupts() {
    let mut w = World::new();
    let (blank, space) = (w.make(Kind::Vcpu, 0), w.make(Kind::GuestSpace, 4));
    let state = w.make(Kind::Memory, 4096);
    w.root(Call::VcpuInject, [blank, 0x30]);
    w.root(Call::VcpuConfigure, [blank, space, state, USER]);
    let Cap::Vcpu(made) = w.cap(blank) else { panic!() };
    let id = made.id();
    assert_eq!(w.k.m.peek(id).apic.deliverable(), None);
}

#[test]
fn it_ends_under_its_thread() {
    let mut w = World::new();
    let space = w.make(Kind::GuestSpace, 4);
    let user = vcpu(&mut w, space, USER);
    let runner = w.worker(3);
    enter(&mut w, user.0);
    w.root(Call::CapDelete, [0, user.0]);
    assert_eq!(w.current(), runner.id);
    assert_eq!(Error::from_raw(w.frame(runner.id).rax), Some(Error::Gone));
    assert!(w.k.m.events.contains(&Event::VcpuDrop(user.1.number())));
}
