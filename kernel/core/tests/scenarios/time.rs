//! Budgets, order among threads of equal priority, timers, sleeping.

use crate::machine::world::{World, slot};
use pillion_abi::{NEVER, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, thread::State};

#[test]
fn a_budget_runs_out_and_is_filled_again() {
    let mut w = World::new();
    let background = w.worker(1);
    let start = w.k.m.clock;
    let t = w.limited(10, 30, 100);
    assert_eq!((w.current(), w.k.m.programmed), (t.id, start + 30));
    w.pass(29);
    assert_eq!(w.current(), t.id);
    w.pass(1);
    assert_eq!((w.current(), w.k.m.programmed), (background.id, start + 100));
    w.pass(69);
    assert_eq!(w.current(), background.id);
    w.pass(1);
    assert_eq!((w.current(), w.k.m.programmed), (t.id, start + 130));
    let f = w.root(Call::ContextConsumed, [t.context]);
    assert_eq!((f.words[0], f.rsi), (30, 1));
    let f = w.root(Call::ContextConsumed, [background.context]);
    assert_eq!((f.words[0], f.rsi), (70, 0));
    w.pass(1000);
    let f = w.root(Call::ContextConsumed, [t.context]);
    assert_eq!((f.words[0], f.rsi), (330, 11));
}

#[test]
fn what_is_not_used_does_not_pile_up() {
    let mut w = World::new();
    let t = w.limited(10, 30, 100);
    w.pass(10);
    let now = w.k.m.clock;
    w.call(Call::Sleep, [0, now + 1000]);
    assert_eq!(w.k.cpu.current, None);
    w.pass(1000);
    assert_eq!((w.current(), w.k.m.programmed), (t.id, now + 1030));
}

#[test]
fn a_server_without_time_waits_for_its_callers_refill() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server(endpoint, None);
    let start = w.k.m.clock;
    let t = w.limited(10, 30, 100);
    w.pass(20);
    w.call(Call::Call, [endpoint, 1]);
    assert_eq!(w.current(), server.id);
    w.pass(10);
    assert_eq!(w.k.cpu.current, None);
    w.expect(server.id, State::Ready);
    w.pass(70);
    assert_eq!((w.current(), w.k.m.programmed), (server.id, start + 130));
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), t.id);
}

/// A caller whose budget runs out by the time of the reply is answered, and the next thread runs.
#[test]
fn an_answer_to_a_caller_without_budget() {
    let mut w = World::new();
    let endpoint = w.make(Kind::Endpoint, 0);
    let server = w.server(endpoint, Some(4));
    let t = w.limited(10, 30, 100);
    w.pass(29);
    w.call(Call::Call, [endpoint, 1]);
    w.pass(5);
    assert_eq!(w.current(), server.id);
    w.k.m.clock += 3;
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.current(), t.id, "one tick is left");
    w.k.m.clock += 1;
    w.call(Call::Call, [endpoint, 1]);
    w.call(Call::ReplyReceive, [0, 0]);
    assert_eq!(w.k.cpu.current, None);
    w.expect(t.id, State::Ready);
    w.pass(65);
    assert_eq!(w.current(), t.id);
}

#[test]
fn a_context_that_is_configured_anew() {
    let mut w = World::new();
    let start = w.k.m.clock;
    let t = w.limited(10, 30, 1000);
    w.pass(30);
    assert_eq!(w.k.cpu.current, None);
    w.root(Call::ContextConfigure, [slot::SCHED, t.context, 10, 50, 100]);
    assert_eq!((w.current(), w.k.m.programmed), (t.id, start + 80), "the thread runs at once");
    w.pass(20);
    // The thread reconfigures its own context while it runs: it does not get two budgets in a
    // period.
    w.ok(Call::ContextConfigure, [slot::SCHED, t.context, 10, 40, 100]);
    assert_eq!(w.k.m.programmed, start + 90);
    w.pass(40);
    assert_eq!((w.k.cpu.current, w.k.m.programmed), (None, start + 150));
    w.root(Call::ContextConfigure, [slot::SCHED, t.context, 10, NEVER, 0]);
    assert_eq!((w.current(), w.k.m.programmed), (t.id, NEVER));
    w.root(Call::ThreadBindContext, [t.thread, 0]);
    assert_eq!(w.k.cpu.current, None);
    w.expect(t.id, State::Ready);
    w.root(Call::ThreadBindContext, [t.thread, t.context]);
    assert_eq!(w.current(), t.id);
}

#[test]
fn first_come_first_served_among_equals() {
    let mut w = World::new();
    let (a, b, c) = (w.worker(5), w.worker(5), w.worker(5));
    assert_eq!(w.current(), a.id);
    w.call(Call::Yield, []);
    assert_eq!(w.current(), b.id);
    let high = w.worker(6);
    assert_eq!(w.current(), high.id);
    let now = w.k.m.clock;
    w.call(Call::Sleep, [0, now + 10]);
    assert_eq!(w.current(), b.id, "the preempted thread continues");
    w.pass(10);
    assert_eq!(w.current(), high.id);
    w.call(Call::Sleep, [0, NEVER]);
    w.call(Call::Yield, []);
    assert_eq!(w.current(), c.id);
    w.call(Call::Yield, []);
    assert_eq!(w.current(), a.id);
    w.call(Call::Sleep, [0, NEVER]);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), c.id);
    w.call(Call::Yield, []);
    assert_eq!(w.current(), c.id);
}

#[test]
fn timers_signal() {
    let mut w = World::new();
    let (timer, note) = (w.make(Kind::Timer, 0), w.make(Kind::Notification, 0));
    w.root(Call::TimerBind, [timer, note, 12]);
    w.root_fails(Call::TimerBind, [timer, note, 1], Error::Busy);
    let t = w.worker(10);
    let now = w.k.m.clock;
    w.ok(Call::TimerSet, [timer, now + 100]);
    w.ok(Call::TimerSet, [timer, now + 50]);
    w.call(Call::Wait, [note, now + 70]);
    w.pass(50);
    assert_eq!((w.current(), w.frame(t.id).words[0]), (t.id, 12));
    w.ok(Call::TimerSet, [timer, now + 90]);
    w.ok(Call::TimerSet, [timer, NEVER]);
    w.pass(1000);
    w.ok(Call::TimerSet, [timer, 1]);
    w.timer();
    assert_eq!(w.call(Call::Wait, [note, 0]).words[0], 12);
    w.root(Call::CapDelete, [0, note]);
    w.ok(Call::TimerSet, [timer, 1]);
    w.timer();
}

/// Deadlines that expire together are handled one by one: the most urgent at the interrupt, the
/// others when the running priority has dropped to theirs.
#[test]
fn many_things_at_one_time() {
    let mut w = World::new();
    let threads: Vec<_> = (0..20).map(|i| w.worker(10 + i)).collect();
    for t in threads.iter().rev() {
        assert_eq!(w.current(), t.id);
        w.call(Call::Sleep, [0, 5000]);
    }
    w.pass(10_000);
    for t in threads.iter().rev() {
        assert_eq!(w.current(), t.id);
        let now = w.k.m.clock;
        w.call(Call::Sleep, [0, now + 50_000]);
        w.pass(0);
    }
    assert_eq!(w.k.cpu.current, None);
}

/// More threads with empty budgets than the kernel skips in one exit.
#[test]
fn many_empty_budgets() {
    let mut w = World::new();
    let threads: Vec<_> = (0..8).map(|_| w.limited(10, 5, 10_000)).collect();
    for _ in &threads {
        w.k.m.clock += 5;
        w.timer();
    }
    assert_eq!(w.k.cpu.current, None);
    let now = w.k.m.clock;
    w.pass(20_000);
    assert!(w.k.m.clock > now);
    for t in threads {
        let Cap::Context(context) = w.cap(t.context) else { panic!() };
        assert!(w.k.m.peek(context).exhausted >= 2);
    }
}
