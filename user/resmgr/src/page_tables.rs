//! How many table pages an address space needs.

use pillion_abi::PAGE;

/// A range of addresses to be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Binary logarithm of the largest page size used, except at the ends.
    largest: u32,
}

const LARGE: u32 = 21;
const GIGANTIC: u32 = 30;

impl Extent {
    /// A range mapped in small pages.
    pub const fn small(address: u64, size: u64) -> Extent {
        Extent { address, size, largest: 12 }
    }

    /// A range mapped in large pages: virtual and physical addresses are equal modulo their size.
    pub const fn large(address: u64, size: u64) -> Extent {
        Extent { address, size, largest: LARGE }
    }

    /// A range mapped in pages of 1 GiB, under the same condition.
    pub const fn gigantic(address: u64, size: u64) -> Extent {
        Extent { address, size, largest: GIGANTIC }
    }

    fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }
}

/// Page-table pages needed, the root included. Never too few; too many by at most the tables that
/// neighbours share.
pub fn table_pages(extents: &[Extent]) -> u64 {
    extents.iter().filter(|e| e.size != 0).fold(1, |sum: u64, e| {
        let tables = |shift| if shift <= e.largest { edges(e, shift) } else { blocks(e, shift) };
        [LARGE, GIGANTIC, 39].into_iter().map(tables).fold(sum, u64::saturating_add)
    })
}

/// Number of blocks of `1 << shift` bytes that an extent touches.
fn blocks(e: &Extent, shift: u32) -> u64 {
    ((e.end() - 1) >> shift) - (e.address >> shift) + 1
}

/// Number of blocks of `1 << shift` bytes that an extent fills only in part.
fn edges(e: &Extent, shift: u32) -> u64 {
    let start = u64::from(!e.address.is_multiple_of(1 << shift));
    let end = u64::from(!e.end().is_multiple_of(1 << shift));
    (start + end).min(blocks(e, shift))
}

/// Rounds up to whole pages.
pub fn whole_pages(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(PAGE).unwrap_or(!(PAGE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_tables() {
        assert_eq!(table_pages(&[]), 1);
        assert_eq!(table_pages(&[Extent::small(0x10_0000, PAGE)]), 4);
        assert_eq!(table_pages(&[Extent::small(0x1f_f000, 2 * PAGE)]), 5);
        assert_eq!(table_pages(&[Extent::large(0, 1 << 30)]), 3);
        assert_eq!(table_pages(&[Extent::large(PAGE, 1 << 30)]), 6);
        assert_eq!(table_pages(&[Extent::large(PAGE, PAGE)]), 4);
        assert_eq!(table_pages(&[Extent::gigantic(1 << 30, 3 << 30)]), 2);
        assert_eq!(table_pages(&[Extent::gigantic((1 << 30) - PAGE, (2 << 39) + 2 * PAGE)]), 8);
        assert_eq!(table_pages(&[Extent::gigantic(PAGE, PAGE)]), 4);
        assert_eq!(whole_pages(1), PAGE);
    }
}
