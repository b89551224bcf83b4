//! The zero page, `struct boot_params` (`zero-page.rst`).

use super::bzimage::START;
use super::{Error, Header, Kind, Linux, Plan, Range};
use pillion_abi::boot::{Screen, screen_kind};

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

/// The description of the screen, `struct screen_info` (`include/uapi/linux/screen_info.h`).
mod screen {
    pub const VIDEO_MODE: usize = 0x06;
    pub const COLUMNS: usize = 0x07;
    pub const LINES: usize = 0x0e;
    pub const KIND: usize = 0x0f;
    pub const POINTS: usize = 0x10;
    pub const WIDTH: usize = 0x12;
    pub const HEIGHT: usize = 0x14;
    pub const DEPTH: usize = 0x16;
    pub const BASE: usize = 0x18;
    pub const SIZE: usize = 0x1c;
    pub const PITCH: usize = 0x24;
    pub const COLOURS: usize = 0x26;
    pub const CAPABILITIES: usize = 0x36;
    pub const BASE_HIGH: usize = 0x3a;
    /// Capability: the base has an upper half.
    pub const LONG_BASE: u32 = 2;
    /// Kinds: a VGA's text; a frame buffer that a UEFI made, the only one whose base Linux's
    /// driver takes in full.
    pub const VGA: u8 = 1;
    pub const EFI: u8 = 0x70;
    /// Video mode of 80 by 25 coloured characters, and the height of one.
    pub const COLOURED_TEXT: u8 = 3;
    pub const CHARACTER: u16 = 16;
}

/// Builds the page. All else stays zero: Linux leaves the screen alone if there is no description
/// of it. Fails if there are more ranges than entries.
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
    put_screen(&mut page, &linux.screen);
    Ok(page)
}

/// Describes the screen, unless a number does not fit.
fn put_screen(page: &mut [u8; 4096], from: &Screen) {
    let [Ok(width), Ok(height), Ok(pitch)] = [from.width, from.height, from.pitch].map(u16::try_from) else { return };
    match from.kind {
        screen_kind::TEXT => {
            let [Ok(columns), Ok(lines)] = [width, height].map(u8::try_from) else { return };
            page[screen::VIDEO_MODE] = screen::COLOURED_TEXT;
            page[screen::COLUMNS] = columns;
            page[screen::LINES] = lines;
            page[screen::KIND] = screen::VGA;
            put(page, screen::POINTS, &screen::CHARACTER.to_le_bytes());
        }
        screen_kind::PIXELS => {
            let Ok(size) = u32::try_from(from.size()) else { return };
            page[screen::KIND] = screen::EFI;
            for (at, value) in
                [(screen::WIDTH, width), (screen::HEIGHT, height), (screen::DEPTH, from.bits), (screen::PITCH, pitch)]
            {
                put(page, at, &value.to_le_bytes());
            }
            for (at, value) in [
                (screen::BASE, from.base as u32),
                (screen::BASE_HIGH, (from.base >> 32) as u32),
                (screen::SIZE, size),
                (screen::CAPABILITIES, screen::LONG_BASE),
            ] {
                put(page, at, &value.to_le_bytes());
            }
            // Linux has the number of bits first.
            for (index, [position, count]) in from.colours.into_iter().enumerate() {
                put(page, screen::COLOURS + 2 * index, &[count, position]);
            }
        }
        _ => {}
    }
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
