//! Reads bundles and task images; see [`pillion_abi::bundle`]. They may be malformed.

use pillion_abi::bundle::{Entry, Header, MAGIC, SEGMENTS, Segment, TASK_MAGIC};

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Name, offset and size of entry `index` of a bundle.
#[must_use]
pub fn entry(bundle: &[u8], index: usize) -> Option<(&str, u64, u64)> {
    if bundle.get(..8)? != MAGIC || index >= half(bundle, 8)? as usize {
        return None;
    }
    let at = size_of::<Header>() + index * size_of::<Entry>();
    let name = crate::info::text(bundle.get(at..at + 48)?);
    Some((name, word(bundle, at + 48)?, word(bundle, at + 56)?))
}

/// Offset and size of the file with this name.
#[must_use]
pub fn find(bundle: &[u8], name: &str) -> Option<(u64, u64)> {
    (0..).map_while(|i| entry(bundle, i)).find(|(n, ..)| *n == name).map(|(_, offset, size)| (offset, size))
}

/// The file with this name.
#[must_use]
pub fn file<'a>(bundle: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (offset, size) = find(bundle, name)?;
    bundle.get(usize::try_from(offset).ok()?..)?.get(..usize::try_from(size).ok()?)
}

/// A checked task image.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Address of the first instruction.
    pub entry: u64,
    count: usize,
}

/// Why an image is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadImage {
    /// It is not a task image, or is cut short.
    Malformed,
    /// It is built for another version of the interface.
    Version(u32),
}

/// Checks a task image.
pub fn task(bytes: &[u8]) -> Result<Image<'_>, BadImage> {
    let parse = || {
        if bytes.get(..8)? != TASK_MAGIC {
            return None;
        }
        Some((half(bytes, 8)?, half(bytes, 12)? as usize, word(bytes, 16)?))
    };
    let (version, count, entry) = parse().ok_or(BadImage::Malformed)?;
    if version != pillion_abi::VERSION {
        return Err(BadImage::Version(version));
    }
    let image = Image { bytes, entry, count };
    if count > SEGMENTS || image.segments().count() != count {
        return Err(BadImage::Malformed);
    }
    Ok(image)
}

impl<'a> Image<'a> {
    /// The segments: the description of each, and its bytes in the file.
    pub fn segments(&self) -> impl Iterator<Item = (Segment, &'a [u8])> + use<'a> {
        let (bytes, count) = (self.bytes, self.count);
        (0..count).map_while(move |i| {
            let at = 24 + i * size_of::<Segment>();
            let s = Segment {
                address: word(bytes, at)?,
                offset: word(bytes, at + 8)?,
                file_size: word(bytes, at + 16)?,
                memory_size: word(bytes, at + 24)?,
                flags: word(bytes, at + 32)?,
            };
            let aligned = (s.address | s.offset).is_multiple_of(pillion_abi::PAGE);
            let data = bytes.get(usize::try_from(s.offset).ok()?..)?.get(..usize::try_from(s.file_size).ok()?)?;
            (aligned && s.file_size <= s.memory_size).then_some((s, data))
        })
    }
}
