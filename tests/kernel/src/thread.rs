//! Threads: registers, and stopping a thread wherever it is.

use crate::{Test, cells};
use core::arch::naked_asm;
use pillion_abi::{NEVER, object::Kind, status::Error};
use pillion_runtime::{
    Cap, endpoint_bind, receive, thread_register, thread_resume, thread_set_registers, thread_suspend, wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same, stop};

pub const TESTS: &[Test] = &[
    ("thread/registers-are-kept", registers),
    ("thread/registers-are-kept-when-preempted", preempted),
    ("thread/starts-with-what-was-set", start),
    ("thread/starts-again-elsewhere", restart),
    ("thread/stopped-call-does-not-succeed", stopped_call),
    ("thread/bad-addresses-fault", bad_address),
];

/// Fills every register and spins, giving other emulated processors their turn.
#[unsafe(naked)]
pub extern "C" fn full(_: u64) -> ! {
    naked_asm!(
        "mov rax, 1; mov rbx, 2; mov rcx, 3; mov rdx, 4; mov rsi, 5; mov rdi, 6; mov rbp, 7",
        "mov r8, 8; mov r9, 9; mov r10, 10; mov r11, 11; mov r12, 12; mov r13, 13; mov r14, 14",
        "mov r15, 15",
        "2: pause; jmp 2b",
    )
}

/// Fills every register, enters the kernel again and again, and checks them; `ud2` if one is lost.
#[unsafe(naked)]
extern "C" fn checked(_: u64) -> ! {
    naked_asm!(
        "mov rbx, 2; mov rbp, 7; mov r12, 12; mov r13, 13; mov r14, 14; mov r15, 15; mov r8, 8",
        "mov r9, 9; mov r10, 10",
        "3: mov rax, 7; syscall; cmp rbx, 2; jne 4f",
        "cmp rbp, 7; jne 4f; cmp r12, 12; jne 4f; cmp r13, 13; jne 4f",
        "cmp r14, 14; jne 4f; cmp r15, 15; jne 4f; cmp r8, 8; jne 4f",
        "cmp r9, 9; jne 4f; cmp r10, 10; jne 4f; test rax, rax; jne 4f",
        "jmp 3b",
        "4: ud2",
    )
}

extern "C" fn noter(argument: u64) -> ! {
    cells::log(argument);
    stop()
}

extern "C" fn spinner(cell: u64) -> ! {
    loop {
        cells::add(cell as usize, 1);
    }
}

pub const FULL: [[u64; 2]; 8] = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15]];

/// All registers but the flags, the instruction and the stack pointer.
pub fn all(thread: Cap) -> Checked<[[u64; 2]; 8]> {
    let mut found = [[0; 2]; 8];
    for (i, pair) in found.iter_mut().enumerate() {
        *pair = done!(thread_register(thread, i as u64 + 1));
    }
    found[0][0] = 0;
    Ok(found)
}

fn registers(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(Setup::new(20, full)));
    kit.rest(5_000);
    done!(thread_suspend(t.thread));
    same!(all(t.thread)?, FULL);
    let [rip, rsp] = done!(thread_register(t.thread, 0));
    let code = full as *const () as u64;
    check!((code..code + 128).contains(&rip) && rsp != 0, "rip {rip:#x}, rsp {rsp:#x}");
    Ok(())
}

fn preempted(kit: &mut Kit) -> Checked {
    let space = done!(kit.space());
    let a = done!(kit.start(Setup::new(20, full)));
    let b = done!(kit.start(Setup::new(20, checked).within(space)));
    let c = done!(kit.start(Setup::new(20, checked)));
    for _ in 0..50 {
        kit.rest(1_777);
        // In turns: otherwise the spinning thread would keep the processor.
        done!(thread_suspend(a.thread));
        same!(all(a.thread)?, FULL);
        kit.rest(1_333);
        done!(thread_resume(a.thread));
    }
    for t in [b, c] {
        done!(thread_suspend(t.thread));
        let code = checked as *const () as u64;
        let rip = done!(thread_register(t.thread, 0))[0];
        check!(rip < code + 0xa0, "a register was lost");
    }
    Ok(())
}

fn start(kit: &mut Kit) -> Checked {
    let t = done!(kit.prepare(Setup::new(20, noter)));
    done!(thread_set_registers(t.thread, 0x1234, 0x5678, 0x9abc));
    same!(done!(thread_register(t.thread, 0)), [0x1234, 0x5678]);
    same!(done!(thread_register(t.thread, 4)), [0x9abc, 0]);
    Ok(())
}

fn restart(kit: &mut Kit) -> Checked {
    let t = done!(kit.start(Setup::new(20, spinner).with(1)));
    kit.rest(5_000);
    done!(thread_suspend(t.thread));
    let rsp = done!(thread_register(t.thread, 0))[1];
    done!(thread_set_registers(t.thread, noter as *const () as u64, rsp & !15 | 8, 42));
    done!(thread_resume(t.thread));
    kit.rest(5_000);
    crate::order!(42);
    Ok(())
}

extern "C" fn blocked(how: u64) -> ! {
    let status = match how {
        0 => wait(cells::cap(0), NEVER).err(),
        1 => receive(NEVER).err(),
        _ => pillion_runtime::call(cells::cap(1), 0, [0; 8]).err(),
    };
    cells::set(2, status.map_or(100, |e| e as u64));
    stop()
}

fn stopped_call(kit: &mut Kit) -> Checked {
    let (n, e, f) = (
        done!(kit.make(Kind::Notification, 0)),
        done!(kit.make(Kind::Endpoint, 0)),
        done!(kit.make(Kind::Endpoint, 0)),
    );
    cells::set(0, n);
    cells::set(1, e);
    let idle = done!(kit.prepare(Setup::new(20, noter)));
    done!(endpoint_bind(e, idle.thread));
    for how in 0..3 {
        cells::set(2, 0u64);
        let t = done!(kit.prepare(Setup::new(20, blocked).with(how)));
        if how == 1 {
            done!(endpoint_bind(f, t.thread));
        }
        done!(thread_resume(t.thread));
        kit.rest(5_000);
        done!(thread_suspend(t.thread));
        done!(thread_resume(t.thread));
        kit.rest(5_000);
        check!(cells::get(2) == Error::Gone as u64, "kind {how}: status {} (100 is success)", cells::get(2));
    }
    Ok(())
}

fn bad_address(kit: &mut Kit) -> Checked {
    for entry in [u64::MAX, 1 << 47, 0xffff_8000_0000_0000, 0x8000_0000_0000_0000] {
        let t = done!(kit.prepare(Setup::new(150, noter)));
        done!(thread_set_registers(t.thread, entry, 0xffff_8000_0000_0000, 0));
        done!(thread_resume(t.thread));
        kit.rest(5_000);
        done!(thread_resume(t.thread));
    }
    crate::order!();
    Ok(())
}
