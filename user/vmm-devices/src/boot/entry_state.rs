//! The states in which a processor begins: the first one at the 32-bit entry point (`boot.rst`,
//! "32-bit Boot Protocol"), another one in real mode, after a start-up message.

use core::sync::atomic::Ordering::Relaxed;

use pillion_abi::vcpu::{Fault, Io, Segment, State, dirty, gpr};

use super::Plan;

/// Selectors `__BOOT_CS` and `__BOOT_DS`.
const CODE: u16 = 0x10;
const DATA: u16 = 0x18;

/// Present, 32-bit, page granularity; code can be read, data written, both accessed.
const CODE_ATTRIBUTES: u16 = 0xc9b;
const DATA_ATTRIBUTES: u16 = 0xc93;
/// A busy 32-bit task segment, and a table, as in the processor's state at reset.
const TASK_ATTRIBUTES: u16 = 0x08b;
const TABLE_ATTRIBUTES: u16 = 0x082;

/// Present, 16-bit; as above.
const REAL_CODE_ATTRIBUTES: u16 = 0x09b;
const REAL_DATA_ATTRIBUTES: u16 = 0x093;

const PROTECTED_MODE: u64 = 0x11;
const REAL_MODE: u64 = 0x10;
const PAT_AT_RESET: u64 = 0x0007_0406_0007_0406;

/// The selectors' descriptor table. The kernel soon loads its own, but the protocol requires one.
pub const fn gdt() -> [u8; 32] {
    let code = flat(CODE_ATTRIBUTES).to_le_bytes();
    let data = flat(DATA_ATTRIBUTES).to_le_bytes();
    let mut table = [0; 32];
    let mut i = 0;
    while i < 8 {
        table[CODE as usize + i] = code[i];
        table[DATA as usize + i] = data[i];
        i += 1;
    }
    table
}

/// A descriptor with base 0 and limit 4 GiB.
const fn flat(attributes: u16) -> u64 {
    0xffff | 0xf << 48 | (attributes as u64 & 0xff) << 40 | (attributes as u64 >> 8) << 52
}

/// Sets the entry state: paging and interrupts off, flat segments, `esi` at the zero page. The
/// kernel sets up its own stack. The counters continue.
pub fn entry(plan: &Plan, state: &State) {
    clear(state);
    state.gpr[gpr::RSI].set(plan.zero_page);
    state.rip.set(plan.kernel);
    state.cr0.set(PROTECTED_MODE);
    state.cs.set(segment(CODE, CODE_ATTRIBUTES, u32::MAX));
    for data in [&state.ds, &state.es, &state.fs, &state.gs, &state.ss] {
        data.set(segment(DATA, DATA_ATTRIBUTES, u32::MAX));
    }
    state.gdtr.set(Segment { base: plan.gdt, limit: 31, ..Segment::default() });
    state.idtr.set(Segment::default());
}

/// Sets the state after a start-up message (SDM vol. 3, table 9-1 and 8.4.4): real mode, at the
/// start of the page with that number. The counters continue.
pub fn start_up(page: u8, state: &State) {
    clear(state);
    state.rip.set(0);
    state.cr0.set(REAL_MODE);
    let page = u16::from(page);
    state.cs.set(Segment { base: u64::from(page) << 12, ..segment(page << 8, REAL_CODE_ATTRIBUTES, 0xffff) });
    for data in [&state.ds, &state.es, &state.fs, &state.gs, &state.ss] {
        data.set(segment(0, REAL_DATA_ATTRIBUTES, 0xffff));
    }
    for table in [&state.gdtr, &state.idtr] {
        table.set(segment(0, 0, 0xffff));
    }
}

/// What both have in common: everything but mode, place, segments and tables.
fn clear(state: &State) {
    state.gpr.iter().for_each(|register| register.set(0));
    state.rflags.set(2);
    state.xcr0.set(1);
    state.pat.set(PAT_AT_RESET);
    state.dr6.set(0xffff_0ff0);
    state.dr7.set(0x400);
    for zero in [&state.cr2, &state.cr3, &state.cr4, &state.efer] {
        zero.set(0);
    }
    for zero in [&state.event, &state.tpr, &state.messages, &state.command] {
        zero.set(0);
    }
    for zero in [&state.timer_vector, &state.deadline] {
        zero.store(0, Relaxed);
    }
    state.io.set(Io::default());
    state.fault.set(Fault::default());
    for none in [&state.isr, &state.irr] {
        none.set([0; 4]);
    }
    state.tr.set(segment(0, TASK_ATTRIBUTES, 0xffff));
    state.ldtr.set(segment(0, TABLE_ATTRIBUTES, 0xffff));
    state.dirty.set(dirty::CORE | dirty::SYSTEM);
}

const fn segment(selector: u16, attributes: u16, limit: u32) -> Segment {
    Segment { selector, attributes, limit, base: 0 }
}
