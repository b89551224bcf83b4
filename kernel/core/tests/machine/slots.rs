//! Capabilities, and what they name: objects, memory, mappings.

use super::{Fake, What, world::World};
use pillion_abi::PAGE;
use pillion_core::{
    Cap, Id, Slot,
    cap::{CapSpace, DEPTH},
    endpoint::Endpoint,
    interrupt::Interrupt,
    slot::Entry,
    space::Space,
    thread::{Thread, place},
    timer::Timer,
    vcpu::Vcpu,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering::Relaxed,
};

/// All slots: those of capability spaces and those inside objects.
pub fn all_slots(m: &mut Fake) -> Vec<Id<Slot>> {
    let mut found = Vec::new();
    for space in m.all::<CapSpace>() {
        let count = u64::from(m.peek(space).count);
        found.extend((0..count).map(|i| Id::at(space.physical() + 64 * (1 + i)).unwrap()));
    }
    for (address, l) in m.live.clone() {
        if l.ended {
            continue;
        }
        fn at<T>(address: u64) -> Id<T> {
            Id::at(address).unwrap()
        }
        found.extend(match l.what {
            What::Thread => (0..place::COUNT).map(|index| at::<Thread>(address).place(index)).collect(),
            What::Endpoint => vec![at::<Endpoint>(address).slot()],
            What::Timer => vec![at::<Timer>(address).slot()],
            What::Interrupt => vec![at::<Interrupt>(address).slot()],
            What::Vcpu => {
                let vcpu = at::<Vcpu>(address);
                vec![vcpu.space(), vcpu.state(), vcpu.signals()]
            }
            _ => vec![],
        });
    }
    found
}

fn object_of(cap: &Cap) -> Option<(u64, What)> {
    Some(match cap {
        Cap::CapSpace(id) => (id.physical(), What::CapSpace),
        Cap::AddressSpace(id) | Cap::GuestSpace(id) => (id.physical(), What::Space),
        Cap::Thread(object) => (object.id().physical(), What::Thread),
        Cap::Context(object) => (object.id().physical(), What::Context),
        Cap::Endpoint(object) => (object.id().physical(), What::Endpoint),
        Cap::Notification(object) => (object.id().physical(), What::Notification),
        Cap::Timer(object) => (object.id().physical(), What::Timer),
        Cap::Interrupt(object) => (object.id().physical(), What::Interrupt),
        Cap::Vcpu(object) => (object.id().physical(), What::Vcpu),
        _ => return None,
    })
}

/// The derivation list is well formed, every object has one original capability, and no capability
/// outlives its object.
pub fn derivation(w: &mut World) {
    let m = &mut w.k.m;
    let parents = parents(m);
    let mut originals = BTreeSet::new();
    let mut full = 0;
    for id in all_slots(m) {
        let s = m.peek(id).entry();
        if s.cap == Cap::None {
            assert!(s.previous.is_none() && s.next.is_none() && !s.original, "{id:?} is empty but linked: {s:?}");
            continue;
        }
        full += 1;
        assert!(s.depth <= DEPTH);
        if let Some((address, what)) = object_of(&s.cap) {
            let l = m.live.get(&address);
            assert!(l.is_some_and(|l| l.what == what && !l.ended), "{id:?} outlives its object: {s:?}");
            if s.original {
                assert!(originals.insert(address), "{address:#x} has two originals");
            }
        }
        if let Some(n) = s.next {
            let next = m.peek(n).entry();
            assert_eq!(next.previous, Some(id), "{id:?} is not the previous of its next {n:?}");
            assert!(next.depth >= 1, "{n:?} is a root in the middle of a list");
        }
        if let Some(p) = s.previous {
            let previous = m.peek(p).entry();
            assert_eq!(previous.next, Some(id), "{id:?} is not the next of its previous {p:?}");
        }
        assert!(parents.contains_key(&id.physical()), "{id:?} is outside every list");
        if let Some(parent) = parents[&id.physical()] {
            let p = m.peek(parent).entry();
            assert!(s.rights & !p.rights == 0, "{id:?} has more rights than its parent");
            if !s.original {
                assert_eq!(object_of(&s.cap), object_of(&p.cap), "{id:?} {s:?} {p:?}");
            }
        }
        if s.original && s.previous.is_some() {
            let region = parents[&id.physical()].map(|p| m.peek(p).cap());
            assert!(matches!(region, Some(Cap::Region { .. })), "{id:?} comes from {region:?}");
        }
    }
    assert_eq!(parents.len(), full, "an empty slot is in a list");
    for (address, l) in m.live.clone() {
        assert!(
            l.ended || originals.contains(&address) || address == super::BASE,
            "{:?} at {address:#x} has no original",
            l.what
        );
    }
}

/// The slot that each slot was derived from, by address: the last one before it in its list that is
/// less deep.
pub fn parents(m: &mut Fake) -> BTreeMap<u64, Option<Id<Slot>>> {
    let mut parents = BTreeMap::new();
    for head in all_slots(m) {
        if m.peek(head).cap() == Cap::None || m.peek(head).entry().previous.is_some() {
            continue;
        }
        let (mut at, mut above) = (Some(head), Vec::<(Id<Slot>, u8)>::new());
        while let Some(slot) = at {
            let Entry { depth, next, .. } = m.peek(slot).entry();
            while above.pop_if(|(_, d)| *d >= depth).is_some() {}
            let parent = above.last().map(|(slot, _)| *slot);
            assert_eq!(parents.insert(slot.physical(), parent), None, "{slot:?} is in two lists, or in a cycle");
            above.push((slot, depth));
            at = next;
        }
    }
    parents
}

/// Objects lie inside the used part of the region that they were created in, and do not overlap.
pub fn memory(w: &mut World) {
    let m = &mut w.k.m;
    let parents = parents(m);
    let parent = |id: Id<Slot>| parents.get(&id.physical()).copied().flatten();
    for id in all_slots(m) {
        let s = m.peek(id).entry();
        let (start, bytes) = match s.cap {
            Cap::Region { base, size, used, cleared, .. } => {
                assert!(used <= size && cleared <= size);
                (base, size)
            }
            Cap::Memory { base, size, .. } => (base, size),
            _ => match object_of(&s.cap) {
                Some((at, _)) if s.original => (at, m.live[&at].bytes),
                _ => continue,
            },
        };
        let Some(mut ancestor) = parent(id) else { continue };
        loop {
            let end = match m.peek(ancestor).cap() {
                Cap::Region { base, used, .. } if s.original && start >= base => base + used,
                Cap::Memory { base, size, .. } if start >= base => base + size,
                _ => 0,
            };
            if start + bytes <= end {
                break;
            }
            // If its region was unlinked from a cycle, it belongs to an ancestor further up.
            ancestor = parent(ancestor).unwrap_or_else(|| panic!("{s:?} lies outside its region"));
        }
    }
    let mut end = 0;
    for (start, l) in &m.live {
        assert!(*start >= end, "objects overlap");
        end = start + l.bytes;
    }
}

/// The lists of mappings agree with the page tables.
pub fn mappings(w: &mut World) {
    let m = &mut w.k.m;
    let mut listed = BTreeSet::new();
    for id in m.all::<Space>() {
        let mut pages = BTreeMap::new();
        let (mut at, mut before) = (m.peek(id).mapped(), None);
        while let Some(slot) = at {
            assert!(listed.insert(slot.physical()), "{slot:?} is in two lists, or in a cycle");
            let s = m.peek(slot).entry();
            let Cap::Memory { base, size, address, space, previous, next, .. } = s.cap else { panic!("{s:?}") };
            assert_eq!((space, previous), (Some(id), before));
            for page in 0..u64::from(s.mapped_pages) {
                assert!(pages.insert(address + page * PAGE, base..base + size).is_none());
            }
            (before, at) = (Some(slot), next);
        }
        let used = m.peek(id).used.load(Relaxed);
        assert!(used <= m.peek(id).pages);
        if used == 1 {
            assert!(pages.is_empty());
            continue;
        }
        let real = m.mappings(id);
        assert!(real.keys().eq(pages.keys()), "the tables do not map what is listed");
        for (address, physical) in real {
            assert!(pages[&address].contains(&physical));
        }
    }
    for slot in all_slots(m) {
        if let Cap::Memory { space: Some(_), .. } = m.peek(slot).cap() {
            assert!(listed.contains(&slot.physical()), "{slot:?} is mapped but in no list");
        }
    }
}
