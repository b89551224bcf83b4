//! A Linux kernel whose decompressor is left out: what it would have unpacked, with a page of code
//! before it that enters it. Of a boot of the stock kernel, counted, the decompressor is more than
//! half; it also is what moves the kernel to a random address. The kernel itself is the same.

use crate::file::write_whole;
use crate::problem::problem;
use crate::repository::Repository;
use crate::tool;
use anyhow::{Context as _, Result, ensure};
use object::read::elf::{FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, elf};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the kernel begins behind the code before it: kernels are aligned to that.
const KERNEL: usize = 2 << 20;

/// Fields of the setup header (Linux `Documentation/x86/boot.rst`).
mod field {
    pub const SETUP_SECTORS: usize = 0x1f1;
    pub const SIZE: usize = 0x1f4;
    pub const PAYLOAD: usize = 0x248;
    pub const PAYLOAD_SIZE: usize = 0x24c;
    pub const PREFERRED: usize = 0x258;
    pub const MEMORY: usize = 0x260;
}

/// Makes it from a bzImage, unless that was done; returns the file. Only kernels packed by xz are
/// unpacked, others stay what they are: their decompressors are fast.
pub fn kernel(repository: &Repository, image: &Path, digest: &str) -> Result<PathBuf> {
    let file = repository.build(format!("unpacked-{}.bzimage", digest.get(..16).unwrap_or(digest)));
    if file.is_file() {
        return Ok(file);
    }
    let packed = std::fs::read(image)?;
    let remedy = "leave out --unpacked";
    let Some(elf) =
        unpack(&packed).map_err(|why| problem(format!("{} cannot be unpacked", image.display()), why, remedy))?
    else {
        return Ok(image.to_owned());
    };
    let flat = Flat::of(&elf)?;
    let code = entry_code(repository, flat.entry)?;
    write_whole(&file, &flat.image(&packed, &code)?)?;
    Ok(file)
}

fn word(image: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// Bytes of the file before the protected-mode kernel.
fn setup_size(image: &[u8]) -> usize {
    match image[field::SETUP_SECTORS] {
        0 => 5 * 512,
        sectors => (usize::from(sectors) + 1) * 512,
    }
}

/// The ELF file in a bzImage; `None` if xz did not pack it.
fn unpack(image: &[u8]) -> Result<Option<Vec<u8>>> {
    const XZ: &[u8] = b"\xfd7zXZ\0";
    let (at, size) = word(image, field::PAYLOAD).zip(word(image, field::PAYLOAD_SIZE)).context("it has no header")?;
    let first = setup_size(image) + at;
    // The last four bytes are the size of what is in it.
    let payload = image.get(first..first + size.saturating_sub(4)).context("it is cut short")?;
    if !payload.starts_with(XZ) {
        return Ok(None);
    }
    let mut elf = Vec::new();
    lzma_rust2::XzReader::new(payload, false).read_to_end(&mut elf)?;
    Ok(Some(elf))
}

/// What an ELF file has in memory, from its lowest physical address on.
struct Flat {
    first: u64,
    bytes: Vec<u8>,
    /// All that it needs.
    size: u64,
    /// Where its first instruction is.
    entry: u64,
}

impl Flat {
    fn of(elf: &[u8]) -> Result<Flat> {
        let header = elf::FileHeader64::<Endianness>::parse(elf)?;
        let endian = header.endian()?;
        let segments = header.program_headers(endian, elf)?;
        let loaded = || segments.iter().filter(|one| one.p_type(endian) == elf::PT_LOAD);
        let first = loaded().map(|one| one.p_paddr(endian)).min().context("it has nothing to load")?;
        let end = loaded().map(|one| one.p_paddr(endian) + one.p_memsz(endian)).max().unwrap_or(first);
        ensure!(end - first < 1 << 30, "it is larger than a kernel");
        let mut bytes = vec![0; (end - first) as usize];
        for one in loaded() {
            let data = one.data(endian, elf).ok().context("a part of it is cut short")?;
            let at = (one.p_paddr(endian) - first) as usize;
            bytes.get_mut(at..at + data.len()).context("a part of it lies beyond its end")?.copy_from_slice(data);
        }
        // The kernel clears its .bss itself, and needs nothing behind that but room.
        let bss = object::File::parse(elf)?.section_by_name(".bss").map(|section| section.address());
        let cleared = bss.and_then(|address| {
            let offset = |one: &elf::ProgramHeader64<Endianness>| address.checked_sub(one.p_vaddr(endian));
            let holder = loaded().find(|one| offset(one).is_some_and(|at| at < one.p_memsz(endian)))?;
            Some((holder.p_paddr(endian) - first + offset(holder)?) as usize)
        });
        let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(used.max(cleared.unwrap_or(bytes.len())));
        Ok(Flat { first, bytes, size: end - first, entry: header.e_entry(endian).wrapping_sub(first) })
    }

    /// A bzImage with that code in place of the decompressor.
    fn image(&self, packed: &[u8], code: &[u8]) -> Result<Vec<u8>> {
        let setup = setup_size(packed);
        let mut image = packed[..setup].to_vec();
        image.extend(code);
        image.resize(setup + KERNEL, 0);
        image.extend(&self.bytes);
        image.resize(image.len().next_multiple_of(16), 0);
        let paragraphs = (image.len() - setup) / 16;
        let preferred = self.first.checked_sub(KERNEL as u64).context("it lies too low")?;
        let memory = (KERNEL as u64 + self.size).next_multiple_of(4096);
        image[field::SIZE..][..4].copy_from_slice(&u32::try_from(paragraphs)?.to_le_bytes());
        image[field::PAYLOAD..][..8].fill(0);
        image[field::PREFERRED..][..8].copy_from_slice(&preferred.to_le_bytes());
        image[field::MEMORY..][..4].copy_from_slice(&u32::try_from(memory)?.to_le_bytes());
        Ok(image)
    }
}

/// The code before the kernel, which is entered at an offset of its own.
fn entry_code(repository: &Repository, entry: u64) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let made = folder.path().join("unpacked.o");
    let mut compiler = Command::new("cc");
    compiler.arg(format!("-DKERNEL={KERNEL}")).arg(format!("-DENTRY={entry}"));
    compiler.arg("-c").arg(repository.path("tools/x/src/build/unpacked.S")).arg("-o").arg(&made);
    let (done, said) = tool::judged(&mut compiler)?;
    ensure!(done, "the code that enters an unpacked kernel cannot be assembled: {said}");
    let data = std::fs::read(made)?;
    let object = object::File::parse(&*data)?;
    let text = object.section_by_name(".text").context("the assembler made no code")?;
    ensure!(text.relocations().next().is_none(), "the code that enters an unpacked kernel depends on where it is");
    Ok(text.data()?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u64 = 0x100_0000;

    /// A program header of what is loaded.
    fn segment(offset: u64, physical: u64, [in_file, in_memory]: [u64; 2]) -> Vec<u8> {
        let head = [elf::PT_LOAD.0, elf::PF_R.0].map(u32::to_le_bytes).concat();
        let words = [offset, 0xffff_ffff_8100_0000, physical, in_file, in_memory, 1 << 21];
        [head, words.map(u64::to_le_bytes).concat()].concat()
    }

    /// An ELF file with four bytes at the first address, two a page further, and zeros behind them.
    fn elf_file() -> Vec<u8> {
        let segments = [segment(0xc0, FIRST, [4, 4]), segment(0xc4, FIRST + 0x1000, [2, 0x3000])].concat();
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([2_u16, 62].map(u16::to_le_bytes).concat());
        file.extend(1_u32.to_le_bytes());
        file.extend([FIRST + 2, 64, 0].map(u64::to_le_bytes).concat());
        file.extend(0_u32.to_le_bytes());
        file.extend([64_u16, 56, 2, 64, 0, 0].map(u16::to_le_bytes).concat());
        file.extend(segments);
        file.resize(0xc0, 0);
        file.extend(b"code\x01\x02");
        file
    }

    #[test]
    fn a_kernel_lies_as_its_file_says() {
        let flat = Flat::of(&elf_file()).unwrap();
        assert_eq!((flat.first, flat.size, flat.entry), (FIRST, 0x4000, 2));
        assert_eq!((flat.bytes.len(), &flat.bytes[..5]), (0x4000, b"code\0".as_slice()));
        assert_eq!(flat.bytes[0x1000..][..3], [1, 2, 0]);
        let mut short = elf_file();
        short.truncate(0xc5);
        assert!(Flat::of(&short).is_err(), "it is cut short");
    }

    #[test]
    fn the_code_before_it_takes_the_place_of_the_decompressor() {
        let mut packed = vec![0; 0x3000];
        packed[field::SETUP_SECTORS] = 4;
        let image = Flat::of(&elf_file()).unwrap().image(&packed, b"entry").unwrap();
        assert_eq!(image[5 * 512..][..6], *b"entry\0");
        assert_eq!(image[5 * 512 + KERNEL..][..4], *b"code");
        assert_eq!(word(&image, field::SIZE), Some((image.len() - 5 * 512) / 16));
        assert_eq!(word(&image, field::PREFERRED), Some(FIRST as usize - KERNEL));
        assert_eq!(word(&image, field::MEMORY), Some(KERNEL + 0x4000));
    }

    #[test]
    fn what_xz_did_not_pack_stays() {
        let mut image = vec![0; 0x2000];
        image[field::SETUP_SECTORS] = 4;
        image[field::PAYLOAD_SIZE..][..4].copy_from_slice(&64_u32.to_le_bytes());
        assert!(unpack(&image).unwrap().is_none());
        image[field::PAYLOAD_SIZE..][..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(unpack(&image).is_err());
    }
}
