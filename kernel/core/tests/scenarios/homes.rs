//! Objects that belong to other processors.

use crate::machine::world::{Worker, World, args, slot};
use pillion_abi::{
    NEVER,
    call::{Call, irq},
    object::Kind,
    status::Error,
    vcpu::route,
};
use pillion_core::{
    Cap, Id, Outcome,
    thread::{State, Thread},
};

/// The number of a processor in the flags of `InterruptCreate`.
const fn home(processor: u64) -> u64 {
    processor << irq::HOME_SHIFT
}

#[test]
fn a_processor_must_run() {
    let mut w = World::of(2);
    let at = w.free_slot();
    for kind in [Kind::Thread, Kind::SchedContext, Kind::Endpoint, Kind::Notification, Kind::Timer, Kind::Vcpu] {
        for processor in [2, 255, 256, u64::MAX] {
            w.root_fails(Call::RegionCreate, [slot::REGION, kind as u64, processor, at], Error::BadArgument);
        }
        w.make(kind, 1);
    }
    w.root_fails(Call::InterruptCreate, [slot::IRQ, 5, home(2), at, slot::REGION], Error::BadArgument);
}

#[test]
fn what_is_bound_together_has_one_home() {
    let mut w = World::of(3);
    let (thread, _) = w.bare_thread();
    let (context, note) = (w.make(Kind::SchedContext, 1), w.make(Kind::Notification, 2));
    let (endpoint, timer) = (w.make(Kind::Endpoint, 0), w.make(Kind::Timer, 0));
    let line = w.free_slot();
    w.root(Call::InterruptCreate, [slot::IRQ, 5, 0, line, slot::REGION]);
    w.root_fails(Call::ThreadBindContext, [thread, context], Error::Elsewhere);
    w.root_fails(Call::ThreadBindNotification, [thread, note], Error::Elsewhere);
    w.root_fails(Call::TimerBind, [timer, note, 1], Error::Elsewhere);
    w.root_fails(Call::InterruptBind, [line, note, 1], Error::Elsewhere);
    w.root_runs();
    w.fails(Call::Wait, [note, NEVER], Error::Elsewhere);
    let vcpu = {
        w.root_waits();
        w.make(Kind::Vcpu, 1)
    };
    w.root_runs();
    assert_eq!(w.enter(Call::VcpuRun as u64, args([vcpu])), Outcome::Arranged);
    assert_eq!(Error::from_raw(w.frame(w.root).rax), Some(Error::Elsewhere));
    w.root_waits();
    w.root(Call::EndpointBind, [endpoint, thread]);
}

#[test]
fn a_capability_for_what_is_elsewhere_is_like_any_other() {
    let mut w = World::of(2);
    let (note, copy, moved) = (w.make(Kind::Notification, 1), w.free_slot(), w.free_slot());
    w.root(Call::CapDerive, [0, copy, note, 15, 7]);
    w.root(Call::CapMove, [0, moved, copy]);
    let f = w.root(Call::CapIdentify, [moved]);
    assert_eq!(f.words[0], Kind::Notification as u64);
    w.root(Call::CapDelete, [0, moved]);
}

/// A thread of another processor that starts there, with a priority, and its context.
fn started(w: &mut World, processor: u64, priority: u64) -> (u64, u64, Id<Thread>) {
    let (thread, context) = (w.make(Kind::Thread, processor), w.make(Kind::SchedContext, processor));
    w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
    w.root(Call::ContextConfigure, [slot::SCHED, context, priority, NEVER, 0, 255]);
    w.root(Call::ThreadBindContext, [thread, context]);
    w.root(Call::ThreadSetRegisters, [thread, 0x4000, 0x5000, 3]);
    w.root(Call::ThreadResume, [thread]);
    let Cap::Thread(made) = w.cap(thread) else { panic!() };
    (thread, context, made.id())
}

#[test]
fn a_thread_is_started_and_stopped_from_elsewhere() {
    let mut w = World::of(2);
    let (thread, _, id) = started(&mut w, 1, 20);
    w.on(1);
    assert_eq!(w.k.cpu.current, Some(id));
    assert_eq!((w.frame(id).rip, w.frame(id).rdi), (0x4000, 3));
    w.call(Call::Sleep, [0, NEVER]);
    let f = w.root(Call::ThreadRegister, [thread, 0]);
    assert_eq!((f.words[0], f.rsi), (0x4000, 0x5000));
    w.root(Call::ThreadSuspend, [thread]);
    w.root_fails(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 99], Error::BadArgument);
    w.on(1);
    assert_eq!((w.k.cpu.current, w.state(id)), (None, State::Stopped));
}

#[test]
fn a_visit_waits_for_what_is_more_urgent() {
    let mut w = World::of(2);
    let (thread, _, busy) = started(&mut w, 1, 100);
    let caller = w.worker(50);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    w.deliver();
    w.on(0);
    assert_eq!(w.state(caller.id), State::Away);
    w.on(1);
    assert_eq!(w.k.cpu.current, Some(busy));
    // A visit of somebody more urgent, meanwhile.
    w.root(Call::ThreadRegister, [thread, 0]);
    w.on(1);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.state(busy), State::Stopped);
    w.deliver();
    w.on(0);
    assert_eq!((w.state(caller.id), w.frame(caller.id).rax), (State::Ready, 0));
}

#[test]
fn a_thread_that_is_away_is_called_back() {
    let mut w = World::of(2);
    let (thread, _, busy) = started(&mut w, 1, 100);
    let caller = w.worker(50);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    w.deliver();
    w.root(Call::ThreadSuspend, [caller.thread]);
    w.on(0);
    assert_eq!(w.state(caller.id), State::Stopped);
    w.on(1);
    w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(w.state(busy), State::Sleeping, "nobody suspends it any more");
    // Once it runs again, it makes its call again.
    w.root(Call::ThreadResume, [caller.thread]);
    let (number, again) = w.again[&caller.id.number()];
    w.enter(number, again);
    w.deliver();
    w.on(1);
    assert_eq!(w.state(busy), State::Stopped);
}

#[test]
fn a_visit_that_waits_lets_letters_in() {
    let mut w = World::of(2);
    let (thread, _, id) = started(&mut w, 1, 20);
    let here = w.worker(50);
    w.on(1);
    assert_eq!(w.current(), id);
    w.enter(Call::ThreadRegister as u64, args([here.thread, 0]));
    w.deliver();
    // It is away when it is to be suspended, so the visit has to wait until it is back.
    w.root_runs();
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    w.deliver_one(0);
    assert_eq!((w.k.cpu.number, w.state(id)), (1, State::Away));
    assert!(w.k.m.programmed > w.k.m.clock, "the timer goes before all letters");
    w.deliver();
    w.on(1);
    assert_eq!(w.state(id), State::Stopped);
}

/// Others may change capabilities for as long as they like, and what comes for more urgent threads
/// does not wait for that.
#[test]
fn a_visit_that_waits_for_capabilities_lets_letters_in() {
    let mut w = World::of(2);
    let (thread, _, busy) = started(&mut w, 1, 20);
    let caller = w.worker(50);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    // Every time.
    w.k.m.tree_every = 1;
    w.deliver_one(0);
    assert_eq!((w.k.cpu.number, w.k.cpu.current), (1, Some(busy)));
    assert!(w.k.m.programmed > w.k.m.clock, "the timer goes before all letters");
    w.k.m.tree_every = 0;
    w.deliver();
    w.on(1);
    assert_eq!(w.state(busy), State::Stopped);
    w.on(0);
    assert_eq!((w.state(caller.id), w.frame(caller.id).rax), (State::Ready, 0));
}

#[test]
fn a_visit_takes_the_priority_of_its_caller() {
    let mut w = World::of(2);
    let (thread, _, busy) = started(&mut w, 1, 100);
    let caller = w.worker(50);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    w.deliver();
    w.root(Call::ContextSetPriority, [caller.context, 150]);
    w.deliver();
    w.on(1);
    assert_eq!(w.state(busy), State::Stopped);
}

#[test]
fn each_can_end_the_other() {
    let mut w = World::of(2);
    let (there, _, id) = started(&mut w, 1, 100);
    let here = w.worker(50);
    w.enter(Call::CapDelete as u64, args([0, there]));
    w.on(1);
    assert_eq!(w.k.cpu.current, Some(id));
    w.enter(Call::ThreadSuspend as u64, args([here.thread]));
    for _ in 0..20 {
        w.deliver();
        for processor in 0..2 {
            w.on(processor);
            if w.k.m.programmed <= w.k.m.clock {
                w.timer();
            }
        }
    }
    w.on(0);
    let stopped = w.state(here.id) == State::Stopped;
    w.on(1);
    let ended = !w.k.m.is_live(id);
    assert!(stopped || ended);
}

#[test]
fn what_is_of_many_is_deleted_in_one_call() {
    for every in [0, 1, 2] {
        let mut w = World::of(3).interrupted_every(every);
        let region = w.make(Kind::Region, 32 * pillion_abi::PAGE);
        for processor in [1, 0, 2, 1] {
            let (thread, context) = (w.free_slot(), w.free_slot());
            w.root(Call::RegionCreate, [region, Kind::Thread as u64, processor, thread]);
            w.root(Call::RegionCreate, [region, Kind::SchedContext as u64, processor, context]);
            w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
            w.root(Call::ContextConfigure, [slot::SCHED, context, 20, NEVER, 0, 255]);
            w.root(Call::ThreadBindContext, [thread, context]);
            w.root(Call::ThreadResume, [thread]);
        }
        let before = w.k.m.live.len();
        w.root(Call::RegionReset, [region]);
        assert_eq!(w.k.m.live.len(), before - 8);
    }
}

/// A region with a notification of the second processor and one of the first, which is deleted
/// before that; and the latter.
fn region_of_two(w: &mut World) -> (u64, u64) {
    let region = w.make(Kind::Region, 32 * pillion_abi::PAGE);
    let [_, here] = [1, 0].map(|processor| {
        let note = w.free_slot();
        w.root(Call::RegionCreate, [region, Kind::Notification as u64, processor, note]);
        note
    });
    (region, here)
}

/// A region with five notifications of processor 1, so that its reset takes steps there.
fn region_of_five(w: &mut World) -> u64 {
    let region = w.make(Kind::Region, 32 * pillion_abi::PAGE);
    for _ in 0..5 {
        let note = w.free_slot();
        w.root(Call::RegionCreate, [region, Kind::Notification as u64, 1, note]);
    }
    region
}

/// A long call takes no more of another processor's time than the caller's budget, and a step.
#[test]
fn a_visit_is_on_the_budget_of_its_caller() {
    let mut w = World::of(2).interrupted_every(1);
    let region = region_of_five(&mut w);
    let caller = w.limited(50, 100, 10_000);
    let live = w.k.m.live.len();
    w.k.m.ticks_per_point = 60;
    w.enter(Call::RegionReset as u64, args([region]));
    w.deliver();
    w.on(0);
    // It is to go on, and waits for its replenishment.
    assert_eq!((live - w.k.m.live.len(), w.k.cpu.current, w.state(caller.id)), (2, None, State::Ready));
    w.k.m.ticks_per_point = 0;
    w.pass(9_900);
    assert_eq!(w.current(), caller.id);
    while w.again.contains_key(&caller.id.number()) {
        w.enter(Call::RegionReset as u64, args([region]));
        w.deliver();
        w.on(0);
    }
    assert_eq!((w.k.m.live.len(), w.frame(caller.id).rax), (live - 5, 0));
}

/// Who leaves for another processor is the thread that made the call, not one that it woke.
#[test]
fn a_call_that_wakes_a_more_urgent_thread_does_not_leave_yet() {
    let mut w = World::of(2);
    let (region, here) = region_of_two(&mut w);
    let waiter = w.worker(100);
    w.enter(Call::Wait as u64, args([here, NEVER]));
    let caller = w.worker(50);
    assert_eq!(w.current(), caller.id);
    assert_eq!(w.enter(Call::RegionReset as u64, args([region])), Outcome::Restart);
    assert_eq!((w.current(), w.state(waiter.id), w.state(caller.id)), (waiter.id, State::Ready, State::Ready));
    assert_eq!(Error::from_raw(w.frame(waiter.id).rax), Some(Error::Gone));
    w.enter(Call::Sleep as u64, args([0, NEVER]));
    w.ok(Call::RegionReset, [region]);
}

/// A thread that has ended goes nowhere, and nobody touches it when others may use its memory.
#[test]
fn a_thread_that_ends_itself_does_not_leave() {
    for every in [0, 1] {
        let mut w = World::of(2).interrupted_every(every);
        let (region, _) = region_of_two(&mut w);
        let (thread, context) = (w.free_slot(), w.make(Kind::SchedContext, 0));
        w.root(Call::RegionCreate, [region, Kind::Thread as u64, 0, thread]);
        w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
        w.root(Call::ContextConfigure, [slot::SCHED, context, 50, NEVER, 0, 255]);
        w.root(Call::ThreadBindContext, [thread, context]);
        w.root(Call::ThreadResume, [thread]);
        let other = w.worker(20);
        let Cap::Thread(made) = w.cap(thread) else { panic!() };
        assert_eq!(w.current(), made.id());
        w.enter(Call::RegionReset as u64, args([region]));
        assert!(!w.k.m.is_live(made.id()));
        assert_eq!((w.current(), w.state(other.id)), (other.id, State::Ready));
        assert!(w.k.m.letters.is_empty());
        w.root(Call::RegionReset, [region]);
    }
}

/// The home's kernel writes to it when the guest's run ends.
#[test]
fn the_state_page_of_a_vcpu_is_taken_away_at_its_home() {
    let mut w = World::of(2);
    let (vcpu, space) = (w.make(Kind::Vcpu, 1), w.make(Kind::GuestSpace, 4));
    let page = w.make(Kind::Memory, pillion_abi::PAGE);
    w.root(Call::VcpuConfigure, [vcpu, space, page, 0]);
    let Cap::Vcpu(made) = w.cap(vcpu) else { panic!() };
    let is_configured = |w: &mut World| {
        w.on(1);
        w.k.m.peek(made.id()).configured
    };
    let caller = w.worker(50);
    w.enter(Call::CapDelete as u64, args([0, page]));
    assert_eq!(w.state(caller.id), State::Away);
    assert!(is_configured(&mut w));
    w.deliver();
    assert!(!is_configured(&mut w));
    w.on(0);
    assert_eq!((w.cap(page), w.frame(caller.id).rax), (Cap::None, 0));
}

/// A call that changes capabilities is made again while another processor changes some; what a
/// thread does with its processor's own objects is not.
#[test]
fn who_finds_capabilities_being_changed_calls_again() {
    let mut w = World::of(2);
    let (at, timer) = (w.free_slot(), w.make(Kind::Timer, 0));
    w.root(Call::TimerBind, [timer, slot::NOTE, 1]);
    w.root_runs();
    // Every time.
    w.k.m.tree_every = 1;
    for _ in 0..3 {
        assert_eq!(w.enter(Call::CapDerive as u64, args([0, at, slot::NOTE, 15, 0])), Outcome::Restart);
    }
    for (call, a) in [(Call::TimerSet, [timer, NEVER]), (Call::Signal, [slot::NOTE, 0]), (Call::Wait, [slot::NOTE, 0])]
    {
        assert_eq!(w.enter(call as u64, args(a)), Outcome::Arranged, "{call:?}");
    }
    w.k.m.tree_every = 0;
    w.ok(Call::CapDerive, [0, at, slot::NOTE, 15, 0]);
}

/// The slot in a thread is emptied where the thread is at home, since its kernel relies on it.
#[test]
fn a_thread_loses_its_address_space_at_home() {
    let mut w = World::of(2);
    let (thread, space) = (w.make(Kind::Thread, 1), w.make(Kind::AddressSpace, 4));
    w.root(Call::ThreadConfigure, [thread, space, slot::CAPS, 0, 0]);
    let Cap::Thread(made) = w.cap(thread) else { panic!() };
    w.root_runs();
    w.enter(Call::CapDelete as u64, args([0, space]));
    assert!(made.id().space(&w.k.m).is_some(), "it was taken from elsewhere");
    assert_eq!(w.state(w.root), State::Away);
    w.deliver();
    w.on(0);
    assert!(made.id().space(&w.k.m).is_none());
    assert_eq!(w.k.cpu.current, Some(w.root));
}

/// What a call takes elsewhere is on the budget that the thread left with, so it keeps that.
#[test]
fn who_is_away_keeps_its_context() {
    let mut w = World::of(2).interrupted_every(1);
    let (region, _) = region_of_two(&mut w);
    for _ in 0..5 {
        let note = w.free_slot();
        w.root(Call::RegionCreate, [region, Kind::Notification as u64, 1, note]);
    }
    let caller = w.limited(50, 100, 10_000);
    w.k.m.ticks_per_point = 30;
    w.enter(Call::RegionReset as u64, args([region]));
    w.deliver_one(0);
    w.k.m.ticks_per_point = 0;
    w.on(0);
    assert_eq!(w.state(caller.id), State::Away);
    w.root_runs();
    w.enter(Call::ThreadBindContext as u64, args([caller.thread, 0]));
    assert_eq!(Error::from_raw(w.frame(w.root).rax), Some(Error::Busy));
    w.root_waits();
    // Once it is called back, it has paid.
    w.root(Call::ThreadSuspend, [caller.thread]);
    assert_eq!(w.root(Call::ContextConsumed, [caller.context]).words[0], 30);
    w.root(Call::ThreadBindContext, [caller.thread, 0]);
}

/// A vCPU of a processor that is configured as its passenger.
fn passenger(w: &mut World, processor: u64) -> u64 {
    let (vcpu, space) = (w.make(Kind::Vcpu, processor), w.make(Kind::GuestSpace, 4));
    let page = w.make(Kind::Memory, pillion_abi::PAGE);
    w.root(Call::VcpuConfigure, [vcpu, space, page, 0]);
    vcpu
}

#[test]
fn a_line_has_one_user_among_all_processors() {
    let mut w = World::of(2);
    let guest = passenger(&mut w, 1);
    for (of, other) in [(0, 1), (1, 0)] {
        let (line, twice) = (w.free_slot(), w.free_slot());
        w.root(Call::InterruptCreate, [slot::IRQ, 5, home(of), line, slot::REGION]);
        for processor in [of, other] {
            let create = [slot::IRQ, 5, home(processor), twice, slot::REGION];
            w.root_fails(Call::InterruptCreate, create, Error::Busy);
        }
        for route in [0x30, route::MASKED] {
            w.root_fails(Call::VcpuRouteLine, [guest, slot::IRQ, 5, route], Error::Busy);
        }
        w.root(Call::CapDelete, [0, line]);
        w.root(Call::VcpuRouteLine, [guest, slot::IRQ, 5, 0x30]);
    }
}

/// A line that a guest had, and that another processor's thread or guest has by now, is not masked
/// when the guest ends.
#[test]
fn a_guest_takes_no_line_along_that_it_has_no_more() {
    let mut w = World::of(2);
    let (first, second) = (passenger(&mut w, 0), passenger(&mut w, 1));
    let (line, note) = (w.free_slot(), w.make(Kind::Notification, 0));
    for line in [5, 6, 7] {
        w.root(Call::VcpuRouteLine, [second, slot::IRQ, line, 0x30]);
    }
    w.root(Call::InterruptCreate, [slot::IRQ, 5, home(0), line, slot::REGION]);
    w.root(Call::InterruptBind, [line, note, 1]);
    w.root(Call::VcpuRouteLine, [first, slot::IRQ, 6, 0x31]);
    w.root(Call::CapDelete, [0, second]);
    assert_eq!([5, 6, 7].map(|line| w.k.m.masked.contains(&line)), [false, false, true]);
    w.root(Call::CapDelete, [0, line]);
    w.root(Call::CapDelete, [0, first]);
    assert_eq!([5, 6, 7].map(|line| w.k.m.masked.contains(&line)), [true; 3]);
}

/// A thread of the first processor whose call waits at the second one for what is more urgent.
fn away(w: &mut World) -> Worker {
    let (thread, _, _) = started(w, 1, 100);
    let caller = w.limited(50, 1_000, 100_000);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    w.deliver();
    w.on(0);
    assert_eq!(w.state(caller.id), State::Away);
    caller
}

/// Others could be interrupted without end if each change of a priority were told.
#[test]
fn only_a_higher_priority_is_told() {
    let mut w = World::of(2);
    let caller = away(&mut w);
    let told = |w: &mut World, priority| {
        w.root_runs();
        w.enter(Call::ContextSetPriority as u64, args([caller.context, priority]));
        let told = w.k.m.letters.len();
        w.root_waits();
        told
    };
    assert_eq!([60, 40, 55, 60, 61, 50].map(|priority| told(&mut w, priority)), [1, 0, 0, 0, 1, 0]);
}

/// A task that has its own threads called back all the time pays for what that takes of others.
#[test]
fn who_is_called_back_pays_for_the_letters() {
    let mut w = World::of(2);
    let (thread, busy, _) = started(&mut w, 1, 100);
    let caller = w.limited(50, 1_000, 100_000);
    let before = w.root(Call::ContextConsumed, [busy]).words[0];
    w.on(0);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    // There only, time passes.
    w.k.m.ticks_per_look = 10;
    w.deliver_one(0);
    w.on(0);
    w.k.m.ticks_per_look = 0;
    w.root_runs();
    w.enter(Call::ThreadSuspend as u64, args([caller.thread]));
    w.k.m.ticks_per_look = 10;
    w.deliver_one(0);
    w.k.m.ticks_per_look = 0;
    w.deliver();
    w.on(0);
    assert_eq!(w.state(caller.id), State::Stopped);
    w.enter(Call::ThreadSuspend as u64, args([caller.thread]));
    w.root_waits();
    let paid = w.root(Call::ContextConsumed, [caller.context]).words[0];
    assert!(paid >= 20, "{paid}");
    // The rest is from the interrupt's beginning to the kernel's first look at the clock.
    let others = w.root(Call::ContextConsumed, [busy]).words[0] - before;
    assert!(others <= 60, "{others}");
}

/// Nor is it others who pay while a call is tried again because capabilities are being changed.
#[test]
fn tries_are_on_the_budget_of_the_caller() {
    let mut w = World::of(2);
    let (thread, _, busy) = started(&mut w, 1, 20);
    let caller = w.limited(50, 100, 10_000);
    w.enter(Call::ThreadSuspend as u64, args([thread]));
    (w.k.m.tree_every, w.k.m.ticks_per_look) = (1, 30);
    let mut tries = 0;
    while w.k.m.letters.iter().any(|(to, _)| *to == 1) {
        w.deliver_one(0);
        tries += 1;
        assert!(tries < 10, "it tries without end");
    }
    (w.k.m.tree_every, w.k.m.ticks_per_look) = (0, 0);
    w.deliver();
    w.on(0);
    assert_eq!((tries, w.state(caller.id), w.k.cpu.current), (4, State::Ready, None));
    w.pass(9_700);
    assert_eq!(w.current(), caller.id);
    w.ok(Call::ThreadSuspend, [thread]);
    w.on(1);
    assert_eq!(w.state(busy), State::Stopped);
}

/// What a thread has used of its budget when it leaves counts, too, if it was not charged yet.
#[test]
fn a_visit_is_on_what_is_left_of_the_budget() {
    let mut w = World::of(2).interrupted_every(1);
    let region = region_of_five(&mut w);
    let caller = w.limited(50, 100, 10_000);
    let begin = w.k.m.clock;
    let live = w.k.m.live.len();
    // It computes for 90 of its 100 ticks, and makes a long call then.
    w.k.m.clock += 90;
    w.k.m.ticks_per_point = 30;
    w.enter(Call::RegionReset as u64, args([region]));
    w.deliver();
    w.k.m.ticks_per_point = 0;
    w.on(0);
    let Cap::Context(context) = w.cap(caller.context) else { panic!() };
    let [used, _] = w.k.m.peek(context.id().used()).so_far();
    assert!(w.k.m.clock < begin + 10_000);
    // What was left, and a step: 10 and 30.
    assert!(used <= 100 + 30, "it had {used} ticks of a budget of 100, {} steps elsewhere", live - w.k.m.live.len());
}

/// A task's own call: it revokes copies of the capability for a notification, of which the first is
/// in a thread of the second processor. No interrupt comes meanwhile.
#[test]
fn a_visit_without_interrupts_is_on_the_budget_too() {
    let mut w = World::of(2);
    let note = w.make(Kind::Notification, 1);
    for _ in 0..40 {
        let copy = w.free_slot();
        w.root(Call::CapDerive, [0, copy, note, 15, 0]);
    }
    let thread = w.make(Kind::Thread, 1);
    w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 0]);
    w.root(Call::ThreadBindNotification, [thread, note]);
    let caller = w.limited(50, 100, 10_000);
    w.k.m.ticks_per_point = 10;
    w.enter(Call::CapRevoke as u64, args([0, note]));
    w.deliver();
    w.k.m.ticks_per_point = 0;
    w.on(0);
    let Cap::Context(context) = w.cap(caller.context) else { panic!() };
    let [used, _] = w.k.m.peek(context.id().used()).so_far();
    assert!(used <= 100 + 10, "it had {used} ticks of a budget of 100, the rest of its call and a step");
}
