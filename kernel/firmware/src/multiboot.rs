//! What a multiboot2 boot loader hands over: a list of tags.

use crate::PHYSICAL_LIMIT;
use crate::bytes::{Memory, sums_to_zero, u32_at, u64_at};
use crate::params::BootParams;
use pillion_abi::boot::{Screen, screen_kind};

/// What the boot loader leaves in `eax`.
pub const MAGIC: u32 = 0x36d7_6289;

/// Maximum size of the ACPI root pointer in bytes.
pub const RSDP_SIZE: usize = 36;

mod tag {
    pub const END: u32 = 0;
    pub const COMMAND_LINE: u32 = 1;
    pub const MODULE: u32 = 3;
    pub const MEMORY_MAP: u32 = 6;
    pub const FRAME_BUFFER: u32 = 8;
    pub const RSDP_OLD: u32 = 14;
    pub const RSDP_NEW: u32 = 15;
}

/// Kinds of frame buffers: with a colour in each pixel, and of characters.
mod frame_buffer {
    pub const PIXELS: u8 = 1;
    pub const TEXT: u8 = 2;
}

/// Reads the tags; ignores what makes no sense. The boot loader's copy of the ACPI root pointer
/// goes to `rsdp`, the later version's if there are both.
pub fn parse(memory: &impl Memory, address: u64, params: &mut BootParams, rsdp: &mut [u8; RSDP_SIZE]) -> Option<()> {
    let total = u32_at(memory.bytes(address, 8)?, 0)?.min(1 << 20);
    let all = memory.bytes(address, total as usize)?;
    let mut offset = 8;
    let mut has_new = false;
    loop {
        let kind = u32_at(all, offset)?;
        let size = u32_at(all, offset + 4)? as usize;
        let data = all.get(offset + 8..offset.checked_add(size)?)?;
        match kind {
            tag::END => return Some(()),
            tag::COMMAND_LINE => params.set_command_line(data),
            tag::MODULE => add_module(data, params),
            tag::MEMORY_MAP => add_map(data, params),
            tag::FRAME_BUFFER => params.screen = screen(data).unwrap_or_default(),
            tag::RSDP_OLD if has_new => {}
            tag::RSDP_OLD | tag::RSDP_NEW => {
                has_new = kind == tag::RSDP_NEW;
                rsdp.fill(0);
                for (to, from) in rsdp.iter_mut().zip(data) {
                    *to = *from;
                }
            }
            _ => {}
        }
        offset = offset.checked_add(size.max(8).next_multiple_of(8))?;
    }
}

fn add_module(data: &[u8], params: &mut BootParams) {
    if let (Some(start), Some(end)) = (u32_at(data, 0), u32_at(data, 4))
        && start < end
    {
        params.add_module(start.into(), (end - start).into(), data.get(8..).unwrap_or(&[]));
    }
}

fn add_map(data: &[u8], params: &mut BootParams) {
    let Some(size) = u32_at(data, 0).map(|s| s as usize).filter(|s| *s >= 20) else { return };
    for entry in data.get(8..).unwrap_or(&[]).chunks_exact(size) {
        if let (Some(base), Some(length), Some(kind)) = (u64_at(entry, 0), u64_at(entry, 8), u32_at(entry, 16)) {
            params.add_range(base, length, kind);
        }
    }
}

/// The screen that a tag describes, if it can be one.
fn screen(data: &[u8]) -> Option<Screen> {
    let [bits, kind] = *data.get(20..22)?.first_chunk()?;
    let kind = match kind {
        frame_buffer::PIXELS => screen_kind::PIXELS,
        frame_buffer::TEXT => screen_kind::TEXT,
        _ => return None,
    };
    let mut colours = [[0; 2]; 4];
    if kind == screen_kind::PIXELS {
        for (to, from) in colours.iter_mut().zip(data.get(24..30)?.as_chunks().0) {
            *to = *from;
        }
    }
    let (base, pitch) = (u64_at(data, 0)?, u32_at(data, 8)?);
    let (width, height) = (u32_at(data, 12)?, u32_at(data, 16)?);
    let screen = Screen { base, pitch, width, height, kind, bits: bits.into(), colours };
    let fits = u64::from(width) * u64::from(bits) <= u64::from(pitch) * 8
        && base.checked_add(screen.size()).is_some_and(|end| end <= PHYSICAL_LIMIT)
        && colours.iter().all(|[at, count]| u16::from(*at) + u16::from(*count) <= screen.bits);
    (fits && bits != 0 && width != 0 && height != 0).then_some(screen)
}

/// Whether a boot loader's copy of the root pointer is one.
#[must_use]
pub fn is_root_pointer(bytes: &[u8; RSDP_SIZE]) -> bool {
    bytes.starts_with(b"RSD PTR ") && sums_to_zero(&bytes[..20])
}

/// Looks for the original of the ACPI root pointer where a BIOS keeps it.
#[must_use]
pub fn find_rsdp(memory: &impl Memory) -> Option<u64> {
    const START: u64 = 0xe_0000;
    let area = memory.bytes(START, 0x2_0000)?;
    let is_pointer = |bytes: &[u8]| bytes.starts_with(b"RSD PTR ") && sums_to_zero(bytes);
    let at = area.windows(20).step_by(16).position(is_pointer)?;
    Some(START + at as u64 * 16)
}
