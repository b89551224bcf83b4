//! Leaf 0xd: the extended state (AMD64 APM vol. 3, E.4.9).
//!
//! Linux computes the sizes itself and complains about differences: these are for the guest's XCR0.

use super::Registers;

/// x87, SSE, AVX and the three components of AVX-512: what the kernel saves for a guest.
const OFFERED: u64 = 0xe7;
/// Legacy area and header.
const LEGACY: u32 = 576;

/// The machine's state components that are offered.
#[derive(Clone, Copy, Debug, Default)]
pub struct XsaveLayout {
    supported: u64,
    /// Size, offset and flags of components 2 to 7.
    components: [[u32; 3]; 8],
}

impl XsaveLayout {
    pub(super) fn from_host(max_basic: u32, host: &mut impl FnMut(u32, u32) -> Registers) -> Self {
        let mut layout = XsaveLayout::default();
        if max_basic < 0xd {
            return layout;
        }
        layout.supported = u64::from(host(0xd, 0)[0]) & OFFERED;
        for (component, subleaf) in layout.components.iter_mut().zip(0..).skip(2) {
            let [size, offset, flags, _] = host(0xd, subleaf);
            *component = [size & 0xffff, offset & 0xffff, flags];
        }
        layout
    }

    fn enabled(&self, xcr0: u64) -> impl Iterator<Item = [u32; 3]> {
        let wanted = xcr0 & self.supported;
        self.components.into_iter().enumerate().skip(2).filter(move |(i, _)| wanted >> i & 1 != 0).map(|(_, c)| c)
    }

    /// Bytes of the standard format.
    fn standard(&self, xcr0: u64) -> u32 {
        self.enabled(xcr0).map(|[size, offset, _]| offset + size).fold(LEGACY, u32::max)
    }

    /// Bytes of the compacted format: one component after the other, at multiples of 64 where bit 1
    /// of the flags says so.
    fn compacted(&self, xcr0: u64) -> u32 {
        self.enabled(xcr0).fold(LEGACY, |end, [size, _, flags]| {
            let start = if flags & 2 != 0 { end.next_multiple_of(64) } else { end };
            start + size
        })
    }

    pub(super) fn leaf(&self, host: Registers, subleaf: u32, xcr0: u64) -> Registers {
        /// XSAVEOPT, XSAVEC, XGETBV with ECX 1; not XSAVES.
        const FORMS: u32 = 0b111;
        match subleaf {
            _ if self.supported == 0 => [0; 4],
            0 => [self.supported as u32, self.standard(xcr0), self.standard(self.supported), 0],
            1 => [host[0] & FORMS, self.compacted(xcr0), 0, 0],
            2..=7 if self.supported >> subleaf & 1 != 0 => [host[0], host[1], host[2] & 2, 0],
            _ => [0; 4],
        }
    }
}
