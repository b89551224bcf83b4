//! What the guest must never see.

use pillion_campaign::{HIDDEN_DEVICE, SECRET};

use crate::{
    facts::{self, BUSES, Facts},
    port::note,
};

/// Checks a value read from configuration space.
pub fn configuration(value: u32, address: u64) {
    if value == HIDDEN_DEVICE {
        note("SEES the hidden function at", address);
    }
}

/// Checks a value read from memory.
pub fn memory(value: u64, address: u64) {
    if value == SECRET {
        note("SEES the watched task's memory at", address);
    }
}

/// Looks for the hidden function on all buses, in both ways.
pub fn look_around() {
    for bus in 0..BUSES {
        for device in 0..32 {
            let address = facts::config_address(bus, device, 0, 0);
            configuration(facts::config_read(bus, device, 0, 0, 4), address);
            if Facts::get().config != 0 {
                // SAFETY: the whole window is mapped; any value is acceptable.
                configuration(unsafe { (address as *const u32).read_volatile() }, address);
            }
        }
    }
}
