//! The first instructions: from 32-bit protected mode without paging, or from real mode on another
//! processor than the first, to Rust in the upper half.
//!
//! PVH enters with `ebx` pointing at its start information; multiboot2 does the same, with a magic
//! number in `eax`. The first page tables map the first 4 GiB one to one and in the direct map, and
//! the first GiB also where the kernel's image is linked. They serve until the final ones are
//! built, and each further processor until it loads those.

use core::arch::global_asm;

use super::others;
use crate::arch::x86_64::percpu::{STACKS, Stack};

global_asm!(
    r#"
    .set DISTANCE, 0x80000000       /* minus the image's offset, modulo 2^64 */

    .section .multiboot, "a"
    .p2align 3
multiboot_header:
    .long 0xe85250d6, 0, multiboot_header_end - multiboot_header
    .long -(0xe85250d6 + (multiboot_header_end - multiboot_header))
    .short 3, 0                     /* address of the entry */
    .long 12, multiboot_entry + DISTANCE
    .p2align 3
    .short 6, 0                     /* modules on page boundaries */
    .long 8
    .short 5, 1                     /* a screen of pixels, of any size, if there is one */
    .long 20, 0, 0, 0
    .p2align 3
    .short 0, 0                     /* end */
    .long 8
multiboot_header_end:

    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 4, 18                  /* the 32-bit entry of PVH */
    .asciz "Xen"
    .long pvh_entry + DISTANCE

    .section .bss.boot, "aw", @nobits
    .p2align 12
boot_tables:
    .skip 4096 * 7                  /* level 4; level 3 low and high; four of level 2 */

    /* From the physical page tables in ebx to 64-bit code. */
    .macro paging_on target
    mov cr3, ebx
    mov eax, 0x20                   /* PAE */
    mov cr4, eax
    mov ecx, 0xc0000080
    xor edx, edx
    mov eax, 0x100                  /* long mode */
    wrmsr
    mov eax, 0x80010011             /* paging, write protection, extension type, protection */
    mov cr0, eax
    mov eax, offset boot_gdt_pointer + DISTANCE
    lgdt [eax]
    .byte 0xea                      /* far jump */
    .long \target + DISTANCE
    .short 8
    .endm

    .macro flat_segments
    mov eax, 16
    mov ds, eax
    mov es, eax
    mov ss, eax
    xor eax, eax
    mov fs, eax
    mov gs, eax
    xor ebp, ebp
    .endm

    .section .boot, "ax"
    .code32
pvh_entry:
    xor eax, eax
    .global multiboot_entry
multiboot_entry:
    cli
    cld
    mov edi, eax
    mov esi, ebx
    mov esp, offset {stack} + {stack_size} + DISTANCE
    mov eax, 0x80000000
    cpuid
    cmp eax, 0x80000001
    jb no_long_mode
    mov eax, 0x80000001
    cpuid
    bt edx, 29
    jnc no_long_mode

    mov ebx, offset boot_tables + DISTANCE
    lea eax, [ebx + 0x1003]
    mov [ebx], eax
    mov [ebx + 256 * 8], eax
    lea eax, [ebx + 0x2003]
    mov [ebx + 511 * 8], eax
    lea eax, [ebx + 0x3003]
    mov [ebx + 0x1000], eax
    mov [ebx + 0x2000 + 510 * 8], eax
    add eax, 0x1000
    mov [ebx + 0x1008], eax
    add eax, 0x1000
    mov [ebx + 0x1010], eax
    add eax, 0x1000
    mov [ebx + 0x1018], eax
    mov eax, 0x83                   /* 2 MiB, writable, present */
    xor ecx, ecx
2:  mov [ebx + ecx * 8 + 0x3000], eax
    add eax, 0x200000
    inc ecx
    cmp ecx, 2048
    jne 2b

    paging_on long_mode

no_long_mode:
    mov esi, offset no_long_mode_text + DISTANCE
3:  lodsb
    test al, al
    jz 4f
    mov dx, 0x2f8
    out dx, al
    jmp 3b
4:  hlt
    jmp 4b

    .code64
long_mode:
    movabs rax, offset high_half
    jmp rax
high_half:
    flat_segments
    lea rsp, [rip + {stack} + {stack_size}]
    mov edi, edi
    mov esi, esi
    call {start}
    ud2

    /* Another processor begins here, in real mode, in a copy at the start of a page below 1 MiB. */
    .code16
    .global processor_entry, processor_entry_end
processor_entry:
    cli
    mov ax, cs
    mov ds, ax
    .byte 0x66, 0x0f, 0x01, 0x16    /* lgdt, of the copy */
    .short 3f - processor_entry
    mov eax, cr0
    or al, 1
    mov cr0, eax
    .byte 0x66, 0xea                /* far jump */
    .long protected_mode + DISTANCE
    .short 24
3:  .short 31
    .long boot_gdt + DISTANCE
processor_entry_end:

    .code32
protected_mode:
    mov eax, 16
    mov ds, eax
    mov ebx, offset boot_tables + DISTANCE
    paging_on other_long_mode

    .code64
other_long_mode:
    movabs rax, offset other_high_half
    jmp rax
other_high_half:
    flat_segments
    /* Only the processor that is being started goes on: one that comes too late is no more it. */
    mov eax, 1
    cpuid
    shr ebx, 24
    lea eax, [rbx + 1]
    xor ecx, ecx
    lock cmpxchg [rip + {next}], ecx
    jne 5f
    mov rsp, [rip + {next_stack}]
    call {start_other}
    ud2
5:  hlt
    jmp 5b

    .p2align 3
boot_gdt:
    .quad 0, 0x00af9a000000ffff, 0x00cf92000000ffff, 0x00cf9a000000ffff
boot_gdt_pointer:
    .short 31
    .quad boot_gdt + DISTANCE
no_long_mode_text:
    .asciz "Pillion needs a 64-bit processor.\r\n"
    "#,
    stack = sym STACKS,
    stack_size = const size_of::<Stack>(),
    start = sym super::start,
    next = sym others::NEXT,
    next_stack = sym others::NEXT_STACK,
    start_other = sym others::start_other,
);
