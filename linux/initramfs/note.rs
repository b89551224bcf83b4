//! `note TEXT..` writes a line to port 0xe9, the debug console, where the emulator or the VM
//! monitor reads it. `note --tsc NAME` writes `tsc NAME TICKS`. Before anything else it executes
//! the marker `Mark` of measure/plugin/count.c. `note --step` executes the marker `Step` and writes
//! nothing. The program is static and has no library, so that it runs before anything is mounted.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm, x86_64::_rdtsc};
use core::ffi::CStr;

const PORT: u64 = 0xe9;
const LOCK: &CStr = c"/.note";

mod number {
    pub const OPEN: u64 = 2;
    pub const EXIT: u64 = 60;
    pub const FLOCK: u64 = 73;
    pub const IOPERM: u64 = 173;
}

global_asm!(".globl _start", "_start:", "mov rdi, rsp", "and rsp, -16", "call {main}", "ud2", main = sym main);

/// A no-operation that contains four letters.
macro_rules! marker {
    ($letters:literal) => {
        // SAFETY: a no-operation; it does not access the memory that its operand seems to name.
        unsafe { asm!(concat!("nop dword ptr [rax + ", $letters, "]"), options(nomem, nostack, preserves_flags)) }
    };
}

/// # Safety
/// `stack` is the stack that Linux prepares for a new program: the argument count, then pointers to
/// the arguments.
unsafe extern "C" fn main(stack: *const u64) -> ! {
    // SAFETY: by the contract of this function.
    let count = unsafe { *stack } as usize;
    // SAFETY: as above; argument `i` is a string that ends in a zero and lives as long as we do.
    let argument = |i: usize| unsafe { CStr::from_ptr(*stack.add(1 + i) as *const _) }.to_bytes();
    if count > 1 && argument(1) == b"--step" {
        marker!("0x70657453");
        exit(0);
    }
    marker!("0x6b72614d");
    // SAFETY: numbers.
    let allowed = unsafe { call(number::IOPERM, PORT, 1, 1) } == 0;
    if allowed {
        lock();
        if count > 2 && argument(1) == b"--tsc" {
            put_ticks(argument(2));
        } else {
            put_words(count, argument);
        }
        put(b"\n");
    }
    exit(u64::from(!allowed))
}

fn exit(status: u64) -> ! {
    // SAFETY: a number.
    unsafe { call(number::EXIT, status, 0, 0) };
    loop {}
}

/// Waits until no other `note` is writing; the end of this program lets the next one continue.
fn lock() {
    const CREATE_AND_WRITE: u64 = 0o101;
    const EXCLUSIVE: u64 = 2;
    // SAFETY: a name that ends in a zero, and numbers.
    unsafe {
        let file = call(number::OPEN, LOCK.as_ptr() as u64, CREATE_AND_WRITE, 0o600);
        call(number::FLOCK, file, EXCLUSIVE, 0);
    }
}

fn put_words<'a>(count: usize, argument: impl Fn(usize) -> &'a [u8]) {
    for i in 1..count {
        if i > 1 {
            put(b" ");
        }
        put(argument(i));
    }
}

fn put_ticks(name: &[u8]) {
    // SAFETY: it only reads a counter.
    let mut ticks = unsafe { _rdtsc() };
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while first == digits.len() || ticks > 0 {
        first -= 1;
        digits[first] = b'0' + (ticks % 10) as u8;
        ticks /= 10;
    }
    put(b"tsc ");
    put(name);
    put(b" ");
    put(&digits[first..]);
}

fn put(text: &[u8]) {
    for byte in text {
        // SAFETY: the port is the debug console's; writing to it touches no memory.
        unsafe { asm!("out dx, al", in("dx") PORT as u16, in("al") *byte, options(nomem, nostack, preserves_flags)) };
    }
}

/// # Safety
/// The arguments are what the call takes, and it changes no memory of this program.
unsafe fn call(number: u64, a: u64, b: u64, c: u64) -> u64 {
    let result;
    // SAFETY: by the contract of this function.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c,
            lateout("rcx") _, lateout("r11") _, options(nostack))
    };
    result
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
