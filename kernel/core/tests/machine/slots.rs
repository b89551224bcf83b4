//! Capabilities, and what they name: objects, memory, mappings.

use super::{Fake, What, world::World};
use pillion_abi::PAGE;
use pillion_core::{
    Cap, Id, Slot,
    cap::{CapSpace, DEPTH},
    endpoint::Endpoint,
    interrupt::Interrupt,
    space::Space,
    thread::Thread,
    timer::Timer,
    vcpu::Vcpu,
};
use std::collections::{BTreeMap, BTreeSet};

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
        use std::mem::offset_of;
        let offsets: Vec<usize> = match l.what {
            What::Thread => (0..4).map(|i| offset_of!(Thread, slots) + 64 * i).collect(),
            What::Endpoint => vec![offset_of!(Endpoint, slot)],
            What::Timer => vec![offset_of!(Timer, slot)],
            What::Interrupt => vec![offset_of!(Interrupt, slot)],
            What::Vcpu => vec![offset_of!(Vcpu, space), offset_of!(Vcpu, state), offset_of!(Vcpu, signals)],
            _ => vec![],
        };
        found.extend(offsets.into_iter().map(|o| Id::at(address + o as u64).unwrap()));
    }
    found
}

fn object_of(cap: &Cap) -> Option<(u64, What)> {
    Some(match cap {
        Cap::CapSpace(id) => (id.physical(), What::CapSpace),
        Cap::AddressSpace(id) | Cap::GuestSpace(id) => (id.physical(), What::Space),
        Cap::Thread(id) => (id.physical(), What::Thread),
        Cap::Context(id) => (id.physical(), What::Context),
        Cap::Endpoint(id) => (id.physical(), What::Endpoint),
        Cap::Notification(id) => (id.physical(), What::Notification),
        Cap::Timer(id) => (id.physical(), What::Timer),
        Cap::Interrupt(id) => (id.physical(), What::Interrupt),
        Cap::Vcpu(id) => (id.physical(), What::Vcpu),
        _ => return None,
    })
}

/// The derivation list is well formed, every object has one original capability, and no capability
/// outlives its object.
pub fn derivation(w: &mut World) {
    let m = &mut w.k.m;
    let all = all_slots(m);
    let mut originals = BTreeSet::new();
    let mut seen = 0;
    let mut full = 0;
    for &id in &all {
        let s = *m.peek(id);
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
            let next = *m.peek(n);
            assert_eq!(next.previous, Some(id), "{id:?} is not the previous of its next {n:?}");
            assert!(next.depth >= 1, "{n:?} is a root in the middle of a list");
        }
        match s.previous {
            Some(p) => {
                let previous = *m.peek(p);
                assert_eq!(previous.next, Some(id), "{id:?} is not the next of its previous {p:?}");
                assert!(!s.original || matches!(parent(m, id).map(|p| m.peek(p).cap), Some(Cap::Region { .. })));
            }
            None => {
                // The head of a list: walk it.
                let mut at = Some(id);
                while let Some(slot) = at {
                    seen += 1;
                    assert!(seen <= all.len(), "the list has a cycle");
                    at = m.peek(slot).next;
                }
            }
        }
        if let Some(parent) = parent(m, id) {
            let p = *m.peek(parent);
            assert!(s.rights & !p.rights == 0, "{id:?} has more rights than its parent");
            if !s.original {
                assert_eq!(object_of(&s.cap), object_of(&p.cap), "{id:?} {s:?} {p:?}");
            }
        }
    }
    assert_eq!(seen, full, "there are slots outside every list");
    for (address, l) in m.live.clone() {
        assert!(
            l.ended || originals.contains(&address) || address == super::BASE,
            "{:?} at {address:#x} has no original",
            l.what
        );
    }
}

/// The slot that a slot was derived from.
pub fn parent(m: &mut Fake, id: Id<Slot>) -> Option<Id<Slot>> {
    let depth = m.peek(id).depth;
    let mut at = m.peek(id).previous;
    while let Some(p) = at {
        if m.peek(p).depth < depth {
            return Some(p);
        }
        at = m.peek(p).previous;
    }
    None
}

/// Objects lie inside the used part of the region that they were created in, and do not overlap.
pub fn memory(w: &mut World) {
    let m = &mut w.k.m;
    for id in all_slots(m) {
        let s = *m.peek(id);
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
        let Some(mut ancestor) = parent(m, id) else { continue };
        loop {
            let end = match m.peek(ancestor).cap {
                Cap::Region { base, used, .. } if s.original && start >= base => base + used,
                Cap::Memory { base, size, .. } if start >= base => base + size,
                _ => 0,
            };
            if start + bytes <= end {
                break;
            }
            // If its region was unlinked from a cycle, it belongs to an ancestor further up.
            ancestor = parent(m, ancestor).unwrap_or_else(|| panic!("{s:?} lies outside its region"));
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
        let (mut at, mut before) = (m.peek(id).mapped, None);
        while let Some(slot) = at {
            assert!(listed.insert(slot.physical()), "{slot:?} is in two lists, or in a cycle");
            let s = *m.peek(slot);
            let Cap::Memory { base, size, address, space, previous, next, .. } = s.cap else { panic!("{s:?}") };
            assert_eq!((space, previous), (Some(id), before));
            for page in 0..u64::from(s.mapped_pages) {
                assert!(pages.insert(address + page * PAGE, base..base + size).is_none());
            }
            (before, at) = (Some(slot), next);
        }
        let used = m.peek(id).used;
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
        if let Cap::Memory { space: Some(_), .. } = m.peek(slot).cap {
            assert!(listed.contains(&slot.physical()), "{slot:?} is mapped but in no list");
        }
    }
}
