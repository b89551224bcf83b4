//! The two 8259 interrupt controllers: moved away from the exceptions, then silenced.

use super::port;

/// Vectors that a spurious interrupt of a masked controller would arrive at: 0x20..0x30.
const BASE: u8 = 0x20;

/// Maps the controllers to vectors that are no exceptions, and masks all their lines.
pub fn disable() {
    let writes: [(u16, u8); 10] = [
        (0x20, 0x11), // both: initialise, four words follow
        (0xa0, 0x11),
        (0x21, BASE),
        (0xa1, BASE + 8),
        (0x21, 4), // the second one hangs on line 2
        (0xa1, 2),
        (0x21, 1), // 8086 mode
        (0xa1, 1),
        (0x21, 0xff), // mask
        (0xa1, 0xff),
    ];
    for (register, value) in writes {
        // SAFETY: these ports are the 8259s' on every PC; masking them raises nothing. Port 0x80 only delays.
        unsafe {
            port::write8(register, value);
            port::write8(0x80, 0);
        }
    }
}
