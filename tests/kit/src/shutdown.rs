//! The end of the run.

use pillion_abi::boot::slot;
use pillion_runtime::{now, park, port_out, println};

/// Writes that switch a machine off: port and value. The PM1a control registers of the emulated PCs
/// (sleep type 0, enable).
const WRITES: [(u16, u32); 2] = [(0x604, 0x2000), (0xb004, 0x2000)];

/// Prints the last line and switches the machine off.
pub fn end(tsc_hz: u64, ok: bool) -> ! {
    let ns = u128::from(now()) * 1_000_000_000 / u128::from(tsc_hz.max(1));
    let status = if ok { "ok" } else { "failed" };
    println!("{{\"pillion\":\"end\",\"t_ns\":{ns},\"status\":\"{status}\"}}");
    for (port, value) in WRITES {
        let _ = port_out(slot::PORTS, port, 2, value);
    }
    park()
}
