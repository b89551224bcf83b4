//! Virtual CPUs: halting, waking, interrupts and EOIs.

use crate::machine::{
    Event,
    world::{Worker, World, slot},
};
use pillion_abi::{
    NEVER,
    call::Call,
    object::{Kind, right},
    status::Error,
    vcpu::route,
};
use pillion_core::{Cap, Id, Outcome, thread::State, vcpu::Vcpu};

struct Guest {
    w: World,
    monitor: Worker,
    vcpu: u64,
    id: Id<Vcpu>,
    space: u64,
    state: u64,
}

/// A configured guest and its monitor, which is the current thread.
fn guest() -> Guest {
    guest_in(World::new())
}

fn guest_in(mut w: World) -> Guest {
    let vcpu = w.make(Kind::Vcpu, 0);
    let space = w.make(Kind::GuestSpace, 4);
    let state = w.make(Kind::Memory, 4096);
    w.root(Call::VcpuConfigure, [vcpu, space, state]);
    let monitor = w.worker(3);
    let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
    let id = made.id();
    Guest { w, monitor, vcpu, id, space, state }
}

fn eois(w: &World) -> usize {
    w.k.m.events.iter().filter(|e| **e == Event::Eoi).count()
}

fn run(g: &mut Guest) {
    assert_eq!(g.w.enter(Call::VcpuRun as u64, [g.vcpu, 0, 0, 0, 0, 0]), Outcome::Guest);
}

fn halt(g: &mut Guest) {
    g.w.k.m.begin_entry();
    g.w.k.guest_halt(g.id);
    g.w.leave("guest");
}

fn passenger(g: &mut Guest, vector: u8) {
    g.w.k.m.begin_entry();
    g.w.k.passenger_interrupt(vector);
    g.w.leave("passenger");
}

#[test]
fn a_halted_guest_wakes_by_its_interrupts() {
    let mut g = guest();
    let background = g.w.worker(1);
    run(&mut g);
    halt(&mut g);
    g.w.expect(g.monitor.id, State::Halted);
    assert_eq!(g.w.current(), background.id);
    passenger(&mut g, 0x41);
    assert_eq!(g.w.current(), g.monitor.id);
    assert_eq!(eois(&g.w), 0, "the EOI must come from the guest");
    let apic = &mut g.w.k.m.peek(g.id).apic;
    assert_eq!(apic.deliverable(), Some(0x41));
    halt(&mut g);
    assert_eq!(g.w.current(), g.monitor.id, "a guest with a pending interrupt does not halt");
    let apic = &mut g.w.k.m.peek(g.id).apic;
    apic.accept(0x41);
    assert_eq!(apic.end_of_interrupt().physical_eois, 1);
    halt(&mut g);
    g.w.call(Call::VcpuInject, [g.vcpu, 0x33]);
    assert_eq!(g.w.current(), g.monitor.id);
    assert_eq!(g.w.frame(background.id).rax, 0);
}

/// Neither what the guest uses itself nor what it halts for is stolen; what other threads use is,
/// from when it could have run.
#[test]
fn what_other_threads_take_from_a_guest() {
    let mut g = guest();
    let task = g.w.limited(10, 30, 100);
    g.w.pass(30);
    assert_eq!(g.w.current(), g.monitor.id);
    run(&mut g);
    let before = g.w.k.guest_stolen(g.id);
    let stolen = |g: &mut Guest| {
        assert_eq!(g.w.current(), g.monitor.id);
        g.w.k.guest_stolen(g.id) - before
    };
    g.w.pass(60);
    assert_eq!(stolen(&mut g), 0, "it computes");
    g.w.pass(45);
    assert_eq!(stolen(&mut g), 30, "the task had its budget");
    halt(&mut g);
    g.w.pass(45);
    passenger(&mut g, 0x41);
    assert_eq!(stolen(&mut g), 30, "it halted while nobody ran");
    let apic = &mut g.w.k.m.peek(g.id).apic;
    apic.accept(0x41);
    apic.end_of_interrupt();
    halt(&mut g);
    g.w.pass(30);
    assert_eq!(g.w.current(), task.id);
    passenger(&mut g, 0x42);
    g.w.pass(10);
    assert_eq!(g.w.current(), task.id);
    g.w.pass(10);
    assert_eq!(stolen(&mut g), 50, "it woke while the task ran");
    g.w.pass(1000);
    assert_eq!(stolen(&mut g), 350);
}

/// Interrupts of other processors' guests: they are accepted while there is a passenger, wake it,
/// and no EOI is owed for them.
#[test]
fn what_other_processors_guests_send() {
    const MESSAGE: u8 = 0xef;
    let mut g = guest_in(World::of(2));
    assert!(g.w.k.m.accepts_messages);
    run(&mut g);
    halt(&mut g);
    let come = |g: &mut Guest, vectors: [u64; 4]| {
        g.w.k.m.messages = vectors;
        passenger(g, MESSAGE);
    };
    come(&mut g, [0; 4]);
    g.w.expect(g.monitor.id, State::Halted);
    come(&mut g, [0, 1 << 2, 0, 1 << 0x3d]);
    assert_eq!(g.w.current(), g.monitor.id);
    for vector in [0xfd, 0x42] {
        let apic = &mut g.w.k.m.peek(g.id).apic;
        assert_eq!(apic.deliverable(), Some(vector));
        apic.accept(vector);
        assert_eq!(apic.end_of_interrupt().physical_eois, 0);
    }
    (g.w.k.m.accepts_messages, g.w.k.m.messages) = (false, [1; 4]);
    g.w.root(Call::VcpuReset, [g.vcpu]);
    assert!(g.w.k.m.accepts_messages && g.w.k.m.messages == [0; 4], "those that came before are forgotten");
    g.w.root(Call::CapDelete, [0, g.vcpu]);
    assert!(!g.w.k.m.accepts_messages);
    come(&mut g, [0, 1 << 2, 0, 0]);
}

#[test]
fn a_guest_s_timer() {
    let mut g = guest();
    run(&mut g);
    let at = g.w.k.m.clock + 100;
    g.w.k.guest_deadline(g.id, at);
    halt(&mut g);
    assert_eq!((g.w.k.cpu.current, g.w.k.m.programmed), (None, at));
    assert_eq!(g.w.k.guest_deadline_armed(g.id), at);
    g.w.pass(100);
    assert_eq!(g.w.current(), g.monitor.id);
    assert_eq!(g.w.k.m.peek(g.id).apic.deliverable(), Some(0x30));
    assert_eq!(g.w.k.guest_deadline_armed(g.id), 0);
}

/// The kernel does not write to the state page once the monitor has lost it.
#[test]
fn a_state_page_that_goes_away() {
    let mut g = guest();
    run(&mut g);
    let at = g.w.k.m.clock + 100;
    g.w.k.guest_deadline(g.id, at);
    g.w.root(Call::CapDelete, [0, g.state]);
    g.w.pass(200);
    g.w.k.leave_guest_with(g.monitor.id, 0, 0);
    g.w.leave("guest");
    g.w.fails(Call::VcpuRun, [g.vcpu], Error::BadState);
    g.w.root_fails(Call::VcpuConfigure, [g.vcpu, g.space, g.state], Error::BadCap);
}

#[test]
fn ends_that_are_owed_are_given_at_reset_and_at_the_end() {
    for delete in [false, true] {
        let mut g = guest();
        passenger(&mut g, 0x31);
        passenger(&mut g, 0x52);
        passenger(&mut g, 0x63);
        g.w.k.guest_deadline(g.id, 5000);
        g.w.leave("guest");
        assert_eq!(eois(&g.w), 0);
        if delete {
            g.w.root(Call::CapDelete, [0, g.vcpu]);
            assert!(g.w.k.cpu.passenger.is_none());
            passenger(&mut g, 0x31);
            assert_eq!(eois(&g.w), 4, "without a passenger the EOI is sent at once");
        } else {
            g.w.ok(Call::VcpuReset, [g.vcpu]);
            assert_eq!(eois(&g.w), 3);
        }
        assert!(g.w.k.cpu.agenda.is_empty());
    }
}

#[test]
fn the_monitor_ends_an_interrupt_for_its_guest() {
    let mut g = guest();
    passenger(&mut g, 0x31);
    let accepted = g.w.k.m.peek(g.id).apic.deliverable();
    assert_eq!(accepted, Some(0x31));
    g.w.k.m.peek(g.id).apic.accept(0x31);
    g.w.leave("guest");
    g.w.ok(Call::VcpuEndOfInterrupt, [g.vcpu]);
    assert_eq!(eois(&g.w), 1);
    g.w.ok(Call::VcpuEndOfInterrupt, [g.vcpu]);
    assert_eq!(eois(&g.w), 1, "no interrupt is in service any more");
}

#[test]
fn a_vcpu_ends_under_its_monitor() {
    for halted in [false, true] {
        let mut g = guest();
        run(&mut g);
        if halted {
            halt(&mut g);
        }
        g.w.root(Call::CapDelete, [0, g.vcpu]);
        assert_eq!(g.w.current(), g.monitor.id);
        assert_eq!(Error::from_raw(g.w.frame(g.monitor.id).rax), Some(Error::Gone));
    }
}

#[test]
fn a_monitor_is_suspended_or_ends_in_its_guest() {
    for halted in [false, true] {
        for delete in [false, true] {
            let mut g = guest();
            run(&mut g);
            if halted {
                halt(&mut g);
            }
            if delete {
                g.w.root(Call::CapDelete, [0, g.monitor.thread]);
            } else {
                g.w.root(Call::ThreadSuspend, [g.monitor.thread]);
                assert_eq!(Error::from_raw(g.w.frame(g.monitor.id).rax), Some(Error::Gone));
            }
            assert!(g.w.k.m.peek(g.id).thread.is_none());
            passenger(&mut g, 0x31);
            assert_eq!(g.w.k.cpu.current, None);
            let other = g.w.worker(4);
            run(&mut g);
            assert_eq!(g.w.current(), other.id);
        }
    }
}

#[test]
fn a_bound_notification_wakes_a_halted_monitor() {
    let mut g = guest();
    let (note, badged) = (g.w.make(Kind::Notification, 0), g.w.free_slot());
    g.w.root(Call::CapDerive, [0, badged, note, 15, 9]);
    g.w.root(Call::ThreadBindNotification, [g.monitor.thread, note]);
    run(&mut g);
    halt(&mut g);
    g.w.root(Call::Signal, [badged]);
    assert_eq!(g.w.current(), g.monitor.id);
    assert_eq!(g.w.k.take_bound_bits(g.monitor.id), 9);
    g.w.k.leave_guest_with(g.monitor.id, 0, 9);
    g.w.leave("guest");
    let f = g.w.frame(g.monitor.id);
    assert_eq!((f.rax, f.words[0], f.rsi), (0, 0, 9));
}

/// Slots of the space that [`signalling`] binds.
mod signal {
    pub const BADGED: u64 = 2;
    pub const READ_ONLY: u64 = 3;
    pub const EMPTY: u64 = 4;
    pub const ANOTHER_KIND: u64 = 5;
    pub const SLOTS: u64 = 6;
}

/// A guest that may signal a notification with badge 9, a more urgent thread that waits for it, the
/// notification, and the space that names it.
fn signalling() -> (Guest, Worker, u64, u64) {
    signalling_from(0)
}

/// The same with the guest on the first processor and the others on another.
fn signalling_from(home: u8) -> (Guest, Worker, u64, u64) {
    let mut g = guest_in(World::of(home + 1));
    let note = g.w.make(Kind::Notification, home.into());
    let space = g.w.make(Kind::CapSpace, signal::SLOTS);
    g.w.root(Call::CapDerive, [space, signal::BADGED, note, 15, 9]);
    g.w.root(Call::CapDerive, [space, signal::READ_ONLY, note, right::READ.into(), 0]);
    g.w.root(Call::CapDerive, [space, signal::ANOTHER_KIND, g.space, 15, 0]);
    g.w.root(Call::VcpuBindSignals, [g.vcpu, space]);
    run(&mut g);
    let waiter = g.w.limited_of(home, 9, NEVER, 0);
    g.w.on(home);
    g.w.call(Call::Wait, [note, NEVER]);
    g.w.expect(waiter.id, State::Waiting);
    g.w.on(0);
    (g, waiter, note, space)
}

fn sends(g: &mut Guest, index: u64) -> Result<(), Error> {
    g.w.k.m.begin_entry();
    let result = g.w.k.guest_signal(g.id, index);
    g.w.leave("guest");
    result
}

#[test]
fn a_guest_signals() {
    let (mut g, waiter, ..) = signalling();
    assert_eq!(g.w.current(), g.monitor.id);
    assert_eq!(sends(&mut g, signal::BADGED), Ok(()));
    assert_eq!(g.w.current(), waiter.id, "the more urgent thread runs before the guest goes on");
    assert_eq!((g.w.frame(waiter.id).rax, g.w.frame(waiter.id).words[0]), (0, 9));
    assert_eq!(g.w.k.m.peek(g.id).thread, Some(g.monitor.id), "the guest was interrupted, not ended");
}

#[test]
fn a_guest_signals_elsewhere() {
    let (mut g, waiter, ..) = signalling_from(1);
    assert_eq!(sends(&mut g, signal::BADGED), Ok(()));
    assert_eq!(g.w.current(), g.monitor.id, "the guest goes on");
    g.w.deliver();
    assert_eq!((g.w.current(), g.w.frame(waiter.id).words[0]), (waiter.id, 9));
}

#[test]
fn a_guest_signals_only_what_it_may() {
    let (mut g, waiter, note, _) = signalling();
    for (index, error) in [
        (signal::READ_ONLY, Error::NoRight),
        (signal::EMPTY, Error::WrongKind),
        (signal::ANOTHER_KIND, Error::WrongKind),
        (signal::SLOTS, Error::BadCap),
        (1 << 32 | signal::BADGED, Error::BadCap),
        (u64::MAX, Error::BadCap),
    ] {
        assert_eq!(sends(&mut g, index), Err(error), "slot {index}");
        g.w.expect(waiter.id, State::Waiting);
    }
    g.w.root(Call::CapRevoke, [0, note]);
    assert_eq!(sends(&mut g, signal::BADGED), Err(Error::WrongKind), "the capability is revoked");
}

#[test]
fn the_space_of_signals_goes_away() {
    type End = fn(&mut Guest, u64);
    let ends: [End; 4] = [
        |g, _| _ = g.w.root(Call::VcpuBindSignals, [g.vcpu, 0]),
        |g, space| _ = g.w.root(Call::CapRevoke, [0, space]),
        |g, space| _ = g.w.root(Call::CapDelete, [0, space]),
        |g, _| {
            let empty = g.w.make(Kind::CapSpace, 2);
            g.w.root(Call::VcpuBindSignals, [g.vcpu, empty]);
            g.w.root(Call::CapDelete, [0, empty]);
        },
    ];
    for end in ends {
        let (mut g, waiter, _, space) = signalling();
        end(&mut g, space);
        assert_eq!(sends(&mut g, signal::BADGED), Err(Error::Unsupported));
        g.w.expect(waiter.id, State::Waiting);
    }
    let (mut g, _, _, space) = signalling();
    g.w.root(Call::CapDelete, [0, g.vcpu]);
    g.w.root(Call::CapDelete, [0, space]);
}

#[test]
fn only_the_passenger_signals() {
    let mut w = World::new();
    let (blank, space) = (w.make(Kind::Vcpu, 0), w.make(Kind::CapSpace, 4));
    let weak = w.free_slot();
    w.root(Call::CapDerive, [0, weak, space, right::READ.into(), 0]);
    w.root_fails(Call::VcpuBindSignals, [blank, space], Error::BadState);
    w.root_fails(Call::VcpuBindSignals, [blank, weak], Error::NoRight);
    w.root_fails(Call::VcpuBindSignals, [blank, blank], Error::WrongKind);
    w.root_fails(Call::VcpuBindSignals, [space, space], Error::WrongKind);
}

/// With the right to write alone, a task may interrupt the guest and do nothing else to it.
#[test]
fn a_task_that_may_only_interrupt() {
    let mut g = guest();
    let (weak, readable, ports) = (g.w.free_slot(), g.w.free_slot(), g.w.free_slot());
    g.w.root(Call::CapDerive, [0, weak, g.vcpu, right::WRITE.into(), 0]);
    g.w.root(Call::PortsPart, [slot::PORTS, 0x3f8, 8, ports]);
    let caps = g.w.make(Kind::CapSpace, 4);
    for (call, a) in [
        (Call::VcpuRun, [weak, 0, 0, 0]),
        (Call::VcpuConfigure, [weak, g.space, g.state, 0]),
        (Call::VcpuAllowPorts, [weak, ports, 0, 0]),
        (Call::VcpuRouteLine, [weak, slot::IRQ, 3, 0x40]),
        (Call::VcpuReset, [weak, 0, 0, 0]),
        (Call::VcpuEndOfInterrupt, [weak, 0, 0, 0]),
        (Call::VcpuBindSignals, [weak, caps, 0, 0]),
    ] {
        g.w.fails(call, a, Error::NoRight);
    }
    g.w.ok(Call::VcpuInject, [weak, 0x33]);
    assert_eq!(g.w.k.m.peek(g.id).apic.deliverable(), Some(0x33));
    g.w.root(Call::CapDerive, [0, readable, g.vcpu, (right::ALL & !right::WRITE).into(), 0]);
    g.w.fails(Call::VcpuInject, [readable, 0x34], Error::NoRight);
}

#[test]
fn errors_of_calls_on_vcpus() {
    let mut g = guest();
    let second = g.w.make(Kind::Vcpu, 0);
    let fresh = g.w.make(Kind::Memory, 4096);
    let read_only = g.w.free_slot();
    g.w.root(Call::CapDerive, [0, read_only, fresh, 1, 0]);
    let Guest { mut w, vcpu, space, state, .. } = g;
    w.fails(Call::VcpuRun, [second], Error::BadState);
    w.fails(Call::VcpuRun, [space], Error::WrongKind);
    w.fails(Call::VcpuConfigure, [vcpu, space, fresh], Error::Busy);
    w.fails(Call::VcpuConfigure, [second, space, fresh], Error::Busy);
    w.fails(Call::VcpuConfigure, [second, slot::SPACE, fresh], Error::WrongKind);
    w.fails(Call::VcpuConfigure, [second, space, space], Error::WrongKind);
    w.fails(Call::VcpuConfigure, [second, space, read_only], Error::NoRight);
    w.fails(Call::VcpuAllowPorts, [vcpu, slot::PORTS], Error::BadArgument);
    w.fails(Call::VcpuAllowPorts, [vcpu, space], Error::WrongKind);
    let ports = w.free_slot();
    w.ok(Call::PortsPart, [slot::PORTS, 0x3f8, 8, ports]);
    w.fails(Call::VcpuAllowPorts, [second, ports], Error::BadState);
    w.ok(Call::VcpuAllowPorts, [vcpu, ports]);
    assert_eq!(w.k.m.events.last(), Some(&Event::AllowPorts(0x3f8, 8)));
    w.fails(Call::VcpuInject, [vcpu, 15], Error::BadArgument);
    w.fails(Call::VcpuInject, [vcpu, 256], Error::BadArgument);
    w.fails(Call::VcpuRouteLine, [vcpu, state, 3, 0x40], Error::WrongKind);
    w.fails(Call::VcpuRouteLine, [vcpu, slot::IRQ, 24, 0x40], Error::BadArgument);
    w.fails(Call::VcpuRouteLine, [vcpu, slot::IRQ, 3, 0xf0], Error::BadArgument);
    w.fails(Call::VcpuRouteLine, [vcpu, slot::IRQ, 3, 0x1f], Error::BadArgument);
    w.ok(Call::VcpuRouteLine, [vcpu, slot::IRQ, 3, 0x40 | route::LEVEL]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Route(3, 0x40, route::LEVEL)));
    w.ok(Call::VcpuRouteLine, [vcpu, slot::IRQ, 3, route::MASKED]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Mask(3, true)));
    w.root(Call::CapDelete, [0, vcpu]);
    w.k.m.virtualisation = false;
    w.fails(Call::VcpuConfigure, [second, space, fresh], Error::Unsupported);
    w.k.m.virtualisation = true;
    w.ok(Call::VcpuConfigure, [second, space, fresh]);
    assert_eq!(w.enter(Call::VcpuRun as u64, [second, 0, 0, 0, 0, 0]), Outcome::Guest);
    let other = w.worker(9);
    assert_eq!(w.current(), other.id);
    w.fails(Call::VcpuRun, [second], Error::Busy);
    w.call(Call::Sleep, [0, NEVER]);
}

#[test]
fn a_preparation_that_is_interrupted_goes_on() {
    let mut w = World::new();
    w.k.m.interrupt_every = 1;
    let vcpu = w.make(Kind::Vcpu, 0);
    let space = w.make(Kind::GuestSpace, 4);
    let state = w.make(Kind::Memory, 4096);
    w.root(Call::VcpuConfigure, [vcpu, space, state]);
}

/// Lines that are routed to the passenger are masked when it ends: a level-triggered line that
/// nobody serves would fire for ever. A line that an interrupt object has taken since is left
/// alone.
#[test]
fn the_passenger_s_lines_end_with_it() {
    for every in [0, 1] {
        let mut g = guest();
        for line in [3, 9, 11, 12] {
            g.w.root(Call::VcpuRouteLine, [g.vcpu, slot::IRQ, line, 0x31 | route::LEVEL]);
        }
        g.w.root(Call::VcpuRouteLine, [g.vcpu, slot::IRQ, 12, route::MASKED]);
        let interrupt = g.w.free_slot();
        g.w.root(Call::InterruptCreate, [slot::IRQ, 9, 1, interrupt, slot::REGION]);
        g.w.root(Call::InterruptBind, [interrupt, slot::NOTE, 1]);
        g.w.k.m.events.clear();
        g.w.k.m.interrupt_every = every;
        g.w.root(Call::CapDelete, [0, g.vcpu]);
        let masked = |e: &Event| if let Event::Mask(line, true) = e { Some(*line) } else { None };
        let lines: Vec<u32> = g.w.k.m.events.iter().filter_map(masked).collect();
        assert_eq!(lines, [11, 3]);
        assert!(!g.w.k.m.is_live(g.id));
    }
}

/// A line that an interrupt object has taken no longer reaches the guest, whether the object is
/// bound or not.
#[test]
fn a_line_has_one_owner() {
    let mut g = guest();
    g.w.root(Call::VcpuRouteLine, [g.vcpu, slot::IRQ, 9, 0x31]);
    g.w.k.m.events.clear();
    let interrupt = g.w.free_slot();
    g.w.root(Call::InterruptCreate, [slot::IRQ, 9, 1, interrupt, slot::REGION]);
    assert!(g.w.k.m.events.contains(&Event::Mask(9, true)));
    g.w.root_fails(Call::VcpuRouteLine, [g.vcpu, slot::IRQ, 9, 0x31], Error::Busy);
    let other = g.w.make(Kind::Vcpu, 0);
    g.w.root_fails(Call::VcpuRouteLine, [other, slot::IRQ, 5, 0x31], Error::BadState);
}

/// A guest deadline of `NEVER` or 0 arms nothing; a later deadline still works.
#[test]
fn a_deadline_that_never_comes() {
    let mut g = guest();
    run(&mut g);
    let at = g.w.k.m.clock + 100;
    for deadline in [NEVER, 0, at] {
        g.w.k.m.begin_entry();
        g.w.k.guest_deadline(g.id, deadline);
        g.w.leave("guest");
    }
    halt(&mut g);
    assert_eq!((g.w.k.guest_deadline_armed(g.id), g.w.k.m.programmed), (at, at));
}
