//! From Linux's 32-bit entry point to 64-bit code with all memory mapped one to one.

use core::arch::global_asm;

use crate::{page::Tables, trap::Stack};

pub static mut TABLES: Tables = Tables::new();
/// Stack for the steps.
pub static mut STACK: Stack = Stack::new();

// Large pages of 1 GiB, 512 of them; then long mode, and the descriptor table of `trap` later on.
global_asm!(
    ".section .text.entry, \"ax\"",
    ".code32",
    ".globl _start",
    "_start:",
    "cli",
    "cld",
    "mov ebp, esi",
    "lea edi, [{tables} + 4096]",
    "xor ecx, ecx",
    "2: mov eax, ecx",
    "shl eax, 30",
    "or eax, 0x83",
    "mov [edi + ecx * 8], eax",
    "mov eax, ecx",
    "shr eax, 2",
    "mov [edi + ecx * 8 + 4], eax",
    "inc ecx",
    "cmp ecx, 512",
    "jne 2b",
    "or edi, 3",
    "mov [{tables}], edi",
    "mov eax, cr4",
    "or eax, 0x20",
    "mov cr4, eax",
    "lea eax, [{tables}]",
    "mov cr3, eax",
    "mov ecx, 0xc0000080",
    "rdmsr",
    "or eax, 0x901",
    "wrmsr",
    "mov eax, cr0",
    "or eax, 0x80000021",
    "mov cr0, eax",
    "lgdt [3f]",
    ".byte 0xea",
    ".long 4f",
    ".short 0x08",
    ".balign 8",
    "3: .short 31",
    ".long 5f",
    ".balign 8",
    "5: .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff",
    ".code64",
    "4: mov eax, 0x10",
    "mov ds, eax",
    "mov es, eax",
    "mov ss, eax",
    "lea rsp, [{stack} + {size}]",
    "mov edi, ebp",
    "call {main}",
    "ud2",
    tables = sym TABLES,
    stack = sym STACK,
    size = const Stack::SIZE,
    main = sym crate::main,
);
