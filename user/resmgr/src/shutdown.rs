//! The end of the system.

use core::arch::x86_64::__cpuid;

use crate::{journal, task_log};
use pillion_abi::boot::slot;
use pillion_runtime::{now, park, port_out, println, sleep};

/// Writes that switch an emulated machine off, port and value: the PM1a control registers of QEMU's
/// PCs (sleep type 0, enable), and its debug exit.
const WRITES: [(u16, u32); 3] = [(0x604, 0x2000), (0xb004, 0x2000), (0x501, 0)];

/// Prints the last line and switches the machine off.
pub fn end(tsc_hz: u64, ok: bool) -> ! {
    journal::ending();
    let status = if ok { "ok" } else { "failed" };
    println!("{{\"pillion\":\"end\",\"t_ns\":{},\"status\":\"{status}\"}}", task_log::since_boot(tsc_hz));
    journal::finish();
    if is_emulated() {
        for (port, value) in WRITES {
            let _ = port_out(slot::PORTS, port, 2, value);
        }
        // The machine may need a moment.
        let _ = sleep(now().saturating_add(tsc_hz));
    }
    println!("[resmgr] this machine does not switch itself off; it may be switched off now");
    journal::finish();
    park()
}

/// Whether CPUID says that a hypervisor or an emulator is below: elsewhere nobody knows what is at
/// those ports.
fn is_emulated() -> bool {
    __cpuid(1).ecx >> 31 != 0
}
