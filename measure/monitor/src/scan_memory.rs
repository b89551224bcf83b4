//! Memory: creating and deleting objects, mappings.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{
    PAGE,
    boot::slot,
    call::Call,
    object::{Kind, map, right},
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_identify, memory_map, memory_part, memory_unmap, region_create, region_reset,
};
use pillion_test_kit::{Checked, Kit, done};

pub const CASES: &[Case] = &[
    |kit| create(kit, Kind::Notification, 0, ""),
    |kit| create(kit, Kind::Thread, 0, "thread"),
    |kit| create(kit, Kind::CapSpace, 127, "cap_space"),
    |kit| create(kit, Kind::AddressSpace, 2, "address_space"),
    |kit| create(kit, Kind::GuestSpace, 2, "guest_space"),
    |kit| create(kit, Kind::Vcpu, 0, "vcpu"),
    reset,
    part,
    |kit| maps(kit, PIECE, ""),
    |kit| maps(kit, LARGE, "large"),
    |kit| unmaps(kit, PIECE, ""),
    |kit| unmaps(kit, LARGE, "large"),
];

/// Size of a mapping: small pages, or one large page.
const PIECE: u64 = 80 * PAGE;
const LARGE: u64 = 2 << 20;

/// Where large pages are mapped: a table of small pages, once made, stays.
const LARGE_AT: u64 = 0x90_0000_0000;

/// Creates an object from a region of its own.
fn create(kit: &mut Kit, kind: Kind, size: u64, variant: &'static str) -> Checked {
    let (region, at) = (done!(kit.make(Kind::Region, 1 << 20)), kit.slot());
    let trial = Trial::new(|| Ok(()), |()| region_create(region, kind, size, at), |()| region_reset(region).map(drop));
    trial.scan(kit, Name::variant(Call::RegionCreate, variant))
}

/// Deletes a thread, an address space and eight notifications.
fn reset(kit: &mut Kit) -> Checked {
    let region = done!(kit.make(Kind::Region, 1 << 20));
    let slots: [Cap; 10] = core::array::from_fn(|_| kit.slot());
    let trial = Trial::new(
        || {
            region_create(region, Kind::Thread, 0, slots[0])?;
            region_create(region, Kind::AddressSpace, 2, slots[1])?;
            slots[2..].iter().try_for_each(|at| region_create(region, Kind::Notification, 0, *at).map(drop))
        },
        |()| region_reset(region),
        |()| Ok(()),
    );
    trial.scan(kit, Name::of(Call::RegionReset))
}

fn part(kit: &mut Kit) -> Checked {
    let (memory, at) = (done!(kit.make(Kind::Memory, 4 * PAGE)), kit.slot());
    let trial = Trial::new(
        || Ok(()),
        |()| memory_part(memory, PAGE, 2 * PAGE, at, right::ALL),
        |()| cap_delete(0, at).map(drop),
    );
    trial.scan(kit, Name::of(Call::MemoryPart))
}

/// Memory aligned for a large page, and the address to map it at.
fn mappable(kit: &mut Kit, size: u64) -> Checked<(Cap, u64)> {
    let whole = done!(kit.make(Kind::Memory, 2 * LARGE));
    let base = done!(cap_identify(whole))[0] & !0xff;
    let cap = kit.slot();
    done!(memory_part(whole, base.next_multiple_of(LARGE) - base, size, cap, right::ALL));
    Ok((cap, if size == LARGE { LARGE_AT } else { kit.address() }))
}

fn maps(kit: &mut Kit, size: u64, variant: &'static str) -> Checked {
    let (memory, address) = mappable(kit, size)?;
    let copy = kit.slot();
    let trial = Trial::new(
        || cap_derive(0, copy, memory, right::ALL, 0),
        |_| memory_map(copy, slot::ADDRESS_SPACE, address, map::WRITE),
        |_| cap_delete(0, copy).map(drop),
    );
    trial.scan(kit, Name::variant(Call::MemoryMap, variant))
}

fn unmaps(kit: &mut Kit, size: u64, variant: &'static str) -> Checked {
    let (memory, address) = mappable(kit, size)?;
    let trial = Trial::new(
        || memory_map(memory, slot::ADDRESS_SPACE, address, map::WRITE),
        |_| memory_unmap(memory),
        |_| Ok(()),
    );
    trial.scan(kit, Name::variant(Call::MemoryUnmap, variant))
}
