//! The trace, of each processor.

use crate::Test;
use pillion_abi::{
    boot::slot,
    object::right,
    trace::{Counts, ENTRIES, Entry, Event, FIRST_ENTRY, Header, SIZE},
};
use pillion_runtime::{cap_identify, memory_map, trace_control};
use pillion_test_kit::{Checked, Kit, check, done, same};

pub const TESTS: &[Test] = &[("trace/of-each-processor", of_each)];

/// Vector by which one processor's kernel interrupts another.
const FROM_ANOTHER: u64 = 0xfd;

/// The buffers of all processors, which are numbered as [`Kit::number`] does.
pub struct Buffers {
    address: u64,
    first: u64,
    count: u64,
}

impl Buffers {
    pub fn map(kit: &mut Kit) -> Checked<Buffers> {
        let cap = done!(kit.limited(slot::TRACE_BUFFER, right::READ));
        let address = kit.address();
        same!(done!(cap_identify(cap))[1], SIZE * kit.info.cpus);
        done!(memory_map(cap, slot::ADDRESS_SPACE, address, 0));
        Ok(Buffers { address, first: kit.number(0), count: kit.info.cpus })
    }

    fn buffer(&self, processor: u64) -> u64 {
        self.address + (processor + self.first) % self.count * SIZE
    }

    /// Number of entries that a processor has written.
    pub fn written(&self, processor: u64) -> u64 {
        // SAFETY: `map` mapped the buffers, which begin with their headers; any value is valid.
        unsafe { (self.buffer(processor) as *const Header).read_volatile() }.written
    }

    /// What a processor has counted.
    pub fn counts(&self, processor: u64) -> Counts {
        // SAFETY: as above.
        unsafe { (self.buffer(processor) as *const Header).read_volatile() }.counts
    }

    /// An entry of a processor: one of the last [`ENTRIES`].
    fn entry(&self, processor: u64, number: u64) -> Entry {
        let entries = (self.buffer(processor) + FIRST_ENTRY) as *const Entry;
        // SAFETY: as above, for the entries.
        unsafe { entries.add(number as usize % ENTRIES).read_volatile() }
    }

    /// How often others' kernels have interrupted a processor since it had written that many.
    pub fn interrupts(&self, processor: u64, since: u64) -> usize {
        let is_one = |e: &Entry| [e.event, e.first] == [Event::Interrupt as u64, FROM_ANOTHER];
        (since..self.written(processor)).map(|number| self.entry(processor, number)).filter(is_one).count()
    }
}

/// Nothing runs on the others; but to switch the trace, all are interrupted.
fn of_each(kit: &mut Kit) -> Checked {
    let buffers = Buffers::map(kit)?;
    let written = |processor| buffers.written(processor);
    same!((0..kit.info.cpus).map(written).sum::<u64>(), 0);
    for _ in 0..2 {
        done!(trace_control(slot::TRACE, true));
        kit.rest(100_000);
        done!(trace_control(slot::TRACE, false));
    }
    kit.rest(100_000);
    let seen = [written(0), (1..kit.info.cpus).map(written).sum()];
    check!(seen[0] > 4, "{} entries", seen[0]);
    for processor in 1..kit.info.cpus {
        check!((2..20).contains(&written(processor)), "{} entries of processor {processor}", written(processor));
        let first = buffers.entry(processor, 0);
        // When it was interrupted and came past that trace point, the trace was still off.
        same!([first.event, first.first], [Event::Window as u64, 0]);
        same!(buffers.interrupts(processor, 0), 2);
    }
    kit.rest(100_000);
    same!([written(0), (1..kit.info.cpus).map(written).sum()], seen);
    Ok(())
}
