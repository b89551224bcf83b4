//! I/O ports.

use core::arch::asm;

macro_rules! access {
    ($read:ident, $write:ident, $type:ty, $register:tt) => {
        /// Reads a port.
        ///
        /// # Safety
        /// Reading the port must not break anything that the kernel relies on.
        #[inline]
        #[must_use]
        pub unsafe fn $read(port: u16) -> $type {
            let value: $type;
            // SAFETY: the caller vouches for the port; the instruction touches no memory.
            unsafe { asm!(concat!("in ", $register, ", dx"), out($register) value, in("dx") port, options(nomem, nostack, preserves_flags)) };
            value
        }

        /// Writes a port.
        ///
        /// # Safety
        /// Writing the value must not make a device break what the kernel relies on, memory
        /// included.
        #[inline]
        pub unsafe fn $write(port: u16, value: $type) {
            // SAFETY: the caller vouches for the port and the value.
            unsafe { asm!(concat!("out dx, ", $register), in("dx") port, in($register) value, options(nostack, preserves_flags)) };
        }
    };
}

access!(read8, write8, u8, "al");
access!(read16, write16, u16, "ax");
access!(read32, write32, u32, "eax");
