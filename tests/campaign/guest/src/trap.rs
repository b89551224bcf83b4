//! Exceptions and interrupts. An exception ends the step; an interrupt mostly gets an EOI, and the
//! step continues.

use core::arch::{asm, global_asm};

use crate::{entry, processor};

#[repr(C, align(16))]
pub struct Stack([u8; Stack::SIZE]);

impl Stack {
    /// The stack's size in bytes.
    pub const SIZE: usize = 16 << 10;

    /// Creates an empty stack.
    pub const fn new() -> Stack {
        Stack([0; Self::SIZE])
    }
}

/// Selector of 64-bit code.
pub const CODE: u64 = 0x08;
pub const DATA: u64 = 0x10;
/// 32-bit code.
pub const NARROW: u64 = 0x18;
const TASK: u16 = 0x20;

static mut DESCRIPTORS: [u64; 6] = [0, 0x00af_9b00_0000_ffff, 0x00cf_9300_0000_ffff, 0x00cf_9b00_0000_ffff, 0, 0];
static mut GATES: [[u64; 2]; 256] = [[0; 2]; 256];
static mut TASK_STATE: [u32; 26] = [0; 26];
static mut TRAP_STACK: Stack = Stack::new();

/// A pointer to a descriptor table, in the form of `lgdt` and `lidt`.
#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

unsafe extern "C" {
    /// The code for the first vector; that of the following vectors comes at intervals of 16 bytes.
    static trap_codes: u8;
}

/// Builds the tables and loads them.
pub fn set_up() {
    // SAFETY: there is one processor, interrupts are off, and nothing else refers to the tables.
    unsafe {
        let stack = &raw const TRAP_STACK as u64 + Stack::SIZE as u64;
        // The first entry of the interrupt stack table.
        TASK_STATE[9] = stack as u32;
        let base = &raw const TASK_STATE as u64;
        DESCRIPTORS[4] = (base & 0xff_ffff) << 16 | (base >> 24 & 0xff) << 56 | 0x89 << 40 | 103;
        let codes = &raw const trap_codes as u64;
        let gates = &raw mut GATES;
        for (vector, gate) in (*gates).iter_mut().enumerate() {
            let code = codes + 16 * vector as u64;
            *gate = [(code >> 16 & 0xffff) << 48 | 0x8e01 << 32 | CODE << 16 | code & 0xffff, code >> 32];
        }
    }
    load();
    // SAFETY: the selector is that of the task segment just made; it is loaded once.
    unsafe { asm!("ltr {:x}", in(reg) TASK) };
}

/// Loads the descriptor tables.
fn load() {
    let descriptors = Pointer { limit: 47, base: &raw const DESCRIPTORS as u64 };
    let gates = Pointer { limit: 4095, base: &raw const GATES as u64 };
    // SAFETY: the tables live for good, with the contents that `set_up` made.
    unsafe { asm!("lgdt [{}]", "lidt [{}]", in(reg) &raw const descriptors, in(reg) &raw const gates) };
}

/// After an exception: restores everything that a step may have changed.
extern "C" fn escape() -> ! {
    load();
    processor::restore();
    crate::go_on()
}

/// After an interrupt.
extern "C" fn interrupted() {
    processor::end_interrupt();
}

global_asm!(
    ".balign 16",
    ".globl trap_codes",
    "trap_codes:",
    ".set vector, 0",
    ".rept 256",
    ".balign 16",
    ".if vector < 32",
    "jmp {escape_code}",
    ".else",
    "jmp {interrupt_code}",
    ".endif",
    ".set vector, vector + 1",
    ".endr",
    escape_code = sym escape_code,
    interrupt_code = sym interrupt_code,
);

/// Entry code of all exceptions; nothing about where they happened is kept.
#[unsafe(naked)]
unsafe extern "C" fn escape_code() -> ! {
    core::arch::naked_asm!(
        "cld",
        "mov eax, {data}",
        "mov ds, eax",
        "mov es, eax",
        "mov ss, eax",
        "lea rsp, [{stack} + {size}]",
        "push 2",
        "popfq",
        "call {escape}",
        "ud2",
        data = const DATA,
        stack = sym entry::STACK,
        size = const Stack::SIZE,
        escape = sym escape,
    )
}

/// Common code of all interrupts.
#[unsafe(naked)]
unsafe extern "C" fn interrupt_code() {
    core::arch::naked_asm!(
        "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10", "push r11",
        "cld",
        "call {interrupted}",
        "pop r11", "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
        "iretq",
        interrupted = sym interrupted,
    )
}
