//! The two 8259 interrupt controllers: moved away from the exceptions, then silenced.

use super::{apic::vector, port};

/// First vector of both. A device's message with delivery mode ExtINT makes the processor ask the
/// controllers for a vector, even if they have none; with all lines masked they give the spurious
/// one, the seventh. So that is [`vector::SPURIOUS`], which gets no EOI unless it is in service:
/// the local APIC knows nothing of this interrupt, and an EOI for it would end another one.
const BASE: u8 = vector::SPURIOUS - 7;

const _: () = assert!(BASE.is_multiple_of(8));

/// Gives the controllers a spurious vector that is nobody's, and masks all their lines.
pub fn disable() {
    let writes: [(u16, u8); 10] = [
        (0x20, 0x11), // both: initialise, four words follow
        (0xa0, 0x11),
        (0x21, BASE),
        (0xa1, BASE),
        (0x21, 4), // the second one hangs on line 2
        (0xa1, 2),
        (0x21, 1), // 8086 mode
        (0xa1, 1),
        (0x21, 0xff), // mask
        (0xa1, 0xff),
    ];
    for (register, value) in writes {
        // SAFETY: these ports are the 8259s' on every PC; masking them raises nothing. Port 0x80
        // only delays.
        unsafe {
            port::write8(register, value);
            port::write8(0x80, 0);
        }
    }
}
