//! Allocation of rings in a stretch of memory.

#![forbid(unsafe_code)]

/// A stretch of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Start.
    pub at: u64,
    /// Bytes.
    pub size: u64,
}

impl Extent {
    /// The first offset past it.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.at.saturating_add(self.size)
    }
}

/// The lowest free offset for `size` bytes within `space`. The extents in `taken` do not overlap;
/// empty ones are ignored. Work: sorting `taken`.
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
