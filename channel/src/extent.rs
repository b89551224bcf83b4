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
}

/// The lowest place for `size` bytes within `space` beside those in `taken`, which lie apart; those
/// without bytes do not count. Work: to put them in order.
#[must_use]
pub fn find(space: Extent, taken: &mut [Extent], size: u64) -> Option<u64> {
    taken.sort_unstable_by_key(|extent| extent.at);
    let mut at = space.at;
    for other in taken.iter().filter(|other| other.size != 0) {
        if other.at.checked_sub(at).is_some_and(|room| room >= size) {
            break;
        }
        at = at.max(other.end());
    }
    (at.checked_add(size)? <= space.end()).then_some(at)
}
