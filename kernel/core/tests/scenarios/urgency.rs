//! Deadlines of less urgent threads do not interrupt the running thread, and are not lost.

use crate::machine::{
    Event,
    world::{Worker, World, slot},
};
use pillion_abi::{NEVER, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, thread::State};

/// Starts threads that sleep until `at`, and a more urgent one that runs.
fn above_sleepers(w: &mut World, priorities: &[u8], at: u64) -> (Worker, Vec<Worker>) {
    let sleepers: Vec<Worker> = priorities.iter().map(|p| w.worker(*p)).collect();
    for _ in &sleepers {
        w.call(Call::Sleep, [0, at]);
    }
    (w.worker(200), sleepers)
}

#[test]
fn sleepers_below_wait_for_the_cpu_to_come_down() {
    let mut w = World::new();
    let (top, sleepers) = above_sleepers(&mut w, &[50, 60, 70, 50], 5_000);
    assert_eq!(w.k.m.programmed, NEVER, "no deadline matters to the running thread");
    w.pass(10_000);
    assert_eq!(w.current(), top.id);
    for t in &sleepers {
        w.expect(t.id, State::Sleeping);
    }
    for next in [2, 1] {
        w.call(Call::Sleep, [0, NEVER]);
        w.come_down();
        assert_eq!(w.current(), sleepers[next].id, "the most urgent sleeper must run first");
    }
    // Of two threads of equal priority, the running one is interrupted to wake the other.
    w.call(Call::Sleep, [0, NEVER]);
    w.come_down();
    w.come_down();
    assert!([0, 3].iter().all(|t| w.state(sleepers[*t].id) == State::Ready));
}

/// A call that takes an interrupt has woken a thread meanwhile, which the timer was not programmed
/// for.
#[test]
fn a_timer_that_a_call_took_is_handled_at_the_level_that_the_call_leaves() {
    let mut w = World::new();
    let note = w.make(Kind::Notification, 0);
    let high = w.worker(30);
    w.call(Call::Wait, [note, NEVER]);
    let middle = w.worker(25);
    let due = w.k.m.clock + 100;
    w.call(Call::Sleep, [0, due]);
    let low = w.worker(20);
    assert_eq!((w.current(), w.k.m.programmed), (low.id, due));
    (w.k.m.interrupt_every, w.k.m.clock) = (1, due);
    w.enter(Call::CapDelete as u64, [0, note, 0, 0, 0, 0]);
    assert_eq!(w.current(), high.id);
    w.expect(middle.id, State::Sleeping);
    w.call(Call::Sleep, [0, NEVER]);
    w.come_down();
    assert_eq!(w.current(), middle.id);
}

#[test]
fn the_hardware_is_programmed_for_what_matters_at_the_level() {
    let mut w = World::new();
    let (low, high) = (w.worker(20), w.worker(30));
    let start = w.k.m.clock;
    w.call(Call::Sleep, [0, start + 500]);
    assert_eq!((w.current(), w.k.m.programmed), (low.id, start + 500));
    w.call(Call::Sleep, [0, start + 300]);
    assert_eq!((w.k.cpu.current, w.k.m.programmed), (None, start + 300));
    let middle = w.worker(25);
    assert_eq!((w.current(), w.k.m.programmed), (middle.id, start + 500));
    // The sleeping thread becomes more urgent than the running one, then less urgent again.
    w.root(Call::ContextSetPriority, [low.context, 26]);
    assert_eq!(w.k.m.programmed, start + 300);
    w.root(Call::ContextSetPriority, [low.context, 20]);
    assert_eq!(w.k.m.programmed, start + 500);
    // The same with the running thread's priority.
    w.ok(Call::ContextSetPriority, [middle.context, 31]);
    assert_eq!(w.k.m.programmed, NEVER);
    w.pass(600);
    assert_eq!(w.current(), middle.id);
    w.call(Call::ContextSetPriority, [middle.context, 25]);
    w.come_down();
    assert_eq!(w.current(), high.id, "a more urgent thread whose deadline has passed runs at once");
    w.expect(low.id, State::Sleeping);
}

#[test]
fn refills_below_do_not_interrupt() {
    let mut w = World::new();
    let limited: Vec<Worker> = (0..5).map(|_| w.limited(40, 50, 1_000)).collect();
    w.pass(300);
    assert_eq!(w.k.cpu.current, None);
    let top = w.worker(100);
    assert_eq!(w.k.m.programmed, NEVER);
    w.pass(5_000);
    assert_eq!(w.current(), top.id);
    w.call(Call::Sleep, [0, NEVER]);
    w.pass(0);
    assert!(limited.iter().all(|t| w.state(t.id) == State::Ready));
    assert_eq!(w.current(), limited[0].id);
    // A thread with an empty budget that becomes urgent is woken by its replenishment.
    let start = w.k.m.clock;
    w.pass(250);
    assert_eq!(w.k.cpu.current, None);
    let other = w.worker(50);
    assert_eq!(w.k.m.programmed, NEVER);
    w.root(Call::ContextSetPriority, [limited[3].context, 60]);
    assert_eq!(w.k.m.programmed, start + 1_000);
    w.pass(1_200);
    assert_eq!(w.current(), other.id, "the woken thread has used up its budget again");
    let f = w.root(Call::ContextConsumed, [limited[3].context]);
    assert_eq!(f.words[0], 150);
}

/// Timers have the priority of the thread that waits for their notification.
#[test]
fn timers_follow_who_waits() {
    let mut w = World::new();
    let note = w.make(Kind::Notification, 0);
    let timers: Vec<u64> = (0..3).map(|_| w.make(Kind::Timer, 0)).collect();
    for (i, t) in timers.iter().enumerate() {
        w.root(Call::TimerBind, [*t, note, 1 << i]);
    }
    let low = w.worker(10);
    let start = w.k.m.clock;
    for (i, t) in timers.iter().enumerate() {
        w.ok(Call::TimerSet, [*t, start + 300 - 100 * i as u64]);
    }
    assert_eq!(w.k.m.programmed, NEVER, "no thread waits for the timers");
    w.call(Call::Wait, [note, NEVER]);
    assert_eq!((w.k.cpu.current, w.k.m.programmed), (None, start + 100));
    let top = w.worker(20);
    assert_eq!(w.k.m.programmed, NEVER);
    w.root(Call::ContextSetPriority, [low.context, 30]);
    assert_eq!(w.k.m.programmed, start + 100);
    w.pass(100);
    assert_eq!((w.current(), w.frame(low.id).words[0], w.k.m.programmed), (low.id, 4, NEVER));
    // Two of them expire while the thread does something else: each wait returns one.
    w.pass(500);
    assert_eq!(w.ok(Call::Wait, [note, 0]).words[0], 2);
    assert_eq!(w.ok(Call::Wait, [note, NEVER]).words[0], 1);
    w.fails(Call::Wait, [note, 0], Error::Timeout);
    // The waiting thread times out: no thread waits for the timer any more.
    let now = w.k.m.clock;
    w.ok(Call::TimerSet, [timers[0], now + 100]);
    w.call(Call::Wait, [note, now + 50]);
    assert_eq!((w.current(), w.k.m.programmed), (top.id, now + 50));
    w.pass(50);
    assert_eq!((w.current(), w.k.m.programmed), (low.id, NEVER));
    assert_eq!(Error::from_raw(w.frame(low.id).rax), Some(Error::Timeout));
}

/// A timer of a bound notification has the priority of the thread that the notification is bound
/// to.
#[test]
fn timers_of_a_bound_notification() {
    let mut w = World::new();
    let (note, timer, endpoint) = (w.make(Kind::Notification, 0), w.make(Kind::Timer, 0), w.make(Kind::Endpoint, 0));
    w.root(Call::TimerBind, [timer, note, 8]);
    let server = w.server(endpoint, Some(50));
    w.root(Call::ThreadBindNotification, [server.thread, note]);
    let start = w.k.m.clock;
    w.root(Call::TimerSet, [timer, start + 100]);
    let top = w.worker(60);
    assert_eq!(w.k.m.programmed, NEVER);
    w.pass(200);
    assert_eq!(w.current(), top.id);
    w.call(Call::Sleep, [0, NEVER]);
    w.come_down();
    assert_eq!((w.current(), w.frame(server.id).words[0]), (server.id, 8));
    w.root(Call::TimerSet, [timer, start + 500]);
    assert_eq!(w.k.m.programmed, start + 500);
    w.root(Call::ThreadBindNotification, [server.thread, 0]);
    assert_eq!(w.k.m.programmed, NEVER);
    w.pass(1_000);
    w.fails(Call::Wait, [timer, 0], Error::WrongKind);
    assert_eq!(w.ok(Call::Wait, [note, 0]).words[0], 8);
}

/// A timer loses the capability through which it signals, gets another one, or loses its
/// notification.
#[test]
fn timers_and_the_capabilities_that_they_hold() {
    let mut w = World::new();
    let (notes, timer) = ([w.make(Kind::Notification, 0), w.make(Kind::Notification, 0)], w.make(Kind::Timer, 0));
    let start = w.k.m.clock;
    // The timer is set before it is bound.
    w.root(Call::TimerSet, [timer, start + 100]);
    let derived = w.free_slot();
    w.root(Call::CapDerive, [0, derived, notes[0], 15, 0]);
    w.root(Call::TimerBind, [timer, derived, 1]);
    let t = w.worker(10);
    w.call(Call::Wait, [notes[0], NEVER]);
    assert_eq!(w.k.m.programmed, start + 100);
    w.root(Call::CapDelete, [0, derived]);
    w.pass(200);
    w.expect(t.id, State::Waiting);
    // Bound again after its deadline, it does not signal; set again, it does.
    w.root(Call::TimerBind, [timer, notes[0], 2]);
    w.pass(200);
    w.expect(t.id, State::Waiting);
    w.root(Call::TimerSet, [timer, 1]);
    w.come_down();
    assert_eq!((w.current(), w.frame(t.id).words[0]), (t.id, 2));
    // A notification ends while an armed timer that was unbound from it is still there, or has
    // moved with its deadline to another notification.
    let now = w.k.m.clock;
    for moved in [false, true] {
        let (note, derived) = (w.make(Kind::Notification, 0), w.free_slot());
        let timer = w.make(Kind::Timer, 0);
        w.root(Call::CapDerive, [0, derived, note, 15, 0]);
        w.root(Call::TimerBind, [timer, derived, 4]);
        w.root(Call::TimerSet, [timer, now + 1_000]);
        w.root(Call::CapDelete, [0, derived]);
        if moved {
            w.root(Call::TimerBind, [timer, notes[1], 4]);
        }
        w.root(Call::CapDelete, [0, note]);
    }
    w.pass(1_000);
    assert_eq!(w.ok(Call::Wait, [notes[1], 0]).words[0], 4);
    w.fails(Call::Wait, [notes[1], 0], Error::Timeout);
}

/// While a more urgent thread runs, the passenger's interrupts are held back and its timer does not
/// interrupt.
#[test]
fn the_passenger_waits() {
    let mut w = World::new();
    let vcpu = w.make(Kind::Vcpu, 0);
    let (space, state) = (w.make(Kind::GuestSpace, 4), w.make(Kind::Memory, 4096));
    w.root(Call::VcpuConfigure, [vcpu, space, state]);
    let monitor = w.worker(3);
    let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
    let id = made.id();
    w.enter(Call::VcpuRun as u64, [vcpu, 0, 0, 0, 0, 0]);
    assert!(!w.k.m.holds_passenger);
    let at = w.k.m.clock + 100;
    w.k.guest_deadline(id, at);
    w.leave("guest");
    assert_eq!(w.k.m.programmed, at);
    let task = w.worker(9);
    assert!(w.k.m.holds_passenger);
    assert_eq!(w.k.m.programmed, NEVER);
    w.pass(200);
    assert_eq!(w.k.guest_deadline_armed(id), at);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.k.guest_deadline_armed(id), at, "the call itself handles no deadlines");
    w.come_down();
    assert_eq!((w.current(), w.k.guest_deadline_armed(id)), (monitor.id, 0));
    assert_eq!(w.k.m.peek(id).apic.deliverable(), Some(0x30));
    assert!(!w.k.m.holds_passenger);
    // The monitor becomes as urgent as the task, then less urgent again.
    w.root(Call::ThreadSuspend, [task.thread]);
    w.root(Call::ThreadResume, [task.thread]);
    assert!(w.k.m.holds_passenger);
    w.root(Call::ContextSetPriority, [monitor.context, 9]);
    assert!(!w.k.m.holds_passenger);
    w.root(Call::ContextSetPriority, [monitor.context, 2]);
    assert!(w.k.m.holds_passenger);
    w.root(Call::CapDelete, [0, vcpu]);
    assert!(!w.k.m.holds_passenger, "there is no passenger any more");
}

/// How often a line was masked, and how often unmasked.
fn masked(w: &World, line: u32) -> (usize, usize) {
    let count = |masked| w.k.m.events.iter().filter(|e| **e == Event::Mask(line, masked)).count();
    (count(true), count(false))
}

/// An edge-triggered line interrupts once, and again only after its less urgent handler has run.
#[test]
fn edges_come_once_until_the_handler_runs() {
    const LINE: u32 = 5;
    let mut w = World::new();
    let (interrupt, note) = (w.free_slot(), w.make(Kind::Notification, 0));
    w.root(Call::InterruptCreate, [slot::IRQ, LINE.into(), 0, interrupt, slot::REGION]);
    w.root(Call::InterruptBind, [interrupt, note, 1]);
    w.k.m.events.clear();
    let handler = w.worker(10);
    w.call(Call::Wait, [note, NEVER]);
    // The CPU is idle: the handler runs at once, and nothing is held back.
    w.rt_interrupt(0xf0);
    assert_eq!((w.current(), masked(&w, LINE)), (handler.id, (0, 0)));
    // The handler runs: the line is held back after the second edge, until the handler takes the
    // bits.
    w.rt_interrupt(0xf0);
    assert_eq!(masked(&w, LINE), (1, 0));
    w.ok(Call::Wait, [note, NEVER]);
    assert_eq!(masked(&w, LINE), (1, 1));
    // A more urgent thread runs: the line is held back until the handler runs, here because its
    // priority rises.
    w.call(Call::Wait, [note, NEVER]);
    let top = w.worker(20);
    w.rt_interrupt(0xf0);
    assert_eq!((w.current(), masked(&w, LINE)), (top.id, (2, 1)));
    w.root(Call::ContextSetPriority, [handler.context, 30]);
    assert_eq!((w.current(), masked(&w, LINE)), (handler.id, (2, 2)));
    w.root(Call::ContextSetPriority, [handler.context, 10]);
    // The handler was preempted: the line is held back until it takes the bits.
    w.rt_interrupt(0xf0);
    assert_eq!((w.current(), masked(&w, LINE)), (top.id, (3, 2)));
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!((w.current(), masked(&w, LINE)), (handler.id, (3, 2)));
    assert_eq!(w.ok(Call::Wait, [note, NEVER]).words[0], 1);
    assert_eq!(masked(&w, LINE), (3, 3));
    // The handler is deleted while the line is held back for it.
    w.call(Call::Wait, [note, NEVER]);
    let other = w.worker(40);
    w.rt_interrupt(0xf0);
    assert_eq!((w.current(), masked(&w, LINE)), (other.id, (4, 3)));
    w.root(Call::CapDelete, [0, handler.thread]);
    assert_eq!(masked(&w, LINE), (4, 4));
    // No thread waits: the line is held back until an acknowledgement, or until a thread takes the
    // bits.
    w.rt_interrupt(0xf0);
    w.ok(Call::InterruptAck, [interrupt]);
    w.rt_interrupt(0xf0);
    assert_eq!(masked(&w, LINE), (6, 5));
    w.root(Call::CapDelete, [0, interrupt]);
    assert_eq!(w.k.cpu.held_lines, 0);
}

/// A reply can lower the running priority without changing the context: a server that runs on its
/// caller's context, raised by a queued caller, answers its caller. Deadlines that did not matter
/// while it was raised are met, and the passenger's interrupts come through.
#[test]
fn a_reply_on_the_same_time_brings_the_cpu_down() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server(endpoint, None);
    let sleeper = w.worker(30);
    w.call(Call::Sleep, [0, w.k.m.clock + 1000]);
    let low = w.worker(20);
    w.call(Call::Call, [endpoint, 20]);
    w.pass(10);
    let high = w.worker(45);
    w.call(Call::Call, [endpoint, 45]);
    assert_eq!((w.current(), w.priority(server.id)), (server.id, 45));
    w.call(Call::Reply, [0, 0]);
    assert_eq!((w.current(), w.priority(low.id)), (low.id, 20));
    w.expect(high.id, State::Calling);
    w.pass(1000);
    assert_eq!(w.current(), sleeper.id, "the sleeper must wake in time");
}
