//! Copies to and from memory that others may write at the same time.
//!
//! Bytes that change during the copy come out old, new or mixed; nothing else can go wrong, because
//! the accesses are assembly, about which the compiler assumes nothing. The main loop moves eight
//! words of eight bytes: tasks are built without vector registers, and an emulator that counts
//! instructions counts each iteration of a string instruction as one.

use core::arch::asm;

/// Bytes moved by one iteration of the main loop.
const TURN: usize = 64;

/// Copies `len` bytes. Work: 19 instructions for each 64 bytes, 5 for each further 8, at most 14
/// for the remainder.
///
/// # Safety
/// `from` is readable and `to` is writable for `len` bytes, and they do not overlap. Others may
/// write both.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, len: usize) {
    #[cfg(miri)]
    // SAFETY: the caller's promise.
    return unsafe { by_atomic_bytes(to, from, len) };
    let (mut done, turns) = (0, len & !(TURN - 1));
    while done != turns {
        // SAFETY: `done + TURN <= len`.
        unsafe { turn(to, from, done) };
        done += TURN;
    }
    let words = len & !7;
    while done != words {
        // SAFETY: `done + 8 <= len`.
        unsafe { step::<8>(to.add(done), from.add(done)) };
        done += 8;
    }
    let rest = len - done;
    if rest == 0 {
        return;
    }
    // SAFETY: the parts that are bits of `rest` add up to it, and `done + rest == len`.
    unsafe {
        if rest & 4 != 0 {
            step::<4>(to.add(done), from.add(done));
            done += 4;
        }
        if rest & 2 != 0 {
            step::<2>(to.add(done), from.add(done));
            done += 2;
        }
        if rest & 1 != 0 {
            step::<1>(to.add(done), from.add(done));
        }
    }
}

/// The same for Miri, which does not support assembly: the bytes are accessed as atomics.
///
/// # Safety
/// As for [`copy`].
#[cfg(miri)]
unsafe fn by_atomic_bytes(to: *mut u8, from: *const u8, len: usize) {
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
    for at in 0..len {
        // SAFETY: the caller's promise.
        unsafe { AtomicU8::from_ptr(to.add(at)).store((*from.add(at).cast::<AtomicU8>()).load(Relaxed), Relaxed) };
    }
}

/// Copies the [`TURN`] bytes at offset `at`.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
unsafe fn turn(to: *mut u8, from: *const u8, at: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "mov {a}, [{from} + {at}]",
            "mov {b}, [{from} + {at} + 8]",
            "mov [{to} + {at}], {a}",
            "mov [{to} + {at} + 8], {b}",
            "mov {a}, [{from} + {at} + 16]",
            "mov {b}, [{from} + {at} + 24]",
            "mov [{to} + {at} + 16], {a}",
            "mov [{to} + {at} + 24], {b}",
            "mov {a}, [{from} + {at} + 32]",
            "mov {b}, [{from} + {at} + 40]",
            "mov [{to} + {at} + 32], {a}",
            "mov [{to} + {at} + 40], {b}",
            "mov {a}, [{from} + {at} + 48]",
            "mov {b}, [{from} + {at} + 56]",
            "mov [{to} + {at} + 48], {a}",
            "mov [{to} + {at} + 56], {b}",
            a = out(reg) _,
            b = out(reg) _,
            from = in(reg) from,
            to = in(reg) to,
            at = in(reg) at,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies `N` bytes: 1, 2, 4 or 8.
///
/// # Safety
/// As for [`copy`].
#[inline(always)]
unsafe fn step<const N: usize>(to: *mut u8, from: *const u8) {
    const { assert!(matches!(N, 1 | 2 | 4 | 8)) };
    macro_rules! with {
        ($load:literal, $store:literal) => {
            asm!(
                $load, $store, t = out(reg) _, from = in(reg) from, to = in(reg) to,
                options(nostack, preserves_flags),
            )
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match N {
            8 => with!("mov {t}, [{from}]", "mov [{to}], {t}"),
            4 => with!("mov {t:e}, [{from}]", "mov [{to}], {t:e}"),
            2 => with!("movzx {t:e}, word ptr [{from}]", "mov [{to}], {t:x}"),
            _ => with!("movzx {t:e}, byte ptr [{from}]", "mov [{to}], {t:l}"),
        }
    }
}
