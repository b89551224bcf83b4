//! The guest's local APIC, less what the kernel does itself (Intel SDM vol. 3, chapter 11 "APIC";
//! AMD64 APM vol. 2, chapter 16).
//!
//! The kernel owns the priority logic: pending and in-service vectors, the EOI, and writes to the
//! deadline register while the timer has a vector. The monitor copies the state that both use into
//! [`Shared`], calls the model, and copies [`Shared::tpr`], [`Shared::timer_vector`] and
//! [`Shared::deadline`] back ([`Shared::of`], [`Shared::store`]).
//!
//! The model starts in x2APIC mode, enabled, as firmware leaves it on large machines: registers are
//! MSRs 0x800 to 0x8ff, and no instruction has to be decoded. A guest that disables the local APIC
//! and switches to xAPIC mode (11.12.5) finds the registers at 0xfee00000.
//!
//! The ID is the machine's ([`crate::acpi::Processor`]). What it sends others is a [`Message`];
//! [`crate::processors`] delivers it. For the timer's contract with the kernel see [`timer`].

mod message;
mod registers;
pub mod timer;

use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::vcpu::State;

use crate::GeneralProtection;
pub use crate::answer::Effect;
pub use message::{Address, Destination, Kind, Message};
use timer::Timer;

/// Address of the registers in xAPIC mode and after reset.
pub const BASE: u64 = 0xfee0_0000;
/// Bytes of the registers in memory.
pub const WINDOW: u64 = 0x1000;
/// MSR with the base address and the mode.
pub const MSR_BASE: u32 = 0x1b;
/// MSR of the deadline.
pub const MSR_DEADLINE: u32 = 0x6e0;
/// First MSR of the x2APIC registers.
pub const MSR_FIRST: u32 = 0x800;
/// Last MSR of the x2APIC registers.
pub const MSR_LAST: u32 = 0x8ff;

/// Whether a model-specific register belongs to the local APIC.
pub const fn has_msr(number: u32) -> bool {
    matches!(number, MSR_BASE | MSR_DEADLINE | MSR_FIRST..=MSR_LAST)
}

const BOOTSTRAP: u64 = 1 << 8;
const EXTENDED: u64 = 1 << 10;
const ENABLED: u64 = 1 << 11;

/// The state that the model and the kernel share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// Task priority.
    pub tpr: u8,
    /// In-service vectors.
    pub isr: [u64; 4],
    /// Pending vectors.
    pub irr: [u64; 4],
    /// Level-triggered vectors: [`crate::ioapic::IoApic::level_vectors`].
    pub tmr: [u64; 4],
    /// Vector of the timer, 0 while it is masked.
    pub timer_vector: u8,
    /// Deadline of the timer, 0 when it is not armed.
    pub deadline: u64,
    /// Command register.
    pub command: u64,
}

impl Shared {
    /// Copies from the state at an exit.
    pub fn of(state: &State, tmr: [u64; 4]) -> Shared {
        Shared {
            tpr: state.tpr.get() as u8,
            isr: state.isr.get(),
            irr: state.irr.get(),
            tmr,
            timer_vector: state.timer_vector.load(Relaxed) as u8,
            deadline: state.deadline.load(Relaxed),
            command: state.command.get(),
        }
    }

    /// Copies back what the model changed since `before`, and nothing else: the kernel may have
    /// delivered the timer's interrupt in the meantime, and a deadline written back unchanged would
    /// deliver it twice.
    pub fn store(&self, before: &Shared, state: &State) {
        if self.tpr != before.tpr {
            state.tpr.set(u64::from(self.tpr));
        }
        if self.timer_vector != before.timer_vector {
            state.timer_vector.store(u64::from(self.timer_vector), Relaxed);
        }
        if self.deadline != before.deadline {
            state.deadline.store(self.deadline, Relaxed);
        }
        if self.command != before.command {
            state.command.set(self.command);
        }
    }
}

/// The mode in [`MSR_BASE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApicMode {
    /// Off.
    Disabled,
    /// Registers in memory.
    Xapic,
    /// Registers in MSRs.
    X2apic,
}

/// The model.
#[derive(Clone, Debug)]
pub struct LocalApic {
    id: u32,
    /// [`BOOTSTRAP`] on the processor that boots.
    bootstrap: u64,
    mode: ApicMode,
    spurious: u32,
    /// Errors recorded, and those that the guest made readable by a write (11.5.3).
    errors: u32,
    errors_read: u32,
    /// Thermal, performance, LINT0, LINT1, error: 0x833 to 0x837.
    local: [u32; 5],
    logical: u32,
    format: u32,
    timer: Timer,
}

impl LocalApic {
    /// The state in which firmware hands over the processor that boots, with that ID: x2APIC mode,
    /// everything masked.
    pub const fn new(id: u32) -> Self {
        Self::in_mode(id, BOOTSTRAP, ApicMode::X2apic)
    }

    /// The same for another processor.
    pub const fn not_booting(id: u32) -> Self {
        Self::in_mode(id, 0, ApicMode::X2apic)
    }

    const fn in_mode(id: u32, bootstrap: u64, mode: ApicMode) -> Self {
        LocalApic {
            id,
            bootstrap,
            mode,
            spurious: 0xff,
            errors: 0,
            errors_read: 0,
            local: [registers::MASKED; 5],
            logical: 0,
            format: u32::MAX,
            timer: Timer::new(),
        }
    }

    /// Restores the state in which firmware hands over.
    pub fn reset(&mut self) {
        *self = Self::in_mode(self.id, self.bootstrap, ApicMode::X2apic);
    }

    /// What it compares messages' destinations with.
    pub const fn address(&self) -> Address {
        let Address { id, logical, .. } = Address::new(self.id);
        let logical = if matches!(self.mode, ApicMode::X2apic) { logical } else { self.logical };
        Address { id, mode: self.mode, logical, format: self.format }
    }

    /// The mode.
    pub const fn mode(&self) -> ApicMode {
        self.mode
    }

    /// When the monitor must call [`LocalApic::rearm`], in ticks; only in periodic mode.
    pub fn next_wake(&self) -> Option<u64> {
        self.timer.next_wake()
    }

    /// Rearms a periodic timer that has fired for its next period. Call it at each exit; it does
    /// nothing in other modes.
    pub fn rearm(&mut self, now: u64, shared: &mut Shared) {
        self.timer.rearm(now, shared);
    }

    /// Reads one of the MSRs [`MSR_BASE`], [`MSR_DEADLINE`] and [`MSR_FIRST`]`..=`[`MSR_LAST`].
    /// Fails if the register does not exist, or not in this mode.
    pub fn read_msr(&self, msr: u32, now: u64, shared: &Shared) -> Result<u64, GeneralProtection> {
        match msr {
            MSR_BASE => Ok(self.base()),
            MSR_DEADLINE => Ok(self.timer.deadline(shared)),
            MSR_FIRST..=MSR_LAST if self.mode == ApicMode::X2apic => {
                self.read_x2apic(msr - MSR_FIRST, now, shared).ok_or(GeneralProtection)
            }
            _ => Err(GeneralProtection),
        }
    }

    /// Writes one of the MSRs listed at [`LocalApic::read_msr`]. Fails if the register does not
    /// exist, or not in this mode, or is read-only, or if reserved bits are set.
    pub fn write_msr(
        &mut self,
        msr: u32,
        value: u64,
        now: u64,
        shared: &mut Shared,
    ) -> Result<Effect, GeneralProtection> {
        match msr {
            MSR_BASE => self.set_base(value, shared)?,
            MSR_DEADLINE => self.timer.set_deadline(value, shared),
            MSR_FIRST..=MSR_LAST if self.mode == ApicMode::X2apic => {
                return self.write_x2apic(msr - MSR_FIRST, value, now, shared).ok_or(GeneralProtection);
            }
            _ => return Err(GeneralProtection),
        }
        Ok(Effect::None)
    }

    /// Reads from the page at [`BASE`]. Outside xAPIC mode it reads all ones, as if the page had
    /// nothing behind it. Registers are doublewords at multiples of 16 (11.4.1); everything between
    /// them reads zero.
    pub fn read_memory(&self, offset: u64, width: u8, now: u64, shared: &Shared) -> u64 {
        if self.mode != ApicMode::Xapic {
            return crate::ones(width);
        }
        match register_at(offset, width) {
            Some(register) => self.read_xapic(register, now, shared).map_or(0, u64::from),
            None => 0,
        }
    }

    /// Writes to the page at [`BASE`].
    pub fn write_memory(&mut self, offset: u64, width: u8, value: u64, now: u64, shared: &mut Shared) -> Effect {
        match register_at(offset, width) {
            Some(register) if self.mode == ApicMode::Xapic => self.write_xapic(register, value as u32, now, shared),
            _ => Effect::None,
        }
    }

    fn base(&self) -> u64 {
        BASE | self.bootstrap
            | match self.mode {
                ApicMode::Disabled => 0,
                ApicMode::Xapic => ENABLED,
                ApicMode::X2apic => ENABLED | EXTENDED,
            }
    }

    /// Changes the mode as 11.12.5 allows: from xAPIC to x2APIC directly, back only through
    /// disabled. The address is fixed.
    fn set_base(&mut self, value: u64, shared: &mut Shared) -> Result<(), GeneralProtection> {
        if value & !(BOOTSTRAP | ENABLED | EXTENDED) != BASE {
            return Err(GeneralProtection);
        }
        let wanted = match (value & ENABLED != 0, value & EXTENDED != 0) {
            (false, false) => ApicMode::Disabled,
            (true, false) => ApicMode::Xapic,
            (true, true) => ApicMode::X2apic,
            (false, true) => return Err(GeneralProtection),
        };
        match (self.mode, wanted) {
            (before, after) if before == after => return Ok(()),
            (ApicMode::Disabled, ApicMode::X2apic) | (ApicMode::X2apic, ApicMode::Xapic) => {
                return Err(GeneralProtection);
            }
            (ApicMode::Xapic, ApicMode::X2apic) => self.mode = wanted,
            _ => {
                *self = Self::in_mode(self.id, self.bootstrap, wanted);
                shared.tpr = 0;
                shared.timer_vector = 0;
                shared.deadline = 0;
                shared.command = 0;
            }
        }
        Ok(())
    }
}

/// The number of the register at an offset.
fn register_at(offset: u64, width: u8) -> Option<u32> {
    (width == 4 && offset < WINDOW && offset & 0xf == 0).then_some((offset >> 4) as u32)
}
