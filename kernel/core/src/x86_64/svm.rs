//! The part of AMD's virtualisation that touches no hardware: bitmaps, events, checks of guest
//! values (AMD APM vol. 2, chapter 15).

use super::processor::Leaf;
use pillion_abi::vcpu::{EVENT_HAS_CODE, Io};

/// Register that switches parts of virtualisation off (15.30.1).
pub const VM_CR: u32 = 0xc001_0114;
/// Its bit: EFER.SVME cannot be set.
const SVM_DISABLED: u64 = 1 << 4;

/// Leaf of the SVM features and its bits (APM vol. 3, E.4.9).
const LEAF_SVM: u32 = 0x8000_000a;
const NESTED_PAGING: u32 = 1;
const NEXT_RIP: u32 = 1 << 3;
const FLUSH_BY_ASID: u32 = 1 << 6;

/// What a processor offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Address-space numbers; 0 is the host's.
    pub asids: u32,
    /// An exit reports where the next instruction is.
    pub next_rip: bool,
    /// The translations of one guest can be dropped alone.
    pub flush_by_asid: bool,
}

/// What a processor offers, from CPUID (as [`leaf`](super::processor::leaf)) and [`VM_CR`], which
/// is there if the processor has SVM (15.4). The error says what is missing and what to do about
/// it.
pub fn offer(cpuid: impl Fn(u32, u32) -> Leaf, vm_cr: impl FnOnce() -> u64) -> Result<Offer, &'static str> {
    const HAS_SVM: u32 = 1 << 2;
    let [_, _, extended, _] = cpuid(0x8000_0001, 0);
    if extended & HAS_SVM == 0 {
        return Err("the processor has no SVM: use one from AMD, or in QEMU -cpu EPYC,+svm,+npt");
    }
    if vm_cr() & SVM_DISABLED != 0 {
        return Err("SVM is switched off: enable it in the firmware's set-up (SVM mode, virtualisation)");
    }
    let [_, asids, _, features] = cpuid(LEAF_SVM, 0);
    if features & NESTED_PAGING == 0 {
        return Err("the processor has no nested paging: use a newer one, or in QEMU -cpu EPYC,+svm,+npt");
    }
    if asids < 2 {
        return Err("the processor has no address-space number for a guest: use another one");
    }
    let has = |bit: u32| features & bit != 0;
    Ok(Offer { asids, next_rip: has(NEXT_RIP), flush_by_asid: has(FLUSH_BY_ASID) })
}

/// Words of the I/O permission map: three pages (15.10.1).
pub const IO_MAP_WORDS: usize = 3 * 512;
/// Words of the MSR permission map: two pages (15.11).
pub const MSR_MAP_WORDS: usize = 2 * 512;

/// Clears bits `first..first + count` of a map; bits outside of it are left out. Touches each word
/// once.
pub fn clear_bits(map: &mut [u64], first: usize, count: usize) {
    let end = first.saturating_add(count).min(map.len() * 64);
    let mut bit = first;
    while bit < end {
        let low = bit % 64;
        let taken = (64 - low).min(end - bit);
        map[bit / 64] &= !((u64::MAX >> (64 - taken)) << low);
        bit += taken;
    }
}

/// Position of the read bit of an MSR in the permission map; the write bit follows it. `None`:
/// always intercepted.
#[must_use]
const fn msr_bit(number: u32) -> Option<usize> {
    let (start, page) = match number {
        0..=0x1fff => (0, 0),
        0xc000_0000..=0xc000_1fff => (0xc000_0000, 0x800),
        0xc001_0000..=0xc001_1fff => (0xc001_0000, 0x1000),
        _ => return None,
    };
    Some(page as usize * 8 + (number - start) as usize * 2)
}

/// Registers that the guest may read and write: the VMCB saves them, or the host does not use them.
/// `TSC_AUX` and the SYSENTER and SYSCALL registers are among them, EFER is not.
pub const GUEST_MSRS: [u32; 12] = [
    0x174,       // SYSENTER_CS
    0x175,       // SYSENTER_ESP
    0x176,       // SYSENTER_EIP
    0x277,       // PAT
    0xc000_0081, // STAR
    0xc000_0082, // LSTAR
    0xc000_0083, // CSTAR
    0xc000_0084, // SFMASK
    0xc000_0100, // FS base
    0xc000_0101, // GS base
    0xc000_0102, // kernel GS base
    0xc000_0103, // TSC_AUX
];

/// Registers that the guest may read, first and last: the time-stamp counter and the memory types,
/// with SYSCFG, TOP_MEM and TOM2, which say what memory above 4 GiB is (AMD APM vol. 2, 7.9.4). A
/// guest that could read only one of the two would take that memory for uncached and not use it.
pub const READABLE_MSRS: [(u32, u32); 10] = [
    (0x10, 0x10),
    (0xfe, 0xfe),
    (0x200, 0x20f),
    (0x250, 0x250),
    (0x258, 0x259),
    (0x268, 0x26f),
    (0x2ff, 0x2ff),
    (0xc001_0010, 0xc001_0010),
    (0xc001_001a, 0xc001_001a),
    (0xc001_001d, 0xc001_001d),
];

/// Clears the bits of the accesses to registers that never need an exit.
pub fn open_msrs(map: &mut [u64]) {
    for number in GUEST_MSRS {
        allow_msr(map, number, true, true);
    }
    for (first, last) in READABLE_MSRS {
        (first..=last).for_each(|number| allow_msr(map, number, true, false));
    }
}

/// Lets the guest read or write a register without an exit.
fn allow_msr(map: &mut [u64], number: u32, read: bool, write: bool) {
    // The bit for writing follows the bit for reading, which has an even number: both lie in one
    // word.
    if let Some(bit) = msr_bit(number)
        && let Some(word) = map.get_mut(bit / 64)
    {
        *word &= !((u64::from(read) | u64::from(write) << 1) << (bit % 64));
    }
}

/// Details of an exit for a port from the two words of the VMCB (15.10.2).
#[inline]
#[must_use]
pub const fn io(info: u64, next_rip: u64) -> Io {
    Io {
        port: (info >> 16) as u16,
        width: (info >> 4) as u8 & 7,
        is_in: info as u8 & 1,
        is_string: (info >> 2) as u8 & 1,
        is_repeated: (info >> 3) as u8 & 1,
        reserved: [0; 2],
        next_rip,
    }
}

/// Bit that marks an event as valid (15.20).
pub const EVENT_VALID: u64 = 1 << 31;
const EVENT_TYPE: u64 = 7 << 8;
const EVENT_INTERRUPT: u64 = 0;
const EVENT_NMI: u64 = 2 << 8;
const EVENT_EXCEPTION: u64 = 3 << 8;
const NMI: u8 = 2;
/// An NMI in the form in which the processor injects it.
pub const INJECT_NMI: u64 = EVENT_VALID | EVENT_NMI | NMI as u64;

/// An exception in the form in which the processor injects it.
#[inline]
#[must_use]
pub const fn exception(vector: u8, code: Option<u32>) -> u64 {
    let event = EVENT_VALID | EVENT_EXCEPTION | vector as u64;
    match code {
        Some(code) => event | EVENT_HAS_CODE | (code as u64) << 32,
        None => event,
    }
}

/// The exception that the VM monitor asks for ([`pillion_abi::vcpu::State::event`]); `None` if it
/// cannot be injected.
#[must_use]
pub const fn requested_exception(word: u64) -> Option<u64> {
    let vector = word as u8;
    if vector >= 32 || vector == NMI {
        return None;
    }
    let code = if word & EVENT_HAS_CODE != 0 { Some((word >> 32) as u32) } else { None };
    Some(exception(vector, code))
}

/// What to do about an event whose delivery an exit interrupted (15.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// Nothing: the instruction that raised it runs again.
    Nothing,
    /// Inject this.
    Inject(u64),
    /// Make the external interrupt pending again.
    Interrupt(u8),
}

/// Decodes EXITINTINFO. QEMU writes external interrupts as exceptions, with vectors that no
/// exception has, and NMI likewise.
#[must_use]
pub const fn interrupted(info: u64) -> Interrupted {
    if info & EVENT_VALID == 0 {
        return Interrupted::Nothing;
    }
    let vector = info as u8;
    match (info & EVENT_TYPE, vector) {
        (EVENT_INTERRUPT, _) | (EVENT_EXCEPTION, 32..) => Interrupted::Interrupt(vector),
        (EVENT_NMI, _) | (EVENT_EXCEPTION, NMI) => Interrupted::Inject(INJECT_NMI),
        // INT3 and INTO: the guest is still at the instruction.
        (EVENT_EXCEPTION, 3 | 4) => Interrupted::Nothing,
        (EVENT_EXCEPTION, _) => Interrupted::Inject(info & (0xffff_ffff << 32 | EVENT_VALID | EVENT_HAS_CODE | 0x7ff)),
        _ => Interrupted::Nothing,
    }
}

/// Bits of EFER.
pub mod efer {
    /// SYSCALL is enabled.
    pub const SCE: u64 = 1;
    /// Long mode is enabled.
    pub const LME: u64 = 1 << 8;
    /// Long mode is active.
    pub const LMA: u64 = 1 << 10;
    /// Virtualisation is enabled; the processor wants it set while a guest runs, the guest does not
    /// see it.
    pub const SVME: u64 = 1 << 12;
    /// What a guest may change: SCE, LME, NXE, FFXSR.
    pub const GUEST: u64 = SCE | LME | 1 << 11 | 1 << 14;
}

/// The guest writes EFER: the new value for the VMCB, or `None` for a general-protection fault.
#[must_use]
pub const fn write_efer(old: u64, value: u64, paging: bool) -> Option<u64> {
    if value & !(efer::GUEST | efer::LMA) != 0 {
        return None;
    }
    if paging && (old ^ value) & efer::LME != 0 {
        return None;
    }
    Some((value & efer::GUEST) | (old & efer::LMA) | efer::SVME)
}

/// Whether XSETBV with index 0 accepts the value on a machine with these features (AMD APM vol. 1,
/// 11.5.2; vol. 4).
#[must_use]
pub const fn xcr0_is_valid(value: u64, supported: u64) -> bool {
    const X87: u64 = 1;
    const SSE: u64 = 2;
    const AVX: u64 = 4;
    const AVX512: u64 = 7 << 5;
    let needs_sse = value & AVX != 0 && value & SSE == 0;
    let needs_avx = value & AVX512 != 0 && (value & AVX == 0 || value & AVX512 != AVX512);
    value & X87 != 0 && value & !supported == 0 && !needs_sse && !needs_avx
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn what_a_processor_lacks_is_said() {
        let reason = |has_svm: u32, vm_cr, asids, features| {
            let cpuid = |leaf, _| if leaf == LEAF_SVM { [1, asids, 0, features] } else { [0, 0, has_svm << 2, 0] };
            offer(cpuid, || vm_cr)
        };
        assert_eq!(reason(1, 0, 16, 1 | NEXT_RIP), Ok(Offer { asids: 16, next_rip: true, flush_by_asid: false }));
        let wrong =
            [(0, 0, 16, 1, "no SVM"), (1, 1 << 4, 16, 1, "set-up"), (1, 0, 16, !1, "nested"), (1, 0, 1, 1, "number")];
        for (svm, vm_cr, asids, features, word) in wrong {
            assert!(reason(svm, vm_cr, asids, features).unwrap_err().contains(word), "{word}");
        }
    }
    use proptest::prelude::*;
    use std::vec;

    #[test]
    fn msr_map() {
        assert_eq!(msr_bit(0), Some(0));
        assert_eq!(msr_bit(0xc000_0080), Some(0x800 * 8 + 0x100));
        assert_eq!(msr_bit(0xc001_0114), Some(0x1000 * 8 + 0x228));
        assert_eq!(msr_bit(0x2000), None);
        assert_eq!(msr_bit(0x4b56_4d00), None);
        let mut map = vec![u64::MAX; MSR_MAP_WORDS];
        open_msrs(&mut map);
        let has = |bit: usize| map[bit / 64] >> (bit % 64) & 1 != 0;
        let star = msr_bit(0xc000_0081).unwrap();
        assert!(!has(star) && !has(star + 1));
        let tsc = msr_bit(0x10).unwrap();
        assert!(!has(tsc) && has(tsc + 1));
        let efer = msr_bit(0xc000_0080).unwrap();
        assert!(has(efer) && has(efer + 1));
        let open: u32 = map.iter().map(|word| word.count_zeros()).sum();
        let top = msr_bit(0xc001_001d).unwrap();
        assert!(!has(top) && has(top + 1), "read beside the memory types, never written");
        assert_eq!(open, 2 * 12 + 1 + 1 + 16 + 1 + 2 + 8 + 1 + 3);
    }

    #[test]
    fn ports() {
        let out = io(0x3f8 << 16 | 1 << 4, 0x1234);
        assert_eq!((out.port, out.width, out.is_in, out.next_rip), (0x3f8, 1, 0, 0x1234));
        let ins = io(0x1f0 << 16 | 1 << 5 | 0xd, 0);
        assert_eq!((ins.port, ins.width, ins.is_in, ins.is_string, ins.is_repeated), (0x1f0, 2, 1, 1, 1));
        assert_eq!(io(1 << 6, 0).width, 4);
    }

    #[test]
    fn events() {
        assert_eq!(exception(13, Some(5)), 5 << 32 | 0x8000_0b0d);
        assert_eq!(requested_exception(6), Some(0x8000_0306));
        assert_eq!(requested_exception(13 | EVENT_HAS_CODE | 7 << 32), Some(7 << 32 | 0x8000_0b0d));
        assert_eq!(requested_exception(2), None);
        assert_eq!(requested_exception(32), None);
        assert_eq!(interrupted(0x30), Interrupted::Nothing);
        assert_eq!(interrupted(0x8000_0030), Interrupted::Interrupt(0x30));
        assert_eq!(interrupted(0x8000_0330), Interrupted::Interrupt(0x30));
        assert_eq!(interrupted(0x8000_0302), Interrupted::Inject(0x8000_0202));
        assert_eq!(interrupted(2 << 32 | 0x8000_0b0e), Interrupted::Inject(2 << 32 | 0x8000_0b0e));
        assert_eq!(interrupted(0x8000_0480), Interrupted::Nothing);
        assert_eq!(interrupted(0x8000_0303), Interrupted::Nothing);
    }

    #[test]
    fn efer_and_xcr0() {
        assert_eq!(write_efer(efer::SVME, efer::LME | 1, false), Some(efer::SVME | efer::LME | 1));
        assert_eq!(write_efer(efer::SVME, efer::SVME, false), None);
        assert_eq!(write_efer(0x1d01, 0xc01, true), None);
        assert_eq!(write_efer(0x1d01, 0xd01, true), Some(0x1d01));
        assert!(xcr0_is_valid(7, 7) && xcr0_is_valid(1, 7) && xcr0_is_valid(0xe7, 0xe7));
        assert!(!xcr0_is_valid(0, 7) && !xcr0_is_valid(5, 7) && !xcr0_is_valid(9, 7) && !xcr0_is_valid(0x27, 0xe7));
    }

    proptest! {
        #[test]
        fn clears_the_range_and_nothing_else(first in 0usize..300, count in 0usize..300) {
            let mut map = [u64::MAX; 4];
            clear_bits(&mut map, first, count);
            for bit in 0..256 {
                let cleared = map[bit / 64] >> (bit % 64) & 1 == 0;
                prop_assert_eq!(cleared, bit >= first && bit < first + count);
            }
        }
    }
}
