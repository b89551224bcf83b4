//! The memory of the real-time side. It is taken from the low end of the largest region, up to a
//! large-page boundary, so that Linux's part is aligned.

use crate::failure::{Failure, Result};
use crate::objects::Slots;
use pillion_abi::LARGE_PAGE;
use pillion_abi::boot::{Range, range_kind, slot};
use pillion_abi::object::Kind;
use pillion_runtime::Cap;

/// End of the physical addresses that kernel objects can have: 256 GiB.
const OBJECTS_END: u64 = 256 << 30;

pub struct Pool {
    /// Region capability.
    pub cap: Cap,
    /// Where it is.
    pub range: Range,
}

/// Chooses the region and the pool in it. Returns the region's index and the pool's range.
fn choose(regions: &[Range], bytes: u64) -> Option<(usize, Range)> {
    let fit = |r: &Range| r.kind == range_kind::RAM && r.base.saturating_add(r.size) <= OBJECTS_END;
    let (index, region) = regions.iter().enumerate().filter(|(_, r)| fit(r)).max_by_key(|(_, r)| r.size)?;
    let end = region.base.checked_add(bytes)?.checked_next_multiple_of(LARGE_PAGE)?;
    let size = (end - region.base).min(region.size);
    (size >= bytes).then_some((index, Range { base: region.base, size, kind: range_kind::KERNEL }))
}

pub fn take(slots: &mut Slots, regions: &[Range], bytes: u64) -> Result<Pool> {
    let (index, range) = choose(regions, bytes).ok_or_else(|| {
        Failure::new(alloc::format!("no contiguous {} KiB of memory for the real-time side", bytes.div_ceil(1024)))
    })?;
    let cap = slots.make(slot::REGIONS + index as u32, Kind::Region, range.size)?;
    Ok(Pool { cap, range })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_aligned() {
        let ram = |base, size| Range { base, size, kind: range_kind::RAM };
        let regions = [ram(0, 0x9f000), ram(0x345000, 0x3000_0000)];
        let (index, range) = choose(&regions, 0x30_0000).unwrap();
        assert_eq!((index, range.base, range.base + range.size), (1, 0x345000, 0x80_0000));
        assert_eq!(choose(&regions, 0x3000_0001), None);
        assert_eq!(choose(&[], 1), None);
    }
}
