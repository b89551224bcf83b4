//! One machine of the C model.

use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;

#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn model_new(arguments: *const c_char) -> *mut Handle;
    fn model_free(handle: *mut Handle);
    fn model_data(handle: *mut Handle, address: u64, physical: u64, large: bool, write: bool) -> u64;
    fn model_fetch(handle: *mut Handle, address: u64, physical: u64, count: u64) -> u64;
    fn model_event(handle: *mut Handle, event: u32) -> u64;
    fn model_skip(handle: *mut Handle, count: u64);
    fn model_mode(handle: *mut Handle, kernel: bool);
    fn model_entry(handle: *mut Handle);
    fn model_space(handle: *mut Handle, space: u16);
    fn model_flush_cache(handle: *mut Handle, level: u32);
    fn model_cache(handle: *const Handle, level: u32, counts: *mut u64);
    fn model_holds(handle: *const Handle, level: u32, address: u64) -> bool;
    fn model_walks(handle: *const Handle, counts: *mut u64);
    fn model_event_of(bytes: *const u8, size: usize) -> u32;
    fn model_tell(handle: *const Handle) -> *mut c_char;
    fn model_free_text(text: *mut c_char);
}

/// Levels of the caches, as `enum level`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
#[expect(missing_docs)]
pub enum Level {
    L1Code,
    L1Data,
    L2,
    L3,
}

/// Events, as `enum event`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u32)]
#[expect(missing_docs)]
pub enum Event {
    None,
    Interrupt,
    Iret,
    Syscall,
    Sysret,
    Cr3,
    Cr4,
    Invlpg,
    Msr,
    Port,
    Cpuid,
    Fpu,
    Vmrun,
    Vmexit,
    Vmstate,
    Cli,
    Sti,
    Clgi,
    Stgi,
    Hlt,
    Response,
    From,
    Upto,
    Begin,
    Done,
    Woke,
    Zero,
    One,
    Entry,
    Late,
}

/// Counts of a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// Lookups, hits and misses.
    pub accesses: u64,
    /// Lookups that missed.
    pub misses: u64,
    /// Dirty lines handed to the next level.
    pub write_backs: u64,
}

/// Counts of page walks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walks {
    /// Walks.
    pub walks: u64,
    /// Their loads.
    pub loads: u64,
}

/// A machine, and what is charged between markers.
pub struct Model(NonNull<Handle>);

impl Model {
    /// A machine with these parameters, separated by commas; `None` if the model rejects them.
    pub fn new(arguments: &str) -> Option<Model> {
        let arguments = CString::new(arguments).ok()?;
        // SAFETY: a terminated string that lives during the call.
        NonNull::new(unsafe { model_new(arguments.as_ptr()) }).map(Model)
    }

    /// Loads or stores; returns the cost in hundredths of a cycle.
    pub fn data(&mut self, address: u64, physical: u64, large: bool, write: bool) -> u64 {
        // SAFETY: the handle is valid until it is dropped, and exclusively borrowed.
        unsafe { model_data(self.0.as_ptr(), address, physical, large, write) }
    }

    /// Loads from, or stores to, an identity-mapped address in a page of 4 KiB.
    pub fn touch(&mut self, address: u64, write: bool) -> u64 {
        self.data(address, address, false, write)
    }

    /// Fetches instructions of one line.
    pub fn fetch(&mut self, address: u64, physical: u64, count: u64) -> u64 {
        // SAFETY: as in `data`.
        unsafe { model_fetch(self.0.as_ptr(), address, physical, count) }
    }

    /// Handles an event; returns its cost.
    pub fn event(&mut self, event: Event) -> u64 {
        // SAFETY: as in `data`.
        unsafe { model_event(self.0.as_ptr(), event as u32) }
    }

    /// Marks how many nanoseconds after its deadline the program woke.
    pub fn late(&mut self, late: u64) {
        for bit in (0..u64::BITS - late.leading_zeros()).rev() {
            self.event(if late >> bit & 1 == 0 { Event::Zero } else { Event::One });
        }
        self.event(Event::Late);
    }

    /// Excludes the first `count` responses and pieces of work from the samples.
    pub fn skip(&mut self, count: u64) {
        // SAFETY: as in `data`.
        unsafe { model_skip(self.0.as_ptr(), count) }
    }

    /// Switches to kernel or user code.
    pub fn mode(&mut self, kernel: bool) {
        // SAFETY: as in `data`.
        unsafe { model_mode(self.0.as_ptr(), kernel) }
    }

    /// Marks an entry of the kernel by an interrupt.
    pub fn entry(&mut self) {
        // SAFETY: as in `data`.
        unsafe { model_entry(self.0.as_ptr()) }
    }

    /// Switches to another address space of the host.
    pub fn space(&mut self, space: u16) {
        // SAFETY: as in `data`.
        unsafe { model_space(self.0.as_ptr(), space) }
    }

    /// Empties a cache.
    pub fn flush_cache(&mut self, level: Level) {
        // SAFETY: as in `data`.
        unsafe { model_flush_cache(self.0.as_ptr(), level as u32) }
    }

    /// The counts of a cache so far.
    pub fn cache(&self, level: Level) -> Counts {
        let mut counts = [0; 3];
        // SAFETY: as in `data`; there is room for three numbers.
        unsafe { model_cache(self.0.as_ptr(), level as u32, counts.as_mut_ptr()) };
        Counts { accesses: counts[0], misses: counts[1], write_backs: counts[2] }
    }

    /// Whether a cache holds the line of a physical address.
    pub fn holds(&self, level: Level, address: u64) -> bool {
        // SAFETY: as in `data`.
        unsafe { model_holds(self.0.as_ptr(), level as u32, address) }
    }

    /// The counts of page walks so far.
    pub fn walks(&self) -> Walks {
        let mut counts = [0; 2];
        // SAFETY: as in `data`; there is room for two numbers.
        unsafe { model_walks(self.0.as_ptr(), counts.as_mut_ptr()) };
        Walks { walks: counts[0], loads: counts[1] }
    }

    /// The plug-in's output lines.
    pub fn tell(&self) -> String {
        // SAFETY: the text is terminated, owned here, and freed once, after it was copied.
        unsafe {
            let text = model_tell(self.0.as_ptr());
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            model_free_text(text);
            copy
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: it was made by `model_new`, and is dropped once.
        unsafe { model_free(self.0.as_ptr()) }
    }
}

/// The number of an instruction's event.
pub fn event_of(bytes: &[u8]) -> u32 {
    // SAFETY: that many bytes can be read.
    unsafe { model_event_of(bytes.as_ptr(), bytes.len()) }
}
