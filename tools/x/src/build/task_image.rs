//! Converts a task's ELF file to a task image, which needs no parsing at run time.

use anyhow::{Context as _, Result, bail, ensure};
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectKind, ObjectSegment as _, SegmentFlags, elf};
use pillion_abi::bundle::{SEGMENTS, Segment, TASK_MAGIC, TaskHeader};
use pillion_abi::object::map;
use pillion_abi::{PAGE, USER_END, VERSION};

/// The task image of an ELF file.
pub fn convert(file: &[u8]) -> Result<Vec<u8>> {
    let file = ElfFile64::<Endianness>::parse(file)?;
    ensure!(file.kind() == ObjectKind::Executable, "not linked at a fixed address");
    let mut image = Image { body: vec![0; PAGE as usize], segments: Vec::new() };
    for segment in file.segments().filter(|segment| segment.size() > 0) {
        let data = segment.data().context("a segment lies outside the file")?;
        let SegmentFlags::Elf { p_flags, .. } = segment.flags() else { bail!("a segment has no rights") };
        image.add(segment.address(), segment.size(), data, map_flags(p_flags.0)?)?;
    }
    let entry = file.entry();
    check(&image.segments, entry)?;
    write_header(&mut image.body, entry, &image.segments);
    Ok(image.body)
}

/// Most bytes of an image.
const LARGEST: u64 = 1 << 30;

/// An image under construction.
struct Image {
    body: Vec<u8>,
    segments: Vec<Segment>,
}

impl Image {
    /// Adds a segment; if it begins in the last page of one with the same rights, it becomes part
    /// of that one.
    fn add(&mut self, address: u64, memory_size: u64, data: &[u8], flags: u64) -> Result<()> {
        let end = address.checked_add(memory_size).filter(|end| *end <= USER_END);
        let end = end.context("reaches beyond the user's half: not linked with user/task.ld?")?;
        ensure!(
            data.len() as u64 <= memory_size,
            "a segment at {address:#x} has more bytes in the file than in memory"
        );
        match self.segments.last_mut() {
            Some(last) if last.flags == flags && pages_end(last) > address => {
                ensure!(last.address + last.file_size <= address, "segments overlap at {address:#x}");
                last.memory_size = end - last.address;
                if !data.is_empty() {
                    let size = last.offset + (address - last.address);
                    ensure!(size <= LARGEST, "the zeros before {address:#x} would make the image larger than 1 GiB");
                    self.body.resize(size as usize, 0);
                    last.file_size = address - last.address + data.len() as u64;
                }
            }
            _ => self.start(address, end, data, flags),
        }
        if !data.is_empty() {
            self.body.extend_from_slice(data);
            self.body.resize(self.body.len().next_multiple_of(PAGE as usize), 0);
        }
        Ok(())
    }

    fn start(&mut self, address: u64, end: u64, data: &[u8], flags: u64) {
        let skew = address % PAGE;
        let offset = self.body.len() as u64;
        let file_size = if data.is_empty() { 0 } else { skew + data.len() as u64 };
        let address = address - skew;
        self.segments.push(Segment { address, offset, file_size, memory_size: end - address, flags });
        if !data.is_empty() {
            self.body.resize(self.body.len() + skew as usize, 0);
        }
    }
}

fn pages_end(segment: &Segment) -> u64 {
    (segment.address + segment.memory_size).next_multiple_of(PAGE)
}

fn map_flags(flags: u32) -> Result<u64> {
    match (flags & elf::PF_W.0 != 0, flags & elf::PF_X.0 != 0) {
        (true, true) => bail!("a segment is writable and executable"),
        (true, false) => Ok(map::WRITE),
        (false, true) => Ok(map::EXECUTE),
        (false, false) => Ok(0),
    }
}

fn check(segments: &[Segment], entry: u64) -> Result<()> {
    ensure!(!segments.is_empty(), "nothing to load");
    ensure!(segments.len() <= SEGMENTS, "{} segments, {SEGMENTS} are the most", segments.len());
    for pair in segments.windows(2) {
        let next = pair[1].address;
        ensure!(pages_end(&pair[0]) <= next, "the segments at {:#x} and {next:#x} share a page", pair[0].address);
    }
    let code = |segment: &Segment| {
        segment.flags & map::EXECUTE != 0 && entry.wrapping_sub(segment.address) < segment.memory_size
    };
    ensure!(segments.iter().any(code), "the entry {entry:#x} lies in no code");
    Ok(())
}

fn write_header(body: &mut [u8], entry: u64, segments: &[Segment]) {
    let mut header = Vec::with_capacity(size_of::<TaskHeader>());
    header.extend_from_slice(&TASK_MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&(segments.len() as u32).to_le_bytes());
    header.extend_from_slice(&entry.to_le_bytes());
    for segment in segments {
        for word in [segment.address, segment.offset, segment.file_size, segment.memory_size, segment.flags] {
            header.extend_from_slice(&word.to_le_bytes());
        }
    }
    body[..header.len()].copy_from_slice(&header);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        Image { body: vec![0; PAGE as usize], segments: Vec::new() }
    }

    #[test]
    fn segments_start_on_pages_and_keep_their_place() {
        let mut image = image();
        image.add(0x40_1350, 0x20, b"code", map::EXECUTE).unwrap();
        let made = image.segments[0];
        assert_eq!((made.address, made.offset, made.file_size, made.memory_size), (0x40_1000, 4096, 0x354, 0x370));
        assert_eq!(&image.body[4096 + 0x350..4096 + 0x354], b"code");
        assert_eq!(image.body.len(), 8192);
    }

    #[test]
    fn data_and_what_is_zero_share_a_segment() {
        let mut image = image();
        image.add(0x40_0000, 3, b"abc", map::WRITE).unwrap();
        image.add(0x40_0010, 2, b"de", map::WRITE).unwrap();
        image.add(0x40_0020, 0x2000, b"", map::WRITE).unwrap();
        assert_eq!(image.segments.len(), 1);
        let made = image.segments[0];
        assert_eq!((made.file_size, made.memory_size), (0x12, 0x2020));
        assert_eq!(&image.body[4096..4096 + 0x13], b"abc\0\0\0\0\0\0\0\0\0\0\0\0\0de\0");
        assert_eq!(image.body.len(), 8192);
    }

    #[test]
    fn refuses_what_the_kernel_would_refuse() {
        assert!(map_flags((elf::PF_W | elf::PF_X).0).is_err());
        assert!(convert(b"not ELF").is_err());
        assert!(image().add(u64::MAX - 0xfff, 0xe8, b"", 0).is_err());
        assert!(image().add(0x40_0000, 2, b"abc", 0).is_err(), "more in the file than in memory");
        let mut large = image();
        large.add(0x40_0000, 0x7000_0000_0800, b"", map::WRITE).unwrap();
        assert!(large.add(0x7000_0040_0900, 1, b"a", map::WRITE).is_err(), "more zeros than there is memory");
        let at = |address| Segment { address, memory_size: 0x1001, flags: map::EXECUTE, ..Segment::default() };
        assert!(check(&[at(0x40_0000), at(0x40_1000)], 0x40_0000).is_err());
        assert!(check(&[at(0x40_0000), at(0x40_2000)], 0x40_2000).is_ok());
        assert!(check(&[at(0x40_0000)], 0).is_err());
        assert!(check(&[], 0).is_err());
    }
}
