//! User vCPUs beside the passenger, and what a hostile guest can do with one.

use crate::{
    Test, cells,
    exits::{expect, with},
    guest_interrupt::{Clock, HANDLER, VECTOR, listening, runner},
    user_vcpu::{HYPERCALL, SPIN},
};
use pillion_abi::{
    PAGE,
    boot::slot,
    object::{Kind, map},
    status::Error,
    vcpu::{Exit, Segment, gpr},
};
use pillion_runtime::{cap_delete, now, thread_bind_notification, timer_bind, timer_set, vcpu_inject};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, same};

pub const TESTS: &[Test] = &[
    ("user-vcpu/in-the-passenger-s-memory", shared_memory),
    ("user-vcpu/the-passenger-s-interrupts-wait-for-it", interrupts),
    ("user-vcpu/two-take-turns", two),
    ("user-vcpu/a-budget-is-all-that-it-burns", budget),
    ("user-vcpu/ends-while-running", ends),
    ("user-vcpu/any-state", any_state),
];

fn shared_memory(kit: &mut Kit) -> Checked {
    // The passenger writes, the process adds, the passenger reads. mov byte [0x500], 5; vmmcall;
    // mov al, [0x500]; vmmcall
    let mut linux = with(kit, &[0xc6, 0x06, 0, 5, 5, 0x0f, 0x01, 0xd9, 0xa0, 0, 5, 0x0f, 0x01, 0xd9])?;
    expect(&mut linux, Exit::Hypercall)?;
    let mut process = linux.process(kit)?;
    // add byte [0x500], 3; vmmcall
    process.put(0x100, &[0x80, 0x04, 0x25, 0, 5, 0, 0, 3, 0x0f, 0x01, 0xd9]);
    process.go(0x100);
    expect(&mut process, Exit::Hypercall)?;
    linux.go(8);
    expect(&mut linux, Exit::Hypercall)?;
    same!(linux.state().gpr[gpr::RAX].get() & 0xff, 8);
    Ok(())
}

fn interrupts(kit: &mut Kit) -> Checked {
    // sti; nop; jmp self
    let mut linux = listening(kit, &[0xfb, 0x90, 0xeb, 0xfe])?;
    let mut process = linux.process(kit)?;
    process.put(0x100, &SPIN);
    process.go(0x100);
    let n = done!(kit.make(Kind::Notification, 0));
    let timer = done!(kit.make(Kind::Timer, 0));
    done!(timer_bind(timer, n, 1));
    done!(thread_bind_notification(slot::THREAD, n));
    // A physical interrupt of the passenger while the process runs, and a virtual one before it.
    done!(vcpu_inject(linux.vcpu, VECTOR + 0x20));
    let clock = Clock::start(&linux)?;
    done!(timer_set(timer, now() + 3_000_000));
    expect(&mut process, Exit::Notified)?;
    same!(process.state().rip.get(), 0x100);
    expect(&mut linux, Exit::Hypercall)?;
    same!(linux.state().rip.get(), HANDLER + 0x100);
    check!(linux.state().irr.get()[0] & 1 << VECTOR != 0, "the line's interrupt is lost");
    clock.stop(&linux)?;
    done!(thread_bind_notification(slot::THREAD, 0));
    done!(cap_delete(0, linux.vcpu));
    Ok(())
}

/// Two vCPUs on different page tables: an address shows each its own memory, whichever ran before.
fn two(kit: &mut Kit) -> Checked {
    let mut guests = [Guest::user(kit)?, Guest::user(kit)?];
    for (i, guest) in guests.iter_mut().enumerate() {
        // mov al, [0x5000]; inc byte [0x5000]; vmmcall
        guest.execute(&[0x8a, 0x04, 0x25, 0, 0x50, 0, 0, 0xfe, 0x04, 0x25, 0, 0x50, 0, 0, 0x0f, 0x01, 0xd9]);
        guest.put(0x5000, &[100 * i as u8]);
    }
    for round in 0..4 {
        for (i, guest) in guests.iter_mut().enumerate() {
            guest.go(0);
            expect(guest, Exit::Hypercall)?;
            same!(guest.state().gpr[gpr::RAX].get() & 0xff, 100 * i as u64 + round);
        }
    }
    Ok(())
}

extern "C" fn count(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
    }
}

fn budget(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    // inc qword [0x5000]; jmp back
    guest.execute(&[0x48, 0xff, 0x04, 0x25, 0, 0x50, 0, 0, 0xeb, 0xf6]);
    let limited = Setup { budget: 20_000, period: 100_000, ..Setup::new(60, runner) };
    done!(kit.start(limited.with(guest.vcpu.into())));
    done!(kit.start(Setup::new(20, count).with(5)));
    kit.rest(1_000_000);
    let (burnt, left) = (guest.word(0x5000), cells::get(5));
    check!(burnt > 1_000 && left > 1_000, "{burnt} rounds of the guest, {left} of the other");
    // At most eleven budgets, and a round takes two instructions.
    check!(burnt <= 11 * 20_000 / 2, "{burnt} rounds");
    same!(cells::get(1), 0);
    Ok(())
}

fn ends(kit: &mut Kit) -> Checked {
    for _ in 0..2 {
        cells::clear();
        let mut guest = Guest::user(kit)?;
        guest.execute(&SPIN);
        done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
        kit.rest(20_000);
        done!(cap_delete(0, guest.vcpu));
        kit.rest(20_000);
        same!(cells::get(0), Error::Gone as u64);
    }
    Ok(())
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number of random size.
    fn any(&mut self) -> u64 {
        let size = self.next() % 64;
        self.next() >> size
    }
}

/// Whatever registers, page tables and code the guest sets up, it exits in time, and memory beside
/// the guest's stays as it is.
fn any_state(kit: &mut Kit) -> Checked {
    const FILL: u64 = 0x6b6b_6b6b_6b6b_6b6b;
    let (_, before) = done!(kit.memory(PAGE, map::WRITE));
    let mut guest = Guest::user(kit)?;
    let (_, after) = done!(kit.memory(PAGE, map::WRITE));
    let beside = || (before..before + PAGE).chain(after..after + PAGE).step_by(8);
    // SAFETY: both pages are mapped here and belong to the test.
    beside().for_each(|at| unsafe { (at as *mut u64).write_volatile(FILL) });
    let n = done!(kit.make(Kind::Notification, 0));
    let timer = done!(kit.make(Kind::Timer, 0));
    done!(timer_bind(timer, n, 1));
    done!(thread_bind_notification(slot::THREAD, n));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..300 {
        for word in 0..512 {
            // Entries that lead somewhere, and words that are valid instructions or not.
            let entry = random.any() & 0xffff | 7;
            guest.entry(0x8000 + word * 8, if random.next().is_multiple_of(2) { entry } else { random.next() });
            guest.entry(word * 8, random.next());
        }
        guest.enter_user_mode();
        let state = guest.state();
        state.rip.set(random.any());
        state.rflags.set(random.any() | 2);
        state.cr3.set(if round % 3 == 0 { random.any() } else { random.any() & 0xf000 });
        state.gpr.iter().for_each(|register| register.set(random.any()));
        if round % 4 == 0 {
            [&state.cr0, &state.cr4, &state.efer].into_iter().for_each(|register| register.set(random.any()));
            for segment in [&state.cs, &state.ss] {
                segment.update(|s| Segment { attributes: random.any() as u16, ..s });
            }
        }
        done!(timer_set(timer, now() + 20_000));
        let [reason, _] = done!(guest.run());
        check!(Exit::from_raw(reason).is_some(), "round {round}: reason {reason}");
        same!((guest.state().cs.get().attributes >> 5) & 3, 3);
    }
    done!(thread_bind_notification(slot::THREAD, 0));
    for at in beside() {
        same!(crate::mappings::peek(at), FILL);
    }
    // The vCPU works as before.
    let mut fresh = Guest::user(kit)?;
    fresh.execute(&HYPERCALL);
    expect(&mut fresh, Exit::Hypercall)?;
    Ok(())
}
