//! The MSRs that exit and that no other model handles.
//!
//! A register is answered if Linux accesses it without fault handling on some processor (`rdmsrl`,
//! not `rdmsrl_safe`), and refused with a general-protection fault if it belongs to a feature that
//! CPUID withholds: Linux probes those and takes the fault for "not there". What a guest may set
//! without harm is stored and read back; nothing set here reaches the processor.
//!
//! [`crate::withheld::REGISTERS`] is the list. Reads of the time-stamp counter, the memory types,
//! SYSCFG and the ends of memory do not exit: they are the processor's.

use crate::{GeneralProtection, withheld};

/// The registers that store what the guest writes.
#[derive(Clone, Debug)]
pub struct Msrs {
    misc_enable: u64,
    hwcr: u64,
    nb_cfg: u64,
    de_cfg: u64,
}

const MACHINE_CHECK_CAPABILITY: u32 = 0x179;
/// One bank.
const MACHINE_CHECK_CAPABILITY_VALUE: u64 = 1;
const MISC_ENABLE: u32 = 0x1a0;
const HWCR: u32 = 0xc001_0015;
const NB_CFG: u32 = 0xc001_001f;
const DE_CFG: u32 = 0xc001_1029;
const HWCR_TSC_AT_P0: u64 = 1 << 24;
const DE_CFG_LFENCE_SERIALISES: u64 = 1 << 1;

impl Default for Msrs {
    /// After reset.
    fn default() -> Self {
        Msrs { misc_enable: 1, hwcr: HWCR_TSC_AT_P0, nb_cfg: 0, de_cfg: DE_CFG_LFENCE_SERIALISES }
    }
}

impl Msrs {
    /// Reads a register.
    ///
    /// # Errors
    /// If the guest is not offered the register.
    pub fn read(&self, msr: u32) -> Result<u64, GeneralProtection> {
        Ok(match msr {
            MACHINE_CHECK_CAPABILITY => MACHINE_CHECK_CAPABILITY_VALUE,
            0x17 => 0,
            0x3a => 1,
            MISC_ENABLE => self.misc_enable,
            0xda0 => 0,
            HWCR => self.hwcr,
            NB_CFG => self.nb_cfg,
            DE_CFG => self.de_cfg,
            0xc001_0114 => 0x18,
            _ if withheld::is_zero(msr) => 0,
            _ => return Err(GeneralProtection),
        })
    }

    /// Writes a register. Fails if the guest is not offered it, or the value is invalid.
    pub fn write(&mut self, msr: u32, value: u64) -> Result<(), GeneralProtection> {
        match msr {
            MISC_ENABLE => self.misc_enable = value,
            HWCR => self.hwcr = value | HWCR_TSC_AT_P0,
            NB_CFG => self.nb_cfg = value,
            DE_CFG => self.de_cfg = value | DE_CFG_LFENCE_SERIALISES,
            0xda0 if value == 0 => {}
            // Bit 0 would switch on the clock, which is not offered.
            0x12 | 0x4b56_4d01 if value & 1 == 0 => {}
            0x79 | 0xc001_0020 => {}
            _ if withheld::ignores_writes(msr) => {}
            _ => return Err(GeneralProtection),
        }
        Ok(())
    }
}
