//! Address spaces: mapping, and the first touch of a page.

use super::meter::Meter;
use super::temporary_files::temporary;
use anyhow::Result;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io::Write;
use std::os::fd::AsFd;
use std::ptr::null_mut;

const CALLS: u64 = 5_000;

const PAGE: usize = 4096;

/// Pages touched in one mapping; too few for Linux to choose a large page.
const PAGES: usize = 256;

/// Maps a MiB and unmaps it, untouched.
pub fn mmap_munmap(meter: &Meter) -> Result<f64> {
    meter.each(CALLS, || Mapping::anonymous().map(drop))
}

/// The first touch of an anonymous page, including each page's share of mapping and unmapping.
pub fn fault_anonymous(meter: &Meter) -> Result<f64> {
    let all = meter.each(CALLS / 50, || Mapping::anonymous().map(|mapping| mapping.touch()))?;
    Ok(all / PAGES as f64)
}

/// The first touch of a page of a cached file.
pub fn fault_file(meter: &Meter) -> Result<f64> {
    let mut file = temporary()?;
    file.write_all(&vec![1; PAGES * PAGE])?;
    let all = meter.each(CALLS / 50, || Mapping::of(&file).map(|mapping| mapping.touch()))?;
    Ok(all / PAGES as f64)
}

/// A mapping that is unmapped when dropped.
struct Mapping(*mut c_void);

const LENGTH: usize = PAGES * PAGE;

impl Mapping {
    fn anonymous() -> Result<Mapping> {
        // SAFETY: a new mapping, wherever there is room.
        let address = unsafe { mmap_anonymous(null_mut(), LENGTH, READ_WRITE, MapFlags::PRIVATE) }?;
        Ok(Mapping(address))
    }

    fn of(file: impl AsFd) -> Result<Mapping> {
        // SAFETY: as above; the file is this process's alone.
        let address = unsafe { mmap(null_mut(), LENGTH, READ_WRITE, MapFlags::SHARED, file, 0) }?;
        Ok(Mapping(address))
    }

    /// Writes to each page.
    fn touch(&self) {
        for page in 0..PAGES {
            // SAFETY: inside the mapping, which is writable and used nowhere else.
            unsafe { self.0.cast::<u8>().add(page * PAGE).write_volatile(1) };
        }
    }
}

const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, to which no reference is left.
        let _ = unsafe { munmap(self.0, LENGTH) };
    }
}
