//! What Linux gets of the machine's memory.

use alloc::vec::Vec;
use pillion_abi::{
    LARGE_PAGE, PAGE,
    boot::{Range, range_kind},
};
use pillion_runtime::info::range_kind::HIDDEN;

/// Part of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it is and what it is for Linux.
    pub range: Range,
    /// Index of the region whose next free part it is; `None` for what nobody takes. What is hidden is taken all the same, where
    /// Linux's memory goes on behind it.
    pub region: Option<usize>,
}

/// Divides the machine's memory. `pages` are pages of devices that Linux must not see; `pool` begins where its region does. No more RAM than `limit`, lowest addresses first.
pub fn pieces(regions: &[Range], pool: Range, limit: Option<u64>, pages: &[u64]) -> Vec<Piece> {
    let mut left = limit.unwrap_or(u64::MAX) & !(PAGE - 1);
    let mut all = Vec::new();
    for (index, region) in regions.iter().enumerate() {
        match region.kind {
            range_kind::RAM => ram(&mut all, index, *region, pool, &mut left),
            range_kind::DEVICE | range_kind::HOLE | range_kind::ACPI => device(&mut all, index, *region, pages),
            _ => all.push(hidden(region.base, region.size)),
        }
    }
    all.retain(|piece| piece.range.size != 0);
    all
}

fn ram(all: &mut Vec<Piece>, index: usize, region: Range, pool: Range, left: &mut u64) {
    let taken = if region.base == pool.base { pool.size.min(region.size) } else { 0 };
    let (base, free) = (region.base + taken, region.size - taken);
    let given = free.min(*left);
    *left -= given;
    all.push(hidden(region.base, taken));
    all.push(Piece { range: Range { base, size: given, kind: range_kind::RAM }, region: Some(index) });
    all.push(hidden(base + given, free - given));
}

/// A region of devices, in pieces around the pages that are hidden.
fn device(all: &mut Vec<Piece>, index: usize, region: Range, pages: &[u64]) {
    let end = region.base + region.size;
    let mut inside: Vec<u64> = pages.iter().copied().filter(|page| (region.base..end).contains(page)).collect();
    inside.sort_unstable();
    inside.dedup();
    let mut from = region.base;
    for page in inside {
        all.push(Piece { range: Range { base: from, size: page - from, ..region }, region: Some(index) });
        all.push(Piece { region: Some(index), ..hidden(page, PAGE) });
        from = page + PAGE;
    }
    all.push(Piece { range: Range { base: from, size: end - from, ..region }, region: Some(index) });
}

fn hidden(base: u64, size: u64) -> Piece {
    Piece { range: Range { base, size, kind: HIDDEN }, region: None }
}

/// The ranges as the monitor is told of them: neighbours that are hidden are one.
pub fn told(pieces: &[Piece]) -> Vec<Range> {
    let mut all: Vec<Range> = Vec::new();
    for Piece { range, .. } in pieces {
        match all.last_mut() {
            Some(last) if range.kind == HIDDEN && last.kind == HIDDEN && last.base + last.size == range.base => {
                last.size += range.size;
            }
            _ => all.push(*range),
        }
    }
    all
}

/// Bytes of a range that the monitor sees. Firmware puts tables at the start of what it keeps, so of devices it is that; of holes, nothing.
pub fn seen_by_monitor(range: &Range) -> u64 {
    match range.kind {
        range_kind::RAM | range_kind::ACPI => range.size,
        range_kind::DEVICE => range.size.min(LARGE_PAGE),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(base: u64, size: u64, kind: u64) -> Range {
        Range { base, size, kind }
    }

    #[test]
    fn memory_is_divided_and_all_of_it_is_told_of() {
        let regions = [
            range(0, 0x9f000, range_kind::RAM),
            range(0x9f000, 0x61000, range_kind::DEVICE),
            range(0x10_0000, 0x20_0000, range_kind::KERNEL),
            range(0x30_0000, 0x400_0000, range_kind::RAM),
            range(0x430_0000, 0x1000, range_kind::BUNDLE),
            range(0x430_1000, 0x1000, range_kind::HOLE),
        ];
        let pool = range(0x30_0000, 0x10_0000, range_kind::KERNEL);
        let all = pieces(&regions, pool, Some(0x100_0000), &[]);
        let ram: u64 = all.iter().filter(|p| p.range.kind == range_kind::RAM).map(|p| p.range.size).sum();
        assert_eq!(ram, 0x100_0000);
        let told = told(&all);
        assert_eq!(told.len(), 6);
        assert_eq!((told[2].base, told[2].size, told[2].kind), (0x10_0000, 0x30_0000, HIDDEN));
        let mut end = 0;
        for r in &told {
            assert_eq!(r.base, end);
            end = r.base + r.size;
        }
        assert_eq!(end, 0x430_2000);
        assert_eq!(pieces(&regions, range(0, 0, 0), None, &[]).iter().filter(|p| p.region.is_some()).count(), 4);
    }

    #[test]
    fn pages_of_devices_are_hidden() {
        let regions = [range(0xb000_0000, 0x1000_0000, range_kind::DEVICE)];
        let pages = [0xb002_0000, 0xb000_0000, 0xb002_0000, 0x1000];
        let all = pieces(&regions, range(0, 0, 0), None, &pages);
        let shape: Vec<_> = all.iter().map(|p| (p.range.base, p.range.size, p.range.kind, p.region)).collect();
        let device = range_kind::DEVICE;
        assert_eq!(
            shape,
            [
                (0xb000_0000, PAGE, HIDDEN, Some(0)),
                (0xb000_1000, 0x1_f000, device, Some(0)),
                (0xb002_0000, PAGE, HIDDEN, Some(0)),
                (0xb002_1000, 0xfff_f000 - 0x2_0000, device, Some(0)),
            ]
        );
    }
}
