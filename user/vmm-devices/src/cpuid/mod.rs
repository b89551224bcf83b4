//! CPUID as the guest sees it (AMD64 APM vol. 3, appendix E; Intel SDM vol. 2, CPUID).
//!
//! The answers are those of the machine, less what is withheld, for the processors that Linux has:
//!
//! - *withheld* are the bits of [`crate::withheld::LEAVES`], leaves that are not named here, and
//!   supervisor state of XSAVES, because the monitor or the real-time side needs them, or because
//!   their MSRs are not the guest's;
//! - *added*, whether the machine has it or not, is what the virtual local APIC has: x2APIC, TSC
//!   deadline, and ARAT (the timer never stops); and with several processors, that the time-stamp
//!   counter counts at one rate, without which Linux takes their counters for unsynchronised: one
//!   whose counter differs from the first one's does not run;
//! - *hypervisor*: the bit is set and the leaves are those of [`hypervisor`].
//!
mod features;
pub mod hypervisor;
mod topology;
mod xsave;

pub use topology::Topology;
pub use xsave::XsaveLayout;

use crate::withheld::bits;
use features::less;

/// The four registers, `eax, ebx, ecx, edx`.
pub type Registers = [u32; 4];

/// What the answers depend on beside the machine.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The guest's CR4.
    pub cr4: u64,
    /// The guest's XCR0.
    pub xcr0: u64,
    /// Ticks of the time-stamp counter, and of the local APIC's timer, in a second.
    pub tsc_hz: u64,
    /// Whether the processor is a `GenuineIntel`: only then leaf 0x15 has the frequencies.
    pub intel: bool,
    /// Highest basic leaf of the machine.
    pub max_basic: u32,
    /// Highest extended leaf of the machine.
    pub max_extended: u32,
    /// Which processor it is.
    pub topology: Topology,
    /// State components and their offsets.
    pub xsave: XsaveLayout,
    /// The channels to real-time tasks, if there are any.
    pub channels: Option<hypervisor::Channels>,
}

impl Context {
    /// Reads the constant parts from the machine; `host` is the CPUID instruction.
    pub fn from_host(tsc_hz: u64, topology: Topology, mut host: impl FnMut(u32, u32) -> Registers) -> Context {
        let [max_basic, vendor, ..] = host(0, 0);
        let [max_extended, ..] = host(0x8000_0000, 0);
        let xsave = XsaveLayout::from_host(max_basic, &mut host);
        let intel = vendor == u32::from_le_bytes(*b"Genu");
        Context { cr4: 0, xcr0: 1, tsc_hz, intel, max_basic, max_extended, topology, xsave, channels: None }
    }
}

/// Highest basic leaf that is passed on; the content of later ones is all withheld.
pub const BASIC_LAST: u32 = 0x16;
/// Highest extended leaf that is passed on.
pub const EXTENDED_LAST: u32 = 0x8000_0021;

/// The guest's answer, from the machine's answer for the same leaf and subleaf.
pub fn cpuid(host: Registers, leaf: u32, subleaf: u32, context: &Context) -> Registers {
    match leaf {
        0x4000_0000..=0x4fff_ffff => hypervisor::leaf(leaf, context),
        0..=0x3fff_ffff if leaf > context.max_basic.min(BASIC_LAST) => [0; 4],
        0x8000_0000.. if leaf > context.max_extended.min(EXTENDED_LAST) => [0; 4],
        0..=0x3fff_ffff => basic(host, leaf, subleaf, context),
        0x8000_0000..=EXTENDED_LAST => extended(host, leaf, context),
        _ => [0; 4],
    }
}

fn basic(host: Registers, leaf: u32, subleaf: u32, context: &Context) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    match leaf {
        0 => [eax.min(BASIC_LAST), ebx, ecx, edx],
        1 => features::leaf_1(host, context.cr4, context.topology.apic_id),
        4 => topology::cache(host),
        // ARAT: the timer of the virtual local APIC runs in every state.
        6 => [features::ARAT, 0, 0, 0],
        7 => features::leaf_7(host, subleaf),
        0xb => context.topology.extended(subleaf),
        0xd => context.xsave.leaf(host, subleaf, context.xcr0),
        0x15 => frequency(host, context),
        2 | 3 | 0x16 => host,
        _ => [0; 4],
    }
}

fn extended(host: Registers, leaf: u32, context: &Context) -> Registers {
    let [eax, ebx, ecx, edx] = host;
    match leaf {
        0x8000_0000 => [eax.min(EXTENDED_LAST), ebx, ecx, edx],
        0x8000_0001 => less(host, const { bits(0x8000_0001) }),
        0x8000_0007 => {
            let [eax, ebx, ecx, edx] = less(host, const { bits(0x8000_0007) });
            [eax, ebx, ecx, if context.topology.has_others() { edx | features::INVARIANT_TSC } else { edx }]
        }
        0x8000_0008 => {
            let [eax, ebx, _, edx] = less(host, const { bits(0x8000_0008) });
            [eax, ebx, context.topology.cores(), edx]
        }
        0x8000_001d => topology::cache(host),
        0x8000_0021 => less(host, const { bits(0x8000_0021) }),
        0x8000_0002..=0x8000_0006 | 0x8000_0019 | 0x8000_001a => host,
        _ => [0; 4],
    }
}

/// Leaf 0x15 on Intel: the TSC as a multiple of the crystal that also drives the APIC timer. Here
/// both have the TSC's frequency, so the ratio is 1. Linux takes both from the leaf and calibrates
/// nothing. It reads the leaf on Intel only.
fn frequency(host: Registers, context: &Context) -> Registers {
    match u32::try_from(context.tsc_hz) {
        Ok(hz) if context.intel && hz != 0 => [1, 1, hz, 0],
        Err(_) if context.intel => [1, 2, (context.tsc_hz / 2).min(u64::from(u32::MAX)) as u32, 0],
        _ => host,
    }
}
