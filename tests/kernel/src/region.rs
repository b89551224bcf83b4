//! Regions: the objects made of them, their reuse, and objects that end while others use them.

use crate::{Test, cells};
use pillion_abi::{
    NEVER, PAGE,
    boot::slot,
    object::{Kind, map},
    status::Error::{BadCap, NoMemory},
};
use pillion_runtime::{cap_identify, memory_map, now, region_create, region_reset, signal, sleep};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same};

pub const TESTS: &[Test] = &[
    ("region/identify", identify),
    ("region/every-kind-again-and-again", again),
    ("region/runs-out-and-is-reset", runs_out),
    ("region/object-memory-is-cleared", cleared),
    ("region/reset-while-in-use", in_use),
    ("region/deletes-itself", itself),
];

fn identify(kit: &mut Kit) -> Checked {
    let [what, size] = done!(cap_identify(kit.region()));
    same!(what & 0xff, Kind::Region as u64);
    let (region, memory) = (kit.slot(), kit.slot());
    done!(region_create(kit.region(), Kind::Region, 16 * PAGE, region));
    done!(region_create(region, Kind::Memory, 4 * PAGE, memory));
    let ([a, room], [b, bytes]) = (done!(cap_identify(region)), done!(cap_identify(memory)));
    same!([room, bytes, a & 0xff, b & 0xff], [16 * PAGE, 4 * PAGE, Kind::Region as u64, Kind::Memory as u64]);
    check!(a & !0xff >= what & !0xff && a - what < size, "region {a:#x} lies outside of {what:#x}");
    same!(b & !0xff, a & !0xff);
    Ok(())
}

const KINDS: [(Kind, u64); 12] = [
    (Kind::Region, PAGE),
    (Kind::Memory, 2 * PAGE),
    (Kind::CapSpace, 33),
    (Kind::AddressSpace, 3),
    (Kind::GuestSpace, 3),
    (Kind::Thread, 0),
    (Kind::SchedContext, 0),
    (Kind::Endpoint, 0),
    (Kind::Notification, 0),
    (Kind::Timer, 0),
    (Kind::Vcpu, 0),
    (Kind::Memory, PAGE),
];

fn again(kit: &mut Kit) -> Checked {
    let region = kit.slot();
    done!(region_create(kit.region(), Kind::Region, 64 * PAGE, region));
    let slots = KINDS.map(|_| kit.slot());
    for round in 0..20 {
        for i in 0..KINDS.len() {
            // Another order each time, so that objects land where others were.
            let (kind, size) = KINDS[(i * 5 + round) % KINDS.len()];
            done!(region_create(region, kind, size, slots[i]));
            same!(done!(cap_identify(slots[i]))[0] & 0xff, kind as u64);
        }
        done!(region_reset(region));
        for slot in slots {
            same!(done!(cap_identify(slot))[0], 0);
        }
    }
    Ok(())
}

fn runs_out(kit: &mut Kit) -> Checked {
    let region = kit.slot();
    done!(region_create(kit.region(), Kind::Region, 4 * PAGE, region));
    for _ in 0..3 {
        let slots: [_; 5] = core::array::from_fn(|_| kit.slot());
        for slot in &slots[..4] {
            done!(region_create(region, Kind::Thread, 0, *slot));
        }
        refused!(region_create(region, Kind::Thread, 0, slots[4]), NoMemory);
        refused!(region_create(region, Kind::Notification, 0, slots[4]), NoMemory);
        done!(region_reset(region));
    }
    Ok(())
}

fn cleared(kit: &mut Kit) -> Checked {
    let (region, memory) = (kit.slot(), kit.slot());
    done!(region_create(kit.region(), Kind::Region, 64 * PAGE, region));
    done!(region_create(region, Kind::Memory, 64 * PAGE, memory));
    let address = kit.address();
    done!(memory_map(memory, slot::ADDRESS_SPACE, address, map::WRITE));
    // SAFETY: mapped writable just now.
    unsafe { (address as *mut u8).write_bytes(0xff, 64 * PAGE as usize) };
    done!(region_reset(region));
    let caps = kit.slot();
    done!(region_create(region, Kind::CapSpace, 2_000, caps));
    // Only an empty slot can be filled; one with stale contents could not.
    for index in (1..2_000).step_by(50) {
        done!(pillion_runtime::cap_derive(caps, index, slot::TRACE, 15, 0));
    }
    Ok(())
}

extern "C" fn busy(_: u64) -> ! {
    loop {
        cells::add(0, 1);
        let _ = sleep(now() + 2_000);
    }
}

extern "C" fn waiter(_: u64) -> ! {
    let _ = pillion_runtime::wait(cells::cap(1), NEVER);
    cells::set(2, 1u64);
    loop {
        cells::add(3, 1);
    }
}

fn in_use(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    cells::set(1, n);
    let spaces = [done!(kit.space()), done!(kit.space())];
    done!(kit.start(Setup::new(20, busy).within(spaces[0])));
    done!(kit.start(Setup::new(30, waiter).within(spaces[1])));
    kit.rest(20_000);
    check!(cells::get(0) > 0, "the thread does not run");
    // Sleeping, waiting, ready: all at once.
    kit.end()?;
    let before = cells::get(0);
    kit.rest(50_000);
    same!([cells::get(0), cells::get(2)], [before, 0]);
    refused!(signal(n), BadCap);
    kit.begin()
}

extern "C" fn suicide(_: u64) -> ! {
    cells::set(1, 1u64);
    let _ = pillion_runtime::cap_delete(0, cells::cap(0));
    cells::set(1, 2u64);
    loop {
        cells::add(2, 1);
    }
}

fn itself(kit: &mut Kit) -> Checked {
    let (space, rounds) = (done!(kit.space()), 3);
    for _ in 0..rounds {
        let t = done!(kit.prepare(Setup::new(20, suicide).within(space)));
        // The original, so that the thread ends the object itself and not a copy.
        done!(pillion_runtime::cap_delete(kit.workers(), t.thread));
        let at = t.thread;
        done!(pillion_runtime::thread_resume(t.thread));
        done!(pillion_runtime::cap_move(kit.workers(), at, t.thread));
        cells::set(0, at);
        kit.rest(20_000);
        same!([cells::get(1), cells::get(2)], [1, 0]);
    }
    Ok(())
}
