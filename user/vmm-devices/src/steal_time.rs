//! The time that a processor of the guest's loses to more urgent threads, as KVM tells it
//! (`KVM_FEATURE_STEAL_TIME`): Linux shows it as `st` in `top`, as `steal` in `/proc/stat`, and
//! does not take it for its processes' time.
//!
//! The guest names 64 bytes of its memory for each processor. Of these, two fields are written:
//! nanoseconds since it did so, added to what it left there, and a version, which is odd meanwhile.
//! The kernel says how much was lost, in ticks of the clock, when the guest sets its timer
//! ([`pillion_abi::vcpu::State::stolen`]).

use crate::{
    GeneralProtection,
    guest_memory::{GuestMemory, read_u32, read_u64},
};

/// The register that the guest names the memory in (`MSR_KVM_STEAL_TIME`): the physical address,
/// and bit 0 switches it on.
pub const MSR: u32 = 0x4b56_4d03;

const ON: u64 = 1;

/// Bits that are not zero in no address.
const RESERVED: u64 = 0x3e;

/// Offsets in the memory.
const NANOSECONDS: u64 = 0;
const VERSION: u64 = 8;

/// How much is lost before the guest is told.
const NANOSECONDS_AT_ONCE: u64 = 1_000_000;

const SECOND: u64 = 1_000_000_000;

/// That of one processor.
#[derive(Clone, Debug, Default)]
pub struct StealTime {
    /// What the guest wrote to [`MSR`].
    register: u64,
    /// What the kernel said when the guest was last told; 0 if it has said nothing since the guest
    /// switched it on, or since the processor waited to be started.
    told: u64,
}

impl StealTime {
    /// What the guest reads from [`MSR`].
    #[must_use]
    pub fn read(&self) -> u64 {
        self.register
    }

    /// The guest writes [`MSR`].
    ///
    /// # Errors
    /// If a reserved bit is set, or if what it names is not memory that it has.
    pub fn write(&mut self, value: u64, memory: &mut impl GuestMemory) -> Result<(), GeneralProtection> {
        // Last, as it writes there.
        if value & RESERVED != 0 || value & ON != 0 && !show(memory, value & !ON, 0) {
            return Err(GeneralProtection);
        }
        (self.register, self.told) = (value, 0);
        Ok(())
    }

    /// The processor did not run for some time because it was off: that is not lost.
    pub fn start(&mut self) {
        self.told = 0;
    }

    /// Tells the guest what the kernel said last: by `stolen` ticks of a clock of that frequency
    /// has the count grown since then. 0 if the kernel said nothing.
    pub fn tell(&mut self, stolen: u64, hz: u64, memory: &mut impl GuestMemory) {
        if stolen == 0 || self.register & ON == 0 {
            return;
        }
        let ticks = if self.told == 0 { 0 } else { stolen.saturating_sub(self.told) };
        self.told = stolen.max(self.told);
        show(memory, self.register & !ON, nanoseconds(ticks, hz));
    }

    /// The count from which on the kernel is to say it, for a clock of that frequency; 0 if it need
    /// not.
    #[must_use]
    pub fn next(&self, hz: u64) -> u64 {
        match (self.register & ON, self.told) {
            (0, _) => 0,
            (_, 0) => 1,
            (_, told) => told.saturating_add(hz / (SECOND / NANOSECONDS_AT_ONCE)),
        }
    }
}

fn nanoseconds(ticks: u64, hz: u64) -> u64 {
    let all = u128::from(ticks) * u128::from(SECOND) / u128::from(hz.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Adds to what the guest sees. The version is odd while the rest changes, for its other processors
/// read it at any time. Returns whether the guest has memory there.
fn show(memory: &mut impl GuestMemory, address: u64, more: u64) -> bool {
    let (Some(shown), Some(version)) = (read_u64(memory, address + NANOSECONDS), read_u32(memory, address + VERSION))
    else {
        return false;
    };
    let version = version & !1;
    memory.write(address + VERSION, &version.wrapping_add(1).to_le_bytes())
        && memory.write(address + NANOSECONDS, &shown.wrapping_add(more).to_le_bytes())
        && memory.write(address + VERSION, &version.wrapping_add(2).to_le_bytes())
}
