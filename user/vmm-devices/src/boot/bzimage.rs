//! The setup header (`boot.rst`, "The Real-Mode Kernel Header").

use super::Error;

/// Offset of the setup header in the file and in the zero page.
pub(super) const START: usize = 0x1f1;
/// The latest end of the header: the next field of the zero page.
const END: usize = 0x290;

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Boot protocol, the major number in the upper byte.
    pub version: u16,
    /// Offset of the protected-mode kernel in the file.
    pub offset: usize,
    /// Bytes of the protected-mode kernel.
    pub size: usize,
    /// End of the setup header in the file.
    pub header_end: usize,
    /// Highest address that the initial ramdisk may occupy.
    pub initrd_max: u64,
    /// Alignment of the load address.
    pub alignment: u64,
    /// Longest command line without its final zero.
    pub command_line_max: u32,
    /// Preferred load address.
    pub preferred: u64,
    /// Memory that the kernel needs from its load address on before it reads the memory map.
    pub init_size: u64,
}

impl Header {
    /// Reads and checks the header. Fails if this is not a kernel that can be started here.
    pub fn parse(image: &[u8]) -> Result<Header, Error> {
        let fields = Fields(image.first_chunk::<END>().ok_or(Error::NotBzImage)?);
        if fields.u16(0x1fe) != 0xaa55 || fields.u32(0x202) != u32::from_le_bytes(*b"HdrS") {
            return Err(Error::NotBzImage);
        }
        fields.check_kind()?;
        let header = fields.header(image.len())?;
        if !header.alignment.is_power_of_two() || header.init_size == 0 || header.size == 0 {
            return Err(Error::BadHeader);
        }
        Ok(header)
    }

    /// The protected-mode kernel, the part that is loaded.
    pub fn protected_mode<'a>(&self, image: &'a [u8]) -> &'a [u8] {
        image.get(self.offset..).and_then(|rest| rest.get(..self.size)).unwrap_or(&[])
    }
}

/// The beginning of the file.
struct Fields<'a>(&'a [u8; END]);

impl Fields<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    fn check_kind(&self) -> Result<(), Error> {
        const LOADED_HIGH: u8 = 1;
        const KERNEL_64: u16 = 1;
        let version = self.u16(0x206);
        match version {
            ..0x20a => Err(Error::TooOld(version)),
            _ if self.0[0x211] & LOADED_HIGH == 0 => Err(Error::NotLoadedHigh),
            _ if self.0[0x234] == 0 => Err(Error::NotRelocatable),
            // The flag exists since protocol 2.12.
            0x20c.. if self.u16(0x236) & KERNEL_64 == 0 => Err(Error::NotSixtyFourBit),
            _ => Ok(()),
        }
    }

    fn header(&self, file: usize) -> Result<Header, Error> {
        let setup = match self.0[START] {
            0 => 4,
            sectors => usize::from(sectors),
        };
        let offset = (setup + 1) * 512;
        let rest = file.checked_sub(offset).ok_or(Error::Truncated)?;
        // In paragraphs of 16 bytes, rounded up.
        let size = self.u32(0x1f4) as usize * 16;
        if size.saturating_sub(rest) > 15 {
            return Err(Error::Truncated);
        }
        Ok(Header {
            version: self.u16(0x206),
            offset,
            size: size.min(rest),
            header_end: (0x202 + usize::from(self.0[0x201])).min(END),
            initrd_max: u64::from(self.u32(0x22c)),
            alignment: u64::from(self.u32(0x230)),
            command_line_max: self.u32(0x238),
            preferred: self.u64(0x258),
            init_size: u64::from(self.u32(0x260)),
        })
    }
}
