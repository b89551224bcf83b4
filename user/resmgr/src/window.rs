//! Access to memory that the manager gives to others: through a window in its own address space.

use crate::failure::{Result, While};
use crate::objects::Slots;
use core::sync::atomic::{AtomicU32, Ordering};
use pillion_abi::boot::{IoApic, Range, Screen, slot};
use pillion_abi::object::{map, right};
use pillion_abi::{LARGE_PAGE, PAGE};
use pillion_runtime::info::dual::DualInfo;
use pillion_runtime::info::{LinuxInfo, SkinInfo, TaskInfo};
use pillion_runtime::{Cap, cap_delete, memory_map, memory_part};

/// Address of the window, which is one large page.
const ADDRESS: u64 = 0x80_0000_0000;

/// The window: the slot of the memory that is mapped in it.
#[derive(Clone, Copy)]
pub struct Window {
    slot: Cap,
}

impl Window {
    pub fn new(slots: &mut Slots) -> Result<Window> {
        Ok(Window { slot: slots.take()? })
    }

    /// Writes `data` to the start of some memory, and zeros to the rest.
    pub fn fill(&self, memory: Cap, size: u64, data: &[u8]) -> Result<()> {
        self.fill_part(memory, 0, size, data)
    }

    /// Writes `data` to the start of a part of some memory, and zeros to the rest of the part.
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

    /// Clears bits of 32-bit words in whole pages of some memory, at most a large page, given by
    /// offset and the bits that stay; others may use the words at the same time. Offsets are
    /// multiples of four.
    pub fn mask_words(
        &self,
        memory: Cap,
        start: u64,
        size: u64,
        words: impl Iterator<Item = (usize, u32)>,
    ) -> Result<()> {
        self.each_word(memory, start, size, words, |word, kept| {
            // SAFETY: the word is mapped and aligned; nothing has a reference to it, and others
            // access it as an atomic, too.
            unsafe { AtomicU32::from_ptr(word) }.fetch_and(kept, Ordering::SeqCst);
        })
    }

    /// Writes 32-bit words, given by offset and value; see [`Window::mask_words`].
    pub fn set_words(
        &self,
        memory: Cap,
        start: u64,
        size: u64,
        words: impl Iterator<Item = (usize, u32)>,
    ) -> Result<()> {
        // SAFETY: the word is mapped and aligned; nothing has a reference to it.
        self.each_word(memory, start, size, words, |word, value| unsafe { word.write_volatile(value) })
    }

    /// Uses words with what is given for each, but for those that do not lie in the memory, or are
    /// not aligned.
    fn each_word(
        &self,
        memory: Cap,
        start: u64,
        size: u64,
        words: impl Iterator<Item = (usize, u32)>,
        with: impl Fn(*mut u32, u32),
    ) -> Result<()> {
        self.open(memory, start, size, |bytes| {
            for (at, value) in words.filter(|(at, _)| at % 4 == 0 && *at as u64 + 4 <= size) {
                with(bytes.wrapping_add(at).cast(), value);
            }
        })
    }

    /// Copies what lies in one page; others may write it meanwhile.
    pub fn copy<T: Plain>(&self, memory: Cap, offset: u64) -> Result<T> {
        let at = offset % PAGE;
        assert!(at + size_of::<T>() as u64 <= PAGE && at.is_multiple_of(align_of::<T>() as u64));
        // SAFETY: all of it lies in the page mapped there, and is aligned; without padding, any
        // value is valid.
        self.open(memory, offset - at, PAGE, |page| unsafe { page.add(at as usize).cast::<T>().read_volatile() })
    }

    fn fill_piece(&self, memory: Cap, offset: u64, size: u64, data: &[u8]) -> Result<()> {
        self.open(memory, offset, size, |bytes| {
            // SAFETY: `size` bytes are mapped there, `data` has no more and lies elsewhere.
            unsafe {
                bytes.copy_from_nonoverlapping(data.as_ptr(), data.len());
                bytes.add(data.len()).write_bytes(0, size as usize - data.len());
            }
        })
    }

    /// Maps whole pages of some memory, at most a large page, writable, and passes `look` a pointer
    /// to them that is valid until `look` returns. Others may have the memory as well, so `look`
    /// makes no reference to it.
    fn open<T>(&self, memory: Cap, offset: u64, size: u64, look: impl FnOnce(*mut u8) -> T) -> Result<T> {
        memory_part(memory, offset, size, self.slot, right::READ | right::WRITE).when("opening the window")?;
        memory_map(self.slot, slot::ADDRESS_SPACE, ADDRESS, map::WRITE).when("mapping the window")?;
        let seen = look(ADDRESS as *mut u8);
        cap_delete(0, self.slot).when("closing the window")?;
        Ok(seen)
    }
}

/// Types that may be written into memory byte by byte. A structure gets this by `plain!` only.
///
/// # Safety
/// The type has no padding.
pub unsafe trait Plain: Copy {}

// SAFETY: numbers and arrays of numbers have no padding.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: an array has nothing between its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Implements [`Plain`] for a structure, with the proof. All fields must be named, each once and
/// each [`Plain`] itself, and the sum of their sizes must be the size of the structure: then there
/// is no room for padding.
macro_rules! plain {
    ($type:ident { $($field:ident),* $(,)? }) => {
        const _: () = {
            let fields = 0 $(+ size_of_field(|value: &$type| &value.$field))*;
            assert!(fields == size_of::<$type>(), "padding: add a reserved field in its place");
            // The pattern is an error if a field is missing or named twice.
            let _ = |$type { $($field: _),* }: &$type| ();
        };
        // SAFETY: as asserted, the structure consists of its fields, which have no padding.
        unsafe impl Plain for $type {}
    };
}

const fn size_of_field<T, F: Plain>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

plain!(Range { base, size, kind });
plain!(IoApic { address, first, lines });
plain!(Screen { base, pitch, width, height, kind, bits, colours });
plain!(SkinInfo {
    index,
    threads,
    main_level,
    ceiling,
    shares,
    line_count,
    port_count,
    linux,
    traced,
    dual,
    lines,
    ports,
    share_size,
    pool_size,
    shared_fifos,
    cpus,
});
plain!(TaskInfo { tsc_hz, period, memory_size, cpu, name, arguments, skin });
plain!(DualInfo { levels, watchdog, watch_level, boosts, several, part_count, ram_count, parts });
plain!(LinuxInfo {
    root_pointer,
    screen,
    io_apics,
    range_count,
    ranges,
    kernel,
    initrd,
    restart_limit,
    restart_backoff,
    after,
    hidden_lines,
    shield_lines,
    hidden_device_count,
    hidden_devices,
    hidden_port_count,
    hidden_ports,
    channel,
    skin_count,
    processor_count,
    processors,
    command_line,
});

/// The bytes of a value.
pub fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: without padding every byte of the value is initialised.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Copies a text into a zero-padded field; what does not fit is cut off.
pub fn put_text(field: &mut [u8], text: &str) {
    for (to, from) in field.iter_mut().zip(text.bytes()) {
        *to = from;
    }
}
