//! Interrupts and time in a guest, and threads that share the processor with a guest.

use crate::{
    Test, cells,
    exits::{expect, with},
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::boot::slot;
use pillion_abi::call::Call;
use pillion_abi::object::right;
use pillion_abi::status::Error;
use pillion_abi::vcpu::{Exit, Segment, counter, route};
use pillion_runtime::{
    Cap, cap_delete, cap_revoke, now, port_in, port_out, raw_call, sleep, thread_suspend, vcpu_inject, vcpu_reset,
    vcpu_route_line, vcpu_run,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, same, stop};

pub const TESTS: &[Test] = &[
    ("guest-interrupt/injected-while-running", injected),
    ("guest-interrupt/by-a-task-that-may-do-nothing-else", weak),
    ("guest-interrupt/waits-for-the-interrupt-flag", masked),
    ("guest-interrupt/lowered-before-halt", lowered_and_halted),
    ("guest-interrupt/wakes-from-halt", wakes),
    ("guest-interrupt/timer", timer),
    ("guest-interrupt/line", line),
    ("guest-interrupt/end-of-interrupt-and-priorities", priorities),
    ("guest-interrupt/reset-forgets", reset),
    ("guest-interrupt/does-not-delay-others", others),
    ("guest-interrupt/halted-gives-the-time-away", halted),
    ("guest-interrupt/suspended", suspended),
    ("guest-interrupt/vcpu-ends-while-running", vcpu_ends),
    ("guest-interrupt/state-is-taken-away-while-running", state_ends),
];

pub const VECTOR: u8 = 0x30;
pub const HANDLER: u64 = 0x700;

/// Makes a guest whose handlers for two vectors make hypercalls, at different addresses.
pub fn listening(kit: &mut Kit, code: &[u8]) -> Checked<Guest> {
    let mut guest = with(kit, code)?;
    prepare(&mut guest);
    Ok(guest)
}

/// Gives a guest these handlers.
pub fn prepare(guest: &mut Guest) {
    guest.put(u64::from(VECTOR) * 4, &[0, 7, 0, 0]);
    guest.put(u64::from(VECTOR + 0x20) * 4, &[0, 8, 0, 0]);
    guest.put(HANDLER, &[0x0f, 0x01, 0xd9, 0xcf]);
    guest.put(HANDLER + 0x100, &[0x0f, 0x01, 0xd9, 0xcf]);
    guest.state().idtr.update(|s| Segment { limit: 0xffff, ..s });
}

/// sti; jmp self
const SPIN: [u8; 4] = [0xfb, 0x90, 0xeb, 0xfe];
/// sti; hlt; jmp back
const HALT: [u8; 4] = [0xfb, 0xf4, 0xeb, 0xfc];

fn injected(kit: &mut Kit) -> Checked {
    let mut guest = listening(kit, &SPIN)?;
    done!(vcpu_inject(guest.vcpu, VECTOR));
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER);
    same!(guest.state().counters[counter::INJECTED].load(Relaxed), 1);
    Ok(())
}

fn weak(kit: &mut Kit) -> Checked {
    let mut guest = listening(kit, &SPIN)?;
    let weak = done!(kit.limited(guest.vcpu, right::WRITE));
    for call in [
        Call::VcpuRun,
        Call::VcpuConfigure,
        Call::VcpuAllowPorts,
        Call::VcpuRouteLine,
        Call::VcpuReset,
        Call::VcpuEndOfInterrupt,
        Call::VcpuBindSignals,
    ] {
        same!(raw_call(call as u64, [weak.into(), 0, 0, 0, 0, 0]), Error::NoRight.to_raw());
    }
    done!(vcpu_inject(weak, VECTOR));
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER);
    Ok(())
}

fn masked(kit: &mut Kit) -> Checked {
    // nop; vmmcall; sti; nop; jmp self
    let mut guest = listening(kit, &[0x90, 0x0f, 0x01, 0xd9, 0xfb, 0x90, 0xeb, 0xfe])?;
    done!(vcpu_inject(guest.vcpu, VECTOR));
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 1);
    guest.go(4);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER);
    Ok(())
}

fn lowered_and_halted(kit: &mut Kit) -> Checked {
    // mov cr8, eax; sti; hlt; jmp self
    let guest = listening(kit, &[0xf0, 0x0f, 0x22, 0xc0, 0xfb, 0xf4, 0xeb, 0xfe])?;
    guest.state().tpr.set(u64::from(VECTOR) + 0x10);
    done!(vcpu_inject(guest.vcpu, VECTOR));
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(20_000);
    same!(cells::get(0), 1_000 + Exit::Hypercall as u64);
    same!(guest.state().rip.get(), HANDLER);
    Ok(())
}

pub extern "C" fn runner(vcpu: u64) -> ! {
    loop {
        match vcpu_run(vcpu as Cap) {
            Ok([reason, _]) => cells::set(0, 1_000 + reason),
            Err(error) => cells::set(0, error as u64),
        }
        cells::add(1, 1);
        if cells::get(2) == 0 {
            stop()
        }
        // An emulator that counts gives the turn to another processor here only.
        core::hint::spin_loop();
    }
}

fn wakes(kit: &mut Kit) -> Checked {
    let guest = listening(kit, &HALT)?;
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(20_000);
    same!(cells::get(1), 0);
    done!(vcpu_inject(guest.vcpu, VECTOR));
    kit.rest(20_000);
    same!(cells::get(0), 1_000 + Exit::Hypercall as u64);
    same!(guest.state().rip.get(), HANDLER);
    same!(guest.state().counters[counter::HALTS].load(Relaxed), 1);
    Ok(())
}

fn timer(kit: &mut Kit) -> Checked {
    for code in [SPIN, HALT] {
        let mut guest = listening(kit, &code)?;
        let start = now();
        guest.state().timer_vector.store(VECTOR.into(), Relaxed);
        guest.state().deadline.store(start + 30_000, Relaxed);
        expect(&mut guest, Exit::Hypercall)?;
        let took = now() - start;
        same!(guest.state().rip.get(), HANDLER);
        check!((30_000..35_000).contains(&took), "after {took}");
        same!(guest.state().deadline.load(Relaxed), 0);
        done!(cap_delete(0, guest.vcpu));
    }
    Ok(())
}

/// The real-time clock, which interrupts some thousand times a second while its register C is read.
pub struct Clock(u32);

impl Clock {
    const LINE: u64 = 8;

    /// Routes the clock's line to a guest and lets it interrupt once.
    pub fn start(guest: &Guest) -> Checked<Clock> {
        done!(vcpu_route_line(guest.vcpu, slot::IRQ_CONTROL, Clock::LINE, VECTOR.into()));
        done!(port_out(slot::PORTS, 0x70, 1, 0xb));
        let control = done!(port_in(slot::PORTS, 0x71, 1));
        done!(port_out(slot::PORTS, 0x71, 1, control | 0x40));
        done!(port_out(slot::PORTS, 0x70, 1, 0xc));
        done!(port_in(slot::PORTS, 0x71, 1));
        Ok(Clock(control))
    }

    /// Restores the clock.
    pub fn stop(self, guest: &Guest) -> Checked {
        done!(port_out(slot::PORTS, 0x70, 1, 0xb));
        done!(port_out(slot::PORTS, 0x71, 1, self.0));
        done!(vcpu_route_line(guest.vcpu, slot::IRQ_CONTROL, Clock::LINE, route::MASKED));
        Ok(())
    }
}

fn line(kit: &mut Kit) -> Checked {
    let mut guest = listening(kit, &HALT)?;
    let clock = Clock::start(&guest)?;
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER);
    clock.stop(&guest)?;
    // The EOI that the guest owes is given when the guest ends; the next test needs it.
    done!(cap_delete(0, guest.vcpu));
    Ok(())
}

fn priorities(kit: &mut Kit) -> Checked {
    // The handlers return. The first one, of the higher vector, gives no EOI: the lower one waits.
    let mut guest = listening(kit, &SPIN)?;
    done!(vcpu_inject(guest.vcpu, VECTOR));
    done!(vcpu_inject(guest.vcpu, VECTOR + 0x20));
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER + 0x100);
    // wrmsr of the EOI; sti; then the lower vector comes.
    guest.put(0x900, &[0x0f, 0x30, 0xfb, 0x90, 0xeb, 0xfe]);
    guest.state().gpr[1].set(0x80b);
    guest.state().gpr[2].set(0);
    guest.state().gpr[0].set(0);
    guest.go(0x900);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), HANDLER);
    same!(guest.state().counters[counter::END_OF_INTERRUPT].load(Relaxed), 1);
    Ok(())
}

fn reset(kit: &mut Kit) -> Checked {
    let mut guest = listening(kit, &[0xfb, 0x90, 0x0f, 0x01, 0xd9])?;
    done!(vcpu_inject(guest.vcpu, VECTOR));
    done!(vcpu_reset(guest.vcpu));
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().rip.get(), 2);
    Ok(())
}

pub extern "C" fn periodic(period: u64) -> ! {
    let mut release = now() + period;
    loop {
        let _ = sleep(release);
        cells::raise(3, now().wrapping_sub(release));
        cells::add(4, 1);
        release += period;
    }
}

fn others(kit: &mut Kit) -> Checked {
    // Interrupts off, forever.
    let guest = listening(kit, &[0xeb, 0xfe])?;
    let space = done!(kit.space());
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    done!(kit.start(Setup::new(200, periodic).within(space).with(10_000)));
    kit.rest(1_000_000);
    check!(cells::get(4) >= 95, "{} periods", cells::get(4));
    check!(cells::get(3) < 1_500, "late by {}", cells::get(3));
    same!(cells::get(1), 0);
    Ok(())
}

extern "C" fn counter_thread(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
    }
}

fn halted(kit: &mut Kit) -> Checked {
    let guest = listening(kit, &HALT)?;
    done!(kit.start(Setup::new(30, runner).with(guest.vcpu.into())));
    done!(kit.start(Setup::new(20, counter_thread).with(5)));
    kit.rest(50_000);
    check!(cells::get(5) > 100, "the halted guest keeps the processor");
    Ok(())
}

fn suspended(kit: &mut Kit) -> Checked {
    for code in [SPIN, HALT] {
        cells::clear();
        let guest = listening(kit, &code)?;
        let t = done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
        kit.rest(20_000);
        done!(thread_suspend(t.thread));
        done!(vcpu_inject(guest.vcpu, VECTOR));
        kit.rest(20_000);
        same!(cells::get(1), 0);
        done!(pillion_runtime::thread_resume(t.thread));
        kit.rest(20_000);
        same!(cells::get(0), Error::Gone as u64);
        done!(cap_delete(0, guest.vcpu));
    }
    Ok(())
}

fn vcpu_ends(kit: &mut Kit) -> Checked {
    for code in [SPIN, HALT] {
        cells::clear();
        let guest = listening(kit, &code)?;
        done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
        kit.rest(20_000);
        done!(cap_delete(0, guest.vcpu));
        kit.rest(20_000);
        same!(cells::get(0), Error::Gone as u64);
    }
    Ok(())
}

fn state_ends(kit: &mut Kit) -> Checked {
    let guest = listening(kit, &SPIN)?;
    // Arms a timer; then the page that the timer would write to goes to another owner.
    guest.state().timer_vector.store(VECTOR.into(), Relaxed);
    guest.state().deadline.store(now() + 60_000, Relaxed);
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    kit.rest(20_000);
    let address = core::ptr::from_ref(guest.state()) as u64;
    done!(cap_revoke(0, guest.state_memory));
    // SAFETY: the page is still mapped here; the kernel must not write it any more, not even at the
    // guest's exit.
    unsafe { (address as *mut u8).write_bytes(0xaa, 4096) };
    kit.rest(10_000);
    same!(cells::get(0), Error::Gone as u64);
    kit.rest(100_000);
    for word in (address..address + 4096).step_by(8) {
        same!(crate::mappings::peek(word), 0xaaaa_aaaa_aaaa_aaaa);
    }
    Ok(())
}
