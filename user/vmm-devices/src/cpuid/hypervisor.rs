//! The leaves in which a hypervisor identifies itself.
//!
//! The signature at 0x4000_0000 is KVM's, and the feature word that follows has steal time
//! ([`crate::steal_time`]) and nothing else. Linux uses x2APIC mode without interrupt remapping
//! only under a hypervisor that it knows (`x86_init.hyper.x2apic_available`), and KVM's interface
//! is the smallest of those: Linux uses nothing that is not in the feature word (no clock, no
//! asynchronous page faults, no EOI shortcut). The signature still has two effects, both welcome:
//! Linux does not insist on a tick of the PIT through the I/O APIC at boot, and older versions
//! clear the clock's MSR when they go down ([`crate::msr`] lets them).
//!
//! Linux reads the frequency of the TSC and of the APIC from leaf 0x4000_0010 only under VMware's
//! and ACRN's signatures. Under KVM's it calibrates the TSC with the real PIT and PM timer, and
//! leaves the APIC's timer alone because it has deadline mode. The leaf is there for others that
//! read it.
//!
//! 0x4000_0100 holds this system's own signature, and 0x4000_0101 the location of the channels to
//! real-time tasks, if there are any ([`pillion_abi::channel::cpuid`]).

use super::{Context, Registers};
use pillion_abi::{
    PAGE,
    channel::{self, cpuid::LEAF},
};

/// First of this system's own leaves.
pub const OWN: u32 = 0x4000_0100;

/// The channels to real-time tasks.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Global number of the doorbell's interrupt.
    pub gsi: u32,
    /// Physical address of the window.
    pub base: u64,
    /// Bytes of the window.
    pub size: u64,
}

impl Channels {
    fn leaf(&self) -> Registers {
        let pages = |bytes: u64| u32::try_from(bytes / PAGE).unwrap_or(0);
        [channel::VERSION, self.gsi, pages(self.base), pages(self.size)]
    }
}

/// In the feature word: steal time.
const STEAL_TIME: u32 = 1 << 5;

const LAST: u32 = 0x4000_0010;

const fn signature(max: u32, name: &[u8; 12]) -> Registers {
    [
        max,
        u32::from_le_bytes([name[0], name[1], name[2], name[3]]),
        u32::from_le_bytes([name[4], name[5], name[6], name[7]]),
        u32::from_le_bytes([name[8], name[9], name[10], name[11]]),
    ]
}

pub(super) fn leaf(leaf: u32, context: &Context) -> Registers {
    let khz = u32::try_from(context.tsc_hz / 1000).unwrap_or(0);
    match leaf {
        0x4000_0000 => signature(LAST, b"KVMKVMKVM\0\0\0"),
        0x4000_0001 => [STEAL_TIME, 0, 0, 0],
        LAST => [khz, khz, 0, 0],
        OWN => signature(LEAF, b"PillionHV\0\0\0"),
        LEAF => context.channels.map_or([0; 4], |channels| channels.leaf()),
        _ => [0; 4],
    }
}
