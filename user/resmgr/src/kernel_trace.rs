//! The kernel's trace. The option `trace=1` of the kernel's command line switches it on for the
//! whole run, and the end of the run reports the longest stretch with interrupts off; `trace=2`
//! also prints the last entries.

use crate::failure::{Result, While};
use crate::objects::Slots;
use crate::platform::Platform;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::boot::slot;
use pillion_abi::object::right;
use pillion_abi::trace::{ENTRIES, FIRST_ENTRY, Header};
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

/// Switches the trace on if the command line asks for it.
pub fn start(machine: &Platform) -> Option<Trace> {
    let wanted = machine.option("trace").filter(|on| *on != 0)?;
    let mapped = memory_map(slot::TRACE_BUFFER, slot::ADDRESS_SPACE, ADDRESS, 0);
    if let Err(error) = mapped.and_then(|_| trace_control(slot::TRACE, true)) {
        println!("[resmgr] no trace: {error:?}");
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
        // SAFETY: `start` mapped the buffer for good; it begins with its header, in which every
        // value is valid. The kernel writes it through another mapping.
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
