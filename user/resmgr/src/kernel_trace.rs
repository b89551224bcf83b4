//! The kernel's trace. The option `trace=1` of the kernel's command line switches it on for the
//! whole run, and the end of the run reports the longest stretch with interrupts off; `trace=2`
//! also prints the last entries. Where several processors run, each has a buffer, whose header also
//! tells what the processor counts; what is reported of a trace is the first one's.

use crate::failure::{Result, While};
use crate::objects::Slots;
use crate::platform::Platform;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use pillion_abi::boot::{BootInfo, slot};
use pillion_abi::object::right;
use pillion_abi::trace::{Counts, ENTRIES, FIRST_ENTRY, Header, SIZE};
use pillion_ring::Cell;
use pillion_runtime::{Cap, info::address, memory_map, println, trace_control};

const ADDRESS: u64 = 0xa0_0000_0000;

/// The trace, while it is on.
pub struct Trace {
    /// Whether to print the last entries.
    entries: bool,
}

/// Whether the command line asks for the trace.
pub fn is_wanted(machine: &Platform) -> bool {
    machine.option("trace").is_some_and(|on| on != 0)
}

/// Maps the trace buffer in a task.
pub fn show(slots: &mut Slots, space: Cap) -> Result<()> {
    let seen = slots.derive(slot::TRACE_BUFFER, right::READ, 0)?;
    memory_map(seen, space, address::TRACE, 0).when("mapping the trace")?;
    Ok(())
}

/// The buffers of all processors, one after the other, mapped in the manager for good.
#[derive(Clone, Copy)]
pub struct Buffers {
    count: u64,
}

impl Buffers {
    /// Maps them, unless they already are.
    pub fn map(machine: &BootInfo) -> Result<Buffers> {
        static IS_MAPPED: AtomicBool = AtomicBool::new(false);
        if !IS_MAPPED.load(Relaxed) {
            memory_map(slot::TRACE_BUFFER, slot::ADDRESS_SPACE, ADDRESS, 0).when("mapping the trace")?;
            IS_MAPPED.store(true, Relaxed);
        }
        Ok(Buffers { count: machine.cpus })
    }

    /// What a processor has counted since boot: nothing if it does not run.
    pub fn counts(self, processor: u64) -> Counts {
        if processor >= self.count {
            return Counts::default();
        }
        let header = (ADDRESS + processor * SIZE) as *const Header;
        // SAFETY: `map` mapped a buffer for each processor that runs. It begins with its header, in
        // which every value is valid. The kernel writes it through another mapping.
        unsafe { (&raw const (*header).counts).read_volatile() }
    }
}

/// Switches the trace on if the command line asks for it.
pub fn start(machine: &Platform) -> Option<Trace> {
    let wanted = machine.option("trace").filter(|on| *on != 0)?;
    let mapped = Buffers::map(machine.boot);
    if let Err(failure) = mapped.and_then(|_| trace_control(slot::TRACE, true).when("switching it on")) {
        println!("[resmgr] no trace: {failure}");
        return None;
    }
    Some(Trace { entries: wanted > 1 })
}

impl Trace {
    /// Switches the trace off.
    pub fn stop(&self) {
        let _ = trace_control(slot::TRACE, false);
    }

    /// Reports the longest stretch with interrupts off, tracing included, and its cause.
    pub fn report(&self) {
        // SAFETY: `start` mapped the buffers for good; the first one begins with its header, in
        // which every value is valid. The kernel writes it through another mapping.
        let header = unsafe { core::ptr::read_volatile(ADDRESS as *const Header) };
        let Header { longest, longest_cause: cause, tsc_hz, .. } = header;
        let ns = u128::from(longest) * 1_000_000_000 / u128::from(tsc_hz.max(1));
        let (event, first, second) = (cause.event, cause.first, cause.second);
        println!(
            "{{\"pillion\":\"stretch\",\"longest_ns\":{ns},\"event\":{event},\"first\":{first},\"second\":{second}}}"
        );
        if self.entries {
            println!("trace ticks {tsc_hz}");
            print_entries();
        }
    }
}

fn print_entries() {
    // SAFETY: as in `report`; the count is the header's first word, and the cells begin on the page
    // after the header.
    let (written, cells) = unsafe {
        let cells = (ADDRESS + FIRST_ENTRY) as *const Cell;
        (&*(ADDRESS as *const AtomicU64), core::slice::from_raw_parts(cells, ENTRIES))
    };
    let count = written.load(Relaxed);
    for number in count.saturating_sub(ENTRIES as u64)..count {
        if let Some([time, event, first, second]) = pillion_ring::read(written, cells, number) {
            println!("trace {number} {time} {event} {first:#x} {second:#x}");
        }
    }
}
