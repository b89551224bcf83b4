//! The MSRs that exit and that no other model handles.
//!
//! A register is answered if Linux accesses it without fault handling on some processor (`rdmsrl`,
//! not `rdmsrl_safe`), and refused with a general-protection fault if it belongs to a feature that
//! CPUID withholds: Linux probes those and takes the fault for "not there". What a guest may set
//! without harm is stored and read back; nothing set here reaches the processor.
//!
//! [`crate::withheld::REGISTERS`] is the list. The kernel passes some reads through (memory types,
//! SYSCFG, ends of memory), and then they do not come here.

use crate::{GeneralProtection, withheld};

const VARIABLE_MTRRS: usize = 16;
const FIXED_MTRRS: usize = 11;

/// The registers that store what the guest writes.
#[derive(Clone, Debug)]
pub struct Msrs {
    variable: [u64; VARIABLE_MTRRS],
    fixed: [u64; FIXED_MTRRS],
    mtrr_default: u64,
    misc_enable: u64,
    hwcr: u64,
    nb_cfg: u64,
    de_cfg: u64,
}

const TSC: u32 = 0x10;
const MACHINE_CHECK_CAPABILITY: u32 = 0x179;
/// One bank.
const MACHINE_CHECK_CAPABILITY_VALUE: u64 = 1;
const MISC_ENABLE: u32 = 0x1a0;
const MTRR_CAPABILITY: u32 = 0xfe;
const MTRR_DEFAULT: u32 = 0x2ff;
const HWCR: u32 = 0xc001_0015;
const NB_CFG: u32 = 0xc001_001f;
const DE_CFG: u32 = 0xc001_1029;
const HWCR_TSC_AT_P0: u64 = 1 << 24;
const DE_CFG_LFENCE_SERIALISES: u64 = 1 << 1;
/// Eight variable ranges, fixed ranges, write-combining.
const MTRR_CAPABILITY_VALUE: u64 = 0x508;
/// Enabled, write-back by default.
const MTRR_DEFAULT_RESET: u64 = 0xc06;
const ALL_WRITE_BACK: u64 = 0x0606_0606_0606_0606;

impl Default for Msrs {
    /// After reset.
    fn default() -> Self {
        Msrs {
            variable: [0; VARIABLE_MTRRS],
            fixed: [ALL_WRITE_BACK; FIXED_MTRRS],
            mtrr_default: MTRR_DEFAULT_RESET,
            misc_enable: 1,
            hwcr: HWCR_TSC_AT_P0,
            nb_cfg: 0,
            de_cfg: DE_CFG_LFENCE_SERIALISES,
        }
    }
}

impl Msrs {
    /// Reads a register; `now` is the time-stamp counter.
    ///
    /// # Errors
    /// If the guest is not offered the register.
    pub fn read(&self, msr: u32, now: u64) -> Result<u64, GeneralProtection> {
        Ok(match msr {
            TSC => now,
            MACHINE_CHECK_CAPABILITY => MACHINE_CHECK_CAPABILITY_VALUE,
            0x17 => 0,
            0x3a => 1,
            MISC_ENABLE => self.misc_enable,
            0xda0 => 0,
            MTRR_CAPABILITY => MTRR_CAPABILITY_VALUE,
            MTRR_DEFAULT => self.mtrr_default,
            0x200..=0x20f => self.variable[(msr - 0x200) as usize],
            HWCR => self.hwcr,
            NB_CFG => self.nb_cfg,
            DE_CFG => self.de_cfg,
            // SYSCFG, TOP_MEM, TOM2: zero where the kernel does not pass the read through.
            0xc001_0010 | 0xc001_001a | 0xc001_001d => 0,
            0xc001_0114 => 0x18,
            _ if withheld::is_zero(msr) => 0,
            _ => *fixed_mtrr(msr).and_then(|index| self.fixed.get(index)).ok_or(GeneralProtection)?,
        })
    }

    /// Writes a register.
    ///
    /// # Errors
    /// If the guest is not offered the register, or the value is invalid.
    pub fn write(&mut self, msr: u32, value: u64) -> Result<(), GeneralProtection> {
        match msr {
            MISC_ENABLE => self.misc_enable = value,
            MTRR_DEFAULT => self.mtrr_default = value & 0xcff,
            0x200..=0x20f => self.variable[(msr - 0x200) as usize] = value,
            HWCR => self.hwcr = value | HWCR_TSC_AT_P0,
            NB_CFG => self.nb_cfg = value,
            DE_CFG => self.de_cfg = value | DE_CFG_LFENCE_SERIALISES,
            0xda0 if value == 0 => {}
            // Bit 0 would switch on the clock, which is not offered.
            0x12 | 0x4b56_4d01 if value & 1 == 0 => {}
            TSC | 0x79 => {}
            0xc001_0010 | 0xc001_001a | 0xc001_001d | 0xc001_0020 | 0xc001_0114 => {}
            _ if withheld::is_zero(msr) => {}
            _ => *fixed_mtrr(msr).and_then(|index| self.fixed.get_mut(index)).ok_or(GeneralProtection)? = value,
        }
        Ok(())
    }
}

/// Index among the fixed-range MTRRs (APM vol. 2, 7.7.2).
const fn fixed_mtrr(msr: u32) -> Option<usize> {
    match msr {
        0x250 => Some(0),
        0x258 | 0x259 => Some(msr as usize - 0x257),
        0x268..=0x26f => Some(msr as usize - 0x265),
        _ => None,
    }
}
