//! The zero page, `struct boot_params` (`zero-page.rst`).

use super::bzimage::START;
use super::{Error, Header, Kind, Linux, Plan, Range};

/// Most entries of the memory map.
const RANGES: usize = 128;
const RSDP: usize = 0x070;
const RANGE_COUNT: usize = 0x1e8;
const LOADER: usize = 0x210;
const LOAD_FLAGS: usize = 0x211;
const ENTRY_32: usize = 0x214;
const INITRD: usize = 0x218;
const INITRD_SIZE: usize = 0x21c;
const COMMAND_LINE: usize = 0x228;
const SETUP_DATA: usize = 0x250;
const RANGE_TABLE: usize = 0x2d0;

/// "Undefined", for a loader without an assigned number.
const LOADER_UNDEFINED: u8 = 0xff;
/// KEEP_SEGMENTS and CAN_USE_HEAP: neither holds here.
const LOAD_FLAGS_CLEARED: u8 = 0x40 | 0x80;

/// Builds the page. All else stays zero: Linux leaves the text screen alone if the screen
/// description has no lines and columns. Fails if there are more ranges than entries.
pub fn zero_page(linux: &Linux<'_>, header: &Header, plan: &Plan) -> Result<[u8; 4096], Error> {
    let mut page = [0; 4096];
    let setup = linux.image.get(START..header.header_end).ok_or(Error::BadHeader)?;
    put(&mut page, START, setup);
    page[LOADER] = LOADER_UNDEFINED;
    page[LOAD_FLAGS] &= !LOAD_FLAGS_CLEARED;
    put(&mut page, SETUP_DATA, &[0; 8]);
    // These addresses are all below 4 GiB.
    put(&mut page, ENTRY_32, &(plan.kernel as u32).to_le_bytes());
    put(&mut page, INITRD, &(plan.initrd as u32).to_le_bytes());
    put(&mut page, INITRD_SIZE, &(plan.initrd_size as u32).to_le_bytes());
    put(&mut page, COMMAND_LINE, &(plan.command_line as u32).to_le_bytes());
    let tables = linux.tables.map(|_| Range { base: plan.tables, size: crate::acpi::SIZE as u64, kind: Kind::Acpi });
    put(&mut page, RSDP, &tables.map_or(0, |tables| tables.base).to_le_bytes());
    put_ranges(&mut page, linux.ranges, tables)?;
    Ok(page)
}

/// Writes the memory map, with `tables` cut out of the RAM in which they lie.
fn put_ranges(page: &mut [u8; 4096], ranges: &[Range], tables: Option<Range>) -> Result<(), Error> {
    let mut count = 0;
    for range in ranges.iter().flat_map(|range| cut(*range, tables)).filter(|range| range.size != 0) {
        if count == RANGES {
            return Err(Error::TooManyRanges);
        }
        let at = RANGE_TABLE + count * 20;
        put(page, at, &range.base.to_le_bytes());
        put(page, at + 8, &range.size.to_le_bytes());
        put(page, at + 16, &number(range.kind).to_le_bytes());
        count += 1;
    }
    page[RANGE_COUNT] = count as u8;
    Ok(())
}

/// Splits a range into three parts around what lies inside it; parts may be empty.
fn cut(range: Range, inner: Option<Range>) -> [Range; 3] {
    let end = range.base.saturating_add(range.size);
    let inside = inner.filter(|i| range.base <= i.base && i.base.saturating_add(i.size) <= end);
    let Some(inner) = inside else { return [range, Range { size: 0, ..range }, Range { size: 0, ..range }] };
    let behind = inner.base + inner.size;
    [Range { size: inner.base - range.base, ..range }, inner, Range { base: behind, size: end - behind, ..range }]
}

const fn number(kind: Kind) -> u32 {
    match kind {
        Kind::Ram => 1,
        Kind::Reserved => 2,
        Kind::Acpi => 3,
        Kind::AcpiNvs => 4,
    }
}

fn put(page: &mut [u8; 4096], at: usize, bytes: &[u8]) {
    for (to, from) in page.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}
