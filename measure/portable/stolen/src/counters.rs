//! Counters of Linux and the processor: interrupts, and system management interrupts.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Number of system management interrupts since the start (Intel's MSR_SMI_COUNT).
const MSR_SMI_COUNT: u64 = 0x34;

/// Interrupts of one processor so far, of every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters(u64);

impl Counters {
    /// Reads them. Fails if Linux does not report them.
    pub fn read(cpu: usize) -> Result<Counters> {
        let text = std::fs::read_to_string("/proc/interrupts").context("/proc/interrupts")?;
        sum(&text, cpu).map(Counters).with_context(|| format!("/proc/interrupts has no processor {cpu}"))
    }

    /// How many interrupts have come since.
    pub fn since(&self, before: &Counters) -> u64 {
        self.0.saturating_sub(before.0)
    }
}

/// Sum of a processor's column: device interrupts, the local timer, NMIs and all others.
fn sum(table: &str, cpu: usize) -> Option<u64> {
    let mut lines = table.lines();
    let name = format!("CPU{cpu}");
    let column = lines.next()?.split_whitespace().position(|word| word == name)?;
    let count = |line: &str| line.split_whitespace().nth(column + 1)?.parse::<u64>().ok();
    Some(lines.filter_map(count).sum())
}

/// System management interrupts so far; `None` if the processor does not count them, or Linux does
/// not allow reading the counter (`modprobe msr`).
pub fn smi(cpu: usize) -> Option<u64> {
    let is_intel = std::fs::read_to_string("/proc/cpuinfo").ok()?.contains("GenuineIntel");
    let file = File::open(format!("/dev/cpu/{cpu}/msr")).ok().filter(|_| is_intel)?;
    read_msr(&file).ok()
}

fn read_msr(file: &File) -> Result<u64> {
    let mut word = [0; 8];
    let length = file.read_at(&mut word, MSR_SMI_COUNT)?;
    ensure!(length == word.len(), "a short read");
    Ok(u64::from_le_bytes(word) & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "           CPU0       CPU2\n  0:         10         20   IO-APIC    2-edge      timer\nNMI:          1          2   Non-maskable interrupts\nERR:          7\n";

    #[test]
    fn the_column_of_a_processor_is_added_up() {
        assert_eq!((sum(TABLE, 0), sum(TABLE, 2), sum(TABLE, 1)), (Some(18), Some(22), None));
        assert_eq!(Counters(5).since(&Counters(3)), 2);
    }
}
