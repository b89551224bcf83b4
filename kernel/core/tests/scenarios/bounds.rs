//! Object accesses between two preemption points, in the known worst cases.

use crate::machine::world::{Worker, World};
use pillion_abi::{PAGE, call::Call, object::Kind};
use pillion_core::{endpoint::CHAIN, thread::State};

/// A caller raises a whole chain of servers, each of which waits with others in the next one's
/// queue.
#[test]
fn inheritance_along_a_chain_of_queues() {
    let mut w = World::new();
    w.checked = false;
    let ends: Vec<u64> = (0..CHAIN).map(|_| w.make(Kind::Endpoint, 0)).collect();
    let servers: Vec<Worker> = ends.iter().map(|e| w.server(*e, Some(2))).collect();
    for i in (0..CHAIN).rev() {
        w.worker((40 - i) as u8);
        w.call(Call::Call, [ends[i], 1]);
        assert_eq!(w.current(), servers[i].id);
        if i + 1 < CHAIN {
            w.call(Call::Call, [ends[i + 1], 1]);
            w.expect(servers[i].id, State::Calling);
        }
    }
    for end in &ends {
        for _ in 0..4 {
            w.worker(60);
            w.call(Call::Call, [*end, 1]);
        }
    }
    w.checked = true;
    let urgent = w.worker(200);
    w.worst.clear();
    w.call(Call::Call, [ends[0], 1]);
    w.expect(urgent.id, State::Calling);
    println!("worst: inheritance {}", w.worst["Call"]);
    assert!(w.worst["Call"] < 500);
    w.root(Call::ThreadSuspend, [urgent.thread]);
    println!("worst: end of inheritance {}", w.worst["ThreadSuspend"]);
    assert!(w.worst["ThreadSuspend"] < 500);
}

/// Many timers, disarmed and armed.
#[test]
fn many_timers() {
    let mut w = World::new();
    w.checked = false;
    let timers: Vec<u64> = (0..120).map(|_| w.make(Kind::Timer, 0)).collect();
    w.worst.clear();
    w.root_runs();
    for round in 0..6u64 {
        for (i, t) in timers.iter().enumerate() {
            let at = 10_000 + (i as u64 * 7919 * (round + 1)) % 1009;
            w.ok(Call::TimerSet, [*t, at]);
        }
    }
    w.check();
    println!("worst: timers {}", w.worst["TimerSet"]);
    assert!(w.worst["TimerSet"] < 400);
}

/// Capability spaces nested inside each other, with regions in between.
#[test]
fn a_deep_deletion() {
    let mut w = World::new();
    let outer = w.make(Kind::Region, 400 * PAGE);
    let mut regions = Vec::new();
    let mut spaces = Vec::new();
    for _ in 0..12 {
        let (r, c) = (w.free_slot(), w.free_slot());
        w.root(Call::RegionCreate, [outer, Kind::Region as u64, 20 * PAGE, r]);
        w.root(Call::RegionCreate, [r, Kind::CapSpace as u64, 40, c]);
        regions.push(r);
        spaces.push(c);
    }
    for i in 0..11 {
        w.root(Call::CapMove, [spaces[i], 15, regions[i + 1]]);
    }
    w.worst.clear();
    w.root(Call::CapDelete, [0, regions[0]]);
    println!("worst: deep deletion {}", w.worst["CapDelete"]);
    assert!(w.worst["CapDelete"] < 400);
    w.root(Call::RegionReset, [outer]);
    assert!(spaces.into_iter().all(|s| w.cap(s) == pillion_core::Cap::None));
}
