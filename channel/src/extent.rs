//! Places for rings in a stretch of memory: where there is room beside those that are taken.

#![forbid(unsafe_code)]

/// A stretch that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Its start.
    pub at: u64,
    /// Its bytes.
    pub size: u64,
}

impl Extent {
    /// The first offset behind it.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.at.saturating_add(self.size)
    }

    fn meets(self, other: Extent) -> bool {
        self.at < other.end() && other.at < self.end()
    }
}

/// The lowest place for `size` bytes within `space` beside those in `taken`. Work: the square of their number.
#[must_use]
pub fn find(space: Extent, taken: impl Iterator<Item = Extent> + Clone, size: u64) -> Option<u64> {
    let starts = core::iter::once(space.at).chain(taken.clone().map(Extent::end));
    let fits = |at: &u64| {
        let place = Extent { at: *at, size };
        let inside = *at >= space.at && at.checked_add(size).is_some_and(|end| end <= space.end());
        inside && !taken.clone().any(|other| other.meets(place))
    };
    starts.filter(fits).min()
}

/// As [`find`], where those that are taken lie apart and come in the order of their places. Work: their number.
#[must_use]
pub fn find_in_order(space: Extent, taken: &[Extent], size: u64) -> Option<u64> {
    let mut at = space.at;
    for other in taken {
        if other.at.checked_sub(at).is_some_and(|room| room >= size) {
            break;
        }
        at = at.max(other.end());
    }
    (at.checked_add(size)? <= space.end()).then_some(at)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Both find the same place.
        #[test]
        fn in_order_or_not(start in 0u64..5, steps in prop::collection::vec((0u64..4, 1u64..5), 0..12), more in 0u64..8, size in 1u64..8) {
            let mut at = start;
            let taken: Vec<Extent> = steps.into_iter().map(|(gap, size)| {
                let extent = Extent { at: at + gap, size };
                at = extent.end();
                extent
            }).collect();
            let space = Extent { at: start, size: at + more - start };
            prop_assert_eq!(find_in_order(space, &taken, size), find(space, taken.iter().copied(), size));
        }
    }
}
