//! The vector registers of a thread, in the standard form of XSAVE (Intel SDM vol. 1, 13.4).
//!
//! XRSTOR faults on a header or an MXCSR that the processor does not accept. Linux states both, so
//! they are looked at first; if they are not valid, or if Linux may have changed them since, they
//! are brought into a valid form in a copy that Linux cannot write.

/// Components that primary mode carries: x87, SSE, AVX, AVX-512 (three) and PKRU.
pub const COMPONENTS: u64 = 0b10_1110_0111;

/// Offset of MXCSR.
const MXCSR: usize = 24;
/// Offset of the mask of MXCSR's valid bits; 0 stands for [`OLD_MASK`].
const MXCSR_MASK: usize = 28;
const OLD_MASK: u32 = 0xffbf;
/// Offset of the header: which components are not in their initial state.
const HEADER: usize = 512;
/// Bytes of the legacy area and the header.
pub const LEAST: usize = HEADER + 64;

/// Bits of MXCSR that the processor accepts, from an area that FXSAVE wrote.
#[must_use]
pub fn mxcsr_mask(area: &[u8; LEAST]) -> u32 {
    match u32_at(area, MXCSR_MASK) {
        0 => OLD_MASK,
        mask => mask,
    }
}

/// What XRSTOR may fault on.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// MXCSR.
    pub mxcsr: u32,
    /// The header.
    pub header: [u64; 8],
}

impl Stated {
    /// Where it is in an area: MXCSR and header.
    pub const OFFSETS: [usize; 2] = [MXCSR, HEADER];

    /// Whether XRSTOR accepts it, and it has no component outside of `components`.
    #[must_use]
    #[inline(always)]
    pub fn is_valid(&self, components: u64, mxcsr_mask: u32) -> bool {
        let [present, rest @ ..] = self.header;
        let wrong = rest.iter().fold(present & !components, |wrong, word| wrong | word);
        wrong | u64::from(self.mxcsr & !mxcsr_mask) == 0
    }
}

/// Makes legacy area and header such that XRSTOR accepts them, with no component outside of
/// `components`.
pub fn repair(area: &mut [u8; LEAST], components: u64, mxcsr_mask: u32) {
    let mxcsr = u32_at(area, MXCSR) & mxcsr_mask;
    area[MXCSR..MXCSR + 4].copy_from_slice(&mxcsr.to_le_bytes());
    let mut present = [0; 8];
    present.copy_from_slice(&area[HEADER..HEADER + 8]);
    let present = u64::from_le_bytes(present) & components;
    area[HEADER..HEADER + 8].copy_from_slice(&present.to_le_bytes());
    area[HEADER + 8..].fill(0);
}

fn u32_at(area: &[u8; LEAST], at: usize) -> u32 {
    u32::from_le_bytes([area[at], area[at + 1], area[at + 2], area[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_linux_states_becomes_valid() {
        let mut area = [0xff; LEAST];
        repair(&mut area, 0b111, 0xffff);
        assert_eq!(area[HEADER..HEADER + 8], 7_u64.to_le_bytes());
        assert!(area[HEADER + 8..].iter().all(|byte| *byte == 0), "no compact form, nothing reserved");
        assert_eq!(u32_at(&area, MXCSR), 0xffff);
        assert!(area[..MXCSR].iter().all(|byte| *byte == 0xff), "the registers stay");
        assert!(area[32..HEADER].iter().all(|byte| *byte == 0xff), "the registers stay");
    }

    #[test]
    fn a_valid_area_stays_as_it_is() {
        let mut area = [0; LEAST];
        area[MXCSR..MXCSR + 4].copy_from_slice(&0x1f80_u32.to_le_bytes());
        area[HEADER] = 3;
        area[100] = 9;
        let before = area;
        repair(&mut area, COMPONENTS, 0xffbf);
        assert_eq!(area, before);
    }

    fn stated(area: &[u8; LEAST]) -> Stated {
        let [mxcsr, header] = Stated::OFFSETS;
        let word = |i: usize| u64::from_le_bytes(area[header + 8 * i..][..8].try_into().unwrap());
        Stated { mxcsr: u32_at(area, mxcsr), header: core::array::from_fn(word) }
    }

    #[test]
    fn an_area_is_valid_if_nothing_is_to_be_repaired() {
        let mut valid = [0x55; LEAST];
        repair(&mut valid, 0b111, 0xffbf);
        assert!(stated(&valid).is_valid(0b111, 0xffbf));
        for byte in (MXCSR..MXCSR_MASK).chain(HEADER..LEAST) {
            for bit in 0..8 {
                let mut area = valid;
                area[byte] ^= 1 << bit;
                let mut repaired = area;
                repair(&mut repaired, 0b111, 0xffbf);
                assert_eq!(stated(&area).is_valid(0b111, 0xffbf), area == repaired, "byte {byte}, bit {bit}");
            }
        }
    }

    #[test]
    fn an_old_processor_states_no_mask() {
        let mut area = [0; LEAST];
        assert_eq!(mxcsr_mask(&area), 0xffbf);
        area[MXCSR_MASK..MXCSR_MASK + 4].copy_from_slice(&0x2_ffff_u32.to_le_bytes());
        assert_eq!(mxcsr_mask(&area), 0x2_ffff);
    }
}
