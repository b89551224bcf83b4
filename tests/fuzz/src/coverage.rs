//! The counters that the compiler puts into the code (`-sanitizer-coverage-inline-8bit-counters`):
//! one byte for each edge between two basic blocks.

use std::sync::Mutex;

/// Counters that are checked together.
const BLOCK: usize = 64;

/// The counters of one object file.
struct Region {
    start: usize,
    size: usize,
}

static REGIONS: Mutex<Vec<Region>> = Mutex::new(Vec::new());

/// Called before `main`, for each object file that has counters.
///
/// # Safety
/// By instrumented code only: the bytes from `start` to `end` are counters, and live for good.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    let region = Region { start: start as usize, size: end as usize - start as usize };
    let mut regions = REGIONS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The whole section may be reported for each object file of a program.
    if region.size > 0 && regions.iter().all(|known| known.start != region.start) {
        regions.push(region);
    }
}

/// The counters of this process, for one thread.
pub struct Counters(Vec<Region>);

impl Counters {
    /// Takes the counters; `None` if the code was built without.
    pub fn take() -> Option<Counters> {
        let regions = std::mem::take(&mut *REGIONS.lock().ok()?);
        (!regions.is_empty()).then_some(Counters(regions))
    }

    /// Number of counters.
    pub fn count(&self) -> usize {
        self.0.iter().map(|region| region.size).sum()
    }

    /// Sets all counters to zero.
    pub fn clear(&mut self) {
        for region in &self.0 {
            // SAFETY: the compiler's counters, written unordered by the code that counts; nothing
            // has references to them.
            unsafe { std::ptr::write_bytes(region.start as *mut u8, 0, region.size) };
        }
    }

    /// Calls `seen` for each counter that is not zero, with its number and value.
    pub fn each(&self, mut seen: impl FnMut(usize, u8)) {
        let mut first = 0;
        for region in &self.0 {
            for from in (0..region.size).step_by(BLOCK) {
                let mut values = [0u8; BLOCK];
                let count = BLOCK.min(region.size - from);
                // SAFETY: inside the counters, to which no reference exists; this code counts too,
                // and any value is acceptable.
                unsafe { std::ptr::copy((region.start + from) as *const u8, values.as_mut_ptr(), count) };
                if values != [0; BLOCK] {
                    let found = values.iter().enumerate().filter(|(_, value)| **value != 0);
                    found.for_each(|(at, value)| seen(first + from + at, *value));
                }
            }
            first += region.size;
        }
    }
}
