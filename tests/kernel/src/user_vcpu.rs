//! User vCPUs: code of a guest's process in user mode, which exits whatever it tries.

use crate::{Test, cells, exits::expect, guest_interrupt::runner};
use core::arch::asm;
use core::cell::Cell;
use pillion_abi::{
    NEVER,
    boot::slot,
    object::Kind,
    status::Error::{BadState, Busy},
    vcpu::{Exit, Segment, configure, dirty, gpr},
};
use pillion_runtime::{
    Cap, cap_delete, now, park, ports_part, raw_call, signal, thread_bind_notification, timer_bind, timer_set,
    vcpu_inject, vcpu_notify, wait, yield_now,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, guest::Guest, refused, same, stop};

pub const TESTS: &[Test] = &[
    ("user-vcpu/hypercall", hypercall),
    ("user-vcpu/exceptions", exceptions),
    ("user-vcpu/left-to-the-guest-s-kernel", left_to_kernel),
    ("user-vcpu/page-faults", page_faults),
    ("user-vcpu/what-the-guest-does-not-have", nested_fault),
    ("user-vcpu/privileged-instructions", privileged),
    ("user-vcpu/kept-in-user-mode", confined),
    ("user-vcpu/time-is-read", time_stamp),
    ("user-vcpu/fpu-of-its-thread", fpu),
    ("user-vcpu/segment-bases-that-it-writes", bases),
    ("user-vcpu/page-tables-that-change", tables_change),
    ("user-vcpu/time-limit", time_limit),
    ("user-vcpu/system-calls-have-a-bound", bound),
    ("user-vcpu/wakes-have-a-bound", wakes_in_time),
    ("user-vcpu/others-are-not-delayed", others),
    ("user-vcpu/calls-that-are-refused", refused_calls),
];

pub const HYPERCALL: [u8; 3] = [0x0f, 0x01, 0xd9];
pub const SPIN: [u8; 2] = [0xeb, 0xfe];

const INVALID_OPCODE: u64 = 6;
const GENERAL_PROTECTION: u64 = 13;
const PAGE_FAULT: u64 = 14;

/// Runs up to an exception; returns its vector and error code.
fn exception(guest: &mut Guest) -> Checked<(u64, u64)> {
    expect(guest, Exit::Exception)?;
    let info = guest.state().fault.get().info;
    Ok((info & 0xff, info >> 32))
}

fn hypercall(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    // inc rdi; add r8, rdi; vmmcall
    guest.execute(&[0x48, 0xff, 0xc7, 0x49, 0x01, 0xf8, 0x0f, 0x01, 0xd9]);
    guest.state().gpr[gpr::RDI].set(41);
    guest.state().gpr[gpr::R8].set(1 << 40);
    expect(&mut guest, Exit::Hypercall)?;
    same!(
        (guest.state().gpr[gpr::RDI].get(), guest.state().gpr[gpr::R8].get(), guest.state().rip.get()),
        (42, (1 << 40) + 42, 6)
    );
    // It continues at the given address, with its registers.
    guest.go(3);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().gpr[gpr::R8].get(), (1 << 40) + 84);
    Ok(())
}

fn exceptions(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    let cases: [(&[u8], (u64, u64)); 4] = [
        (&[0x0f, 0x0b], (INVALID_OPCODE, 0)),
        // xor ecx, ecx; div ecx
        (&[0x31, 0xc9, 0xf7, 0xf1], (0, 0)),
        // SYSCALL is off.
        (&[0x0f, 0x05], (INVALID_OPCODE, 0)),
        // A non-canonical address.
        (&[0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x8a, 0x00], (GENERAL_PROTECTION, 0)),
    ];
    for (code, wanted) in cases {
        guest.execute(code);
        same!(exception(&mut guest)?, wanted);
    }
    // There is no interrupt table.
    guest.execute(&[0xcd, 0x80]);
    same!(exception(&mut guest)?.0, GENERAL_PROTECTION);
    Ok(())
}

fn page_faults(kit: &mut Kit) -> Checked {
    use pillion_test_kit::user_guest::PART;
    let mut guest = Guest::user(kit)?;
    // mov al, [rdi]; and mov [rdi], al
    for (code, bits) in [([0x8a, 0x07], 0), ([0x88, 0x07], 2)] {
        for (address, present) in [(2 * PART + 0x123, 1), (3 * PART, 0), (0xffff_8000_0000_0000, 0)] {
            guest.execute(&code);
            guest.state().gpr[gpr::RDI].set(address);
            same!(exception(&mut guest)?, (PAGE_FAULT, 4 | bits | present));
            same!(guest.state().fault.get().address, address);
        }
    }
    // A fault that the monitor has not handled comes again.
    same!(exception(&mut guest)?.0, PAGE_FAULT);
    Ok(())
}

fn nested_fault(kit: &mut Kit) -> Checked {
    use pillion_test_kit::user_guest::PART;
    let mut guest = Guest::user(kit)?;
    guest.execute(&[0x8a, 0x07]);
    guest.state().gpr[gpr::RDI].set(PART + 0x5678);
    expect(&mut guest, Exit::Memory)?;
    same!(guest.state().fault.get().address, PART + 0x5678);
    Ok(())
}

/// Instructions that show the descriptor tables or set the trap flag: the guest's kernel executes
/// them.
fn left_to_kernel(kit: &mut Kit) -> Checked {
    const INSTRUCTIONS: [&[u8]; 6] = [
        &[0x0f, 0x01, 0x04, 0x24], // sgdt [rsp]
        &[0x0f, 0x01, 0x0c, 0x24], // sidt [rsp]
        &[0x0f, 0x00, 0xc0],       // sldt eax
        &[0x0f, 0x00, 0xc8],       // str eax
        &[0x9d],                   // popf
        &[0x48, 0xcf],             // iretq
    ];
    let mut guest = Guest::user(kit)?;
    for code in INSTRUCTIONS {
        guest.execute(code);
        let start = guest.state().rip.get();
        expect(&mut guest, Exit::Refused)?;
        same!(guest.state().rip.get(), start);
    }
    Ok(())
}

/// Instructions reserved for the guest's kernel.
const PRIVILEGED: [&[u8]; 26] = [
    &[0xf4],                   // hlt
    &[0xfa],                   // cli
    &[0xfb],                   // sti
    &[0xe4, 0x60],             // in al, 0x60
    &[0xe6, 0x80],             // out 0x80, al
    &[0x6e],                   // outsb
    &[0x0f, 0x20, 0xd8],       // mov rax, cr3
    &[0x0f, 0x22, 0xd8],       // mov cr3, rax
    &[0x44, 0x0f, 0x20, 0xc0], // mov rax, cr8
    &[0x0f, 0x21, 0xf8],       // mov rax, dr7
    &[0x0f, 0x23, 0xf8],       // mov dr7, rax
    &[0x0f, 0x32],             // rdmsr
    &[0x0f, 0x30],             // wrmsr
    &[0x0f, 0x01, 0x10],       // lgdt
    &[0x0f, 0x01, 0x18],       // lidt
    &[0x0f, 0x00, 0xd8],       // ltr
    &[0x0f, 0x09],             // wbinvd
    &[0x0f, 0x06],             // clts
    &[0x0f, 0x01, 0x38],       // invlpg
    &[0x0f, 0x01, 0xf8],       // swapgs
    &[0x0f, 0x34],             // sysenter
    &[0x0f, 0x01, 0xd1],       // xsetbv
    &[0x0f, 0x01, 0xd8],       // vmrun
    &[0x0f, 0x01, 0xdc],       // stgi
    &[0x0f, 0xa2],             // cpuid
    &[0x48, 0xcf],             // iretq
];

fn privileged(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    for (i, code) in PRIVILEGED.into_iter().enumerate() {
        guest.execute(code);
        guest.state().gpr[gpr::RSP].set(0x6000);
        let [reason, _] = done!(guest.run());
        let out = reason == Exit::Exception as u64 || reason == Exit::Refused as u64;
        check!(
            out && guest.state().rip.get() == 0,
            "instruction {i}: reason {reason}, at {:#x}",
            guest.state().rip.get()
        );
    }
    Ok(())
}

/// The monitor asks for the most privileged mode in every possible way.
fn confined(kit: &mut Kit) -> Checked {
    const SYSCALL_ENABLE: u64 = 1;
    let mut guest = Guest::user(kit)?;
    for (i, code) in
        [&[0xf4][..], &[0x0f, 0x20, 0xc0], &[0x0f, 0x05], &[0xcd, 0x20], &[0xcd, 0x03]].into_iter().enumerate()
    {
        for real_mode in [false, true] {
            guest.execute(code);
            let state = guest.state();
            let attributes = |segment: &Cell<Segment>, attributes| segment.update(|s| Segment { attributes, ..s });
            attributes(&state.cs, 0xa9b);
            attributes(&state.ss, 0xc93);
            state.efer.update(|bits| bits | SYSCALL_ENABLE);
            [&state.idtr, &state.gdtr].into_iter().for_each(|table| table.update(|s| Segment { limit: 0xffff, ..s }));
            state.rflags.set(0x3202);
            if real_mode {
                state.cr0.set(0x10);
                [&state.cr4, &state.efer].into_iter().for_each(|register| register.set(0));
                attributes(&state.cs, 0x9b);
                attributes(&state.ss, 0x93);
            }
            let (vector, _) = exception(&mut guest)?;
            check!(matches!(vector, INVALID_OPCODE | GENERAL_PROTECTION), "instruction {i}: vector {vector}");
            same!((guest.state().rip.get(), guest.state().cs.get().attributes >> 5 & 3), (0, 3));
        }
    }
    Ok(())
}

fn time_stamp(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    // rdtsc; vmmcall
    guest.execute(&[0x0f, 0x31, 0x0f, 0x01, 0xd9]);
    let before = now();
    expect(&mut guest, Exit::Hypercall)?;
    let read = guest.state().gpr[gpr::RDX].get() << 32 | guest.state().gpr[gpr::RAX].get();
    check!((before..now()).contains(&read), "{read}, after {before}");
    Ok(())
}

/// In rounds: gives a guest a number in XMM3, and counts at cell 0 if it comes back there plus one.
///
/// # Safety
/// The argument is the address of a guest that nobody else uses while this thread exists.
unsafe extern "C" fn numbers(guest: u64) -> ! {
    // SAFETY: the caller vouches for it.
    let guest = unsafe { &mut *(guest as *mut Guest) };
    for number in 1_u64.. {
        guest.go(0);
        // SAFETY: this program is built without these registers, and the thread has them.
        unsafe { asm!("movq xmm3, {}", in(reg) number, options(nomem, nostack, preserves_flags)) };
        let exit = guest.run();
        let back: u64;
        // SAFETY: as above.
        unsafe { asm!("movq {}, xmm3", out(reg) back, options(nomem, nostack, preserves_flags)) };
        cells::add(u64::from(exit.is_err() || back != number + 1) as usize, 1);
        yield_now();
    }
    park()
}

fn fpu(kit: &mut Kit) -> Checked {
    // movq rsi, xmm3; inc rsi; movq xmm3, rsi; vmmcall
    const CODE: [u8; 16] =
        [0x66, 0x48, 0x0f, 0x7e, 0xde, 0x48, 0xff, 0xc6, 0x66, 0x48, 0x0f, 0x6e, 0xde, 0x0f, 0x01, 0xd9];
    let mut guest = Guest::user(kit)?;
    guest.execute(&CODE);
    let with_fpu = |entry, argument| Setup { fpu: true, ..Setup::new(20, entry).with(argument) };
    done!(kit.start(with_fpu(numbers, &raw mut guest as u64)));
    // Uses the same registers in turns with it.
    done!(kit.start(with_fpu(crate::fpu::vectors, 0x7654_0005)));
    for _ in 0..40 {
        kit.rest(7_777);
    }
    check!(cells::get(0) > 20 && cells::get(1) == 0, "{} numbers were right, {} wrong", cells::get(0), cells::get(1));
    Ok(())
}

/// It writes the bases of FS and GS and clears the selectors; an exit for the monitor shows them,
/// and so does one for the monitor's notification, and they are there when it goes on.
fn bases(kit: &mut Kit) -> Checked {
    const FSGSBASE: u64 = 1 << 16;
    let mut guest = Guest::user(kit)?;
    // wrfsbase rdi; wrgsbase rsi; vmmcall
    const WRITE: [u8; 13] = [0xf3, 0x48, 0x0f, 0xae, 0xd7, 0xf3, 0x48, 0x0f, 0xae, 0xde, 0x0f, 0x01, 0xd9];
    // rdfsbase rdi; rdgsbase rsi; vmmcall
    const READ: [u8; 13] = [0xf3, 0x48, 0x0f, 0xae, 0xc7, 0xf3, 0x48, 0x0f, 0xae, 0xce, 0x0f, 0x01, 0xd9];
    // wrfsbase rdi; wrgsbase rsi; jmp self
    let and_spin: [u8; 12] = core::array::from_fn(|i| if i < 10 { WRITE[i] } else { SPIN[i - 10] });
    let n = done!(kit.make(Kind::Notification, 0));
    let timer = done!(kit.make(Kind::Timer, 0));
    done!(timer_bind(timer, n, 1));
    for (code, reason) in [(&WRITE[..], Exit::Hypercall), (&and_spin, Exit::Notified)] {
        guest.execute(code);
        guest.put(0x100, &READ);
        let state = guest.state();
        state.cr4.update(|bits| bits | FSGSBASE);
        let bases = [0x7fff_1234_5678, 0xffff_8000_0000_0040];
        state.gpr[gpr::RDI].set(bases[0]);
        state.gpr[gpr::RSI].set(bases[1]);
        if reason == Exit::Notified {
            done!(thread_bind_notification(slot::THREAD, n));
            done!(timer_set(timer, now() + 20_000));
        }
        expect(&mut guest, reason)?;
        done!(thread_bind_notification(slot::THREAD, 0));
        let shown = || [&guest.state().fs, &guest.state().gs].map(|segment| segment.get());
        same!(shown().map(|segment| segment.base), bases);
        same!(shown().map(|segment| segment.selector), [0x2b, 0x2b]);
        // The monitor changes everything, from what it was shown.
        guest.go(0x100);
        guest.state().dirty.update(|bits| bits | dirty::SYSTEM);
        expect(&mut guest, Exit::Hypercall)?;
        same!([guest.state().gpr[gpr::RDI].get(), guest.state().gpr[gpr::RSI].get()], bases);
        // xor eax, eax; mov fs, eax; mov gs, eax; vmmcall
        guest.put(0x200, &[0x31, 0xc0, 0x8e, 0xe0, 0x8e, 0xe8, 0x0f, 0x01, 0xd9]);
        guest.go(0x200);
        expect(&mut guest, Exit::Hypercall)?;
        same!([guest.state().fs.get().selector, guest.state().gs.get().selector], [0, 0]);
    }
    Ok(())
}

fn tables_change(kit: &mut Kit) -> Checked {
    use pillion_test_kit::user_guest::{PART, ROOT};
    let mut guest = Guest::user(kit)?;
    // mov al, [rdi]; vmmcall
    guest.execute(&[0x8a, 0x07, 0x0f, 0x01, 0xd9]);
    guest.put(0x4000, &[0x5a]);
    guest.entry(ROOT + 0x2000 + 3 * 8, 0x87);
    guest.state().gpr[gpr::RDI].set(3 * PART + 0x4000);
    expect(&mut guest, Exit::Hypercall)?;
    same!(guest.state().gpr[gpr::RAX].get() & 0xff, 0x5a);
    // The mapping is removed without notice.
    guest.entry(ROOT + 0x2000 + 3 * 8, 0);
    guest.go(0);
    same!(exception(&mut guest)?.0, PAGE_FAULT);
    Ok(())
}

fn time_limit(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    guest.execute(&SPIN);
    let n = done!(kit.make(Kind::Notification, 0));
    done!(thread_bind_notification(slot::THREAD, n));
    let timer = done!(kit.make(Kind::Timer, 0));
    done!(timer_bind(timer, n, 0x80));
    for _ in 0..3 {
        let start = now();
        done!(timer_set(timer, start + 20_000));
        same!(expect(&mut guest, Exit::Notified)?, 0x80);
        let passed = now() - start;
        check!((20_000..25_000).contains(&passed), "after {passed}");
        same!(guest.state().rip.get(), 0);
    }
    done!(thread_bind_notification(slot::THREAD, 0));
    Ok(())
}

/// Answers system calls of a guest, one after the other; leaves the longest time from one to the
/// next, without its own, at cell 0, and at cell 1 how many exits were something else.
///
/// # Safety
/// The argument is the address of a guest that nobody else uses while this thread exists.
unsafe extern "C" fn answers(guest: u64) -> ! {
    // SAFETY: the caller vouches for it.
    let guest = unsafe { &mut *(guest as *mut Guest) };
    for round in 0..100 {
        let start = now();
        let exit = guest.run();
        let passed = now() - start;
        // The first takes over the whole state.
        cells::set(0, if round == 0 { 0 } else { cells::get(0).max(passed) });
        let state = guest.state();
        let is_call = exit == Ok([Exit::Exception as u64, 0]) && state.fault.get().info == INVALID_OPCODE;
        cells::add(1, u64::from(!is_call || state.rip.get() != 0));
        guest.go(2);
    }
    stop()
}

/// What it costs at most to enter or to leave the kernel where several processors run: its lock,
/// what it shows of the page tables that it uses, and what it counts.
pub fn border(kit: &Kit) -> u64 {
    if kit.info.cpus > 1 { 15 } else { 0 }
}

/// A system call of a process, what the monitor does about it not included: into the guest and out
/// again. A tick is an instruction; the stub of the call and the clock take about 10.
fn bound(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    // syscall; jmp back
    guest.execute(&[0x0f, 0x05, 0xeb, 0xfc]);
    done!(kit.start(Setup { fpu: true, ..Setup::new(20, answers).with(&raw mut guest as u64) }));
    kit.rest(200_000);
    let most = 290 + 4 * border(kit);
    check!((200..=most).contains(&cells::get(0)), "{} instructions a call", cells::get(0));
    same!(cells::get(1), 0);
    Ok(())
}

/// A deadline of the monitor's, after which it runs the guest: leaves the longest times from the
/// deadline to the monitor and to the guest at cells 0 and 1.
///
/// # Safety
/// As for [`answers`].
unsafe extern "C" fn wakes(guest: u64) -> ! {
    // SAFETY: the caller vouches for it.
    let guest = unsafe { &mut *(guest as *mut Guest) };
    let [note, end] = [gpr::R8, gpr::RDI].map(|register| guest.state().gpr[register].get() as Cap);
    for round in 0..100 {
        let deadline = now() + 5_000;
        let _ = wait(note, deadline);
        let woken = now();
        guest.go(0);
        let _ = guest.run();
        let state = guest.state();
        let ran = state.gpr[gpr::RDX].get() << 32 | state.gpr[gpr::RAX].get();
        for (cell, time) in [(0, woken), (1, ran)] {
            // The first takes over the whole state.
            cells::set(cell, if round == 0 { 0 } else { cells::get(cell).max(time - deadline) });
        }
    }
    let _ = signal(end);
    stop()
}

extern "C" fn spins(_: u64) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// From a deadline to a process, while another thread with FPU state runs in another space.
fn wakes_in_time(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    // rdtsc; syscall
    guest.execute(&[0x0f, 0x31, 0x0f, 0x05]);
    let (note, end) = (done!(kit.make(Kind::Notification, 0)), done!(kit.make(Kind::Notification, 0)));
    guest.state().gpr[gpr::R8].set(note.into());
    guest.state().gpr[gpr::RDI].set(done!(kit.badged(end, 1)).into());
    let space = done!(kit.space());
    done!(kit.start(Setup { fpu: true, ..Setup::new(20, spins) }.within(space)));
    done!(kit.start(Setup { fpu: true, ..Setup::new(60, wakes).with(&raw mut guest as u64) }));
    done!(wait(end, NEVER));
    let [to_monitor, to_guest] = [0, 1].map(cells::get);
    // Where several processors run, whose FPU state is loaded is looked at (`guest::taken`).
    let shown = if kit.info.cpus > 1 { 30 } else { 0 };
    let (monitor, guest) = (335 + 2 * border(kit) + shown, 505 + 4 * border(kit) + shown);
    check!(
        to_monitor <= monitor && to_guest <= guest,
        "the monitor ran after {to_monitor}, the guest after {to_guest}"
    );
    Ok(())
}

fn others(kit: &mut Kit) -> Checked {
    let mut guest = Guest::user(kit)?;
    guest.execute(&SPIN);
    let space = done!(kit.space());
    done!(kit.start(Setup::new(20, runner).with(guest.vcpu.into())));
    done!(kit.start(Setup::new(200, crate::guest_interrupt::periodic).within(space).with(10_000)));
    kit.rest(1_000_000);
    check!(cells::get(4) >= 95, "{} periods", cells::get(4));
    check!(cells::get(3) < 1_500, "late by {}", cells::get(3));
    same!(cells::get(1), 0);
    Ok(())
}

fn refused_calls(kit: &mut Kit) -> Checked {
    use pillion_abi::call::Call;
    let guest = Guest::user(kit)?;
    let vcpu = u64::from(guest.vcpu);
    let ports = kit.slot();
    done!(ports_part(slot::PORTS, 0x80, 1, ports));
    refused!(vcpu_inject(guest.vcpu, 0x30), BadState);
    refused!(vcpu_notify(guest.vcpu, 0x30, ports, 0, 0), BadState);
    for (call, argument) in [
        (Call::VcpuAllowPorts, u64::from(ports)),
        (Call::VcpuRouteLine, slot::IRQ_CONTROL.into()),
        (Call::VcpuReset, 0),
        (Call::VcpuEndOfInterrupt, 0),
        (Call::VcpuBindSignals, 0),
    ] {
        same!(raw_call(call as u64, [vcpu, argument, 8, 0x30, 0, 0]), BadState.to_raw());
    }
    let again = [vcpu, guest.space.into(), guest.state_memory.into(), configure::USER, 0, 0];
    same!(raw_call(Call::VcpuConfigure as u64, again), Busy.to_raw());
    done!(cap_delete(0, guest.vcpu));
    Ok(())
}
