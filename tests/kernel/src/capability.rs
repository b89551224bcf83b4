//! Capability spaces: deriving, moving, deleting, revoking, and spaces that end while in use.

use crate::{Test, cells};
use pillion_abi::{
    object::{Kind, right},
    status::Error::{BadArgument, BadCap, NoRight},
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_identify, cap_move, cap_revoke, now, region_create, region_reset, signal, sleep,
    wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same};

pub const TESTS: &[Test] = &[
    ("capability/derive-and-delete", derive),
    ("capability/rights-only-shrink", rights),
    ("capability/badge", badge),
    ("capability/revoke-takes-all-below", revoke),
    ("capability/move-keeps-the-tree", moved),
    ("capability/space-ends-with-its-content", space),
    ("capability/space-ends-while-used", space_in_use),
    ("capability/nested-spaces", nested),
];

fn kind(slot: Cap) -> u64 {
    cap_identify(slot).map_or(u64::MAX, |v| v[0])
}

fn derive(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let (copy, second) = (kit.slot(), kit.slot());
    done!(cap_derive(0, copy, n, right::ALL, 0));
    done!(cap_derive(0, second, copy, right::ALL, 0));
    done!(cap_delete(0, copy));
    same!([kind(n), kind(copy), kind(second)], [Kind::Notification as u64, 0, 0]);
    done!(cap_delete(0, copy));
    done!(cap_delete(0, n));
    refused!(signal(n), BadCap);
    Ok(())
}

fn rights(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let read = done!(kit.limited(n, right::READ));
    let wider = done!(kit.limited(read, right::ALL));
    refused!(signal(wider), NoRight);
    refused!(wait(wider, 0), pillion_abi::status::Error::Timeout);
    Ok(())
}

fn badge(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let (one, two) = (done!(kit.badged(n, 0x10)), done!(kit.badged(n, 1 << 63)));
    let copy = done!(kit.limited(one, right::ALL));
    done!(signal(copy));
    done!(signal(two));
    same!(done!(wait(n, 0))[0], 1 << 63 | 0x10);
    let other = kit.slot();
    refused!(cap_derive(0, other, copy, right::ALL, 1), BadArgument);
    Ok(())
}

fn revoke(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let mut slots = [0; 12];
    for i in 0..slots.len() {
        slots[i] = kit.slot();
        // A tree: each is derived from the one at half its index.
        let parent = if i == 0 { n } else { slots[(i - 1) / 2] };
        done!(cap_derive(0, slots[i], parent, right::ALL, 0));
    }
    done!(cap_revoke(0, slots[1]));
    for (i, slot) in slots.into_iter().enumerate() {
        let gone = [3, 4, 7, 8, 9, 10].contains(&i);
        check!((kind(slot) == 0) == gone, "slot {i} of the tree holds {}", kind(slot));
    }
    done!(cap_revoke(0, n));
    for slot in slots {
        same!(kind(slot), 0);
    }
    same!(kind(n), Kind::Notification as u64);
    Ok(())
}

fn moved(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, 0));
    let (copy, to, third) = (kit.slot(), kit.slot(), kit.slot());
    done!(cap_derive(0, copy, n, right::ALL, 0));
    done!(cap_derive(0, third, copy, right::ALL, 0));
    done!(cap_move(0, to, copy));
    same!([kind(copy), kind(to)], [0, Kind::Notification as u64]);
    done!(cap_delete(0, to));
    same!(kind(third), 0);
    let place = kit.slot();
    done!(cap_move(0, place, n));
    done!(signal(place));
    done!(cap_delete(0, place));
    Ok(())
}

fn space(kit: &mut Kit) -> Checked {
    let caps = done!(kit.make(Kind::CapSpace, 40));
    let (n, m) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Notification, 0)));
    let copy = kit.slot();
    done!(cap_derive(caps, 39, n, right::ALL, 0));
    done!(cap_derive(0, copy, m, right::ALL, 0));
    done!(cap_move(caps, 20, m));
    done!(cap_delete(0, caps));
    // The moved capability was the original: it is gone together with what was derived from it. The
    // original of the copy in the space is not.
    same!([kind(caps), kind(copy), kind(n)], [0, 0, Kind::Notification as u64]);
    Ok(())
}

extern "C" fn user(_: u64) -> ! {
    let n = cells::cap(0);
    loop {
        cells::set(1, signal(n).map_or_else(|e| e as u64, |_| 100));
        cells::add(2, 1);
        let _ = sleep(now() + 1_000);
    }
}

fn space_in_use(kit: &mut Kit) -> Checked {
    let caps = kit.slot();
    done!(region_create(kit.region(), Kind::CapSpace, 400, caps));
    let n = done!(kit.make(Kind::Notification, 0));
    done!(cap_derive(caps, 7, n, right::ALL, 0));
    cells::set(0, 7u64);
    let t = done!(kit.prepare(Setup::new(20, user)));
    done!(pillion_runtime::thread_configure(t.thread, pillion_abi::boot::slot::ADDRESS_SPACE, caps, 0, 0));
    done!(pillion_runtime::thread_resume(t.thread));
    kit.rest(20_000);
    same!(cells::get(1), 100);
    done!(cap_delete(0, caps));
    kit.rest(100_000);
    same!(cells::get(1), BadCap as u64);
    Ok(())
}

fn nested(kit: &mut Kit) -> Checked {
    let region = kit.slot();
    done!(region_create(kit.region(), Kind::Region, 4 << 20, region));
    let outer = kit.slot();
    done!(region_create(region, Kind::CapSpace, 64, outer));
    let (inner, n) = (kit.slot(), kit.slot());
    done!(region_create(region, Kind::CapSpace, 64, inner));
    done!(region_create(region, Kind::Notification, 0, n));
    // A space cannot go into another one of its level.
    refused!(cap_derive(outer, 3, inner, right::ALL, 0), BadArgument);
    done!(cap_derive(inner, 5, n, right::ALL, 0));
    done!(region_reset(region));
    for slot in [outer, inner, n] {
        same!(kind(slot), 0);
    }
    Ok(())
}
