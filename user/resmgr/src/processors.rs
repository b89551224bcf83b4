//! The machine's processors: which run, and why the others do not.

use core::fmt::Write as _;
use pillion_abi::boot::{BootInfo, Processor, processor_state as state};
use pillion_runtime::log::Log;

/// Reports the processors. A machine with one has nothing to report.
pub fn report(boot: &BootInfo) {
    let is_there = |processor: &&Processor| processor.state != state::NONE;
    if boot.processors.iter().filter(is_there).count() < 2 {
        return;
    }
    let mut log = Log::new();
    let _ = write!(log, "{{\"pillion\":\"processors\",\"run\":{},\"all\":[", boot.cpus);
    for (i, processor) in boot.processors.iter().filter(is_there).enumerate() {
        let Processor { apic_id, state, number } = *processor;
        let _ = write!(log, "{}{{\"apic\":{apic_id},", if i == 0 { "" } else { "," });
        let _ = match state {
            state::RUNS => write!(log, "\"cpu\":{number}}}"),
            _ => write!(log, "\"why\":\"{}\"}}", state::reason(state)),
        };
    }
    let _ = writeln!(log, "]}}");
}
