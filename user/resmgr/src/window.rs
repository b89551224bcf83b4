//! Writing into memory before it is given away: through a window in the manager's own address space.

use crate::{
    failure::{Result, While},
    objects::Slots,
};
use pillion_abi::{
    LARGE_PAGE, PAGE,
    boot::slot,
    object::{map, right},
};
use pillion_runtime::{Cap, cap_delete, memory_map, memory_part};

/// Where the window is; it is one large page.
const ADDRESS: u64 = 0x80_0000_0000;

/// The window: the slot of what is seen through it.
#[derive(Clone, Copy)]
pub struct Window {
    slot: Cap,
}

impl Window {
    /// A closed one.
    pub fn new(slots: &mut Slots) -> Result<Window> {
        Ok(Window { slot: slots.take()? })
    }

    /// Writes data to the start of some memory, and zeros to the rest.
    pub fn fill(&self, memory: Cap, size: u64, data: &[u8]) -> Result<()> {
        self.fill_part(memory, 0, size, data)
    }

    /// Writes data to the start of a part of some memory, and zeros to the rest of the part.
    pub fn fill_part(&self, memory: Cap, offset: u64, size: u64, data: &[u8]) -> Result<()> {
        let mut data = data;
        let mut done = 0;
        while done < size {
            let piece = LARGE_PAGE.min(size - done);
            let (now, later) = data.split_at(data.len().min(piece as usize));
            self.fill_piece(memory, offset + done, piece, now)?;
            data = later;
            done += piece;
        }
        Ok(())
    }

    /// The word at an offset that is a multiple of eight.
    pub fn word(&self, memory: Cap, offset: u64) -> Result<u64> {
        memory_part(memory, offset & !(PAGE - 1), PAGE, self.slot, right::READ).when("opening the window")?;
        memory_map(self.slot, slot::ADDRESS_SPACE, ADDRESS, 0).when("mapping the window")?;
        let at = (ADDRESS + offset % PAGE) as *const u64;
        // SAFETY: the page is mapped there by the call before, and the word is aligned. Its task may write it meanwhile; any value will do.
        let word = unsafe { at.read_volatile() };
        cap_delete(0, self.slot).when("closing the window")?;
        Ok(word)
    }

    fn fill_piece(&self, memory: Cap, offset: u64, size: u64, data: &[u8]) -> Result<()> {
        self.change(memory, offset, size, |bytes| {
            let (head, rest) = bytes.split_at_mut(data.len());
            head.copy_from_slice(data);
            rest.fill(0);
        })
    }

    /// Changes a part of some memory: whole pages, at most a large one.
    pub fn change(&self, memory: Cap, offset: u64, size: u64, change: impl FnOnce(&mut [u8])) -> Result<()> {
        memory_part(memory, offset, size, self.slot, right::READ | right::WRITE).when("opening the window")?;
        memory_map(self.slot, slot::ADDRESS_SPACE, ADDRESS, map::WRITE).when("mapping the window")?;
        // SAFETY: `size` bytes are mapped writable there by the call before, nothing else of this task lies there, and the slice is
        // gone before the mapping is.
        change(unsafe { core::slice::from_raw_parts_mut(ADDRESS as *mut u8, size as usize) });
        cap_delete(0, self.slot).when("closing the window")?;
        Ok(())
    }
}

/// Structures that may be written into memory byte by byte.
///
/// # Safety
/// The type is `repr(C)` and has no padding.
pub unsafe trait Plain: Copy {}

// SAFETY: its fields are words and arrays of bytes whose sizes are multiples of a word.
unsafe impl Plain for pillion_runtime::info::TaskInfo {}

// SAFETY: its fields are words, and arrays of smaller numbers whose sizes are multiples of a word.
unsafe impl Plain for pillion_runtime::info::LinuxInfo {}

/// The bytes of a value.
pub fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: without padding every byte of the value is initialised.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Puts a text into a field that is padded with zeros; what does not fit is cut off.
pub fn put_text(field: &mut [u8], text: &str) {
    for (to, from) in field.iter_mut().zip(text.bytes()) {
        *to = from;
    }
}
