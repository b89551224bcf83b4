//! The table of interrupt controllers (MADT, 5.2.12) as Linux must see it: with its own processors,
//! and the I/O APICs that are modelled.

use super::{HEADER, seal, u32_at};

/// Longest copy.
pub(super) const LONGEST: usize = 1024;

/// One of the machine's processors, which runs Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// Its local APIC's ID, in the machine and for Linux: what Linux writes into its devices'
    /// messages goes to the machine.
    pub apic_id: u32,
}

/// The fields before the entries: address of the local APIC, and flags.
pub(super) const FIXED: usize = HEADER + 8;
const ENABLED: u32 = 1;

mod kind {
    pub const LOCAL_APIC: u8 = 0;
    pub const IO_APIC: u8 = 1;
    pub const OVERRIDE: u8 = 2;
    pub const NMI_SOURCE: u8 = 3;
    pub const LOCAL_NMI: u8 = 4;
    pub const LOCAL_ADDRESS: u8 = 5;
    pub const LOCAL_X2APIC: u8 = 9;
    pub const LOCAL_X2APIC_NMI: u8 = 10;
}

/// The entries of a table, up to the first damaged one.
fn entries(table: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = table.get(FIXED..).unwrap_or(&[]);
    core::iter::from_fn(move || {
        let (kind, length) = (*rest.first()?, usize::from(*rest.get(1)?));
        let entry = rest.get(..length).filter(|_| length >= 2)?;
        rest = rest.get(length..)?;
        Some((kind, entry))
    })
}

/// A processor's entry: its local APIC's ID, its number in other tables, and whether it is usable.
fn processor(kind: u8, entry: &[u8]) -> Option<(u32, u32, bool)> {
    match kind {
        kind::LOCAL_APIC => {
            Some((u32::from(*entry.get(3)?), u32::from(*entry.get(2)?), u32_at(entry, 4)? & ENABLED != 0))
        }
        kind::LOCAL_X2APIC => Some((u32_at(entry, 4)?, u32_at(entry, 12)?, u32_at(entry, 8)? & ENABLED != 0)),
        _ => None,
    }
}

/// The number that other tables know a processor of Linux's by: that of its own entry, else that of
/// the first usable one that is no other's.
fn name_of(table: &[u8], which: Processor, all: &[Processor]) -> u32 {
    let usable =
        || entries(table).filter_map(|(kind, entry)| processor(kind, entry)).filter(|(_, _, enabled)| *enabled);
    let is_linuxs = |id: u32| all.iter().any(|processor| processor.apic_id == id);
    let own = usable().find(|(apic_id, ..)| *apic_id == which.apic_id);
    own.or_else(|| usable().find(|(apic_id, ..)| !is_linuxs(*apic_id))).map_or(0, |(_, name, _)| name)
}

/// The bytes of an enabled processor's entry, of the first kind where ID and name fit into it: ID
/// 0xff is everybody's there.
fn entry(apic_id: u32, name: u32) -> ([u8; 16], usize) {
    let mut bytes = [0; 16];
    let length = match (u8::try_from(apic_id), u8::try_from(name)) {
        (Ok(id @ 0..=0xfe), Ok(name)) => {
            bytes[..5].copy_from_slice(&[kind::LOCAL_APIC, 8, name, id, ENABLED as u8]);
            8
        }
        _ => {
            bytes[..2].copy_from_slice(&[kind::LOCAL_X2APIC, 16]);
            bytes[4..8].copy_from_slice(&apic_id.to_le_bytes());
            bytes[8] = ENABLED as u8;
            bytes[12..].copy_from_slice(&name.to_le_bytes());
            16
        }
    };
    (bytes, length)
}

/// Whether to keep an entry that does not describe a processor.
fn stays(kind: u8, entry: &[u8], is_named: impl Fn(u32) -> bool, io_apics: &[u32]) -> bool {
    match kind {
        kind::IO_APIC => u32_at(entry, 4).is_some_and(|address| io_apics.contains(&address)),
        kind::LOCAL_NMI => entry.get(2).is_some_and(|of| *of == 0xff || is_named((*of).into())),
        kind::LOCAL_X2APIC_NMI => u32_at(entry, 4).is_some_and(|of| of == u32::MAX || is_named(of)),
        kind::OVERRIDE | kind::NMI_SOURCE | kind::LOCAL_ADDRESS => true,
        _ => false,
    }
}

/// Writes the copy of a table, of [`FIXED`] bytes at least, with those processors and I/O APICs.
/// Returns the length of the copy, and how many bytes are lost: entries that do not fit, and all
/// that follows a damaged one.
pub(super) fn edit(table: &[u8], own: &[Processor], io_apics: &[u32], copy: &mut [u8; LONGEST]) -> (usize, usize) {
    let name = |processor: &Processor| name_of(table, *processor, own);
    let (mut used, mut lost, mut read) = (0, 0, FIXED);
    let mut put = |bytes: &[u8]| match copy.get_mut(used..used + bytes.len()) {
        Some(to) => {
            to.copy_from_slice(bytes);
            used += bytes.len();
        }
        None => lost += bytes.len(),
    };
    put(&table[..FIXED]);
    for processor in own {
        let (bytes, length) = entry(processor.apic_id, name(processor));
        put(&bytes[..length]);
    }
    for (kind, entry) in entries(table) {
        read += entry.len();
        if stays(kind, entry, |number| own.iter().any(|processor| name(processor) == number), io_apics) {
            put(entry);
        }
    }
    copy[4..8].copy_from_slice(&(used as u32).to_le_bytes());
    seal(&mut copy[..used], 9);
    (used, lost + table.len() - read)
}
