//! Makes the hostile guest's ELF file look like a Linux kernel (`Documentation/x86/boot.rst`),
//! which is what the monitor loads.

use anyhow::{Context as _, Result, ensure};
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSegment as _};

/// Where `tests/campaign/guest/guest.ld` links it.
const BASE: u64 = 0x100_0000;
/// Boot sector and one sector of setup.
const HEADER: usize = 1024;
const ALIGNMENT: u32 = 0x20_0000;

/// Converts the ELF file of a guest to a bzImage; memory that the guest expects to be zero is part
/// of it.
pub fn convert(file: &[u8]) -> Result<Vec<u8>> {
    let file = ElfFile64::<Endianness>::parse(file)?;
    ensure!(file.entry() == BASE, "the guest's entry is not its first byte");
    let mut body = Vec::new();
    for segment in file.segments().filter(|segment| segment.size() > 0) {
        let data = segment.data().context("a segment lies outside the file")?;
        let at = segment.address().checked_sub(BASE).context("a segment below the base")? as usize;
        ensure!(at >= body.len(), "segments out of order");
        body.resize(at, 0);
        body.extend_from_slice(data);
        body.resize(at + segment.size() as usize, 0);
    }
    body.resize(body.len().next_multiple_of(16), 0);
    let mut image = boot_header(body.len() as u32);
    image.append(&mut body);
    Ok(image)
}

fn boot_header(size: u32) -> Vec<u8> {
    let mut header = vec![0; HEADER];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0x1f1, &[1]);
    put(0x1f4, &(size / 16).to_le_bytes());
    put(0x1fe, &[0x55, 0xaa]);
    put(0x201, &[0x66]);
    put(0x202, b"HdrS");
    put(0x206, &0x20c_u16.to_le_bytes());
    // Loads high, is relocatable, has the 64-bit entry point.
    put(0x211, &[1]);
    put(0x22c, &0x7fff_ffff_u32.to_le_bytes());
    put(0x230, &ALIGNMENT.to_le_bytes());
    put(0x234, &[1]);
    put(0x236, &[1]);
    put(0x238, &2047_u32.to_le_bytes());
    put(0x258, &BASE.to_le_bytes());
    put(0x260, &size.to_le_bytes());
    header
}
