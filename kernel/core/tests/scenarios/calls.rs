//! Calls one by one: their effects, and each error that they return.

use crate::machine::{
    Event,
    world::{World, args, slot},
};
use pillion_abi::{NEVER, PAGE, USER_END, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, id::NAMEABLE, machine::Objects as _, slot::Entry, thread::State};

#[test]
fn numbers_that_are_no_calls() {
    let mut w = World::new();
    let t = w.worker(5);
    for number in [12, 29, 66, u64::MAX] {
        w.enter(number, args([]));
        assert_eq!(Error::from_raw(w.frame(t.id).rax), Some(Error::BadCall));
    }
}

/// Memory that handles cannot name can be handed out as memory, but no other object is created in
/// it, not even one of which only the end lies there.
#[test]
fn objects_beyond_what_handles_name() {
    let mut w = World::new();
    let [high, at] = [w.free_slot(), w.free_slot()];
    let region = Cap::Region { device: false, base: NAMEABLE - PAGE, size: 32 << 20, used: 0, cleared: 32 << 20 };
    let slot = w.slot_of(high);
    w.k.m.shared(slot).fill(&Entry { cap: region, rights: 15, original: true, ..Entry::default() });
    w.root_fails(Call::RegionCreate, [high, Kind::CapSpace as u64, 1 << 16, at], Error::NoMemory);
    w.root_fails(Call::RegionCreate, [high, Kind::Vcpu as u64, 0, at], Error::NoMemory);
    w.root_fails(Call::RegionCreate, [high, Kind::AddressSpace as u64, 8, at], Error::NoMemory);
    w.root(Call::RegionCreate, [high, Kind::Memory as u64, 2 * PAGE, at]);
    w.root(Call::CapDelete, [0, at]);
    w.k.m.shared(slot).empty();
}

#[test]
fn making_objects() {
    let mut w = World::new();
    let region = w.make(Kind::Region, 16 * PAGE);
    let at = w.free_slot();
    let create = |kind: Kind, size: u64, slot: u64| [region, kind as u64, size, slot];
    w.root_fails(Call::RegionCreate, create(Kind::Thread, 0, slot::NOTE), Error::SlotTaken);
    w.root_fails(Call::RegionCreate, create(Kind::Thread, 0, 0), Error::BadArgument);
    w.root_fails(Call::RegionCreate, create(Kind::Thread, 0, 999), Error::BadCap);
    w.root_fails(Call::RegionCreate, [region, 17, 0, at], Error::BadArgument);
    for kind in [Kind::None, Kind::Interrupt, Kind::Ports, Kind::SchedControl, Kind::Trace] {
        w.root_fails(Call::RegionCreate, create(kind, 1, at), Error::BadArgument);
    }
    for (kind, size) in [
        (Kind::Region, 0),
        (Kind::Region, 100),
        (Kind::Memory, PAGE + 1),
        (Kind::CapSpace, 0),
        (Kind::CapSpace, (1 << 16) + 1),
        (Kind::AddressSpace, 0),
        (Kind::GuestSpace, (1 << 14) + 1),
    ] {
        w.root_fails(Call::RegionCreate, create(kind, size, at), Error::BadArgument);
    }
    w.root_fails(Call::RegionCreate, create(Kind::Memory, 17 * PAGE, at), Error::NoMemory);
    w.root_fails(Call::RegionCreate, create(Kind::Memory, u64::MAX - PAGE + 1, at), Error::NoMemory);
    w.root_fails(Call::RegionCreate, [slot::NOTE, 6, 0, at], Error::WrongKind);
    w.root_fails(Call::RegionCreate, [at, 6, 0, at], Error::BadCap);
    w.root_fails(Call::RegionCreate, [slot::DEVICE, Kind::Thread as u64, 0, at], Error::BadArgument);
    w.root(Call::RegionCreate, [slot::DEVICE, Kind::Region as u64, PAGE, at]);
    w.root_fails(Call::RegionReset, [slot::NOTE], Error::WrongKind);
    for kind in [Kind::Endpoint, Kind::Thread, Kind::Timer, Kind::Vcpu, Kind::SchedContext] {
        let at = w.free_slot();
        w.root(Call::RegionCreate, create(kind, 0, at));
        assert_eq!(w.root(Call::CapIdentify, [at]).words[0], kind as u64);
    }
    w.root(Call::RegionReset, [region]);
    let f = w.root(Call::CapIdentify, [region]);
    let Cap::Region { base, size, used, .. } = w.cap(region) else { panic!() };
    assert_eq!((f.words[0], f.rsi, used), (Kind::Region as u64 | base, size, 0));
    assert_eq!(w.root(Call::CapIdentify, [at + 100]).words[0], 0);
    w.root_fails(Call::CapIdentify, [slot::COUNT], Error::BadCap);
}

#[test]
fn memory() {
    let mut w = World::new();
    let memory = w.make(Kind::Memory, 8 * PAGE);
    let (part, read) = (w.free_slot(), w.free_slot());
    for (offset, size) in [(0, 0), (0, 9 * PAGE), (8 * PAGE, PAGE), (1, PAGE), (0, 1), (u64::MAX - PAGE + 1, 2 * PAGE)]
    {
        w.root_fails(Call::MemoryPart, [memory, offset, size, part, 15], Error::BadArgument);
    }
    w.root_fails(Call::MemoryPart, [slot::NOTE, 0, PAGE, part, 15], Error::WrongKind);
    w.root_fails(Call::MemoryPart, [memory, 0, PAGE, slot::NOTE, 15], Error::SlotTaken);
    w.root(Call::MemoryPart, [memory, PAGE, 2 * PAGE, part, 15]);
    w.root(Call::MemoryPart, [memory, PAGE, 2 * PAGE, read, 1]);
    let Cap::Memory { base, .. } = w.cap(memory) else { panic!() };
    let f = w.root(Call::CapIdentify, [part]);
    assert_eq!((f.words[0], f.rsi), (2 | (base + PAGE), 2 * PAGE));
    let map = |m: u64, address: u64, flags: u64| [m, slot::SPACE, address, flags];
    w.root_fails(Call::MemoryMap, map(read, 0x1000, 1), Error::NoRight);
    w.root_fails(Call::MemoryMap, map(read, 0x1000, 2), Error::NoRight);
    w.root_fails(Call::MemoryMap, map(part, 0x1000, 3), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(part, 0x1000, 8), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(part, 0, 1), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(part, 0x1001, 1), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(part, pillion_abi::USER_END - PAGE, 1), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(part, u64::MAX - PAGE + 1, 1), Error::BadArgument);
    w.root_fails(Call::MemoryMap, map(slot::NOTE, 0x1000, 1), Error::WrongKind);
    w.root_fails(Call::MemoryMap, [part, slot::NOTE, 0x1000, 1], Error::WrongKind);
    w.root(Call::MemoryMap, map(part, 0x10_0000, 1));
    w.root(Call::MemoryMap, map(part, 0x10_0000, 1));
    w.root_fails(Call::MemoryMap, map(part, 0x20_0000, 1), Error::Busy);
    w.root_fails(Call::MemoryMap, map(read, 0x10_1000, 0), Error::Busy);
    w.root(Call::MemoryUnmap, [read]);
    w.root(Call::MemoryUnmap, [part]);
    w.root(Call::MemoryUnmap, [part]);
    w.root_fails(Call::MemoryUnmap, [slot::NOTE], Error::WrongKind);
    // The tables run out half-way; what was mapped until then can be unmapped.
    let small = w.make(Kind::AddressSpace, 4);
    let big = w.free_slot();
    w.root(Call::RegionCreate, [slot::DEVICE, Kind::Memory as u64, 3 << 20, big]);
    w.root_fails(Call::MemoryMap, [big, small, 0x1f_0000, 0], Error::NoMemory);
    w.root(Call::MemoryUnmap, [big]);
    w.root(Call::MemoryMap, [part, small, 0x1f_0000, 1]);
}

#[test]
fn capabilities() {
    let mut w = World::new();
    let note = w.make(Kind::Notification, 0);
    let (a, b, c) = (w.free_slot(), w.free_slot(), w.free_slot());
    w.root(Call::CapDerive, [0, a, note, 3, 5]);
    w.root_fails(Call::CapDerive, [0, b, a, 3, 6], Error::BadArgument);
    w.root(Call::CapDerive, [0, b, a, 1, 0]);
    w.root_fails(Call::Signal, [b], Error::NoRight);
    w.root_fails(Call::CapDerive, [0, c, slot::REGION, 15, 0], Error::WrongKind);
    w.root_fails(Call::CapDerive, [0, c, c, 15, 0], Error::BadCap);
    w.root_fails(Call::CapDerive, [note, c, a, 15, 0], Error::WrongKind);
    w.root_fails(Call::CapMove, [0, b, a], Error::SlotTaken);
    w.root(Call::CapMove, [0, c, a]);
    w.root_fails(Call::Signal, [a], Error::BadCap);
    w.root(Call::Signal, [c]);
    w.root(Call::CapRevoke, [0, c]);
    assert_eq!(w.cap(b), Cap::None);
    w.root_fails(Call::CapRevoke, [0, slot::COUNT], Error::BadCap);
    w.root(Call::CapDelete, [0, b]);
}

#[test]
fn threads() {
    let mut w = World::new();
    let (thread, id) = w.bare_thread();
    let raw = w.make(Kind::Thread, 0);
    let plain = w.make(Kind::SchedContext, 0);
    w.root_fails(Call::ThreadResume, [raw], Error::BadState);
    w.root_fails(Call::ThreadBindContext, [thread, plain], Error::BadState);
    w.root_fails(Call::ThreadBindContext, [thread, slot::NOTE], Error::WrongKind);
    w.root_fails(Call::ThreadBindContext, [thread, slot::CONTEXT], Error::Busy);
    w.root_fails(Call::ThreadConfigure, [slot::THREAD, slot::SPACE, slot::CAPS, 0, 0], Error::BadState);
    w.root_fails(Call::ThreadConfigure, [thread, slot::CAPS, slot::CAPS, 0, 0], Error::WrongKind);
    w.root_fails(Call::ThreadConfigure, [thread, slot::SPACE, slot::SPACE, 0, 0], Error::WrongKind);
    w.root_fails(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, slot::NOTE, 0], Error::WrongKind);
    w.root_fails(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 2], Error::BadArgument);
    w.root(Call::ThreadConfigure, [thread, slot::SPACE, slot::CAPS, 0, 1]);
    assert!(w.k.m.peek(id).fpu);
    w.root_fails(Call::ThreadSetRegisters, [slot::THREAD, 0, 0, 0], Error::BadState);
    w.root_fails(Call::ThreadSetRegisters, [slot::NOTE, 0, 0, 0], Error::WrongKind);
    w.root(Call::ThreadSetRegisters, [thread, 11, 12, 13]);
    let f = w.root(Call::ThreadRegister, [thread, 0]);
    assert_eq!((f.words[0], f.rsi), (11, 12));
    w.root_fails(Call::ThreadRegister, [thread, 9], Error::BadArgument);
    for [first, end] in [[2, 1], [0, USER_END + 1], [u64::MAX, u64::MAX]] {
        w.root_fails(Call::ThreadSetSequence, [thread, first, end], Error::BadArgument);
    }
    w.root_fails(Call::ThreadSetSequence, [slot::NOTE, 1, 2], Error::WrongKind);
    w.root(Call::ThreadSetSequence, [thread, 0, USER_END]);
    w.root(Call::ThreadResume, [thread]);
    w.expect(id, State::Ready);
    assert_eq!(w.k.cpu.current, None, "a thread without a context does not run");
    let context = w.context(7, NEVER, 0);
    w.root(Call::ThreadBindContext, [thread, context]);
    assert_eq!(w.current(), id);
    let weak = w.free_slot();
    w.root(Call::CapDerive, [0, weak, thread, 7, 0]);
    w.root_fails(Call::ThreadSuspend, [weak], Error::NoRight);
    w.root(Call::ThreadSuspend, [thread]);
    w.root(Call::ThreadBindContext, [thread, 0]);
    w.root(Call::ThreadBindContext, [thread, 0]);
    w.root(Call::ThreadBindContext, [raw, context]);
}

#[test]
fn contexts() {
    let mut w = World::new();
    let context = w.make(Kind::SchedContext, 0);
    for (priority, budget, period) in
        [(0, NEVER, 0), (256, NEVER, 0), (5, 0, 10), (5, 11, 10), (5, 10, NEVER / 4), (5, 10, NEVER)]
    {
        w.root_fails(Call::ContextConfigure, [slot::SCHED, context, priority, budget, period], Error::BadArgument);
    }
    w.root_fails(Call::ContextConfigure, [slot::NOTE, context, 5, 1, 1], Error::WrongKind);
    w.root_fails(Call::ContextConfigure, [slot::SCHED, slot::NOTE, 5, 1, 1], Error::WrongKind);
    w.root_fails(Call::ContextConfigure, [slot::SCHED, context, 5, 1, 1, 256], Error::BadArgument);
    w.root_fails(Call::ContextSetPriority, [context, 1], Error::BadArgument);
    w.root(Call::ContextConfigure, [slot::SCHED, context, 255, 1, 1]);
    w.root(Call::ContextConfigure, [slot::SCHED, context, 9, 1, 1, 12]);
    for priority in [0, 13, 256, u64::MAX] {
        w.root_fails(Call::ContextSetPriority, [context, priority], Error::BadArgument);
    }
    assert_eq!(w.root(Call::ContextSetPriority, [context, 12]).words[0], 9);
    assert_eq!(w.root(Call::ContextSetPriority, [context, 1]).words[0], 12);
    w.root_fails(Call::ContextSetPriority, [slot::NOTE, 1], Error::WrongKind);
    w.root_fails(Call::ContextConsumed, [slot::NOTE], Error::WrongKind);
    assert_eq!(w.root(Call::ContextConsumed, [context]).words[0], 0);
}

#[test]
fn notifications_and_timers() {
    let mut w = World::new();
    let (note, timer) = (w.make(Kind::Notification, 0), w.make(Kind::Timer, 0));
    let write = w.free_slot();
    w.root(Call::CapDerive, [0, write, note, 2, 4]);
    let read = w.free_slot();
    w.root(Call::CapDerive, [0, read, note, 1, 4]);
    w.root_fails(Call::Wait, [write, NEVER], Error::NoRight);
    w.root_fails(Call::Signal, [timer], Error::WrongKind);
    w.root_fails(Call::TimerBind, [timer, read, 1], Error::NoRight);
    w.root_fails(Call::TimerBind, [note, note, 1], Error::WrongKind);
    w.root_fails(Call::TimerBind, [timer, timer, 1], Error::WrongKind);
    w.root_fails(Call::TimerSet, [note, 1], Error::WrongKind);
    let t = w.worker(5);
    w.call(Call::Wait, [note, NEVER]);
    let other = w.worker(4);
    w.fails(Call::Wait, [note, NEVER], Error::Busy);
    w.call(Call::Signal, [write]);
    assert_eq!((w.current(), w.frame(t.id).words[0], w.frame(other.id).rax), (t.id, 4, 0));
    w.ok(Call::Signal, [write]);
    assert_eq!(w.ok(Call::Wait, [note, 0]).words[0], 4);
}

#[test]
fn interrupts() {
    let mut w = World::new();
    let note = w.make(Kind::Notification, 0);
    let (level, msi) = (w.free_slot(), w.free_slot());
    let create = |line: u64, flags: u64, at: u64| [slot::IRQ, line, flags, at, slot::REGION];
    w.root_fails(Call::InterruptCreate, create(24, 0, level), Error::BadArgument);
    w.root_fails(Call::InterruptCreate, create(1 << 32, 0, level), Error::BadArgument);
    w.root_fails(Call::InterruptCreate, create(3, 4, level), Error::BadArgument);
    w.root_fails(Call::InterruptCreate, [slot::IRQ, 3, 0, level, slot::DEVICE], Error::WrongKind);
    w.root_fails(Call::InterruptCreate, [slot::NOTE, 3, 0, level, slot::REGION], Error::WrongKind);
    w.root(Call::InterruptCreate, create(3, 1, level));
    w.root_fails(Call::InterruptCreate, create(3, 1, msi), Error::Busy);
    let f = w.root(Call::InterruptCreate, create(u64::MAX, 0, msi));
    assert_eq!((f.words[0], f.rsi), (0xfee0_0000, 0xf1));
    w.root(Call::InterruptAck, [level]);
    w.root(Call::InterruptBind, [level, note, 2]);
    w.root_fails(Call::InterruptBind, [level, note, 2], Error::Busy);
    w.root_fails(Call::InterruptBind, [msi, msi, 2], Error::WrongKind);
    w.root(Call::InterruptBind, [msi, note, 8]);
    let t = w.worker(9);
    w.call(Call::Wait, [note, NEVER]);
    w.k.m.events.clear();
    w.rt_interrupt(0xf0);
    assert_eq!(w.k.m.events, [Event::Mask(3, true), Event::Eoi]);
    assert_eq!((w.current(), w.frame(t.id).words[0]), (t.id, 2));
    w.ok(Call::InterruptAck, [level]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Mask(3, false)));
    w.call(Call::Wait, [note, NEVER]);
    w.rt_interrupt(0xf1);
    assert_eq!(w.frame(t.id).words[0], 8);
    w.rt_interrupt(0xfb);
    w.rt_interrupt(0xff);
    w.root(Call::CapDelete, [0, level]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Mask(3, true)));
    w.rt_interrupt(0xf0);
    for _ in 0..11 {
        let at = w.free_slot();
        w.root(Call::InterruptCreate, create(u64::MAX, 0, at));
    }
    w.root_fails(Call::InterruptCreate, create(u64::MAX, 0, w.next), Error::NoMemory);
    w.root(Call::CapDelete, [0, note]);
    w.rt_interrupt(0xf1);
}

#[test]
fn ports_and_log() {
    let mut w = World::new();
    let (some, read) = (w.free_slot(), w.free_slot());
    w.root(Call::PortsPart, [slot::PORTS, 0x3f8, 8, some]);
    w.root_fails(Call::PortsPart, [some, 0x3f7, 2, read], Error::BadArgument);
    w.root_fails(Call::PortsPart, [some, 0x3f8, 9, read], Error::BadArgument);
    w.root_fails(Call::PortsPart, [some, 0x3f8, 0, read], Error::BadArgument);
    w.root_fails(Call::PortsPart, [some, u64::MAX, 2, read], Error::BadArgument);
    w.root_fails(Call::PortsPart, [some, 0x3f8, 1, some], Error::SlotTaken);
    w.root(Call::CapDerive, [0, read, some, 1, 0]);
    assert_eq!(w.root(Call::PortIn, [read, 0x3f8, 4]).words[0], 0x3f804);
    w.root_fails(Call::PortOut, [read, 0x3f8, 1, 3], Error::NoRight);
    w.root_fails(Call::PortIn, [some, 0x3ff, 2], Error::BadArgument);
    w.root_fails(Call::PortIn, [some, 0x3f8, 3], Error::BadArgument);
    w.root_fails(Call::PortIn, [slot::PORTS, 0xffff, 2], Error::BadArgument);
    w.root_fails(Call::PortIn, [slot::NOTE, 1, 1], Error::WrongKind);
    w.root(Call::PortOut, [some, 0x3ff, 1, 0x1_0005]);
    assert_eq!(w.k.m.events.last(), Some(&Event::PortOut(0x3ff, 1, 0x1_0005)));
    w.root(Call::LogPut, [slot::TRACE, 0x141]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Log(0x41)));
    w.root(Call::TraceControl, [slot::TRACE, 1]);
    assert_eq!(w.k.m.events.last(), Some(&Event::Trace(true)));
    w.root_fails(Call::LogPut, [slot::NOTE, 1], Error::WrongKind);
}
