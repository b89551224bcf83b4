//! Interrupts that guests of several processors send each other.

use crate::{
    Test, cells,
    exits::{expect, with},
    guest_interrupt::{HANDLER, VECTOR, listening, prepare, runner},
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{
    MESSAGE_VECTOR,
    boot::slot,
    status::Error,
    vcpu::{Exit, counter, gpr},
};
use pillion_runtime::{cap_delete, vcpu_reset, vcpu_route_line};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, refused, same};

pub const TESTS: &[Test] = &[
    ("guest-message/wakes-another", wakes),
    ("guest-message/interrupts-another", interrupts),
    ("guest-message/to-all", to_all),
    ("guest-message/the-monitor's", monitors),
    ("guest-message/nobody-is-there", nobody),
    ("guest-message/reset-forgets", reset),
    ("guest-message/its-vector-is-no-line's", line),
];

/// The processor of the guest that receives.
const OTHER: u64 = 1;
/// The command register of an x2APIC.
const COMMAND: u64 = 0x830;

/// A guest of the other processor that listens and executes that code, and the thread that runs it.
fn receiver(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    let mut guest = Guest::on(kit, OTHER)?;
    guest.put(0, code);
    prepare(&mut guest);
    done!(kit.start(Setup::new(20, runner).on(OTHER).with(guest.vcpu.into())));
    kit.rest(20_000);
    same!(cells::get(1), 0);
    Ok(guest)
}

/// A guest of this processor that listens, sends a message, lets interrupts in and makes a
/// hypercall.
fn sender(kit: &mut Kit, command: u64) -> Checked<Guest> {
    // wrmsr; sti; nop; vmmcall
    let guest = listening(kit, &[0x0f, 0x30, 0xfb, 0x90, 0x0f, 0x01, 0xd9])?;
    guest.state().messages.set(1);
    aim(&guest, command);
    Ok(guest)
}

fn aim(guest: &Guest, command: u64) {
    guest.state().gpr[gpr::RCX].set(COMMAND);
    guest.state().gpr[gpr::RAX].set(command & 0xffff_ffff);
    guest.state().gpr[gpr::RDX].set(command >> 32);
}

fn to(kit: &Kit, number: u64) -> u64 {
    u64::from(kit.apic_id(number)) << 32 | u64::from(VECTOR)
}

/// Sends, and expects that the other guest has got it.
fn arrives(kit: &mut Kit, code: &[u8]) -> Checked {
    let guest = receiver(kit, code)?;
    let command = to(kit, OTHER);
    let mut sender = sender(kit, command)?;
    expect(&mut sender, Exit::Hypercall)?;
    same!(sender.state().rip.get(), 4);
    same!(sender.state().counters[counter::MESSAGES].load(Relaxed), 1);
    same!(sender.state().command.get(), command);
    kit.rest(20_000);
    same!(cells::get(0), 1_000 + Exit::Hypercall as u64);
    same!(guest.state().rip.get(), HANDLER);
    Ok(())
}

fn wakes(kit: &mut Kit) -> Checked {
    // sti; hlt; jmp back
    arrives(kit, &[0xfb, 0xf4, 0xeb, 0xfc])
}

fn interrupts(kit: &mut Kit) -> Checked {
    // sti; pause; jmp back
    arrives(kit, &[0xfb, 0xf3, 0x90, 0xeb, 0xfb])
}

fn to_all(kit: &mut Kit) -> Checked {
    let guest = receiver(kit, &[0xfb, 0xf4, 0xeb, 0xfc])?;
    let mut sender = sender(kit, 0xffff_ffff_0000_0000 | u64::from(VECTOR))?;
    expect(&mut sender, Exit::Hypercall)?;
    same!(sender.state().rip.get(), HANDLER);
    kit.rest(20_000);
    same!(guest.state().rip.get(), HANDLER);
    // All but the sender.
    done!(vcpu_reset(guest.vcpu));
    aim(&sender, 0xc_0000 | u64::from(VECTOR));
    sender.go(0);
    expect(&mut sender, Exit::Hypercall)?;
    same!(sender.state().rip.get(), 4);
    same!(sender.state().counters[counter::MESSAGES].load(Relaxed), 2);
    Ok(())
}

fn monitors(kit: &mut Kit) -> Checked {
    let guest = receiver(kit, &[0xfb, 0xf4, 0xeb, 0xfc])?;
    let (fixed, id) = (to(kit, OTHER), u64::from(kit.apic_id(OTHER)) << 32);
    let mut sender = sender(kit, fixed)?;
    for command in [id | 0x4400, id | 0x4500, id | 0x4608, id | 0x0f, fixed | 0x800, 0x4_0030] {
        aim(&sender, command);
        sender.go(0);
        let register = expect(&mut sender, Exit::WriteMsr)?;
        same!((register, sender.state().rip.get()), (COMMAND, 0));
    }
    // The monitor does not want it sent: the guest has no x2APIC.
    sender.state().messages.set(0);
    aim(&sender, fixed);
    sender.go(0);
    expect(&mut sender, Exit::WriteMsr)?;
    kit.rest(20_000);
    same!(cells::get(1), 0);
    check!(guest.state().counters[counter::INJECTED].load(Relaxed) == 0, "the other guest was interrupted");
    Ok(())
}

fn nobody(kit: &mut Kit) -> Checked {
    let guest = receiver(kit, &[0xfb, 0xf4, 0xeb, 0xfc])?;
    done!(cap_delete(0, guest.vcpu));
    let (gone, never) = (to(kit, OTHER), to(kit, OTHER + 1));
    let mut sender = sender(kit, gone)?;
    for command in [gone, never, 0x77_0000_0000 | u64::from(VECTOR)] {
        aim(&sender, command);
        sender.go(0);
        expect(&mut sender, Exit::WriteMsr)?;
    }
    Ok(())
}

fn reset(kit: &mut Kit) -> Checked {
    // Interrupts off, and a word that ends it: cmp byte ptr cs:[0x2000], 0; pause; je back; sti;
    // nop; vmmcall
    let code = [0x2e, 0x80, 0x3e, 0x00, 0x20, 0x00, 0xf3, 0x90, 0x74, 0xf6, 0xfb, 0x90, 0x0f, 0x01, 0xd9];
    let mut guest = receiver(kit, &code)?;
    let mut sender = sender(kit, to(kit, OTHER))?;
    expect(&mut sender, Exit::Hypercall)?;
    done!(vcpu_reset(guest.vcpu));
    guest.put(0x2000, &[1]);
    kit.rest(20_000);
    same!(cells::get(0), 1_000 + Exit::Hypercall as u64);
    same!(guest.state().rip.get(), 12);
    Ok(())
}

fn line(kit: &mut Kit) -> Checked {
    let guest = with(kit, &[])?;
    let route = |vector: u8| vcpu_route_line(guest.vcpu, slot::IRQ_CONTROL, 8, vector.into());
    refused!(route(MESSAGE_VECTOR), Error::BadArgument);
    Ok(())
}
