//! A guest's kernel that waits by a hypercall, and tasks that end its wait.

use crate::{
    Test, cells,
    exits::expect,
    guest_interrupt::{HANDLER, VECTOR, listening, runner},
    guest_signal::{TWICE, ask, signalling},
    user_vcpu::border,
};
use pillion_abi::{
    dual::WAIT,
    object::Kind,
    vcpu::{Exit, gpr},
};
use pillion_runtime::{Cap, now, signal, vcpu_bind_signals, vcpu_inject, vcpu_notify, vcpu_run};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, same, stop};

pub const TESTS: &[Test] = &[
    ("guest-wait/a-task-ends-it", ended),
    ("guest-wait/takes-no-time", fast),
    ("guest-wait/an-interrupt-ends-it", interrupted),
    ("guest-wait/a-guest-that-runs-gets-an-interrupt", running),
    ("guest-wait/without-a-space", unbound),
];

const BADGE: u64 = 0x60;

/// Behind the first hypercall.
const AFTER: u64 = 3;

/// Tells a guest, whose capability and its own notification's are the halves of the argument, and
/// shows the bits that it then gets.
extern "C" fn teller(caps: u64) -> ! {
    cells::set(5, now());
    if let Ok([bits, _]) = vcpu_notify(caps as Cap, VECTOR, (caps >> 32) as Cap, 0, 0) {
        cells::set(3, bits);
    }
    stop()
}

fn tell(kit: &mut Kit, guest: &Guest, note: Cap) -> Checked {
    done!(kit.start(Setup::new(30, teller).with(u64::from(note) << 32 | u64::from(guest.vcpu))));
    kit.rest(20_000);
    Ok(())
}

/// A guest that waits, with interrupts disabled, in a thread of its own.
fn waiting(kit: &mut Kit, code: &[u8]) -> Checked<(Guest, Cap)> {
    let (mut guest, note, _) = signalling(kit, code)?;
    ask(&mut guest, WAIT, 0);
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(20_000);
    same!(cells::get(1), 0);
    Ok((guest, note))
}

fn ended(kit: &mut Kit) -> Checked {
    let (guest, note) = waiting(kit, &TWICE)?;
    tell(kit, &guest, note)?;
    same!([cells::get(0), cells::get(1)], [1_000 + Exit::Hypercall as u64, 1]);
    same!([guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()], [AFTER, 0]);
    same!(guest.state().irr.get(), [0; 4]);
    same!(cells::get(3), 0);
    // The task waits for its notification.
    done!(signal(done!(kit.badged(note, BADGE))));
    kit.rest(20_000);
    same!(cells::get(3), BADGE);
    Ok(())
}

fn fast(kit: &mut Kit) -> Checked {
    // vmmcall; rdtsc; vmmcall
    let (guest, note) = waiting(kit, &[0x0f, 0x01, 0xd9, 0x0f, 0x31, 0x0f, 0x01, 0xd9])?;
    tell(kit, &guest, note)?;
    let took = (guest.state().gpr[gpr::RAX].get() as u32).wrapping_sub(cells::get(5) as u32);
    check!(u64::from(took) < 800 + border(kit), "the guest went on after {took}");
    Ok(())
}

/// The interrupt stays pending until the guest enables interrupts. One that is pending before keeps
/// the guest from waiting.
fn interrupted(kit: &mut Kit) -> Checked {
    let (mut guest, _) = waiting(kit, &TWICE)?;
    done!(vcpu_inject(guest.vcpu, VECTOR));
    kit.rest(20_000);
    same!([guest.state().rip.get(), guest.state().gpr[gpr::RAX].get()], [AFTER, 0]);
    check!(guest.state().irr.get()[0] & 1 << VECTOR != 0, "the interrupt is lost");
    ask(&mut guest, WAIT, 0);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), AFTER);
    Ok(())
}

/// It has interrupts enabled, and spins.
fn running(kit: &mut Kit) -> Checked {
    let guest = listening(kit, &[0xfb, 0x90, 0xeb, 0xfe])?;
    let note = done!(kit.make(Kind::Notification, 0));
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(20_000);
    same!(cells::get(1), 0);
    tell(kit, &guest, note)?;
    same!(guest.state().rip.get(), HANDLER);
    Ok(())
}

fn unbound(kit: &mut Kit) -> Checked {
    const NO_SUCH_CALL: u64 = -38_i64 as u64;
    let (mut guest, ..) = signalling(kit, &TWICE)?;
    done!(vcpu_bind_signals(guest.vcpu, 0));
    ask(&mut guest, WAIT, 0);
    let [exit, _] = done!(vcpu_run(guest.vcpu));
    same!([exit, guest.state().rip.get()], [Exit::Hypercall as u64, AFTER]);
    same!(guest.state().gpr[gpr::RAX].get(), NO_SUCH_CALL);
    Ok(())
}
