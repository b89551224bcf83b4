//! A guest of a few bytes: every reason for an exit.

use crate::Test;
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{
    boot::slot,
    status::Error::BadState,
    vcpu::{Exit, Segment, counter, dirty, gpr},
};
use pillion_runtime::{cap_delete, cap_revoke, now, ports_part, signal, thread_bind_notification, vcpu_allow_ports};
use pillion_test_kit::{Checked, Kit, check, done, guest::Guest, refused, same};

pub const TESTS: &[Test] = &[
    ("guest/hypercall", hypercall),
    ("guest/registers", registers),
    ("guest/cpuid", cpuid),
    ("guest/ports", ports),
    ("guest/ports-allowed", allowed),
    ("guest/msrs", msrs),
    ("guest/memory-without-a-mapping", memory),
    ("guest/halt-with-interrupts-off", halt),
    ("guest/refused-instructions", refused_instructions),
    ("guest/triple-fault", triple_fault),
    ("guest/invalid-state", invalid),
    ("guest/notification-brings-it-out", notified),
    ("guest/exception-to-deliver", exception),
    ("guest/memory-of-its-state-is-taken-away", state_taken),
    ("guest/space-is-taken-away", space_taken),
];

const HYPERCALL: [u8; 3] = [0x0f, 0x01, 0xd9];
const INT3: u8 = 0xcc;

/// Runs up to an exit, which must have this reason; returns its value.
pub fn expect(guest: &mut Guest, reason: Exit) -> Checked<u64> {
    let [found, value] = done!(guest.run());
    let rip = guest.state().rip.get();
    let name = Exit::from_raw(found).map_or("?", Exit::name);
    check!(found == reason as u64, "{name}, not {}, at {rip:#x}", reason.name());
    Ok(value)
}

/// Makes a guest with this code.
pub fn with(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    let mut guest = Guest::new(kit)?;
    guest.put(0, code);
    Ok(guest)
}

fn hypercall(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &[0x90, 0x0f, 0x01, 0xd9, 0x0f, 0x01, 0xd9])?;
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 1);
    guest.go(4);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 4);
    check!(guest.state().counters[counter::EXITS].load(Relaxed) >= 2, "exits are not counted");
    Ok(())
}

fn registers(kit: &mut Kit) -> Checked {
    // inc of all registers; then the hypercall.
    let mut guest = with(kit, &[0x40, 0x41, 0x42, 0x43, 0x45, 0x46, 0x47, 0x0f, 0x01, 0xd9])?;
    for i in 0..16 {
        guest.state().gpr[i].set(0x100 + i as u64);
    }
    guest.go(0);
    expect(&mut guest, Exit::Hypercall)?;
    for i in 0..16 {
        let more = u64::from(i < 8 && i != gpr::RSP);
        let found = guest.state().gpr[i].get();
        check!(found == 0x100 + i as u64 + more, "register {i}: {found:#x}");
    }
    Ok(())
}

fn cpuid(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &[0x0f, 0xa2, 0x0f, 0x01, 0xd9])?;
    guest.state().gpr[gpr::RAX].set(0x4000_0000);
    expect(&mut guest, Exit::Cpuid)?;
    same!([guest.state().gpr[gpr::RAX].get(), guest.state().rip.get()], [0x4000_0000, 0]);
    guest.state().gpr[gpr::RAX].set(7);
    guest.go(2);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().gpr[gpr::RAX].get(), 7);
    Ok(())
}

fn ports(kit: &mut Kit) -> Checked {
    // mov al, 0x5a; out 0x80, al; in eax, dx; rep outsb
    let mut guest = with(kit, &[0xb0, 0x5a, 0xe6, 0x80, 0x66, 0xed, 0xf3, 0x6e])?;
    guest.state().gpr[gpr::RDX].set(0x3f8);
    expect(&mut guest, Exit::Port)?;
    let io = guest.state().io.get();
    same!((io.port, io.width, io.is_in, io.is_string, io.next_rip), (0x80, 1, 0, 0, 4));
    same!(guest.state().gpr[gpr::RAX].get() & 0xff, 0x5a);
    guest.go(4);
    expect(&mut guest, Exit::Port)?;
    let io = guest.state().io.get();
    same!((io.port, io.width, io.is_in, io.next_rip), (0x3f8, 4, 1, 6));
    guest.state().gpr[gpr::RCX].set(3);
    guest.go(6);
    expect(&mut guest, Exit::Port)?;
    let io = guest.state().io.get();
    same!((io.is_string, io.is_repeated, io.is_in), (1, 1, 0));
    Ok(())
}

fn allowed(kit: &mut Kit) -> Checked {
    // in al, 0x70; in al, 0x21; then a port that the guest does not have.
    let mut guest = with(kit, &[0xe4, 0x70, 0xe4, 0x72])?;
    let part = kit.slot();
    done!(ports_part(slot::PORTS, 0x70, 2, part));
    done!(vcpu_allow_ports(guest.vcpu, part));
    expect(&mut guest, Exit::Port)?;
    same!((guest.state().io.get().port, guest.state().rip.get()), (0x72, 2));
    // The guest does not get the kernel's own ports, even by a capability that names them.
    let low = kit.slot();
    done!(ports_part(slot::PORTS, 0x20, 8, low));
    done!(vcpu_allow_ports(guest.vcpu, low));
    guest.put(0x100, &[0xe4, 0x24, 0xe4, 0x21]);
    guest.go(0x100);
    expect(&mut guest, Exit::Port)?;
    same!(guest.state().io.get().port, 0x21);
    Ok(())
}

fn msrs(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &[0x0f, 0x32, 0x0f, 0x30, 0x0f, 0x32])?;
    guest.state().gpr[gpr::RCX].set(0x1234);
    same!(expect(&mut guest, Exit::ReadMsr)?, 0x1234);
    guest.state().gpr[gpr::RCX].set(0xc001_0117);
    guest.go(2);
    same!(expect(&mut guest, Exit::WriteMsr)?, 0xc001_0117);
    // EFER is answered without an exit, and does not reveal SVM.
    guest.put(6, &HYPERCALL);
    guest.state().gpr[gpr::RCX].set(0xc000_0080);
    guest.go(4);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().gpr[gpr::RAX].get() & 0x1000, 0);
    Ok(())
}

fn memory(kit: &mut Kit) -> Checked {
    // mov [0], al and mov al, [0] in a segment beyond the end.
    let mut guest = with(kit, &[0xa2, 0, 0, 0xa0, 0, 0])?;
    guest.state().ds.update(|s| Segment { base: 0x20_0000, ..s });
    guest.state().dirty.update(|bits| bits | dirty::SYSTEM);
    for (rip, write) in [(0, 2), (3, 0)] {
        guest.go(rip);
        expect(&mut guest, Exit::Memory)?;
        let fault = guest.state().fault.get();
        same!((fault.address, fault.info & 2, guest.state().rip.get()), (0x20_0000, write, rip));
    }
    guest.state().cs.update(|s| Segment { base: 0x30_0000, ..s });
    guest.state().dirty.update(|bits| bits | dirty::SYSTEM);
    guest.go(0);
    expect(&mut guest, Exit::Memory)?;
    let fault = guest.state().fault.get();
    same!((fault.address, fault.info & 16), (0x30_0000, 16));
    Ok(())
}

fn halt(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &[0xf4])?;
    expect(&mut guest, Exit::Halted)?;
    same!(guest.state().rip.get(), 0);
    Ok(())
}

fn refused_instructions(kit: &mut Kit) -> Checked {
    let codes: [&[u8]; 5] =
        [&[0x0f, 0x01, 0xd8], &[0x0f, 0x01, 0xda], &[0x0f, 0x01, 0xdd], &[0x0f, 0x01, 0xc8], &[0x0f, 0x33]];
    let mut guest = with(kit, &[])?;
    for (i, code) in codes.into_iter().enumerate() {
        guest.put(0, code);
        guest.go(0);
        // In real mode some of these are undefined: then the exception handler makes a hypercall.
        guest.put(0x18, &[0, 7, 0, 0]);
        guest.put(0x700, &HYPERCALL);
        guest.state().idtr.update(|s| Segment { limit: 0xffff, ..s });
        guest.state().dirty.update(|bits| bits | dirty::SYSTEM);
        let [reason, _] = done!(guest.run());
        let fine =
            reason == Exit::Refused as u64 || (reason == Exit::Hypercall as u64 && guest.state().rip.get() == 0x700);
        check!(fine, "instruction {i}: reason {reason}");
    }
    Ok(())
}

fn triple_fault(kit: &mut Kit) -> Checked {
    // By an instruction that raises an exception, and by an undefined one.
    let mut guest = with(kit, &[])?;
    for code in [&[INT3][..], &[0x0f, 0x0b]] {
        guest.put(0, code);
        guest.state().idtr.update(|s| Segment { limit: 0, ..s });
        expect(&mut guest, Exit::Shutdown)?;
        // It can be set up again, and nothing is left of the undeliverable event.
        guest.reset();
        guest.put(0, &HYPERCALL);
        expect(&mut guest, Exit::Hypercall)?;
        guest.reset();
    }
    Ok(())
}

fn invalid(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &HYPERCALL)?;
    guest.state().dr7.set(1 << 40);
    expect(&mut guest, Exit::Invalid)?;
    check!(guest.state().fault.get().info as u32 == u32::MAX, "code {:#x}", guest.state().fault.get().info);
    guest.reset();
    // Not-write-through without cache-disable.
    guest.state().cr0.set(0x2000_0010);
    expect(&mut guest, Exit::Invalid)?;
    guest.reset();
    expect(&mut guest, Exit::Hypercall)?;
    Ok(())
}

fn notified(kit: &mut Kit) -> Checked {
    // Endless loop.
    let mut guest = with(kit, &[0xeb, 0xfe])?;
    let n = done!(kit.make(pillion_abi::object::Kind::Notification, 0));
    let bit = done!(kit.badged(n, 0x40));
    done!(thread_bind_notification(slot::THREAD, n));
    done!(signal(bit));
    same!(expect(&mut guest, Exit::Notified)?, 0x40);
    let timer = done!(kit.make(pillion_abi::object::Kind::Timer, 0));
    done!(pillion_runtime::timer_bind(timer, n, 0x80));
    let start = now();
    done!(pillion_runtime::timer_set(timer, start + 20_000));
    same!(expect(&mut guest, Exit::Notified)?, 0x80);
    let passed = now() - start;
    // The monitor's changes are not lost if it is notified again before the guest runs.
    guest.put(0x100, &HYPERCALL);
    guest.go(0x100);
    done!(signal(bit));
    same!(expect(&mut guest, Exit::Notified)?, 0x40);
    same!(guest.state().rip.get(), 0x100);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 0x100);
    check!((20_000..25_000).contains(&passed), "after {passed}");
    done!(thread_bind_notification(slot::THREAD, 0));
    Ok(())
}

fn exception(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &[0xeb, 0xfe])?;
    guest.put(13 * 4, &[0, 6, 0, 0]);
    guest.put(0x600, &HYPERCALL);
    guest.state().idtr.update(|s| Segment { limit: 0xffff, ..s });
    guest.state().event.set(13);
    guest.state().dirty.update(|bits| bits | dirty::EVENT);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 0x600);
    Ok(())
}

fn state_taken(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &HYPERCALL)?;
    expect(&mut guest, Exit::Hypercall)?;
    done!(cap_revoke(0, guest.state_memory));
    refused!(guest.run(), BadState);
    Ok(())
}

fn space_taken(kit: &mut Kit) -> Checked {
    let mut guest = with(kit, &HYPERCALL)?;
    done!(cap_delete(0, guest.space));
    refused!(guest.run(), BadState);
    done!(cap_delete(0, guest.vcpu));
    let mut next = with(kit, &HYPERCALL)?;
    expect(&mut next, Exit::Hypercall)?;
    Ok(())
}
