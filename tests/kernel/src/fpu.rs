//! Floating-point and vector registers, and the bases of FS and GS, belong to a thread.

use crate::{Test, cells};
use core::arch::naked_asm;
use pillion_abi::boot::slot;
use pillion_test_kit::{Checked, Kit, Setup, Thread, check, done, same};

pub const TESTS: &[Test] = &[
    ("fpu/registers-of-two-threads", two),
    ("fpu/registers-across-spaces-and-calls", spaces),
    ("fpu/fresh-at-the-start", fresh),
    ("fpu/bases-of-fs-and-gs", bases),
    ("fpu/given-later", later),
];

/// Loads registers with the argument, then alternately yields or spins and checks them; `ud2` if
/// one is wrong. Counts rounds at `rsi`.
#[unsafe(naked)]
pub extern "C" fn vectors(_: u64) -> ! {
    naked_asm!(
        "mov rbx, rdi", "mov rbp, rdi", "and rbp, 0xff", "shl rbp, 3", "lea r15, [rip + {rounds}]", "add r15, rbp",
        "movq xmm0, rbx", "movq xmm7, rbx", "movq xmm15, rbx", "vpermilpd ymm9, ymm0, 0", "vinsertf128 ymm9, ymm9, xmm0, 1",
        "push rbx", "fninit", "fild qword ptr [rsp]", "pop rax",
        "mov eax, ebx", "and eax, 0x3f", "shl eax, 7", "or eax, 0x1f00", "and eax, 0x1f80", "push rax", "ldmxcsr [rsp]",
        "3:",
        "mov r12d, 300", "5: dec r12d", "jnz 5b",
        "pause", "mov eax, 7", "syscall",
        "movq rax, xmm0", "cmp rax, rbx", "jne 4f", "movq rax, xmm7", "cmp rax, rbx", "jne 4f",
        "movq rax, xmm15", "cmp rax, rbx", "jne 4f",
        "vextractf128 xmm3, ymm9, 1", "movq rax, xmm3", "cmp rax, rbx", "jne 4f",
        "fld st(0)", "push rax", "fistp qword ptr [rsp]", "pop rax", "cmp rax, rbx", "jne 4f",
        "push rax", "stmxcsr [rsp]", "pop rax", "mov ecx, [rsp]", "cmp eax, ecx", "jne 4f",
        "inc qword ptr [r15]", "jmp 3b",
        "4: ud2",
        rounds = sym ROUNDS,
    )
}

static ROUNDS: [core::sync::atomic::AtomicU64; 16] = [const { core::sync::atomic::AtomicU64::new(0) }; 16];

fn rounds(index: u64) -> u64 {
    ROUNDS[index as usize].swap(0, core::sync::atomic::Ordering::SeqCst)
}

/// A thread that checks its registers, whose argument ends with its number.
pub fn with_fpu(entry: extern "C" fn(u64) -> !, argument: u64) -> Setup {
    Setup { fpu: true, ..Setup::new(20, entry).with(argument) }
}

/// Lets the threads with these arguments run, and looks how far they came.
pub fn run(kit: &mut Kit, threads: &[u64]) -> Checked {
    for i in threads {
        rounds(*i & 0xff);
    }
    for _ in 0..40 {
        kit.rest(7_777);
    }
    for i in threads {
        let count = rounds(*i & 0xff);
        check!(count > 20, "thread {i:#x} came {count} rounds far");
    }
    Ok(())
}

fn two(kit: &mut Kit) -> Checked {
    let ids = [0x1234_5600, 0x0bad_cafe_0001, 0x7fff_0002];
    for id in ids {
        done!(kit.start(with_fpu(vectors, id)));
    }
    run(kit, &ids)
}

extern "C" fn plain(_: u64) -> ! {
    loop {
        cells::add(0, 1);
        pillion_runtime::yield_now();
    }
}

fn spaces(kit: &mut Kit) -> Checked {
    let ids = [0x1111_0003, 0x2222_0004];
    for id in ids {
        let space = done!(kit.space());
        done!(kit.start(with_fpu(vectors, id).within(space)));
    }
    done!(kit.start(Setup::new(20, plain)));
    run(kit, &ids)?;
    check!(cells::get(0) > 20, "the thread without FPU came {} rounds far", cells::get(0));
    Ok(())
}

/// Writes the initial contents of the registers.
#[unsafe(naked)]
extern "C" fn look(_: u64) -> ! {
    naked_asm!(
        "movq rax, xmm0; mov [rdi], rax; movq rax, xmm15; or [rdi], rax; stmxcsr [rdi + 8]",
        "fnstcw [rdi + 16]; inc qword ptr [rdi + 24]",
        "2: jmp 2b",
    )
}

fn fresh(kit: &mut Kit) -> Checked {
    let dirty = done!(kit.start(with_fpu(vectors, 0x5555_0005)));
    let (_, there) = done!(kit.memory(4096, 1));
    kit.rest(20_000);
    done!(pillion_runtime::thread_suspend(dirty.thread));
    done!(kit.start(with_fpu(look, there)));
    kit.rest(20_000);
    let peek = |i: u64| crate::mappings::peek(there + 8 * i);
    same!([peek(3), peek(0), peek(1) & 0xffff_ffff, peek(2) & 0xffff], [1, 0, 0x1f80, 0x37f]);
    Ok(())
}

/// Sets both bases to the argument and checks that they stay; `ud2` if not. Counts at that address.
#[unsafe(naked)]
extern "C" fn based(_: u64) -> ! {
    naked_asm!(
        "mov rbx, rdi; lea rbp, [rdi + 8]; wrfsbase rbx; wrgsbase rbp",
        "3: mov eax, 7; syscall; mov r12d, 300",
        "5: dec r12d; jnz 5b; rdfsbase rax; cmp rax, rbx; jne 4f",
        "rdgsbase rax; cmp rax, rbp; jne 4f; inc qword ptr fs:[0]; inc qword ptr gs:[0]; jmp 3b",
        "4: ud2",
    )
}

fn bases(kit: &mut Kit) -> Checked {
    let space = done!(kit.space());
    let (memory, there) = done!(kit.memory(4096, 1));
    let copy = done!(kit.limited(memory, 15));
    done!(pillion_runtime::memory_map(copy, space, there, 1));
    for (i, space) in [slot::ADDRESS_SPACE, space, space].into_iter().enumerate() {
        done!(kit.start(Setup::new(20, based).within(space).with(there + 64 * i as u64)));
    }
    for _ in 0..40 {
        kit.rest(3_333);
    }
    for i in 0..3 {
        let (fs, gs) = (crate::mappings::peek(there + 64 * i), crate::mappings::peek(there + 64 * i + 8));
        check!(fs > 10 && fs - gs <= 1, "thread {i}: {fs} and {gs} rounds");
    }
    Ok(())
}

fn later(kit: &mut Kit) -> Checked {
    let Thread { thread, .. } = done!(kit.prepare(Setup::new(20, vectors).with(0x6666_0006)));
    done!(pillion_runtime::thread_configure(
        thread,
        slot::ADDRESS_SPACE,
        kit.workers(),
        0,
        pillion_abi::call::thread::FPU
    ));
    done!(pillion_runtime::thread_resume(thread));
    run(kit, &[0x6666_0006])
}
