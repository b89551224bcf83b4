//! The end of the system.

use crate::{journal, task_log};
use pillion_abi::boot::{BootInfo, slot};
use pillion_runtime::{now, park, port_in, port_out, println, sleep};

/// Where a PM1 control register has its sleep type, and the bit that makes it go to sleep (ACPI
/// 6.4, table 4.13).
const TYPE: u32 = 10;
const TYPES: u32 = 7 << TYPE;
const ENABLE: u32 = 1 << 13;

/// Prints the last line and switches the machine off, as its tables say.
pub fn end(boot: &BootInfo, ok: bool) -> ! {
    let BootInfo { tsc_hz, power_off, .. } = *boot;
    journal::ending();
    let status = if ok { "ok" } else { "failed" };
    println!("{{\"pillion\":\"end\",\"t_ns\":{},\"status\":\"{status}\"}}", task_log::since_boot(tsc_hz));
    journal::finish();
    for (port, kind) in power_off.ports.into_iter().zip(power_off.types).filter(|(port, _)| *port != 0) {
        let before = port_in(slot::PORTS, port, 2).unwrap_or(0) & !TYPES;
        let _ = port_out(slot::PORTS, port, 2, before | u32::from(kind) << TYPE | ENABLE);
        // The machine may need a moment; so may one with two registers between them.
        let _ = sleep(now().saturating_add(tsc_hz / 2));
    }
    println!("[resmgr] this machine does not switch itself off; it may be switched off now");
    journal::finish();
    park()
}
