//! Calls that create, map and derive, and are refused.

use crate::{Test, refusal::expect};
use pillion_abi::{
    PAGE, USER_END,
    boot::{range_kind, slot},
    call::Call::{CapDelete, CapDerive, CapMove, CapRevoke, MemoryMap, MemoryPart, RegionCreate},
    object::{Kind, map, right},
    status::Error::{self, BadArgument, BadCap, Busy, NoMemory, NoRight, SlotTaken, TooDeep, WrongKind},
};
use pillion_runtime::{cap_derive, memory_map, memory_unmap, region_create};
use pillion_test_kit::{Checked, Kit, WORKER_SLOTS, done, refused, same};

pub const TESTS: &[Test] = &[
    ("refusal/region-create", create),
    ("refusal/region-create-device", create_device),
    ("refusal/region-too-deep", nested_regions),
    ("refusal/memory-part", part),
    ("refusal/memory-map", map_arguments),
    ("refusal/memory-map-rights", map_rights),
    ("refusal/memory-map-busy", map_busy),
    ("refusal/cap-derive", derive),
    ("refusal/cap-derive-too-deep", derive_deep),
    ("refusal/cap-move", moves),
];

const FAR: u64 = slot::COUNT as u64;

fn create(kit: &mut Kit) -> Checked {
    let region = u64::from(kit.region());
    let (empty, taken) = (u64::from(kit.slot()), u64::from(done!(kit.make(Kind::Notification, 0))));
    let kind = |kind: Kind| kind as u64;
    let rows: [(u64, u64, u64, Error); 19] = [
        (99, 0, empty, BadArgument),
        (u64::MAX, 0, empty, BadArgument),
        (kind(Kind::None), 0, empty, BadArgument),
        (kind(Kind::Interrupt), 0, empty, BadArgument),
        (kind(Kind::Ports), 0, empty, BadArgument),
        (kind(Kind::SchedControl), 0, empty, BadArgument),
        (kind(Kind::Memory), 0, empty, BadArgument),
        (kind(Kind::Memory), 100, empty, BadArgument),
        (kind(Kind::Region), PAGE + 1, empty, BadArgument),
        (kind(Kind::CapSpace), 0, empty, BadArgument),
        (kind(Kind::CapSpace), 0x1_0001, empty, BadArgument),
        (kind(Kind::AddressSpace), 0, empty, BadArgument),
        (kind(Kind::GuestSpace), 0x4001, empty, BadArgument),
        (kind(Kind::Thread), 8, empty, BadArgument),
        (kind(Kind::Notification), 256, empty, BadArgument),
        (kind(Kind::Notification), 0, taken, SlotTaken),
        (kind(Kind::Notification), 0, 0, BadArgument),
        (kind(Kind::Notification), 0, FAR, BadCap),
        (kind(Kind::Memory), 1 << 40, empty, NoMemory),
    ];
    for (kind, size, at, error) in rows {
        expect(RegionCreate, [region, kind, size, at, 0, 0], error, "arguments")?;
    }
    expect(RegionCreate, [region, kind(Kind::Memory), !(PAGE - 1), empty, 0, 0], BadArgument, "overflow")
}

fn create_device(kit: &mut Kit) -> Checked {
    let regions = &kit.info.regions[..kit.info.region_count as usize];
    let device = regions.iter().position(|r| r.kind == range_kind::DEVICE).unwrap_or(0);
    let (region, at) = (u64::from(slot::REGIONS) + device as u64, u64::from(kit.slot()));
    for kind in [Kind::Thread, Kind::Notification, Kind::CapSpace, Kind::AddressSpace, Kind::Vcpu] {
        expect(RegionCreate, [region, kind as u64, 1, at, 0, 0], BadArgument, "object in device memory")?;
    }
    Ok(())
}

fn nested_regions(kit: &mut Kit) -> Checked {
    let mut region = kit.region();
    for level in (1..40).rev() {
        let inner = kit.slot();
        match region_create(region, Kind::Region, level * PAGE, inner) {
            Ok(_) => region = inner,
            Err(error) => {
                same!(error, TooDeep);
                return Ok(());
            }
        }
    }
    Err(pillion_test_kit::failure!("regions nest without end"))
}

fn part(kit: &mut Kit) -> Checked {
    let memory = u64::from(done!(kit.make(Kind::Memory, 4 * PAGE)));
    let (empty, taken) = (u64::from(kit.slot()), memory);
    let rows = [
        (0, 0, empty, BadArgument),
        (1, PAGE, empty, BadArgument),
        (0, PAGE - 1, empty, BadArgument),
        (PAGE, 4 * PAGE, empty, BadArgument),
        (!(PAGE - 1), 2 * PAGE, empty, BadArgument),
        (0, PAGE, taken, SlotTaken),
        (0, PAGE, FAR, BadCap),
        (0, PAGE, 0, BadArgument),
    ];
    for (offset, size, at, error) in rows {
        expect(MemoryPart, [memory, offset, size, at, 15, 0], error, "arguments")?;
    }
    Ok(())
}

fn map_arguments(kit: &mut Kit) -> Checked {
    let memory = u64::from(done!(kit.make(Kind::Memory, 4 * PAGE)));
    let (own, good, thread) = (u64::from(slot::ADDRESS_SPACE), kit.address(), u64::from(slot::THREAD));
    let bare = u64::from(done!(kit.limited(slot::ADDRESS_SPACE, right::READ)));
    let rows = [
        (own, good + 1, 0, BadArgument),
        (own, 0, 0, BadArgument),
        (own, USER_END, 0, BadArgument),
        (own, USER_END - PAGE, 0, BadArgument),
        (own, 0xffff_8000_0000_0000, 0, BadArgument),
        (own, !(PAGE - 1), 0, BadArgument),
        (own, good, 8, BadArgument),
        (own, good, u64::MAX, BadArgument),
        (own, good, map::WRITE | map::EXECUTE, BadArgument),
        (FAR, good, 0, BadCap),
        (thread, good, 0, WrongKind),
        (bare, good, 0, NoRight),
    ];
    for (space, address, flags, error) in rows {
        expect(MemoryMap, [memory, space, address, flags, 0, 0], error, "arguments")?;
    }
    Ok(())
}

fn map_rights(kit: &mut Kit) -> Checked {
    let memory = done!(kit.make(Kind::Memory, PAGE));
    let address = kit.address();
    let own = slot::ADDRESS_SPACE;
    for (rights, flags) in
        [(0, 0), (right::READ, map::WRITE), (right::READ | right::WRITE, map::EXECUTE), (right::WRITE, map::WRITE)]
    {
        let limited = done!(kit.limited(memory, rights));
        refused!(memory_map(limited, own, address, flags), NoRight);
    }
    Ok(())
}

fn map_busy(kit: &mut Kit) -> Checked {
    let (first, address) = done!(kit.memory(4 * PAGE, map::WRITE));
    let own = slot::ADDRESS_SPACE;
    refused!(memory_map(first, own, address + 64 * PAGE, 0), Busy);
    let second = done!(kit.make(Kind::Memory, 2 * PAGE));
    refused!(memory_map(second, own, address + PAGE, 0), Busy);
    done!(memory_unmap(second));
    done!(memory_map(second, own, address + 4 * PAGE, 0));
    let (small, third) = (done!(kit.make(Kind::AddressSpace, 2)), done!(kit.make(Kind::Memory, PAGE)));
    refused!(memory_map(third, small, address, 0), NoMemory);
    done!(memory_unmap(third));
    done!(memory_unmap(third));
    Ok(())
}

fn derive(kit: &mut Kit) -> Checked {
    let (space, object) =
        (u64::from(done!(kit.make(Kind::CapSpace, 8))), u64::from(done!(kit.make(Kind::Endpoint, 0))));
    let badged = u64::from(done!(kit.badged(object as u32, 5)));
    let (region, empty) = (u64::from(kit.region()), u64::from(kit.slot()));
    let rows = [
        ([space, 0, object, 15, 0, 0], BadArgument),
        ([space, 8, object, 15, 0, 0], BadCap),
        ([space, 1, empty, 15, 0, 0], BadCap),
        ([space, 1, FAR, 15, 0, 0], BadCap),
        ([space, 1, region, 15, 0, 0], WrongKind),
        ([space, 1, badged, 15, 6, 0], BadArgument),
        ([space, 1, space, 15, 0, 0], BadArgument),
        ([0, object, badged, 15, 0, 0], SlotTaken),
        ([object, 1, badged, 15, 0, 0], WrongKind),
    ];
    for (a, error) in rows {
        expect(CapDerive, a, error, "arguments")?;
    }
    for call in [CapDelete, CapRevoke] {
        expect(call, [space, 8, 0, 0, 0, 0], BadCap, "beyond the end")?;
        expect(call, [kit.workers().into(), WORKER_SLOTS, 0, 0, 0, 0], BadCap, "beyond the end")?;
    }
    Ok(())
}

fn derive_deep(kit: &mut Kit) -> Checked {
    let mut cap = done!(kit.make(Kind::Notification, 0));
    for _ in 0..40 {
        let next = kit.slot();
        match cap_derive(0, next, cap, right::ALL, 0) {
            Ok(_) => cap = next,
            Err(error) => {
                same!(error, TooDeep);
                return Ok(());
            }
        }
    }
    Err(pillion_test_kit::failure!("capabilities derive without end"))
}

fn moves(kit: &mut Kit) -> Checked {
    let (space, object) =
        (u64::from(done!(kit.make(Kind::CapSpace, 8))), u64::from(done!(kit.make(Kind::Endpoint, 0))));
    let empty = u64::from(kit.slot());
    let rows = [
        ([space, 0, object, 0, 0, 0], BadArgument),
        ([space, 8, object, 0, 0, 0], BadCap),
        ([space, 1, empty, 0, 0, 0], BadCap),
        ([space, 1, space, 0, 0, 0], BadArgument),
        ([0, object, object, 0, 0, 0], SlotTaken),
    ];
    for (a, error) in rows {
        expect(CapMove, a, error, "arguments")?;
    }
    Ok(())
}
