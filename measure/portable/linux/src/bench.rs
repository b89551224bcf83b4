//! The conditions that an experiment runs under.

use crate::realtime;
use crate::time_source::Clock;
use pillion_measure_data::Instrument;

/// The conditions of a run, the same for every experiment.
pub struct Bench {
    /// Reads time.
    pub clock: Clock,
    /// What a tick of time is: `counted` if an emulator counts instructions.
    pub instrument: Instrument,
    /// Whether to run the short form.
    pub quick: bool,
    /// The processor to measure on.
    pub cpu: usize,
    /// Priority under `SCHED_FIFO`, 1 to 99.
    pub priority: i32,
}

impl Bench {
    /// A size: as given, otherwise the default of the full or of the short form.
    pub fn size<T>(&self, told: Option<T>, full: T, quick: T) -> T {
        told.unwrap_or(if self.quick { quick } else { full })
    }

    /// Makes this thread the most urgent one of its processor, and locks the process's memory.
    /// Fails if this is not permitted.
    pub fn be_urgent(&self) -> anyhow::Result<()> {
        realtime::lock_memory()?;
        realtime::pin(self.cpu)?;
        realtime::be_fifo(self.priority)
    }

    /// Makes this process an ordinary one on its processor, for measurements of what any program
    /// gets. Fails if Linux refuses.
    pub fn be_ordinary(&self) -> anyhow::Result<()> {
        realtime::unlock_memory()?;
        realtime::pin(self.cpu)?;
        realtime::be_ordinary()
    }
}
