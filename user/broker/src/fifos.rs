//! Shared FIFOs: those that the system file does not give to a single task.

use crate::{Backend, Result, client::Client};
use core::ops::Range;
use pillion_abi::channel::FIFOS;
use pillion_channel::extent::{self, Extent};
use pillion_runtime::broker::{
    Answer, DATA_SIZE,
    errno::{EACCES, EBUSY, EINVAL, ENODEV, ENOMEM, ENOSPC},
};

/// Alignment of rings, and the unit in which their memory is allocated.
const LINE: u64 = 64;

/// Each shared FIFO has this fraction of an equal share of the memory reserved: one quarter.
const KEPT_PART: u64 = 4;

/// A FIFO. Size 0 means that it does not exist; its memory is kept while a process is at its rings.
#[derive(Clone, Copy, Debug)]
struct Fifo {
    size: u32,
    extent: Extent,
    maker: u8,
}

/// All FIFOs that could be shared.
#[derive(Debug)]
pub struct Fifos {
    fifos: [Fifo; FIFOS],
}

impl Fifos {
    /// No FIFO exists.
    pub const fn new() -> Fifos {
        Fifos { fifos: [Fifo { size: 0, extent: Extent { at: 0, size: 0 }, maker: 0 }; FIFOS] }
    }

    pub(crate) fn create(&mut self, m: &mut impl Backend, client: &Client, fifo: u32, size: u32) -> Result {
        let index = shared(m, client, fifo)?;
        if self.fifos[index].size != 0 || m.fifo_entered(index) {
            return Err(EBUSY);
        }
        let (extent, ring) = self.place(m, index, size)?;
        self.fifos[index] = Fifo { size, extent, maker: client.task as u8 };
        m.fifo_make(index, size, extent.at, extent.at + ring);
        Ok(Answer::OK)
    }

    /// Finds memory for a FIFO's two rings of that size, apart from all others. Returns it and the
    /// distance from one ring to the other.
    fn place(&self, m: &impl Backend, own: usize, size: u32) -> Result<(Extent, u64)> {
        if size == 0 || size > i32::MAX as u32 {
            return Err(EINVAL);
        }
        let ring = u64::from(size).next_multiple_of(LINE);
        if 2 * ring > self.bytes_for(m, own) {
            return Err(ENOMEM);
        }
        let others = self.fifos.iter().enumerate().filter(|(index, _)| *index != own && self.has_place(m, *index));
        let (mut all, mut count) = ([Extent::default(); FIFOS], 0);
        for (to, (_, fifo)) in all.iter_mut().zip(others) {
            (*to, count) = (fifo.extent, count + 1);
        }
        let at = extent::find(m.fifo_memory(), &mut all[..count], 2 * ring).ok_or(ENOMEM)?;
        Ok((Extent { at, size: 2 * ring }, ring))
    }

    /// Whether it has memory. The rings of a FIFO that has ended stay in place until the last
    /// process has left them.
    fn has_place(&self, m: &impl Backend, index: usize) -> bool {
        self.fifos[index].size != 0 || m.fifo_entered(index)
    }

    /// Bytes that a FIFO may have: those that others neither have nor have reserved.
    fn bytes_for(&self, m: &impl Backend, index: usize) -> u64 {
        let (shared, all) = (m.shared_fifos(), m.fifo_memory().size);
        let kept = all / (KEPT_PART * u64::from(shared.count_ones()).max(1));
        let others = self.fifos.iter().enumerate().filter(|(i, _)| *i != index && shared >> i & 1 != 0);
        others.fold(all, |free, (index, fifo)| {
            let used = if self.has_place(m, index) { fifo.extent.size } else { 0 };
            free.saturating_sub(used.max(kept))
        })
    }

    pub(crate) fn destroy(&mut self, m: &mut impl Backend, client: &Client, fifo: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        if m.fifo_opens(index) != 0 {
            return Err(EINVAL);
        }
        self.end(m, index);
        Ok(Answer::OK)
    }

    fn end(&mut self, m: &mut impl Backend, index: usize) {
        self.fifos[index].size = 0;
        m.fifo_end(index);
    }

    pub(crate) fn resize(&mut self, m: &mut impl Backend, client: &Client, fifo: u32, size: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        let (extent, ring) = self.place(m, index, size)?;
        if !m.fifo_resize(index, size, extent.at, extent.at + ring) {
            return Err(EBUSY);
        }
        // The maker stays the same.
        self.fifos[index] = Fifo { size, extent, ..self.fifos[index] };
        Ok(Answer::OK)
    }

    pub(crate) fn put(&mut self, m: &mut impl Backend, client: &Client, fifo: u32, length: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        if length > DATA_SIZE {
            return Err(EINVAL);
        }
        if m.fifo_put(index, client.task, length as usize) { Ok(Answer::value(length.into())) } else { Err(ENOSPC) }
    }

    pub(crate) fn get(&mut self, m: &mut impl Backend, client: &Client, fifo: u32, most: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        Ok(Answer::value(m.fifo_get(index, client.task, most.min(DATA_SIZE) as usize) as u64))
    }

    pub(crate) fn flush(&mut self, m: &mut impl Backend, client: &Client, fifo: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        m.fifo_flush(index);
        Ok(Answer::OK)
    }

    pub(crate) fn state(&mut self, m: &mut impl Backend, client: &Client, fifo: u32) -> Result {
        let index = self.there(m, client, fifo)?;
        let (to_linux, to_task) = m.fifo_lengths(index);
        Ok(Answer::Done([self.fifos[index].size.into(), to_linux as u64, to_task as u64]))
    }

    pub(crate) fn pair(&mut self, m: &mut impl Backend, client: &Client, get: u32, put: u32) -> Result {
        let (get, put) = (self.there(m, client, get)?, self.there(m, client, put)?);
        m.fifo_pair(get, put);
        Ok(Answer::OK)
    }

    /// Ends those of the FIFOs in `of` that the ended task made.
    pub(crate) fn task_ended(&mut self, m: &mut impl Backend, task: usize, of: Range<usize>) {
        for index in of {
            let fifo = &self.fifos[index];
            if fifo.size != 0 && usize::from(fifo.maker) == task {
                self.end(m, index);
            }
        }
    }

    fn there(&self, m: &impl Backend, client: &Client, fifo: u32) -> Result<usize> {
        let index = shared(m, client, fifo)?;
        if self.fifos[index].size == 0 { Err(EINVAL) } else { Ok(index) }
    }
}

/// The index of a shared FIFO, for a client that may share.
fn shared(m: &impl Backend, client: &Client, fifo: u32) -> Result<usize> {
    if !client.shares {
        return Err(EACCES);
    }
    if fifo >= FIFOS as u32 || m.shared_fifos() >> fifo & 1 == 0 {
        return Err(ENODEV);
    }
    Ok(fifo as usize)
}
