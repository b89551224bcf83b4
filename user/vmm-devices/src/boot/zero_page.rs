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

/// Builds the page. All else stays zero: with no lines and columns in the screen description Linux leaves the text screen alone.
///
/// # Errors
/// When there are more ranges than entries.
pub fn zero_page(linux: &Linux<'_>, header: &Header, plan: &Plan) -> Result<[u8; 4096], Error> {
    let mut page = [0; 4096];
    let setup = linux.image.get(START..header.header_end).ok_or(Error::BadHeader)?;
    put(&mut page, START, setup);
    page[LOADER] = LOADER_UNDEFINED;
    page[LOAD_FLAGS] &= !LOAD_FLAGS_CLEARED;
    put(&mut page, SETUP_DATA, &[0; 8]);
    // All of these are below 4 GiB.
    put(&mut page, ENTRY_32, &(plan.kernel as u32).to_le_bytes());
    put(&mut page, INITRD, &(plan.initrd as u32).to_le_bytes());
    put(&mut page, INITRD_SIZE, &(plan.initrd_size as u32).to_le_bytes());
    put(&mut page, COMMAND_LINE, &(plan.command_line as u32).to_le_bytes());
    put(&mut page, RSDP, &linux.rsdp.to_le_bytes());
    put_ranges(&mut page, linux.ranges)?;
    Ok(page)
}

fn put_ranges(page: &mut [u8; 4096], ranges: &[Range]) -> Result<(), Error> {
    if ranges.len() > RANGES {
        return Err(Error::TooManyRanges);
    }
    page[RANGE_COUNT] = ranges.len() as u8;
    for (index, range) in ranges.iter().enumerate() {
        let at = RANGE_TABLE + index * 20;
        put(page, at, &range.base.to_le_bytes());
        put(page, at + 8, &range.size.to_le_bytes());
        put(page, at + 16, &number(range.kind).to_le_bytes());
    }
    Ok(())
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
