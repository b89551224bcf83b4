//! A guest that waits by a hypercall, and tasks that end its wait.

use crate::machine::world::{Worker, World};
use pillion_abi::{NEVER, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, Id, thread::State, vcpu::Vcpu};

const VECTOR: u64 = 0x33;
const BADGE: u64 = 9;

struct Guest {
    w: World,
    /// The thread that runs it, with priority 3.
    monitor: Worker,
    vcpu: u64,
    id: Id<Vcpu>,
    /// A notification, and a badged capability for it.
    note: u64,
    signal: u64,
}

impl Guest {
    /// A guest that may signal, and runs.
    fn new() -> Guest {
        let mut w = World::new();
        let (vcpu, space) = (w.make(Kind::Vcpu, 0), w.make(Kind::GuestSpace, 4));
        let (state, note) = (w.make(Kind::Memory, 4096), w.make(Kind::Notification, 0));
        let (signals, signal) = (w.make(Kind::CapSpace, 2), w.free_slot());
        w.root(Call::VcpuConfigure, [vcpu, space, state]);
        w.root(Call::VcpuBindSignals, [vcpu, signals]);
        w.root(Call::CapDerive, [0, signal, note, 15, BADGE]);
        let monitor = w.worker(3);
        let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
        let id = made.id();
        w.enter(Call::VcpuRun as u64, [vcpu, 0, 0, 0, 0, 0]);
        Guest { w, monitor, vcpu, id, note, signal }
    }

    fn waits(&mut self) {
        self.w.k.m.begin_entry();
        assert_eq!(self.w.k.guest_wait(self.id), Ok(()));
        self.w.leave("guest");
    }

    fn halts(&mut self) {
        self.w.k.m.begin_entry();
        self.w.k.guest_halt(self.id);
        self.w.leave("guest");
    }

    fn notify(&mut self) {
        self.w.call(Call::VcpuNotify, [self.vcpu, VECTOR, self.note]);
    }

    fn pending(&mut self) -> Option<u8> {
        self.w.k.m.peek(self.id).apic.deliverable()
    }
}

#[test]
fn a_task_ends_its_wait_without_an_interrupt() {
    let mut g = Guest::new();
    g.waits();
    g.w.expect(g.monitor.id, State::Halted);
    let runner = g.w.worker(9);
    g.notify();
    g.w.expect(runner.id, State::Waiting);
    assert_eq!((g.w.current(), g.pending()), (g.monitor.id, None));
    g.w.root(Call::Signal, [g.signal]);
    assert_eq!(g.w.current(), runner.id);
    assert_eq!((g.w.frame(runner.id).rax, g.w.frame(runner.id).words[0]), (0, BADGE));
}

/// It runs, or it was halted by HLT, also if it waited by a hypercall before.
#[test]
fn a_guest_that_does_not_wait_gets_an_interrupt() {
    for halts in [false, true] {
        let mut g = Guest::new();
        g.waits();
        g.w.k.m.begin_entry();
        g.w.k.passenger_interrupt(0x41);
        g.w.leave("passenger");
        let apic = &mut g.w.k.m.peek(g.id).apic;
        apic.accept(0x41);
        apic.end_of_interrupt();
        if halts {
            g.halts();
        }
        let runner = g.w.worker(9);
        g.notify();
        g.w.expect(runner.id, State::Waiting);
        assert_eq!((g.w.current(), g.pending()), (g.monitor.id, Some(VECTOR as u8)));
    }
}

/// An interrupt came first, and a more urgent thread runs before the guest could see it.
#[test]
fn a_wait_that_ended_already() {
    let mut g = Guest::new();
    g.waits();
    let runner = g.w.worker(9);
    g.w.k.m.begin_entry();
    g.w.k.passenger_interrupt(0x21);
    g.w.leave("passenger");
    assert_eq!(g.w.current(), runner.id);
    g.notify();
    assert_eq!((g.w.current(), g.pending()), (g.monitor.id, Some(VECTOR as u8)));
}

#[test]
fn a_pending_interrupt_keeps_it_from_waiting() {
    let mut g = Guest::new();
    g.w.k.m.begin_entry();
    g.w.k.passenger_interrupt(0x41);
    g.w.leave("passenger");
    g.waits();
    assert_eq!(g.w.current(), g.monitor.id);
}

/// The guest is more urgent than the task, which waits all the same.
#[test]
fn a_task_below_the_guest() {
    let mut g = Guest::new();
    g.waits();
    let runner = g.w.worker(2);
    g.notify();
    g.w.expect(runner.id, State::Waiting);
    assert_eq!(g.w.current(), g.monitor.id);
}

#[test]
fn bits_that_are_there_are_taken_at_once() {
    let mut g = Guest::new();
    g.waits();
    let runner = g.w.worker(9);
    g.w.root(Call::Signal, [g.signal]);
    g.notify();
    assert_eq!(g.w.current(), runner.id);
    assert_eq!(g.w.frame(runner.id).words[0], BADGE);
    g.w.expect(g.monitor.id, State::Ready);
    assert_eq!(g.pending(), None);
}

#[test]
fn a_call_that_fails_does_nothing() {
    let mut g = Guest::new();
    g.waits();
    g.w.worker(8);
    g.w.call(Call::Wait, [g.note, NEVER]);
    g.w.worker(9);
    g.w.fails(Call::VcpuNotify, [g.vcpu, VECTOR, g.note], Error::Busy);
    g.w.fails(Call::VcpuNotify, [g.vcpu, 15, g.note], Error::BadArgument);
    g.w.fails(Call::VcpuNotify, [g.vcpu, VECTOR, g.vcpu], Error::WrongKind);
    g.w.expect(g.monitor.id, State::Halted);
    assert_eq!(g.pending(), None);
}

#[test]
fn a_guest_that_may_signal_nobody_does_not_wait() {
    let mut g = Guest::new();
    g.w.root(Call::VcpuBindSignals, [g.vcpu, 0]);
    assert_eq!(g.w.k.guest_wait(g.id), Err(Error::Unsupported));
    assert_eq!(g.w.current(), g.monitor.id);
}

/// A guest whose timer is due in so many ticks, and which a task notifies, with 500 to spare; when
/// the timer is due.
fn spared(ticks: u64) -> (Guest, u64) {
    let mut g = Guest::new();
    let at = g.w.k.m.clock + ticks;
    g.w.k.guest_deadline(g.id, at);
    g.waits();
    let task = g.w.worker(9);
    assert_eq!(g.w.current(), task.id);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 0, 500]);
    (g, at)
}

#[test]
fn its_timer_spares_it_once_while_it_has_something_urgent_to_do() {
    let (mut g, at) = spared(100);
    assert_eq!(g.w.k.guest_deadline_armed(g.id), at, "the guest does not see it");
    let until = g.w.k.m.peek(g.id).timer.key();
    assert!(until >= at + 400, "{until} instead of {at}");
    g.w.root(Call::Signal, [g.signal]);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 0, 500]);
    assert_eq!(g.w.k.m.peek(g.id).timer.key(), until, "it waits once");
    g.w.pass(until - g.w.k.m.clock - 1);
    assert_eq!(g.w.k.guest_deadline_armed(g.id), at);
    g.w.pass(1);
    assert_eq!(g.w.k.guest_deadline_armed(g.id), 0, "it fires");
}

#[test]
fn a_timer_that_is_due_later_is_not_touched() {
    let (mut g, at) = spared(100_000);
    assert_eq!(g.w.k.m.peek(g.id).timer.key(), at);
}
