//! A guest that starts as a processor does after a start-up message: in real mode, in a segment
//! that is not the first one, and from there to protected mode.

use crate::{
    Test,
    exits::expect,
    guest_interrupt::{HANDLER, VECTOR, listening},
};
use pillion_abi::vcpu::{Exit, Segment, dirty, gpr};
use pillion_runtime::vcpu_inject;
use pillion_test_kit::{Checked, Kit, done, guest::Guest, same};

pub const TESTS: &[Test] = &[("guest/start-up", start_up), ("guest/start-up-halted", halted)];

/// The vector of the message: the guest starts at its page.
const PAGE: u8 = 8;
const BASE: u64 = (PAGE as u64) << 12;

/// Sets the state after a start-up message.
fn start(guest: &Guest) {
    let state = guest.state();
    state.cs.update(|cs| Segment { selector: u16::from(PAGE) << 8, base: BASE, ..cs });
    state.rip.set(0);
    state.dirty.update(|bits| bits | dirty::CORE | dirty::SYSTEM);
}

/// As Linux's trampoline does it: segments from CS, a descriptor table beside the code, and a far
/// jump out of real mode.
fn start_up(kit: &mut Kit) -> Checked {
    let mut guest = Guest::new(kit)?;
    // mov ax, cs; mov ds, ax; vmmcall; lgdt [0x80]; mov ax, 1; lmsw ax; jmp 8:BASE + 0x40
    guest.put(BASE, &[0x8c, 0xc8, 0x8e, 0xd8, 0x0f, 0x01, 0xd9, 0x66, 0x0f, 0x01, 0x16, 0x80, 0x00, 0xb8, 0x01, 0x00]);
    guest.put(BASE + 16, &[0x0f, 0x01, 0xf0, 0x66, 0xea, 0x40, 0x80, 0x00, 0x00, 0x08, 0x00]);
    // mov eax, 16; mov ds, eax; mov eax, [BASE + 0x90]; vmmcall
    guest.put(BASE + 0x40, &[0xb8, 0x10, 0x00, 0x00, 0x00, 0x8e, 0xd8, 0xa1, 0x90, 0x80, 0x00, 0x00, 0x0f, 0x01, 0xd9]);
    // The table: limit and base; then null, code and data, 32-bit and flat.
    guest.put(BASE + 0x80, &[23, 0, 0xa0, 0x80, 0, 0]);
    guest.put(BASE + 0x90, &0x1234_5678_u32.to_le_bytes());
    for (at, descriptor) in [(0xa8, 0x00cf_9b00_0000_ffff_u64), (0xb0, 0x00cf_9300_0000_ffff)] {
        guest.put(BASE + at, &descriptor.to_le_bytes());
    }
    start(&guest);
    expect(&mut guest, Exit::Hypercall)?;
    same!((guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()), (4, u64::from(PAGE) << 8));
    same!((guest.state().cs.get().base, guest.state().cr0.get() & 1), (BASE, 0));
    guest.go(7);
    expect(&mut guest, Exit::Hypercall)?;
    same!((guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()), (BASE + 0x4c, 0x1234_5678));
    let cs = guest.state().cs.get();
    same!((cs.selector, cs.base, cs.limit, guest.state().cr0.get() & 1), (8, 0, u32::MAX, 1));
    Ok(())
}

/// It halts there with interrupts on, is woken, and returns to its segment.
fn halted(kit: &mut Kit) -> Checked {
    // sti; hlt; vmmcall
    let mut guest = listening(kit, &[])?;
    guest.put(BASE, &[0xfb, 0xf4, 0x0f, 0x01, 0xd9]);
    start(&guest);
    done!(vcpu_inject(guest.vcpu, VECTOR));
    expect(&mut guest, Exit::Hypercall)?;
    same!((guest.state().rip.get(), guest.state().cs.get().base), (HANDLER, 0));
    // To the handler's return.
    guest.go(HANDLER + 3);
    expect(&mut guest, Exit::Hypercall)?;
    same!((guest.state().rip.get(), guest.state().cs.get().base), (2, BASE));
    Ok(())
}
