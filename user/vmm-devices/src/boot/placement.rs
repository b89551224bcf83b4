//! Where everything goes in the guest's memory.

use super::{Error, Header, Kind, Range};

const PAGE: u64 = 4096;
const FOUR_GIB: u64 = 1 << 32;
/// The parameters go above what real-mode firmware uses.
const LOWEST: u64 = 0x1_0000;

/// Addresses of everything that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The protected-mode kernel, and its 32-bit entry point.
    pub kernel: u64,
    /// The initial ramdisk; 0 when there is none.
    pub initrd: u64,
    /// Bytes of the initial ramdisk.
    pub initrd_size: u64,
    /// The zero page.
    pub zero_page: u64,
    /// The descriptor table of the entry state; a page.
    pub gdt: u64,
    /// The command line; a page.
    pub command_line: u64,
    /// The copies of ACPI tables; a page.
    pub tables: u64,
}

/// A range of addresses that are taken; the end is exclusive.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

/// Places the kernel at its preferred address or the next aligned one above, the initial ramdisk as
/// high as the kernel allows, and the parameters as low as possible. It tries nothing below the
/// preferred address, because a kernel loaded lower moves itself up there. Fails if something
/// does not fit.
pub fn place(header: &Header, ranges: &[Range], initrd_size: u64, command_line: usize) -> Result<Plan, Error> {
    let most = header.command_line_max.min(PAGE as u32 - 1);
    if command_line > most as usize {
        return Err(Error::CommandLineTooLong(most));
    }
    let kernel_size = header.init_size.max(header.size as u64);
    let kernel =
        lowest(ranges, header.preferred, kernel_size, header.alignment).ok_or(Error::KernelDoesNotFit(kernel_size))?;
    let taken = Span { start: kernel, end: kernel + kernel_size };
    let limit = (header.initrd_max + 1).min(FOUR_GIB);
    let initrd = match initrd_size {
        0 => 0,
        _ => highest(ranges, taken, limit, initrd_size).ok_or(Error::InitrdDoesNotFit(initrd_size))?,
    };
    let taken = [taken, Span { start: initrd, end: initrd + initrd_size }];
    let zero_page = parameters(ranges, taken).ok_or(Error::ParametersDoNotFit)?;
    let [gdt, command_line, tables] = [1, 2, 3].map(|page| zero_page + page * PAGE);
    Ok(Plan { kernel, initrd, initrd_size, zero_page, gdt, command_line, tables })
}

/// RAM below 4 GiB.
fn ram(ranges: &[Range]) -> impl Iterator<Item = Span> {
    ranges.iter().filter(|range| range.kind == Kind::Ram).filter_map(|range| {
        let end = range.base.saturating_add(range.size).min(FOUR_GIB);
        (range.base < end).then_some(Span { start: range.base, end })
    })
}

/// The lowest aligned fit at or above `from`.
fn lowest(ranges: &[Range], from: u64, size: u64, alignment: u64) -> Option<u64> {
    let fits = |span: Span| {
        let start = span.start.max(from).checked_next_multiple_of(alignment)?;
        (start.checked_add(size)? <= span.end).then_some(start)
    };
    ram(ranges).filter_map(fits).min()
}

/// The highest page-aligned fit below `limit` that is not taken.
fn highest(ranges: &[Range], taken: Span, limit: u64, size: u64) -> Option<u64> {
    let below = |start: u64, end: u64| {
        let place = end.checked_sub(size)? & !(PAGE - 1);
        (place >= start).then_some(place)
    };
    let fits = |span: Span| {
        let end = span.end.min(limit);
        match below(span.start, end) {
            Some(place) if place < taken.end && place + size > taken.start => below(span.start, end.min(taken.start)),
            place => place,
        }
    };
    ram(ranges).filter_map(fits).filter(|place| *place >= LOWEST).max()
}

/// Four free pages.
fn parameters(ranges: &[Range], taken: [Span; 2]) -> Option<u64> {
    let size = 4 * PAGE;
    let candidates = [LOWEST, taken[0].end, taken[1].end];
    let free = |place: &u64| taken.iter().all(|span| *place >= span.end || place + size <= span.start);
    candidates.into_iter().filter_map(|from| lowest(ranges, from.max(LOWEST), size, PAGE)).filter(free).min()
}
