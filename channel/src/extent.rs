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
