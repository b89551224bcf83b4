//! NMIs, which the monitor asks for.

use crate::{Test, exits::expect, guest_interrupt::prepare};
use pillion_abi::vcpu::{Exit, dirty};
use pillion_test_kit::{Checked, Kit, guest::Guest, same};

pub const TESTS: &[Test] = &[
    ("guest-nmi/with-interrupts-off", interrupts_off),
    ("guest-nmi/blocked-until-iret-and-merged", blocked),
    ("guest-nmi/behind-an-exception", behind_exception),
    ("guest-nmi/behind-an-interrupt-shadow", behind_shadow),
    ("guest-nmi/ends-a-halt-in-a-shadow", halt_in_shadow),
    ("guest-nmi/behind-a-fault-in-a-shadow", fault_in_shadow),
    ("guest-nmi/reset-forgets", reset),
];

const MAIN: u64 = 0x1000;
/// vmmcall; nop; vmmcall; iret
const HANDLER: u64 = 0x900;
const HANDLER_SECOND: u64 = HANDLER + 4;
const HANDLER_IRET: u64 = HANDLER + 7;
/// That of invalid opcodes: vmmcall; iret
const INVALID: u64 = 0xa00;
const INVALID_OPCODE: u64 = 6;
/// Top of the stack, and bytes of a frame: address, segment and flags.
const STACK: u64 = 0xf000;
const FRAME: u64 = 6;
/// Flags of the guest: the one that is always set, traps.
const ALWAYS: u64 = 2;
const TRAP: u64 = 1 << 8;

fn make(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    let mut guest = Guest::new(kit)?;
    put(&mut guest);
    guest.put(MAIN, code);
    Ok(guest)
}

fn put(guest: &mut Guest) {
    prepare(guest);
    guest.put(2 * 4, &[0, 9, 0, 0]);
    guest.put(INVALID_OPCODE * 4, &[0, 0xa, 0, 0]);
    guest.put(HANDLER, &[0x0f, 0x01, 0xd9, 0x90, 0x0f, 0x01, 0xd9, 0xcf]);
    guest.put(INVALID, &[0x0f, 0x01, 0xd9, 0xcf]);
    guest.go(MAIN);
}

fn send(guest: &Guest) {
    guest.state().dirty.update(|bits| bits | dirty::NMI);
}

/// Runs up to a hypercall, which must be there.
fn reaches(guest: &mut Guest, rip: u64) -> Checked {
    expect(guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), rip);
    Ok(())
}

/// Address and flags in a frame: the last but so many.
fn frame(guest: &Guest, number: u64) -> (u64, u64) {
    let half = |at: u64| guest.word(at & !7) >> (at % 8 * 8) & 0xffff;
    let at = STACK - FRAME * (number + 1);
    (half(at), half(at + 4))
}

fn interrupts_off(kit: &mut Kit) -> Checked {
    // jmp self
    let mut guest = make(kit, &[0xeb, 0xfe])?;
    send(&guest);
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN, ALWAYS));
    same!(guest.state().dirty.get(), 0);
    Ok(())
}

fn blocked(kit: &mut Kit) -> Checked {
    // vmmcall
    let mut guest = make(kit, &[0x0f, 0x01, 0xd9])?;
    send(&guest);
    reaches(&mut guest, HANDLER)?;
    send(&guest);
    guest.go(HANDLER + 3);
    reaches(&mut guest, HANDLER_SECOND)?;
    same!(guest.state().dirty.get(), dirty::NMI);
    send(&guest);
    guest.go(HANDLER_IRET);
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN, ALWAYS));
    guest.go(HANDLER_IRET);
    reaches(&mut guest, MAIN)?;
    // What the handler returns to single-steps itself, as a process may: that is not lost.
    send(&guest);
    reaches(&mut guest, HANDLER)?;
    guest.put(STACK - 2, &[(ALWAYS | TRAP) as u8, (TRAP >> 8) as u8]);
    send(&guest);
    guest.go(HANDLER_IRET);
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN, ALWAYS | TRAP));
    Ok(())
}

fn behind_exception(kit: &mut Kit) -> Checked {
    let mut guest = make(kit, &[0xeb, 0xfe])?;
    guest.state().event.set(INVALID_OPCODE);
    guest.state().dirty.update(|bits| bits | dirty::EVENT);
    send(&guest);
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN, ALWAYS));
    same!(frame(&guest, 1), (INVALID, ALWAYS));
    guest.go(HANDLER_IRET);
    reaches(&mut guest, INVALID)
}

/// A guest that has come out behind STI, with this in place of its hypercall.
fn in_shadow(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    // sti; vmmcall
    let mut guest = make(kit, &[0xfb, 0x0f, 0x01, 0xd9])?;
    reaches(&mut guest, MAIN + 1)?;
    guest.put(MAIN + 1, code);
    send(&guest);
    Ok(guest)
}

const ENABLED: u64 = ALWAYS | 1 << 9;

fn behind_shadow(kit: &mut Kit) -> Checked {
    // nop; jmp self
    let mut guest = in_shadow(kit, &[0x90, 0xeb, 0xfe])?;
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN + 2, ENABLED));
    Ok(())
}

fn halt_in_shadow(kit: &mut Kit) -> Checked {
    let mut guest = in_shadow(kit, &[0xf4, 0x0f, 0x01, 0xd9])?;
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN + 2, ENABLED));
    guest.go(HANDLER_IRET);
    reaches(&mut guest, MAIN + 2)
}

fn fault_in_shadow(kit: &mut Kit) -> Checked {
    // ud2
    let mut guest = in_shadow(kit, &[0x0f, 0x0b])?;
    reaches(&mut guest, HANDLER)?;
    same!(frame(&guest, 0), (MAIN + 1, ENABLED));
    same!(frame(&guest, 1), (INVALID, ALWAYS));
    Ok(())
}

fn reset(kit: &mut Kit) -> Checked {
    let mut guest = make(kit, &[0xeb, 0xfe])?;
    send(&guest);
    reaches(&mut guest, HANDLER)?;
    guest.reset();
    put(&mut guest);
    send(&guest);
    reaches(&mut guest, HANDLER)
}
