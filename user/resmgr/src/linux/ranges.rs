//! What Linux gets of the machine's memory.

use alloc::vec::Vec;
use pillion_abi::PAGE;
use pillion_abi::boot::{Range, range_kind};
use pillion_runtime::info::range_kind::HIDDEN;

/// Part of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it is, and what it is to Linux.
    pub range: Range,
    /// Index of the region from whose next free part it is taken; `None` if it is not taken at all.
    /// A hidden piece is taken all the same where Linux's memory continues behind it.
    pub region: Option<usize>,
}

/// Divides the machine's memory. Linux must not see the device registers in `kept`; `pool` begins
/// where its region does. Linux gets at most `limit` bytes of RAM, lowest addresses first.
pub fn pieces(regions: &[Range], pool: Range, limit: Option<u64>, kept: &[Range]) -> Vec<Piece> {
    let mut left = limit.unwrap_or(u64::MAX) & !(PAGE - 1);
    let mut all = Vec::new();
    for (index, region) in regions.iter().enumerate() {
        match region.kind {
            range_kind::RAM => ram(&mut all, index, *region, pool, &mut left),
            range_kind::DEVICE | range_kind::HOLE | range_kind::ACPI => device(&mut all, index, *region, kept),
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

/// Divides a device region into pieces around the `kept` parts, in whole pages.
fn device(all: &mut Vec<Piece>, index: usize, region: Range, kept: &[Range]) {
    let end = region.base + region.size;
    let pages = |r: &Range| {
        let base = (r.base & !(PAGE - 1)).max(region.base);
        let stop = r.base.saturating_add(r.size).checked_next_multiple_of(PAGE).unwrap_or(end).min(end);
        (base < stop).then_some((base, stop))
    };
    let mut inside: Vec<(u64, u64)> = kept.iter().filter_map(pages).collect();
    inside.sort_unstable();
    let mut from = region.base;
    for (base, stop) in inside {
        let base = base.max(from);
        if base < stop {
            all.push(Piece { range: Range { base: from, size: base - from, ..region }, region: Some(index) });
            all.push(Piece { region: Some(index), ..hidden(base, stop - base) });
            from = stop;
        }
    }
    all.push(Piece { range: Range { base: from, size: end - from, ..region }, region: Some(index) });
}

fn hidden(base: u64, size: u64) -> Piece {
    Piece { range: Range { base, size, kind: HIDDEN }, region: None }
}

/// The ranges that the monitor gets: adjacent hidden ranges are merged, and holes are left out.
/// Where there are more than `most`, the smallest ranges of RAM are left out; returns their bytes
/// too.
pub fn told(pieces: &[Piece], most: usize) -> (Vec<Range>, u64) {
    let mut all: Vec<Range> = Vec::new();
    for Piece { range, .. } in pieces.iter().filter(|piece| piece.range.kind != range_kind::HOLE) {
        match all.last_mut() {
            Some(last) if range.kind == HIDDEN && last.kind == HIDDEN && last.base + last.size == range.base => {
                last.size += range.size;
            }
            _ => all.push(*range),
        }
    }
    let mut dropped = 0;
    while all.len() > most {
        let ram = all.iter().enumerate().filter(|(_, r)| r.kind == range_kind::RAM);
        let Some(smallest) = ram.min_by_key(|(_, r)| r.size).map(|(index, _)| index) else { break };
        dropped += all.remove(smallest).size;
    }
    (all, dropped)
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
        let (ranges, dropped) = told(&all, 48);
        assert_eq!((ranges.len(), dropped), (5, 0));
        assert_eq!((ranges[2].base, ranges[2].size, ranges[2].kind), (0x10_0000, 0x30_0000, HIDDEN));
        let mut end = 0;
        for r in &ranges {
            assert_eq!(r.base, end);
            end = r.base + r.size;
        }
        assert_eq!(end, 0x430_1000, "the hole is not told of");
        let (fewer, dropped) = told(&all, 4);
        assert_eq!((fewer.len(), dropped), (4, 0x9f000), "the smaller stretch of RAM");
        assert_eq!(pieces(&regions, range(0, 0, 0), None, &[]).iter().filter(|p| p.region.is_some()).count(), 4);
    }

    #[test]
    fn pages_of_devices_are_hidden() {
        let regions = [range(0xb000_0000, 0x1000_0000, range_kind::DEVICE)];
        // One twice, one smaller than a page, one that begins before the region, one elsewhere.
        let kept = [(0xb002_0000, PAGE), (0xafff_0000, 0x1_1000), (0xb002_0010, 0x20), (0x1000, PAGE)];
        let all = pieces(&regions, range(0, 0, 0), None, &kept.map(|(base, size)| range(base, size, 0)));
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
