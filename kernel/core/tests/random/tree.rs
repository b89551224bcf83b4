//! Derivation of capabilities, checked against a tree.

use crate::machine::{
    slots::{all_slots, parents},
    world::{World, slot},
};
use pillion_abi::{PAGE, call::Call, object::Kind, status::Error};
use pillion_core::{Cap, Id};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The slots that the operations use.
const FIRST: u64 = 20;
const COUNT: u64 = 24;
const DEPTH: usize = 16;

#[derive(Clone, Debug)]
enum Op {
    Create(u64, usize, u64),
    Derive(u64, u64, u8),
    Move(u64, u64),
    Part(u64, u64, u64, u64),
    Delete(u64),
    Revoke(u64),
    Reset(u64),
}

const KINDS: [Kind; 6] =
    [Kind::Region, Kind::Memory, Kind::Notification, Kind::Endpoint, Kind::SchedContext, Kind::CapSpace];

fn op() -> impl Strategy<Value = Op> {
    let s = || FIRST..FIRST + COUNT;
    prop_oneof![
        4 => (s(), 0..KINDS.len(), s()).prop_map(|(r, k, d)| Op::Create(r, k, d)),
        4 => (s(), s(), 0u8..16).prop_map(|(a, b, r)| Op::Derive(a, b, r)),
        2 => (s(), s()).prop_map(|(a, b)| Op::Move(a, b)),
        2 => (s(), s(), 0u64..4, 0u64..4).prop_map(|(a, b, o, n)| Op::Part(a, b, o, n)),
        1 => s().prop_map(Op::Delete),
        1 => s().prop_map(Op::Revoke),
        1 => s().prop_map(Op::Reset),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    kind: Kind,
    parent: u64,
    rights: u8,
}

#[derive(Default)]
struct Tree(BTreeMap<u64, Node>);

impl Tree {
    fn depth(&self, mut at: u64) -> usize {
        let mut depth = 0;
        while let Some(n) = self.0.get(&at) {
            at = n.parent;
            depth += 1;
        }
        depth
    }
    fn revoke(&mut self, at: u64) {
        let children: Vec<u64> = self.0.iter().filter(|(_, n)| n.parent == at).map(|(s, _)| *s).collect();
        for child in children {
            self.revoke(child);
            self.0.remove(&child);
        }
    }
    fn move_to(&mut self, from: u64, to: u64) {
        if let Some(n) = self.0.remove(&from) {
            self.0.insert(to, n);
        }
        self.0.values_mut().filter(|n| n.parent == from).for_each(|n| n.parent = to);
    }
}

fn story(ops: &[Op], every: u32) {
    let mut w = World::new().interrupted_every(every);
    let mut tree = Tree::default();
    let top = FIRST;
    w.next = FIRST;
    w.make(Kind::Region, 100 * PAGE);
    tree.0.insert(top, Node { kind: Kind::Region, parent: slot::REGION, rights: 15 });
    w.root_runs();
    for op in ops {
        let kind = |tree: &Tree, s: u64| tree.0.get(&s).map(|n| n.kind);
        match *op {
            Op::Create(r, k, d) => {
                let size = [8 * PAGE, 2 * PAGE, 0, 0, 0, 4][k];
                let f = w.call(Call::RegionCreate, [r, KINDS[k] as u64, size, d]);
                let possible = kind(&tree, r) == Some(Kind::Region) && kind(&tree, d).is_none();
                match Error::from_raw(f.rax) {
                    None => {
                        assert!(possible && tree.depth(r) < DEPTH);
                        tree.0.insert(d, Node { kind: KINDS[k], parent: r, rights: 15 });
                    }
                    Some(Error::NoMemory) => assert!(possible),
                    Some(Error::TooDeep) => assert_eq!(tree.depth(r), DEPTH),
                    Some(_) => assert!(!possible),
                }
            }
            Op::Derive(a, b, rights) => {
                let f = w.call(Call::CapDerive, [0, b, a, rights.into(), 0]);
                let from = tree.0.get(&a).copied();
                let possible = from.is_some_and(|n| n.kind != Kind::Region && n.kind != Kind::CapSpace)
                    && !tree.0.contains_key(&b)
                    && tree.depth(a) < DEPTH;
                match from {
                    Some(n) if f.rax == 0 => {
                        assert!(n.kind != Kind::Region && !tree.0.contains_key(&b) && tree.depth(a) < DEPTH);
                        tree.0.insert(b, Node { kind: n.kind, parent: a, rights: n.rights & rights });
                    }
                    _ => assert!(f.rax != 0 && !possible),
                }
            }
            Op::Move(a, b) => {
                let f = w.call(Call::CapMove, [0, b, a]);
                let possible = tree.0.contains_key(&a) && !tree.0.contains_key(&b);
                assert_eq!(f.rax == 0, possible);
                if possible {
                    tree.move_to(a, b);
                }
            }
            Op::Part(a, b, offset, size) => {
                let f = w.call(Call::MemoryPart, [a, offset * PAGE, size * PAGE, b, 7]);
                if f.rax == 0 {
                    let n = tree.0[&a];
                    assert!(n.kind == Kind::Memory && !tree.0.contains_key(&b));
                    tree.0.insert(b, Node { parent: a, rights: n.rights & 7, ..n });
                }
            }
            Op::Delete(a) => {
                w.ok(Call::CapDelete, [0, a]);
                tree.revoke(a);
                tree.0.remove(&a);
            }
            Op::Revoke(a) => {
                w.ok(Call::CapRevoke, [0, a]);
                tree.revoke(a);
            }
            Op::Reset(a) => {
                let f = w.call(Call::RegionReset, [a]);
                assert_eq!(f.rax == 0, kind(&tree, a) == Some(Kind::Region));
                if f.rax == 0 {
                    tree.revoke(a);
                }
            }
        }
        compare(&mut w, &tree);
    }
}

fn compare(w: &mut World, tree: &Tree) {
    let index = |w: &World, s: Id<pillion_core::Slot>| (s.physical() - w.caps.physical()) / 64 - 1;
    let (low, high) = (w.slot_of(FIRST).physical(), w.slot_of(FIRST + COUNT).physical());
    let (mut found, parents) = (BTreeMap::new(), parents(&mut w.k.m));
    for s in all_slots(&mut w.k.m) {
        let content = w.k.m.peek(s).entry();
        if (low..high).contains(&s.physical()) && content.cap != Cap::None {
            let above = parents[&s.physical()].expect("every capability derives from the region");
            let node = Node { kind: content.cap.kind(), parent: index(w, above), rights: content.rights };
            found.insert(index(w, s), node);
        }
    }
    assert_eq!(found, tree.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::cases(500), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn capabilities_form_the_right_tree(ops in prop::collection::vec(op(), 1..60), every in 0u32..4) {
        story(&ops, every);
    }
}
