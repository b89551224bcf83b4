//! Long calls: they complete, and no more urgent thread waits for them.

use crate::{Test, cells};
use pillion_abi::{
    PAGE,
    boot::slot,
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_revoke, memory_map, memory_unmap, now, println, region_create, region_reset, sleep,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done};

pub const TESTS: &[Test] = &[
    ("preemption/making-a-large-space", create),
    ("preemption/mapping-and-unmapping", mapping),
    ("preemption/deleting-many-capabilities", deletion),
    ("preemption/ending-an-address-space", space_end),
    ("preemption/revoking-mapped-memory", revocation),
    ("preemption/preparing-a-vcpu", vcpu),
];

/// The longest that the most urgent thread may wait, in ns, whatever else happens. Where the
/// emulator runs several processors in turn, the time of the others is in it.
const BOUND: u64 = 880;
/// The same beside the last step of `VcpuConfigure`, 821 instructions long.
const BOUND_OF_VCPUS: u64 = 1_100;
const BOUND_OF_SEVERAL: u64 = 3_000;
const PERIOD: u64 = 7_000;

extern "C" fn watch(_: u64) -> ! {
    let mut release = now() + PERIOD;
    loop {
        let _ = sleep(release);
        cells::raise(0, now().wrapping_sub(release));
        cells::add(1, 1);
        release += PERIOD + cells::get(1) * 13 % 101;
    }
}

/// Does long work beside a more urgent thread.
fn watched(kit: &mut Kit, name: &str, work: impl FnOnce(&mut Kit) -> Checked) -> Checked {
    watched_on(0, kit, name, work)
}

/// The same, with the processor of that thread.
pub fn watched_on(home: u64, kit: &mut Kit, name: &str, work: impl FnOnce(&mut Kit) -> Checked) -> Checked {
    let bound = match name {
        _ if kit.info.cpus > 1 => BOUND_OF_SEVERAL,
        "vcpu" => BOUND_OF_VCPUS,
        _ => BOUND,
    };
    let space = done!(kit.space());
    done!(kit.start(Setup::new(200, watch).within(space).on(home)));
    let start = now();
    work(kit)?;
    let took = now() - start;
    kit.rest(3 * PERIOD);
    let (late, count) = (cells::get(0), cells::get(1));
    println!("preemption {name}: {took} ns of work, late by at most {late} ns in {count} periods");
    check!(late < bound, "late by {late}, allowed are {bound}");
    check!(count > took / PERIOD * 9 / 10, "only {count} periods in {took}");
    Ok(())
}

fn create(kit: &mut Kit) -> Checked {
    watched(kit, "create", |kit| {
        let region = kit.slot();
        done!(region_create(kit.region(), Kind::Region, 12 << 20, region));
        for (kind, size) in [(Kind::CapSpace, 0xffff), (Kind::AddressSpace, 1_000), (Kind::GuestSpace, 700)] {
            let at = kit.slot();
            done!(region_create(region, kind, size, at));
        }
        done!(region_reset(region));
        Ok(())
    })
}

fn mapping(kit: &mut Kit) -> Checked {
    watched(kit, "map", |kit| {
        let memory = done!(kit.make(Kind::Memory, 8 << 20));
        let address = kit.address() + PAGE;
        for _ in 0..2 {
            done!(memory_map(memory, slot::ADDRESS_SPACE, address, map::WRITE));
            done!(memory_unmap(memory));
        }
        Ok(())
    })
}

fn deletion(kit: &mut Kit) -> Checked {
    watched(kit, "delete", |kit| {
        let n = done!(kit.make(Kind::Notification, 0));
        let caps = done!(kit.make(Kind::CapSpace, 8_000));
        for index in 1..2_000 {
            done!(cap_derive(caps, index * 4 - 1, n, right::ALL, 0));
        }
        done!(cap_revoke(0, n));
        for index in 1..2_000 {
            done!(cap_derive(caps, index * 4 - 1, n, right::ALL, 0));
        }
        done!(cap_delete(0, caps));
        Ok(())
    })
}

fn space_end(kit: &mut Kit) -> Checked {
    watched(kit, "end-space", |kit| {
        let memory = done!(kit.make(Kind::Memory, PAGE));
        let space = done!(kit.make(Kind::AddressSpace, 64));
        for i in 0..300u32 {
            let copy = done!(kit.limited(memory, right::READ));
            done!(memory_map(copy, space, 0x10_0000 + u64::from(i) * PAGE, 0));
        }
        done!(cap_delete(0, space));
        Ok(())
    })
}

fn revocation(kit: &mut Kit) -> Checked {
    watched(kit, "revoke", |kit| {
        let memory = done!(kit.make(Kind::Memory, 4 << 20));
        let spaces: [Cap; 4] = [0; 4].map(|_| kit.make(Kind::AddressSpace, 16).unwrap_or(0));
        for space in spaces {
            let copy = done!(kit.limited(memory, right::READ));
            done!(memory_map(copy, space, 0x1000_1000, 0));
        }
        done!(cap_revoke(0, memory));
        Ok(())
    })
}

fn vcpu(kit: &mut Kit) -> Checked {
    watched(kit, "vcpu", |kit| {
        for _ in 0..5 {
            let guest = pillion_test_kit::guest::Guest::new(kit)?;
            done!(cap_delete(0, guest.vcpu));
        }
        Ok(())
    })
}
