//! Boosts: what a guest runs is urgent for a limited part of the time.

use crate::machine::world::{Worker, World, slot};
use pillion_abi::{NEVER, call::Call, dual::CALM, object::Kind, status::Error};
use pillion_core::{Cap, Id, thread::State, vcpu::Vcpu};
use proptest::prelude::*;

const VECTOR: u64 = 0x33;

struct Guest {
    w: World,
    /// The thread that runs it, with priority 3.
    monitor: Worker,
    vcpu: u64,
    id: Id<Vcpu>,
    note: u64,
}

impl Guest {
    /// A guest that runs, and may be boosted to 40, for 30 ticks in 100.
    fn new() -> Guest {
        Guest::with(|w| w.worker(3))
    }

    fn with(monitor: impl FnOnce(&mut World) -> Worker) -> Guest {
        let mut w = World::new();
        let (vcpu, space) = (w.make(Kind::Vcpu, 0), w.make(Kind::GuestSpace, 4));
        let (state, note) = (w.make(Kind::Memory, 4096), w.make(Kind::Notification, 0));
        let signals = w.make(Kind::CapSpace, 2);
        w.root(Call::VcpuConfigure, [vcpu, space, state]);
        w.root(Call::VcpuBindSignals, [vcpu, signals]);
        let monitor = monitor(&mut w);
        w.root(Call::ContextAllowBoost, [slot::SCHED, monitor.context, 40, 30, 100]);
        let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
        let id = made.id();
        w.enter(Call::VcpuRun as u64, [vcpu, 0, 0, 0, 0, 0]);
        Guest { w, monitor, vcpu, id, note }
    }

    fn urgency(&mut self, urgency: u64) {
        self.w.k.m.begin_entry();
        assert_eq!(self.w.k.guest_urgency(self.id, urgency), Ok(()));
        self.w.leave("guest");
    }

    /// A task has it boosted while that thread runs.
    fn urgency_from(&mut self, runs: Worker, urgency: u64) {
        assert_eq!(self.w.current(), runs.id);
        self.w.worker(60);
        self.w.call(Call::VcpuNotify, [self.vcpu, VECTOR, self.note, urgency]);
    }

    fn level(&mut self) -> u8 {
        self.w.priority(self.monitor.id)
    }
}

#[test]
fn a_boost_lasts_as_long_as_its_budget() {
    let mut g = Guest::new();
    g.urgency(20);
    let start = g.w.k.m.clock;
    let middle = g.w.worker(10);
    assert_eq!((g.level(), g.w.current(), g.w.k.m.programmed), (20, g.monitor.id, start + 30));
    g.w.pass(29);
    assert_eq!(g.w.current(), g.monitor.id);
    g.w.pass(1);
    assert_eq!((g.level(), g.w.current()), (3, middle.id), "it is less urgent, and not stopped");
    g.w.call(Call::Sleep, [0, start + 90]);
    assert_eq!((g.w.current(), g.w.k.m.programmed), (g.monitor.id, start + 90), "its own budget has no limit");
    g.urgency(20);
    assert_eq!(g.level(), 3, "the boost's period is not over");
    g.w.pass(70);
    assert_eq!(g.w.current(), middle.id);
    g.w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(g.w.k.m.programmed, NEVER);
    g.urgency(20);
    assert_eq!((g.level(), g.w.k.m.programmed), (20, g.w.k.m.clock + 30));
}

#[test]
fn a_boost_ends_when_the_guest_says_so() {
    let mut g = Guest::new();
    let middle = g.w.worker(10);
    g.w.call(Call::Sleep, [0, NEVER]);
    g.urgency(20);
    g.w.pass(10);
    g.urgency(0);
    assert_eq!((g.level(), g.w.k.m.programmed), (3, NEVER));
    g.w.pass(5);
    g.urgency(255);
    assert_eq!((g.level(), g.w.k.m.programmed), (40, g.w.k.m.clock + 20), "up to the ceiling, for the rest");
    g.urgency(4);
    assert_eq!((g.level(), g.w.k.m.programmed), (4, g.w.k.m.clock + 20));
    g.urgency(3);
    assert_eq!((g.level(), g.w.k.m.programmed), (3, NEVER), "as urgent as it is anyway");
    g.w.expect(middle.id, State::Sleeping);
}

#[test]
fn a_task_boosts_the_guest_that_it_notifies() {
    let mut g = Guest::new();
    let middle = g.w.worker(10);
    let task = g.w.worker(50);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 20 | 0xd0 << 8]);
    assert_eq!((g.level(), g.w.current()), (20, g.monitor.id), "before the thread in the middle");
    assert_eq!(g.w.k.m.peek(g.id).apic.deliverable(), None, "the vector is below the shield");
    g.w.expect(task.id, State::Waiting);
    let other = g.w.worker(50);
    let note = g.w.make(Kind::Notification, 0);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, note, 12]);
    assert_eq!((g.level(), g.w.current()), (20, g.monitor.id), "it is at least that urgent already");
    g.w.expect(other.id, State::Waiting);
    g.urgency(0);
    assert_eq!((g.level(), g.w.current()), (3, middle.id));
    assert_eq!(g.w.k.m.peek(g.id).apic.deliverable(), Some(VECTOR as u8));
}

/// The monitor is not in the guest at that moment: the guest has to ask for the boost itself.
#[test]
fn no_boost_while_the_monitor_works() {
    let mut g = Guest::new();
    g.w.k.m.begin_entry();
    g.w.k.leave_guest_with(g.monitor.id, 0, 0);
    g.w.leave("exit");
    g.w.worker(50);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 20]);
    g.w.enter(Call::VcpuRun as u64, [g.vcpu, 0, 0, 0, 0, 0]);
    assert_eq!((g.level(), g.w.current()), (3, g.monitor.id));
    g.urgency(20);
    assert_eq!(g.level(), 20);
}

/// A guest whose own budget is used up gets the boost's time, and waits for its own afterwards.
#[test]
fn a_boost_has_a_budget_of_its_own() {
    let mut g = Guest::with(|w| w.limited(3, 50, 1000));
    let start = g.w.k.m.clock;
    let background = g.w.worker(1);
    g.w.pass(50);
    assert_eq!(g.w.current(), background.id);
    let task = g.w.worker(50);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 20]);
    assert_eq!((g.level(), g.w.current()), (20, g.monitor.id));
    g.w.pass(30);
    assert_eq!((g.level(), g.w.current()), (3, background.id));
    assert_eq!(g.w.k.m.programmed, start + 1000, "when its own budget is replenished");
    g.w.pass(920);
    assert_eq!(g.w.current(), g.monitor.id);
    g.w.expect(task.id, State::Waiting);
}

/// Where both are used up at once, the thread that was queued meanwhile runs.
#[test]
fn nobody_is_lost_where_a_boost_ends() {
    let mut g = Guest::with(|w| w.limited(3, 50, 1000));
    g.w.worker(1);
    g.w.pass(50);
    g.w.worker(50);
    g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, g.note, 20]);
    let middle = g.w.worker(10);
    g.w.pass(30);
    assert_eq!((g.level(), g.w.current()), (3, middle.id));
}

/// A boost that lasts from one period into the next is not replenished.
#[test]
fn a_boost_is_not_replenished_by_itself() {
    let mut g = Guest::new();
    let middle = g.w.worker(10);
    g.urgency_from(middle, 20);
    g.w.pass(10);
    let task = g.w.worker(50);
    g.w.pass(100);
    g.w.call(Call::Sleep, [0, NEVER]);
    assert_eq!((g.w.current(), g.w.k.m.programmed), (g.monitor.id, g.w.k.m.clock + 20));
    g.w.pass(20);
    assert_eq!((g.level(), g.w.current()), (3, middle.id));
    g.w.expect(task.id, State::Sleeping);
}

#[test]
fn who_may_boost() {
    let mut g = Guest::new();
    let context = g.monitor.context;
    for (ceiling, budget, period) in
        [(256, 30, 100), (40, 0, 100), (40, 101, 100), (40, NEVER, 0), (40, 30, NEVER / 4), (u64::MAX, 1, 1)]
    {
        let arguments = [slot::SCHED, context, ceiling, budget, period];
        g.w.root_fails(Call::ContextAllowBoost, arguments, Error::BadArgument);
    }
    g.w.root_fails(Call::ContextAllowBoost, [slot::SCHED, slot::NOTE, 40, 30, 100], Error::WrongKind);
    g.w.root_fails(Call::ContextAllowBoost, [slot::NOTE, context, 40, 30, 100], Error::WrongKind);
    g.urgency(20);
    assert_eq!(g.level(), 20);
    // A new priority, new rules, and new budgets end a boost, and forbid none.
    g.w.root(Call::ContextSetPriority, [context, 5]);
    assert_eq!(g.level(), 5);
    g.urgency(20);
    assert_eq!(g.level(), 20);
    g.w.root(Call::ContextConfigure, [slot::SCHED, context, 6, NEVER, 0, 255]);
    assert_eq!(g.level(), 6);
    g.w.root(Call::ContextAllowBoost, [slot::SCHED, context, 30, 50, 100]);
    g.urgency(40);
    assert_eq!(g.level(), 6, "new rules do not replenish what was used");
    g.w.pass(100);
    g.urgency(40);
    assert_eq!(g.level(), 30);
    g.w.root(Call::ContextAllowBoost, [slot::SCHED, context, 0, 0, 0]);
    assert_eq!(g.level(), 6);
    g.urgency(40);
    assert_eq!(g.level(), 6);
    g.w.root(Call::VcpuBindSignals, [g.vcpu, 0]);
    assert_eq!(g.w.k.guest_urgency(g.id, 40), Err(Error::Unsupported));
    assert_eq!(g.w.k.guest_signal(g.id, CALM), Err(Error::Unsupported));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the guest says, others lose no more time to it than k + 2 budgets in k periods.
    #[test]
    fn never_gets_more_than_its_share(steps in prop::collection::vec((0u64..60, 1u64..50), 1..30)) {
        let mut g = Guest::new();
        g.w.worker(10);
        g.w.checked = false;
        let (start, mut lost) = (g.w.k.m.clock, 0);
        for (urgency, ticks) in steps {
            // The guest does not run while it is less urgent than the other; then a task does it.
            if g.w.current() == g.monitor.id {
                g.urgency(urgency);
            } else {
                g.w.worker(50);
                let note = g.w.make(Kind::Notification, 0);
                g.w.call(Call::VcpuNotify, [g.vcpu, VECTOR, note, urgency]);
            }
            for _ in 0..ticks {
                lost += u64::from(g.w.current() == g.monitor.id);
                g.w.pass(1);
            }
            prop_assert!(lost <= ((g.w.k.m.clock - start) / 100 + 2) * 30, "{lost} ticks");
        }
    }
}

/// A boost is for what the guest runs on its own processor, where the check counts its budget. What
/// the monitor does on another processor meanwhile is as urgent as the guest always is.
#[test]
fn a_boost_is_no_boost_on_another_processor() {
    let mut w = World::of(2);
    let space = w.make(Kind::GuestSpace, 4);
    let [vcpu, there] = [0, 1].map(|processor| {
        let (vcpu, state) = (w.make(Kind::Vcpu, processor), w.make(Kind::Memory, 4096));
        w.root(Call::VcpuConfigure, [vcpu, space, state]);
        vcpu
    });
    let signals = w.make(Kind::CapSpace, 2);
    w.root(Call::VcpuBindSignals, [vcpu, signals]);
    // A task on the second processor, less urgent than the boost's ceiling.
    let task = w.limited_of(1, 20, NEVER, 0);
    let monitor = w.worker(3);
    w.root(Call::ContextAllowBoost, [slot::SCHED, monitor.context, 40, 30, 100]);
    w.on(0);
    w.enter(Call::VcpuRun as u64, [vcpu, 0, 0, 0, 0, 0]);
    let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
    // The guest asks for the boost, and makes an exit for which the monitor has a line routed to
    // the other processor.
    w.k.m.begin_entry();
    assert_eq!(w.k.guest_urgency(made.id(), 40), Ok(()));
    w.leave("guest");
    w.k.m.begin_entry();
    w.k.leave_guest_with(monitor.id, 0, 0);
    w.leave("exit");
    w.enter(Call::VcpuInject as u64, [there, VECTOR, 0, 0, 0, 0]);
    assert_eq!(w.state(monitor.id), State::Away);
    w.deliver();
    w.on(1);
    assert_eq!(w.current(), task.id);
    let Cap::Vcpu(other) = w.cap(there) else { panic!() };
    let injected = w.k.m.peek(other.id()).apic.deliverable();
    assert_eq!(injected, None, "it was carried out in the middle of the task's work");
}
