//! Linux's memory: mapped one to one in the guest space, and in the monitor as far as it needs it.

use super::{
    ranges::{Piece, pieces},
    task_devices,
};
use crate::{
    failure::{Result, While},
    objects::Slots,
    page_tables::Extent,
    platform::Platform,
};
use alloc::vec::Vec;
use pillion_abi::PAGE;
use pillion_abi::boot::{Range, range_kind, slot};
use pillion_abi::object::{Kind, map, right};
use pillion_runtime::info::address;
use pillion_runtime::info::range_kind::HIDDEN;
use pillion_runtime::{Cap, memory_map, memory_part};
use pillion_system::System;
use pillion_vmm_devices::guest_memory::Seen;

const FOUR_GIB: u64 = 4 << 30;

/// Room for the two ends that the pool, which cuts a region in two, adds to mappings of RAM.
pub const POOL_ENDS: [Extent; 2] = [Extent::small(address::GUEST, PAGE), Extent::small(address::GUEST, PAGE)];

/// A part of Linux's memory.
#[derive(Clone, Copy)]
pub struct Part {
    pub range: Range,
    pub memory: Cap,
}

/// How Linux's memory is mapped in a guest space.
pub const MAPPED: u64 = map::WRITE | map::EXECUTE;

/// What is mapped in the guest space.
pub fn guest_extents(pieces: &[Piece]) -> Vec<Extent> {
    let seen = mine(pieces).filter(|(_, p)| p.range.kind != HIDDEN);
    seen.map(|(_, p)| extent(&p.range)).collect()
}

/// The kernel hands out holes above 4 GiB only where there are pages of 1 GiB.
fn extent(range: &Range) -> Extent {
    let high = range.kind == range_kind::HOLE && range.base + range.size > FOUR_GIB;
    if high { Extent::gigantic(range.base, range.size) } else { Extent::large(range.base, range.size) }
}

/// What is mapped in the monitor.
pub fn monitor_extents(pieces: &[Piece]) -> Vec<Extent> {
    mine(pieces).map(|(_, p)| Extent::large(address::GUEST + p.range.base, Seen::of(&p.range).size)).collect()
}

/// The pieces taken from regions: Linux's, and what is hidden between them.
fn mine(pieces: &[Piece]) -> impl Iterator<Item = (usize, &Piece)> {
    pieces.iter().filter_map(|p| Some((p.region?, p)))
}

/// Upper bounds of what is mapped in a task that sees Linux's RAM.
pub fn ram_extents(machine: &Platform, system: &System) -> Vec<Extent> {
    let Some(linux) = &system.linux else { return Vec::new() };
    let all = pieces(machine.regions(), Range::default(), linux.memory_bytes, &task_devices::registers(system));
    let ram = mine(&all).filter(|(_, p)| p.range.kind == range_kind::RAM);
    ram.map(|(_, p)| Extent::large(address::GUEST + p.range.base, p.range.size)).chain(POOL_ENDS).collect()
}

/// Maps everything in both address spaces. Returns what is in the guest space.
pub fn map_memory(slots: &mut Slots, pieces: &[Piece], guest: Cap, monitor: Cap) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (region, piece) in mine(pieces) {
        let memory = slots.make(slot::REGIONS + region as u32, Kind::Memory, piece.range.size)?;
        if piece.range.kind == HIDDEN {
            continue;
        }
        memory_map(memory, guest, piece.range.base, MAPPED).when("mapping Linux's memory")?;
        show_monitor(slots, piece, memory, monitor)?;
        parts.push(Part { range: piece.range, memory });
    }
    Ok(parts)
}

fn show_monitor(slots: &mut Slots, piece: &Piece, memory: Cap, monitor: Cap) -> Result<()> {
    let Seen { size, writable } = Seen::of(&piece.range);
    if size == 0 {
        return Ok(());
    }
    let (rights, flags) = if writable { (right::READ | right::WRITE, map::WRITE) } else { (right::READ, 0) };
    let part = slots.take()?;
    memory_part(memory, 0, size, part, rights).when("sharing Linux's memory")?;
    memory_map(part, monitor, address::GUEST + piece.range.base, flags).when("showing the monitor Linux's memory")?;
    Ok(())
}
