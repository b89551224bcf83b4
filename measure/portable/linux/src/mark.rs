//! Instructions that do nothing and that the model of caches (measure/plugin) knows, as
//! measure/include/measure/mark.h has them.

use std::arch::asm;
use std::fs;

/// Linux's first instruction for an interrupt of the local timer.
const ENTRY: &str = "asm_sysvec_apic_timer_interrupt";
/// Where Linux says the addresses of its functions.
const SYMBOLS: &str = "/proc/kallsyms";

/// nop dword ptr [rax + name], a name of four letters.
macro_rules! mark {
    ($name:literal) => {
        // SAFETY: a no-operation, whose operand is not accessed.
        unsafe { asm!(".byte 0x0f, 0x1f, 0x80", concat!(".ascii \"", $name, "\""), options(preserves_flags)) }
    };
}

/// Tells where Linux is entered by its timer's interrupt, if it says so (else the model has no
/// sample), then that measuring begins.
pub fn begin() {
    if let Some(entry) = fs::read_to_string(SYMBOLS).ok().and_then(|symbols| address(&symbols, ENTRY)) {
        number(entry);
        mark!("Entr");
    }
    mark!("Begn");
}

/// This is the first instruction of a thread that slept; [`late`] follows.
#[inline(always)]
pub fn woke() {
    mark!("Woke");
}

/// How long the thread that [`woke`] did so after its deadline.
pub fn late(nanoseconds: u64) {
    number(nanoseconds);
    mark!("Late");
}

/// Measuring ends.
pub fn done() {
    mark!("Done");
}

/// A number, bit by bit.
fn number(number: u64) {
    for bit in (0..u64::BITS - number.leading_zeros()).rev() {
        if number >> bit & 1 == 0 {
            mark!("Bit0");
        } else {
            mark!("Bit1");
        }
    }
}

/// The address of a symbol; to those who may not know it Linux says 0.
fn address(symbols: &str, name: &str) -> Option<u64> {
    let line = symbols.lines().find(|line| line.split(' ').nth(2) == Some(name))?;
    u64::from_str_radix(line.split(' ').next()?, 16).ok().filter(|&address| address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found_by_their_whole_name() {
        let symbols = "ffffffff81c00ef0 T asm_sysvec_apic_timer_interrupt_2\nffffffff81c00f00 T asm_sysvec_apic_timer_interrupt\n\
            0000000000000000 T hidden\nffffffffc0000000 t module_function\t[module]\n";
        assert_eq!(address(symbols, ENTRY), Some(0xffff_ffff_81c0_0f00));
        assert_eq!(address(symbols, "hidden"), None);
        assert_eq!(address(symbols, "asm_sysvec"), None);
    }

    #[test]
    fn markers_do_nothing() {
        woke();
        late(u64::MAX);
        late(0);
        done();
    }
}
