//! What a PVH boot loader hands over: `hvm_start_info`, version 1 or later for the memory map.

use crate::bytes::{Memory, u32_at, u64_at};
use crate::params::BootParams;

const MAGIC: u32 = 0x336e_c578;

/// Reads the start information at that address; ignores what makes no sense.
pub fn parse(memory: &impl Memory, address: u64, params: &mut BootParams) -> Option<()> {
    let info = memory.bytes(address, 40)?;
    if u32_at(info, 0)? != MAGIC {
        return None;
    }
    let version = u32_at(info, 4)?;
    let modules = u32_at(info, 12)?;
    let module_list = u64_at(info, 16)?;
    let command_line = u64_at(info, 24)?;
    params.rsdp = u64_at(info, 32)?;
    if modules > 0
        && let Some(module) = memory.bytes(module_list, 32)
    {
        params.add_module(u64_at(module, 0)?, u64_at(module, 8)?, &[]);
    }
    if command_line != 0
        && let Some(text) = memory.bytes(command_line, 256)
    {
        params.set_command_line(text);
    }
    if version >= 1 {
        let more = memory.bytes(address + 40, 16)?;
        parse_map(memory, u64_at(more, 0)?, u32_at(more, 8)?, params);
    }
    Some(())
}

fn parse_map(memory: &impl Memory, address: u64, count: u32, params: &mut BootParams) -> Option<()> {
    for i in 0..u64::from(count.min(1024)) {
        let entry = memory.bytes(address.checked_add(i * 24)?, 24)?;
        params.add_range(u64_at(entry, 0)?, u64_at(entry, 8)?, u32_at(entry, 16)?);
    }
    Some(())
}
