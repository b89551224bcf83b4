//! Capabilities, alone and in trees.

use crate::{Case, name::Name, scan::Trial};
use pillion_abi::{
    PAGE,
    boot::slot,
    call::Call,
    object::{Kind, map, right},
    status::Result,
};
use pillion_runtime::{Cap, cap_delete, cap_derive, cap_identify, cap_move, cap_revoke, memory_map, region_create};
use pillion_test_kit::{Checked, Kit, done};

pub const CASES: &[Case] = &[derive, moves, delete, delete_space, revoke, revoke_mapped, identify];

/// Number of capabilities in a tree.
const TREE: u32 = 16;

fn derive(kit: &mut Kit) -> Checked {
    let (n, at) = (done!(kit.make(Kind::Notification, 0)), kit.slot());
    let trial = Trial::new(|| Ok(()), |()| cap_derive(0, at, n, right::ALL, 1), |()| cap_delete(0, at).map(drop));
    trial.scan(kit, Name::of(Call::CapDerive))
}

fn moves(kit: &mut Kit) -> Checked {
    let (n, here, there) = (done!(kit.make(Kind::Notification, 0)), kit.slot(), kit.slot());
    let trial = Trial::new(
        || cap_derive(0, here, n, right::ALL, 1),
        |_| cap_move(0, there, here),
        |_| cap_delete(0, there).map(drop),
    );
    trial.scan(kit, Name::of(Call::CapMove))
}

fn delete(kit: &mut Kit) -> Checked {
    let (n, at) = (done!(kit.make(Kind::Notification, 0)), kit.slot());
    let trial = Trial::new(|| cap_derive(0, at, n, right::ALL, 1), |_| cap_delete(0, at), |_| Ok(()));
    trial.scan(kit, Name::of(Call::CapDelete))
}

/// Fills a capability space with capabilities for one object.
fn fill(space: Cap, object: Cap) -> Result<()> {
    (1..=TREE).try_for_each(|at| cap_derive(space, 4 * at, object, right::ALL, 0).map(drop))
}

/// Deletes a capability space with all its contents.
fn delete_space(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let (region, space) = (done!(kit.make(Kind::Region, 1 << 20)), kit.slot());
    let trial = Trial::new(
        || {
            region_create(region, Kind::CapSpace, u64::from(5 * TREE), space)?;
            fill(space, n)
        },
        |()| cap_delete(0, space),
        |()| pillion_runtime::region_reset(region).map(drop),
    );
    trial.scan(kit, Name::variant(Call::CapDelete, "space"))
}

/// Revokes all derived capabilities, in another capability space.
fn revoke(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let space = done!(kit.make(Kind::CapSpace, u64::from(5 * TREE)));
    let trial = Trial::new(|| fill(space, n), |()| cap_revoke(0, n), |()| Ok(()));
    trial.scan(kit, Name::of(Call::CapRevoke))
}

/// Revokes memory that is mapped twice, in small pages.
fn revoke_mapped(kit: &mut Kit) -> Checked {
    let memory = done!(kit.make(Kind::Memory, 40 * PAGE));
    let copies = [(kit.slot(), kit.address() + PAGE), (kit.slot(), kit.address() + PAGE)];
    let trial = Trial::new(
        || {
            copies.iter().try_for_each(|&(copy, address)| {
                cap_derive(0, copy, memory, right::ALL, 0)?;
                memory_map(copy, slot::ADDRESS_SPACE, address, map::WRITE).map(drop)
            })
        },
        |()| cap_revoke(0, memory),
        |()| Ok(()),
    );
    trial.scan(kit, Name::variant(Call::CapRevoke, "mapped"))
}

fn identify(kit: &mut Kit) -> Checked {
    let memory = done!(kit.make(Kind::Memory, PAGE));
    let trial = Trial::new(|| Ok(()), |()| cap_identify(memory), |()| Ok(()));
    trial.scan(kit, Name::of(Call::CapIdentify))
}
