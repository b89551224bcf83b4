//! The kernel's trace: the option `trace=1` of its command line switches it on for the whole run, and the end of the run says the
//! longest stretch with interrupts off.

use crate::machine::Machine;
use pillion_abi::{boot::slot, trace::Header};
use pillion_runtime::{memory_map, println, trace_control};

const ADDRESS: u64 = 0xa0_0000_0000;

/// Switches the trace on if the command line asks for it. Returns where its header is seen.
pub fn start(machine: &Machine) -> Option<&'static Header> {
    machine.option("trace").filter(|on| *on != 0)?;
    let mapped = memory_map(slot::TRACE_BUFFER, slot::ADDRESS_SPACE, ADDRESS, 0);
    if let Err(error) = mapped.and_then(|_| trace_control(slot::TRACE, true)) {
        println!("[resmgr] no trace: {error:?}");
        return None;
    }
    // SAFETY: the buffer was just mapped, for good; it begins with its header, and all values are valid.
    Some(unsafe { &*(ADDRESS as *const Header) })
}

/// Says the longest stretch with interrupts off, the tracing included, and what it began with.
pub fn report(header: &'static Header) {
    let _ = trace_control(slot::TRACE, false);
    // SAFETY: a valid reference; the kernel wrote through another mapping until the call above.
    let Header { longest, longest_cause: cause, tsc_hz, .. } = unsafe { core::ptr::read_volatile(header) };
    let ns = u128::from(longest) * 1_000_000_000 / u128::from(tsc_hz.max(1));
    let (event, first, second) = (cause.event, cause.first, cause.second);
    println!("{{\"pillion\":\"stretch\",\"longest_ns\":{ns},\"event\":{event},\"first\":{first},\"second\":{second}}}");
}
