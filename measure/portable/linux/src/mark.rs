//! No-op instructions that the model of caches (measure/plugin) recognises, as in
//! measure/include/measure/mark.h.

use std::arch::asm;
use std::fs;

/// Linux's entry point for an interrupt of the local timer.
const ENTRY: &str = "asm_sysvec_apic_timer_interrupt";
/// Where Linux publishes the addresses of its functions.
const SYMBOLS: &str = "/proc/kallsyms";

/// nop dword ptr [rax + name], a name of four letters.
macro_rules! mark {
    ($name:literal) => {
        // SAFETY: a no-operation, whose operand is not accessed.
        unsafe { asm!(".byte 0x0f, 0x1f, 0x80", concat!(".ascii \"", $name, "\""), options(preserves_flags)) }
    };
}

/// Marks Linux's entry point for its timer's interrupt, if Linux publishes it (otherwise the model
/// gets no sample), then the start of measuring.
pub fn begin() {
    if let Some(entry) = fs::read_to_string(SYMBOLS).ok().and_then(|symbols| address(&symbols, ENTRY)) {
        number(entry);
        mark!("Entr");
    }
    mark!("Begn");
}

/// Marks the first instruction of a thread that slept; [`late`] follows.
#[inline(always)]
pub fn woke() {
    mark!("Woke");
}

/// Marks how long after its deadline the thread that [`woke`] ran.
pub fn late(nanoseconds: u64) {
    number(nanoseconds);
    mark!("Late");
}

/// Marks the end of measuring.
pub fn done() {
    mark!("Done");
}

/// Marks a number, bit by bit.
fn number(number: u64) {
    for bit in (0..u64::BITS - number.leading_zeros()).rev() {
        if number >> bit & 1 == 0 {
            mark!("Bit0");
        } else {
            mark!("Bit1");
        }
    }
}

/// The address of a symbol; unprivileged readers get 0 from Linux.
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
