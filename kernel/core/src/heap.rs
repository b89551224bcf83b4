//! Leftist heap whose nodes live inside the objects that they order.
//!
//! Inserting, taking the first and removing any node cost O(log n), worst case, not amortised; no
//! memory is needed beyond the nodes. (C. A. Crane, "Linear lists and priority queues as balanced
//! binary trees", 1972; the right spine of a heap of n nodes has at most log2(n + 1) of them.)

/// A node: links, rank and key.
#[derive(Clone, Copy, Debug)]
pub struct Node<R> {
    key: u64,
    parent: Option<R>,
    left: Option<R>,
    right: Option<R>,
    rank: u8,
    linked: bool,
    /// Which heap it is in, if there are several; set by the owner after insertion.
    pub level: u8,
}

impl<R> Default for Node<R> {
    fn default() -> Self {
        Node { key: 0, parent: None, left: None, right: None, rank: 0, linked: false, level: 0 }
    }
}

impl<R: Copy> Node<R> {
    /// Whether the node is in a heap.
    #[inline]
    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// The key that it was inserted with.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }
}

/// Finds nodes by reference.
pub trait Nodes<R: Copy + PartialEq> {
    /// The node of `r`.
    fn node(&mut self, r: R) -> &mut Node<R>;
}

/// A heap: its first node.
#[derive(Clone, Copy, Debug)]
pub struct Heap<R> {
    root: Option<R>,
}

impl<R> Default for Heap<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> Heap<R> {
    /// An empty heap.
    pub const fn new() -> Self {
        Heap { root: None }
    }
}

impl<R: Copy + PartialEq> Heap<R> {
    /// The node with the smallest key.
    #[inline]
    pub fn first(&self) -> Option<R> {
        self.root
    }

    /// Adds a node that is in no heap. Equal keys come out in any order: a caller that needs order
    /// of arrival makes keys distinct.
    pub fn insert(&mut self, nodes: &mut impl Nodes<R>, r: R, key: u64) {
        *nodes.node(r) = Node { key, parent: None, left: None, right: None, rank: 1, linked: true, level: 0 };
        self.root = merge(nodes, self.root, Some(r));
        self.orphan(nodes);
    }

    /// Removes the first node.
    pub fn pop(&mut self, nodes: &mut impl Nodes<R>) -> Option<R> {
        let first = self.root?;
        let Node { left, right, .. } = *nodes.node(first);
        nodes.node(first).linked = false;
        if left.is_none() {
            self.root = None;
            return Some(first);
        }
        self.root = merge(nodes, left, right);
        self.orphan(nodes);
        Some(first)
    }

    /// Removes the first node if there is no other. Returns whether it did.
    #[inline(always)]
    pub fn take_only(&mut self, nodes: &mut impl Nodes<R>, first: R) -> bool {
        let node = nodes.node(first);
        let only = node.left.is_none();
        if only {
            node.linked = false;
            self.root = None;
        }
        only
    }

    /// Removes a node, wherever it is; does nothing if it is in no heap.
    pub fn remove(&mut self, nodes: &mut impl Nodes<R>, r: R) {
        let Node { parent, left, right, linked, .. } = *nodes.node(r);
        if !linked {
            return;
        }
        nodes.node(r).linked = false;
        let rest = merge(nodes, left, right);
        if let Some(rest) = rest {
            nodes.node(rest).parent = parent;
        }
        match parent {
            None => self.root = rest,
            Some(p) => {
                let node = nodes.node(p);
                if node.left == Some(r) {
                    node.left = rest;
                } else {
                    node.right = rest;
                }
                repair(nodes, p);
            }
        }
    }

    fn orphan(&self, nodes: &mut impl Nodes<R>) {
        if let Some(root) = self.root {
            nodes.node(root).parent = None;
        }
    }
}

fn rank<R: Copy + PartialEq>(nodes: &mut impl Nodes<R>, r: Option<R>) -> u8 {
    r.map_or(0, |r| nodes.node(r).rank)
}

/// Merges two heaps; recursion goes down right spines only, so its depth is logarithmic.
fn merge<R: Copy + PartialEq>(nodes: &mut impl Nodes<R>, a: Option<R>, b: Option<R>) -> Option<R> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    let (top, other) = if nodes.node(b).key < nodes.node(a).key { (b, a) } else { (a, b) };
    let right = nodes.node(top).right;
    let merged = merge(nodes, right, Some(other));
    nodes.node(top).right = merged;
    if let Some(child) = merged {
        nodes.node(child).parent = Some(top);
    }
    settle(nodes, top);
    Some(top)
}

/// Puts the child of higher rank left and recomputes the rank. Returns whether the rank changed.
fn settle<R: Copy + PartialEq>(nodes: &mut impl Nodes<R>, r: R) -> bool {
    let Node { left, right, rank: old, .. } = *nodes.node(r);
    let (l, rr) = (rank(nodes, left), rank(nodes, right));
    let node = nodes.node(r);
    if l < rr {
        node.left = right;
        node.right = left;
    }
    node.rank = l.min(rr) + 1;
    node.rank != old
}

/// Restores the ranks from a node whose child changed up to where nothing changes any more.
fn repair<R: Copy + PartialEq>(nodes: &mut impl Nodes<R>, from: R) {
    let mut at = Some(from);
    while let Some(r) = at {
        if !settle(nodes, r) {
            break;
        }
        at = nodes.node(r).parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    struct Table(Vec<Node<usize>>);
    impl Nodes<usize> for Table {
        fn node(&mut self, r: usize) -> &mut Node<usize> {
            &mut self.0[r]
        }
    }

    fn check(t: &mut Table, heap: &Heap<usize>) -> usize {
        fn walk(t: &mut Table, r: Option<usize>, parent: Option<usize>) -> (usize, u8) {
            let Some(r) = r else { return (0, 0) };
            let n = t.0[r];
            assert!(n.linked && n.parent == parent);
            assert!(parent.is_none_or(|p| t.0[p].key <= n.key));
            let (a, l) = walk(t, n.left, Some(r));
            let (b, rr) = walk(t, n.right, Some(r));
            assert!(l >= rr && n.rank == rr + 1);
            (a + b + 1, n.rank)
        }
        walk(t, heap.root, None).0
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_set(ops in prop::collection::vec((0u8..3, 0usize..40, 0u64..20), 1..300)) {
            let mut t = Table((0..40).map(|_| Node::default()).collect());
            let mut heap = Heap::default();
            let mut model = BTreeSet::new();
            for (op, r, key) in ops {
                match op {
                    0 if !t.0[r].is_linked() => { heap.insert(&mut t, r, key); model.insert((key, r)); }
                    1 => { let key = t.0[r].key(); heap.remove(&mut t, r); model.remove(&(key, r)); }
                    2 => match heap.pop(&mut t) {
                        Some(r) => {
                            let key = t.0[r].key();
                            prop_assert_eq!(model.iter().next().map(|m| m.0), Some(key));
                            model.remove(&(key, r));
                        }
                        None => prop_assert!(model.is_empty()),
                    },
                    _ => {}
                }
                prop_assert_eq!(check(&mut t, &heap), model.len());
            }
        }
    }
}
