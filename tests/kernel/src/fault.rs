//! How faults of user threads are reported.

use crate::Test;
use core::arch::naked_asm;
use pillion_abi::{boot::slot, call::LABEL_FAULT, object::Kind};
use pillion_runtime::{Cap, endpoint_bind, now, receive, reply, thread_register};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same, stop};

pub const TESTS: &[Test] = &[
    ("fault/every-kind", kinds),
    ("fault/badge-tells-whose", badge),
    ("fault/registers-of-the-faulting-thread", registers),
    ("fault/without-a-handler-stops", no_handler),
    ("fault/flags-that-user-code-must-not-keep", flags),
];

macro_rules! faulting {
    ($($name:ident: $($code:literal),*;)*) => {$(
        #[unsafe(naked)]
        extern "C" fn $name(_: u64) -> ! {
            naked_asm!($($code,)* "2: jmp 2b")
        }
    )*};
}

faulting! {
    undefined: "ud2";
    halt: "hlt";
    no_interrupts: "cli";
    read_control: "mov rax, cr0";
    read_msr: "mov ecx, 0xc0000080", "rdmsr";
    write_xcr0: "xor ecx, ecx", "xor edx, edx", "mov eax, 1", "xsetbv";
    port_in: "in al, 0x70";
    port_out: "out 0x80, al";
    software: "int 0x80";
    software_timer: "int 0xfe";
    breakpoint: "int3";
    divide: "xor edx, edx", "mov eax, 1", "xor ecx, ecx", "div ecx";
    overflow: "xor edx, edx", "mov rax, 1", "mov edx, 1", "mov ecx, 1", "div ecx";
    no_fpu: "fninit";
    no_sse: "xorps xmm0, xmm0";
    far_address: "movabs rax, 0x8000000000000000", "mov rax, [rax]";
    load_tables: "lidt [rsp]";
    bad_segment: "mov eax, 0x1000", "mov ds, eax";
    guest_call: "vmmcall";
    guest_run: "vmrun rax";
    swap: "swapgs";
    single_step: "pushfq", "or dword ptr [rsp], 0x100", "popfq", "nop";
    returns: "sysretq";
}

type Code = extern "C" fn(u64) -> !;

/// Code, vector, and the offset of the faulting instruction.
const KINDS: [(Code, u64, u64); 23] = [
    (undefined, 6, 0),
    (halt, 13, 0),
    (no_interrupts, 13, 0),
    (read_control, 13, 0),
    (read_msr, 13, 5),
    (write_xcr0, 13, 9),
    (port_in, 13, 0),
    (port_out, 13, 0),
    (software, 13, 0),
    (software_timer, 13, 0),
    (breakpoint, 3, 1),
    (divide, 0, 9),
    (overflow, 0, 19),
    (no_fpu, 7, 0),
    (no_sse, 7, 0),
    (far_address, 13, 10),
    (load_tables, 13, 0),
    (bad_segment, 13, 5),
    (guest_call, 6, 0),
    (guest_run, 13, 0),
    (swap, 13, 0),
    (single_step, 1, 10),
    (returns, 13, 0),
];

/// Makes a handler endpoint whose receiver is this thread.
pub fn handler(kit: &mut Kit) -> Checked<Cap> {
    let endpoint = done!(kit.make(Kind::Endpoint, 0));
    done!(endpoint_bind(endpoint, slot::THREAD));
    Ok(endpoint)
}

fn kinds(kit: &mut Kit) -> Checked {
    let (fault, space) = (handler(kit)?, done!(kit.space()));
    for (i, (code, vector, offset)) in KINDS.into_iter().enumerate() {
        if i == KINDS.len() / 2 {
            // Stacks are not freed within a test.
            kit.end()?;
            kit.begin()?;
            return rest(kit, i);
        }
        one(kit, fault, space, i, code, vector, offset)?;
    }
    Ok(())
}

fn rest(kit: &mut Kit, from: usize) -> Checked {
    let (fault, space) = (handler(kit)?, done!(kit.space()));
    for (i, (code, vector, offset)) in KINDS.into_iter().enumerate().skip(from) {
        one(kit, fault, space, i, code, vector, offset)?;
    }
    Ok(())
}

fn one(kit: &mut Kit, fault: Cap, space: Cap, i: usize, code: Code, vector: u64, offset: u64) -> Checked {
    done!(kit.start(Setup { fault, ..Setup::new(50, code).within(space) }));
    let message = receive(now() + 100_000).map_err(|e| pillion_test_kit::failure!("kind {i}: {e:?}"))?;
    same!(message.label, LABEL_FAULT);
    let [found, _, _, rip, rsp, _, _, _] = message.words;
    let at = rip - code as *const () as u64;
    check!(found == vector && rsp != 0, "kind {i}: vector {found}, not {vector}");
    // QEMU reports some of these one instruction later.
    check!(at == offset || vector == 1, "kind {i}: at {at}, not {offset}");
    done!(reply(9, [0; 8]));
    Ok(())
}

fn badge(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    for number in [7, 1 << 50] {
        let badged = done!(kit.badged(fault, number));
        done!(kit.start(Setup { fault: badged, ..Setup::new(50, undefined) }));
        same!(done!(receive(now() + 100_000)).badge, number);
        done!(reply(9, [0; 8]));
    }
    Ok(())
}

#[unsafe(naked)]
extern "C" fn numbered(_: u64) -> ! {
    naked_asm!(
        "mov rax, 1; mov rbx, 2; mov rcx, 3; mov rdx, 4; mov rsi, 5; mov rdi, 6; mov rbp, 7",
        "mov r8, 8; mov r9, 9; mov r10, 10; mov r11, 11; mov r12, 12; mov r13, 13; mov r14, 14",
        "mov r15, 15; ud2; cmp rax, 1; jne 3f; cmp rcx, 3; jne 3f",
        "cmp r11, 11; jne 3f; cmp r15, 15; jne 3f; int3",
        "3: ud2",
    )
}

fn registers(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let t = done!(kit.start(Setup { fault, ..Setup::new(50, numbered) }));
    let message = done!(receive(now() + 100_000));
    for (index, pair) in [(2, [2, 3]), (3, [4, 5]), (4, [6, 7]), (6, [10, 11]), (8, [14, 15])] {
        same!(done!(thread_register(t.thread, index)), pair);
    }
    let mut words = [0; 8];
    words[0] = message.words[3] + 2;
    done!(reply(1, words));
    // The registers are unchanged: it reaches the breakpoint.
    same!(done!(receive(now() + 100_000)).words[0], 3);
    Ok(())
}

extern "C" fn bystander(_: u64) -> ! {
    crate::cells::log(5);
    stop()
}

fn no_handler(kit: &mut Kit) -> Checked {
    done!(kit.start(Setup::new(150, undefined)));
    done!(kit.start(Setup::new(20, bystander)));
    kit.rest(200_000);
    crate::order!(5);
    Ok(())
}

#[unsafe(naked)]
extern "C" fn wild_flags(_: u64) -> ! {
    // Direction, nested task, alignment check, I/O level; then a system call, and a look at the
    // flags that are left.
    naked_asm!("push 0x47602", "popfq", "mov eax, 7", "syscall", "pushfq", "pop rax", "push 0x202", "popfq", "ud2",)
}

fn flags(kit: &mut Kit) -> Checked {
    let fault = handler(kit)?;
    let t = done!(kit.start(Setup { fault, ..Setup::new(50, wild_flags) }));
    let message = done!(receive(now() + 100_000));
    same!(message.words[0], 6);
    let [_, rax] = done!(thread_register(t.thread, 1));
    check!(rax & 0x3000 == 0 && rax & 0x200 != 0, "flags {rax:#x}");
    Ok(())
}
