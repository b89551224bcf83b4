//! Budgets, order among threads of equal priority, timers, sleeping.

use crate::machine::world::{Worker, World, slot};
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

/// Where a thread is after an event during which its next instruction was at `next`; its sequence
/// goes from 0x2000 to 0x2010.
fn after(next: u64, event: impl FnOnce(&mut World, Worker)) -> u64 {
    let mut w = World::new();
    let t = w.limited(10, 30, 100);
    w.root(Call::ThreadSetSequence, [t.thread, 0x2000, 0x2010]);
    w.k.m.frame(t.id).rip = next;
    event(&mut w, t);
    w.frame(t.id).rip
}

#[test]
fn a_sequence_begins_again_if_the_thread_does_not_run_on_in_it() {
    for (next, then) in [(0x1fff, 0x1fff), (0x2000, 0x2000), (0x2001, 0x2000), (0x200f, 0x2000), (0x2010, 0x2010)] {
        assert_eq!(after(next, |w, _| w.pass(30)), then, "the budget ends at {next:#x}");
        assert_eq!(after(next, |w, t| _ = w.root(Call::ThreadSuspend, [t.thread])), then, "suspended at {next:#x}");
        assert_eq!(after(next, |w, _| w.pass(29)), next, "it runs on");
        let preempted = |w: &mut World, _: Worker| {
            w.worker(20);
            w.pass(200);
        };
        assert_eq!(after(next, preempted), next, "preempted at {next:#x}");
        let where_guests_are_boosted = |w: &mut World, t: Worker| {
            let other = w.worker(1);
            w.root(Call::ContextAllowBoost, [slot::SCHED, other.context, 40, 30, 100]);
            preempted(w, t);
        };
        assert_eq!(after(next, where_guests_are_boosted), then, "a guest may run then, too");
    }
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

/// A capability that sets one bit.
fn badged(w: &mut World, note: u64) -> u64 {
    let slot = w.free_slot();
    w.root(Call::CapDerive, [0, slot, note, 15, 1]);
    slot
}

/// Whom a thread signals and gives way to runs before it if it is as urgent, behind those that were
/// ready; a less urgent one does not.
#[test]
fn who_is_as_urgent_runs_before_who_signals() {
    let mut w = World::new();
    let notes: Vec<u64> = (0..3).map(|_| w.make(Kind::Notification, 0)).collect();
    let badged: Vec<u64> = notes.iter().map(|note| badged(&mut w, *note)).collect();
    let [equal, low, high] = [5, 4, 6].map(|priority| w.worker(priority));
    for (thread, note) in [(high, 2), (equal, 0), (low, 1)] {
        assert_eq!(w.current(), thread.id);
        w.call(Call::Wait, [notes[note], NEVER]);
    }
    let (caller, ready) = (w.worker(5), w.worker(5));
    assert_eq!(w.current(), caller.id);
    w.call(Call::SignalYield, [badged[2]]);
    assert_eq!(w.current(), high.id);
    w.call(Call::Wait, [notes[2], NEVER]);
    assert_eq!(w.current(), caller.id, "it was preempted, and gives way to nobody else");
    w.ok(Call::SignalYield, [badged[0]]);
    assert_eq!(w.current(), ready.id, "it was ready before");
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!((w.current(), w.frame(equal.id).words[0]), (equal.id, 1));
    w.call(Call::Wait, [notes[0], NEVER]);
    assert_eq!(w.current(), caller.id);
    w.ok(Call::SignalYield, [badged[1]]);
    assert_eq!(w.current(), caller.id);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.current(), low.id);
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
        let context = context.id();
        let [_, exhausted] = w.k.m.peek(context.used()).so_far();
        assert!(exhausted >= 2);
    }
}

/// How a task of [`longest_response`] waits for its next release.
#[derive(Clone, Copy)]
enum Release {
    Sleep,
    /// A timer object, of whose notification the task waits.
    Timer,
}

/// The longest response of a task of priority 10, with a budget of 400 in 1,000 of which each job
/// takes `demand`, beside one of priority 20 that uses all but two ticks of `budget` in `period`.
/// Both are released once in a period, together at the start.
fn longest_response(demand: u64, [budget, period]: [u64; 2], release: Release) -> u64 {
    let mut w = World::new();
    w.checked = false;
    w.worker(1);
    let (timer, note) = (w.make(Kind::Timer, 0), w.make(Kind::Notification, 0));
    w.root(Call::TimerBind, [timer, note, 1]);
    let urgent = w.limited(20, budget, period);
    let task = w.limited(10, 400, 1000);
    let start = w.k.m.clock + 80_000;
    let wait_for = |w: &mut World, at: u64| {
        let watched = w.current() == task.id;
        match release {
            Release::Timer if watched => {
                w.call(Call::TimerSet, [timer, at]);
                w.call(Call::Wait, [note, NEVER]);
            }
            _ => _ = w.call(Call::Sleep, [0, at]),
        }
        // A release that has passed meanwhile.
        w.pass(0);
    };
    wait_for(&mut w, start);
    wait_for(&mut w, start);
    w.pass(start - w.k.m.clock);
    let (mut work, mut released, mut longest) = ([budget - 2, demand], [0, 0], 0);
    for now in 0..60_000 {
        assert_eq!(w.k.m.clock, start + now);
        while let Some(who) = (0..2).find(|i| w.k.cpu.current == Some([urgent.id, task.id][*i]) && work[*i] == 0) {
            released[who] += [period, 1000][who];
            work[who] = [budget - 2, demand][who];
            wait_for(&mut w, start + released[who]);
        }
        let on = [urgent.id, task.id].iter().position(|id| w.k.cpu.current == Some(*id));
        w.pass(1);
        let Some(who) = on else { continue };
        work[who] -= 1;
        if who == 1 && work[1] == 0 {
            longest = longest.max(now + 1 - released[1]);
        }
    }
    longest
}

/// A period begins when its thread would have become ready, although the kernel looks later because
/// a more urgent one runs: otherwise each period would begin later than the one before, until the
/// task waits for a replenishment on an idle processor.
#[test]
fn no_response_is_longer_than_computed() {
    for release in [Release::Sleep, Release::Timer] {
        for [budget, period] in [[300, 800], [280, 600], [295, 700], [200, 410], [130, 310], [420, 900]] {
            let mut bound = 400;
            while bound != 400 + u64::div_ceil(bound, period) * budget {
                bound = 400 + u64::div_ceil(bound, period) * budget;
            }
            for demand in (200..400).step_by(20).chain([395, 399]) {
                let found = longest_response(demand, [budget, period], release);
                assert!(found <= bound.min(1000), "{demand} beside {budget} in {period}: {found}, computed {bound}");
            }
        }
    }
}
