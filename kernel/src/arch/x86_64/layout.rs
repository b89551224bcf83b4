//! Where things are in the kernel's half of every address space.

/// Start of the direct map of physical memory.
pub const DIRECT_MAP: u64 = 0xffff_8000_0000_0000;

/// Distance between the virtual and the physical address of the kernel's image.
pub const IMAGE_OFFSET: u64 = 0xffff_ffff_8000_0000;

pub use pillion_firmware::ALWAYS_MAPPED;

unsafe extern "C" {
    static __image_start: u8;
    static __text_end: u8;
    static __rodata_end: u8;
    static __image_end: u8;
}

/// Address of a byte of physical memory in the direct map. The pointer may be followed only where
/// there is memory: below [`ALWAYS_MAPPED`], and in RAM.
#[inline]
#[must_use]
pub const fn direct<T>(physical: u64) -> *mut T {
    (DIRECT_MAP + physical) as *mut T
}

/// Physical address of something in the direct map or in the kernel's image.
#[inline]
#[must_use]
pub fn physical<T>(pointer: *const T) -> u64 {
    let address = pointer as u64;
    if address >= IMAGE_OFFSET { address - IMAGE_OFFSET } else { address.wrapping_sub(DIRECT_MAP) }
}

/// Physical addresses at which the parts of the kernel's image start and end.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// First byte of the code.
    pub start: u64,
    /// End of the code, start of the constants.
    pub text_end: u64,
    /// End of the constants, start of what is written.
    pub rodata_end: u64,
    /// End.
    pub end: u64,
}

impl Image {
    /// The image that is running.
    #[must_use]
    pub fn current() -> Image {
        Image {
            start: physical(&raw const __image_start),
            text_end: physical(&raw const __text_end),
            rodata_end: physical(&raw const __rodata_end),
            end: physical(&raw const __image_end),
        }
    }
}
