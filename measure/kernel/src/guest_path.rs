//! A guest that is entered with an interrupt pending.

use crate::series::Series;
use pillion_abi::vcpu::{Exit, Segment};
use pillion_runtime::{now, vcpu_inject, vcpu_reset};
use pillion_test_kit::{Checked, Kit, done, guest::Guest, same};

const VECTOR: u8 = 0x30;
const HANDLER: u8 = 0x40;
const INTERRUPTS_ON: u64 = 0x202;
const VMMCALL: [u8; 3] = [0x0f, 0x01, 0xd9];

static SERIES: Series = Series::new();

/// From the call that runs the guest to its handler, whose first instruction is a hypercall, and
/// back.
pub fn interrupt(kit: &mut Kit) -> Checked {
    let mut guest = Guest::new(kit)?;
    guest.put(u64::from(VECTOR) * 4, &[HANDLER, 0, 0, 0]);
    guest.put(HANDLER.into(), &VMMCALL);
    loop {
        // Nobody ends the interrupt, so the next one would wait.
        done!(vcpu_reset(guest.vcpu));
        guest.reset();
        guest.state().idtr.set(Segment { limit: 0xffff, ..Segment::default() });
        guest.state().rflags.set(INTERRUPTS_ON);
        done!(vcpu_inject(guest.vcpu, VECTOR));
        let start = now();
        let [exit, _] = done!(guest.run());
        let took = now() - start;
        same!((exit, guest.state().rip.get()), (Exit::Hypercall as u64, u64::from(HANDLER)));
        if SERIES.add(took) {
            return SERIES.print(kit, "guest_interrupt");
        }
    }
}
