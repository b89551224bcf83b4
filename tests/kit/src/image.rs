//! The image of this task, as memory that other address spaces can show.

use pillion_abi::{
    boot::{BootInfo, slot},
    bundle::ROOT_TASK,
    object::right,
    status::Result,
};
use pillion_runtime::{Cap, cap_derive, image, memory_map};

/// Where the bundle is mapped.
const BUNDLE: u64 = 0x40_0000_0000;

/// From this slot downwards, the kernel puts the capabilities for the first task's own memory, one
/// for each segment.
const FIRST_SEGMENT: Cap = slot::COUNT - 2;

/// The image of the first task.
pub struct Segments(image::Image<'static>);

impl Segments {
    pub fn find(info: &BootInfo) -> Option<Segments> {
        memory_map(slot::BUNDLE, slot::ADDRESS_SPACE, BUNDLE, 0).ok()?;
        // SAFETY: the bundle was just mapped there, whole, read-only and for good.
        let bytes = unsafe { core::slice::from_raw_parts(BUNDLE as *const u8, info.bundle.size as usize) };
        image::task(image::file(bytes, ROOT_TASK)?).ok().map(Segments)
    }

    pub(crate) fn image(&self) -> image::Image<'static> {
        self.0
    }

    /// Maps the image in another address space. Takes slots from `next`.
    pub fn map(&self, space: Cap, mut next: impl FnMut() -> Cap) -> Result<()> {
        for (index, (segment, _)) in self.0.segments().enumerate() {
            let copy = next();
            cap_derive(0, copy, FIRST_SEGMENT - index as Cap, right::ALL, 0)?;
            memory_map(copy, space, segment.address, segment.flags)?;
        }
        Ok(())
    }
}
