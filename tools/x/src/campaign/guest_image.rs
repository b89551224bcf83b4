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
/// Most bytes of a guest; the machine has no more than 128 MiB.
const LARGEST: u64 = 64 << 20;

/// Converts the ELF file of a guest to a bzImage; memory that the guest expects to be zero is part
/// of it.
pub fn convert(file: &[u8]) -> Result<Vec<u8>> {
    let file = ElfFile64::<Endianness>::parse(file)?;
    ensure!(file.entry() == BASE, "the guest's entry is not its first byte");
    let mut body = Vec::new();
    for segment in file.segments().filter(|segment| segment.size() > 0) {
        let data = segment.data().context("a segment lies outside the file")?;
        let at = segment.address().checked_sub(BASE).context("a segment below the base")?;
        let end = at.checked_add(segment.size()).filter(|end| *end <= LARGEST);
        let end = end.context("a segment reaches beyond the guest's 64 MiB")?;
        ensure!(at >= body.len() as u64, "segments out of order");
        ensure!(data.len() as u64 <= segment.size(), "a segment has more bytes in the file than in memory");
        body.resize(at as usize, 0);
        body.extend_from_slice(data);
        body.resize(end as usize, 0);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one loaded segment, whose four bytes follow the headers.
    fn elf(address: u64, memory_size: u64) -> Vec<u8> {
        let mut file = vec![0; 64];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x02\x01\x01");
        put(16, &[2, 0, 62, 0, 1]);
        put(24, &BASE.to_le_bytes());
        put(32, &64_u64.to_le_bytes());
        put(52, &[64, 0, 56, 0, 1]);
        for word in [1 | 5 << 32, 120, address, address, 4, memory_size, 4096] {
            file.extend(word.to_le_bytes());
        }
        file.extend([1, 2, 3, 4]);
        file
    }

    #[test]
    fn a_segment_is_copied_and_filled_up() {
        let image = convert(&elf(BASE + 16, 8)).unwrap();
        assert_eq!(image[HEADER..], [[0; 16], [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]].concat());
    }

    #[test]
    fn segments_of_any_place_and_size_are_refused() {
        for (address, size) in
            [(BASE, u64::MAX), (u64::MAX, 4), (BASE, 1 << 40), (1 << 40, 4), (BASE - 1, 4), (BASE, 3)]
        {
            assert!(convert(&elf(address, size)).is_err(), "{address:#x} {size:#x}");
        }
    }
}
