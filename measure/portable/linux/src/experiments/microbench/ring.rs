//! Context switches: processes in a ring pass a token through pipes, and first touch some memory.

use super::meter::Meter;
use crate::process::{Child, child};
use anyhow::Result;
use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};

/// Laps of the token in a batch of two processes; fewer with more.
const LAPS: u64 = 8_000;

/// One hop of a token in a ring of `PROCESSES` processes with `KIB` KiB of memory each: a read, a
/// pass over the memory, a write, and the switch.
pub fn hop<const PROCESSES: usize, const KIB: usize>(meter: &Meter) -> Result<f64> {
    let mut pipes = (0..PROCESSES).map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
    let mut children: Vec<Child> = Vec::new();
    for at in 1..PROCESSES {
        let input = pipes[at].0.try_clone()?;
        let output = pipes[(at + 1) % PROCESSES].1.try_clone()?;
        children.push(child(move || pass_on(input, output, KIB))?);
    }
    let mut station = Station::new(KIB);
    let laps = LAPS / PROCESSES as u64 * 2;
    let lap = meter.each(laps, || {
        pipes[1 % PROCESSES].1.write_all(&[1])?;
        station.take(&mut pipes[0].0)
    })?;
    Ok(lap / PROCESSES as f64)
}

fn pass_on(mut input: PipeReader, mut output: PipeWriter, kib: usize) -> Result<()> {
    let mut station = Station::new(kib);
    loop {
        station.take(&mut input)?;
        output.write_all(&[1])?;
    }
}

/// A process of the ring: its memory.
struct Station(Vec<u64>);

impl Station {
    fn new(kib: usize) -> Station {
        Station(vec![1; kib * 1024 / size_of::<u64>()])
    }

    /// Waits for the token, then adds up the memory.
    fn take(&mut self, input: &mut PipeReader) -> Result<()> {
        input.read_exact(&mut [0])?;
        black_box(self.0.iter().sum::<u64>());
        Ok(())
    }
}
