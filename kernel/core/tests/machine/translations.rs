//! What processors know of page tables: all that these have said since the processor loaded the
//! space or dropped what it knew. No real one remembers more.

use super::{Fake, slots::all_slots, world::World};
use pillion_abi::PAGE;
use pillion_core::{Cap, Id, space::Space};
use std::collections::{BTreeMap, BTreeSet};

/// What one processor knows.
#[derive(Clone, Debug)]
struct Known {
    space: Id<Space>,
    root: u64,
    /// Physical addresses.
    pages: BTreeSet<u64>,
}

/// What all know, and who has to drop it.
#[derive(Debug, Default)]
pub struct Translations {
    known: BTreeMap<u8, Known>,
    told: BTreeSet<u8>,
}

impl Translations {
    /// A processor's tables have changed: it drops what it knows of them, and others are told to.
    pub fn removed(&mut self, by: u8, root: u64) {
        assert!(self.told.is_empty(), "told before the shootdown before was over");
        if let Some(own) = self.known.get_mut(&by).filter(|own| own.root == root) {
            own.pages.clear();
        }
        self.tell(by, root);
    }

    /// A space ends. Returns whether no processor has it loaded.
    pub fn ends(&mut self, by: u8, root: u64) -> bool {
        self.known.retain(|processor, k| *processor != by || k.root != root);
        if self.told.is_empty() {
            self.tell(by, root);
        }
        self.told.is_empty()
    }

    fn tell(&mut self, by: u8, root: u64) {
        let others = self.known.iter().filter(|(processor, k)| **processor != by && k.root == root);
        self.told.extend(others.map(|(processor, _)| *processor));
    }

    pub fn are_dropped(&self) -> bool {
        self.told.is_empty()
    }

    /// One of those that were told leaves its space.
    pub fn heed_one(&mut self) {
        if let Some(processor) = self.told.pop_first() {
            self.known.remove(&processor);
        }
    }

    /// No processor may know memory that is put to another use.
    pub fn check_unknown(&self, start: u64, bytes: u64) {
        for (processor, k) in &self.known {
            let known = k.pages.range(start / PAGE * PAGE..start + bytes).next();
            assert_eq!(known, None, "processor {processor} still uses this memory");
        }
    }
}

/// Each processor goes on with its thread, and looks at all of its tables.
pub fn walk(w: &mut World) {
    let here = w.k.cpu.number;
    for processor in 0..w.processors() {
        w.on(processor);
        let current = w.k.cpu.current;
        let m = &mut w.k.m;
        if let Some(space) = current.and_then(|thread| thread.space(m)) {
            load(m, processor, space);
        }
        if let Some(k) = m.translations.known.get(&processor).cloned() {
            let pages = m.mappings(k.space).into_values();
            m.translations.known.get_mut(&processor).unwrap().pages.extend(pages);
        }
    }
    w.on(here);
}

fn load(m: &mut Fake, processor: u8, space: Id<Space>) {
    let root = m.peek(space).root;
    if m.translations.known.get(&processor).is_none_or(|k| k.root != root) {
        m.translations.known.insert(processor, Known { space, root, pages: BTreeSet::new() });
    }
}

/// What is known is memory of a capability that counts as mapped there.
pub fn check(w: &mut World) {
    let m = &mut w.k.m;
    let mut mapped = BTreeSet::new();
    for slot in all_slots(m) {
        if let Cap::Memory { base, size, space: Some(space), .. } = m.peek(slot).cap() {
            mapped.extend((base..base + size).step_by(PAGE as usize).map(|page| (space.physical(), page)));
        }
    }
    for (processor, k) in &m.translations.known {
        for page in &k.pages {
            assert!(mapped.contains(&(k.space.physical(), *page)), "{processor} knows {page:#x}");
        }
    }
}
