//! What an experiment is run with.

use crate::clock::Clock;
use crate::realtime;
use pillion_measure_data::Instrument;

/// The conditions of a run, the same for every experiment.
pub struct Bench {
    /// Reads time.
    pub clock: Clock,
    /// What a tick of time is: `counted` when an emulator counts instructions.
    pub instrument: Instrument,
    /// Whether the short form is wanted.
    pub quick: bool,
    /// The processor on which is measured.
    pub cpu: usize,
    /// Priority under `SCHED_FIFO`, 1 to 99.
    pub priority: i32,
}

impl Bench {
    /// The size of something: as told, else the default of the full or the short form.
    pub fn size<T>(&self, told: Option<T>, full: T, quick: T) -> T {
        told.unwrap_or(if self.quick { quick } else { full })
    }

    /// Makes this thread the most urgent one of its processor, with all memory of the process in
    /// memory.
    ///
    /// # Errors
    /// This is not allowed.
    pub fn be_urgent(&self) -> anyhow::Result<()> {
        realtime::lock_memory()?;
        realtime::pin(self.cpu)?;
        realtime::be_fifo(self.priority)
    }

    /// Makes this process an ordinary one on its processor: what is measured of it is what any
    /// program gets.
    ///
    /// # Errors
    /// Linux refuses.
    pub fn be_ordinary(&self) -> anyhow::Result<()> {
        realtime::unlock_memory()?;
        realtime::pin(self.cpu)?;
        realtime::be_ordinary()
    }
}
