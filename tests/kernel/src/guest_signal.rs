//! Signals that a guest's kernel sends to tasks, by a hypercall that the kernel answers.

use crate::{
    Test, cells,
    exits::{expect, with},
    guest_interrupt::{HANDLER, VECTOR, listening, runner},
    user_vcpu::HYPERCALL,
};
use pillion_abi::{
    boot::slot,
    dual::{ASK, CALM, SIGNAL, TAKEN, URGENCY, WAIT},
    object::{Kind, right},
    vcpu::{Exit, gpr},
};
use pillion_runtime::{
    Cap, cap_delete, cap_derive, cap_revoke, now, thread_bind_notification, vcpu_bind_signals, vcpu_inject, vcpu_reset,
    wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, same, stop};

pub const TESTS: &[Test] = &[
    ("guest-signal/wakes-a-more-urgent-thread", wakes),
    ("guest-signal/only-what-the-space-holds", refused),
    ("guest-signal/none-without-a-space", unbound),
    ("guest-signal/what-was-taken-is-in-nobodys-use", taken),
    ("guest-signal/to-the-thread-that-runs-the-guest", own),
    ("guest-signal/others-go-to-the-monitor", others),
    ("guest-signal/a-shield-holds-interrupts-back", shielded),
];

const BADGE: u64 = 0x50;

/// Slots of the guest's space.
mod at {
    pub const BADGED: u64 = 1;
    pub const READ_ONLY: u64 = 2;
    pub const ANOTHER_KIND: u64 = 3;
    pub const COUNT: u64 = 5;
}

const INVALID: u64 = -22_i64 as u64;
const NO_SUCH_CALL: u64 = -38_i64 as u64;

/// vmmcall; vmmcall
pub const TWICE: [u8; 6] = [0x0f, 0x01, 0xd9, 0x0f, 0x01, 0xd9];
/// rdtsc; mov edi, eax; mov eax, SIGNAL; vmmcall; rdtsc; vmmcall
const TIMED: [u8; 19] =
    [0x0f, 0x31, 0x66, 0x89, 0xc7, 0x66, 0xb8, 0, 1, 0x49, 0x50, 0x0f, 0x01, 0xd9, 0x0f, 0x31, 0x0f, 0x01, 0xd9];

/// A guest that may signal a notification, which comes with its space.
pub fn signalling(kit: &mut Kit, code: &[u8]) -> Checked<(Guest, Cap, Cap)> {
    let guest = with(kit, code)?;
    let (note, space) = let_signal(kit, &guest)?;
    Ok((guest, note, space))
}

fn let_signal(kit: &mut Kit, guest: &Guest) -> Checked<(Cap, Cap)> {
    let (note, space) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::CapSpace, at::COUNT)));
    done!(cap_derive(space, at::BADGED as Cap, note, right::ALL, BADGE));
    done!(cap_derive(space, at::READ_ONLY as Cap, note, right::READ, 0));
    done!(cap_derive(space, at::ANOTHER_KIND as Cap, guest.space, right::ALL, 0));
    done!(vcpu_bind_signals(guest.vcpu, space));
    Ok((note, space))
}

/// Has the guest make a hypercall at address 0.
pub fn ask(guest: &mut Guest, number: u64, argument: u64) {
    guest.state().gpr[gpr::RAX].set(number);
    guest.state().gpr[gpr::RBX].set(argument);
    guest.go(0);
}

/// The result of a signal to a slot; a second hypercall, which is another, shows it.
fn result(guest: &mut Guest, slot: u64) -> Checked<u64> {
    result_of(guest, SIGNAL, slot)
}

fn result_of(guest: &mut Guest, number: u64, argument: u64) -> Checked<u64> {
    ask(guest, number, argument);
    expect(guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 3);
    Ok(guest.state().gpr[gpr::RAX].get())
}

extern "C" fn waiter(note: u64) -> ! {
    if let Ok([bits, _]) = wait(note as Cap, pillion_abi::NEVER) {
        cells::set(3, bits);
        cells::set(4, now());
    }
    stop()
}

fn wakes(kit: &mut Kit) -> Checked {
    let (mut guest, note, _) = signalling(kit, &TIMED)?;
    ask(&mut guest, SIGNAL, at::BADGED);
    done!(kit.start(Setup::new(30, waiter).with(note.into())));
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(30_000);
    same!([cells::get(0), cells::get(1)], [1_000 + Exit::Hypercall as u64, 1]);
    same!(cells::get(3), BADGE);
    // Low words of the time: before the signal, when the thread ran, and when the guest went on.
    let [before, between, after] =
        [guest.state().gpr[gpr::RDI].get(), cells::get(4), guest.state().gpr[gpr::RAX].get()].map(|time| time as u32);
    let (to_thread, to_guest) = (between.wrapping_sub(before), after.wrapping_sub(between));
    check!(to_thread < 520 && to_guest < 600, "the thread ran after {to_thread}, the guest {to_guest} later");
    Ok(())
}

fn refused(kit: &mut Kit) -> Checked {
    let (mut guest, note, _) = signalling(kit, &TWICE)?;
    for slot in [0, at::READ_ONLY, at::ANOTHER_KIND, at::COUNT - 1, at::COUNT, 1 << 32 | at::BADGED, u64::MAX] {
        same!(result(&mut guest, slot)?, INVALID);
    }
    same!(result(&mut guest, at::BADGED)?, 0);
    same!(done!(wait(note, 0))[0], BADGE);
    done!(cap_revoke(0, note));
    same!(result(&mut guest, at::BADGED)?, INVALID);
    Ok(())
}

fn unbound(kit: &mut Kit) -> Checked {
    let (mut guest, _, space) = signalling(kit, &TWICE)?;
    done!(vcpu_bind_signals(guest.vcpu, 0));
    same!(result(&mut guest, at::BADGED)?, NO_SUCH_CALL);
    for end in [cap_revoke, cap_delete] {
        done!(vcpu_bind_signals(guest.vcpu, space));
        same!(result(&mut guest, at::BADGED)?, 0);
        done!(end(0, space));
        same!(result(&mut guest, at::BADGED)?, NO_SUCH_CALL);
    }
    Ok(())
}

/// No thread here looks at a guest's memory.
fn taken(kit: &mut Kit) -> Checked {
    let (mut guest, ..) = signalling(kit, &TWICE)?;
    for (argument, result) in [(0, 0), (ASK, 0), (0xffff, INVALID), (ASK | 0xffff, INVALID)] {
        same!(result_of(&mut guest, TAKEN, argument)?, result);
    }
    done!(vcpu_bind_signals(guest.vcpu, 0));
    same!(result_of(&mut guest, TAKEN, ASK)?, NO_SUCH_CALL);
    Ok(())
}

/// The guest stops there, as for any notification of that thread.
fn own(kit: &mut Kit) -> Checked {
    let (mut guest, note, _) = signalling(kit, &TWICE)?;
    done!(thread_bind_notification(slot::THREAD, note));
    ask(&mut guest, SIGNAL, at::BADGED);
    same!(expect(&mut guest, Exit::Notified)?, BADGE);
    same!([guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()], [3, 0]);
    done!(thread_bind_notification(slot::THREAD, 0));
    Ok(())
}

fn shielded(kit: &mut Kit) -> Checked {
    // vmmcall; sti; nop; vmmcall
    let mut guest = listening(kit, &[0x0f, 0x01, 0xd9, 0xfb, 0x90, 0x0f, 0x01, 0xd9])?;
    let (note, _) = let_signal(kit, &guest)?;
    let shield = u64::from(VECTOR) << 8;
    for (number, argument) in [(URGENCY, 0), (SIGNAL, CALM | at::BADGED)] {
        done!(vcpu_inject(guest.vcpu, VECTOR));
        ask(&mut guest, URGENCY, shield);
        expect(&mut guest, Exit::Hypercall)?;
        same!([guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()], [5, 0]);
        ask(&mut guest, number, argument);
        expect(&mut guest, Exit::Hypercall)?;
        same!(guest.state().rip.get(), HANDLER);
        done!(vcpu_reset(guest.vcpu));
    }
    same!(done!(wait(note, 0))[0], BADGE);
    Ok(())
}

fn others(kit: &mut Kit) -> Checked {
    let (mut guest, ..) = signalling(kit, &HYPERCALL)?;
    let stays = |guest: &mut Guest, number| {
        ask(guest, number, at::BADGED);
        expect(guest, Exit::Hypercall)?;
        same!([guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()], [0, number]);
        Ok(())
    };
    for number in [SIGNAL - 1, TAKEN + 1, 1 << 32 | SIGNAL, 1 << 32 | URGENCY] {
        stays(&mut guest, number)?;
    }
    // From user mode, on page tables that this puts into the guest's memory.
    guest.process(kit)?;
    guest.enter_user_mode();
    stays(&mut guest, SIGNAL)?;
    stays(&mut guest, WAIT)?;
    stays(&mut guest, URGENCY)?;
    stays(&mut guest, TAKEN)
}
