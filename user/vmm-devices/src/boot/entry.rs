//! The state at the 32-bit entry point (`boot.rst`, "32-bit Boot Protocol").

use pillion_abi::vcpu::{COUNTERS, Fault, Io, Segment, State, dirty, gpr};

use super::Plan;

/// Selectors `__BOOT_CS` and `__BOOT_DS`.
const CODE: u16 = 0x10;
const DATA: u16 = 0x18;

/// Present, 32-bit, page granularity; code can be read, data written, both accessed.
const CODE_ATTRIBUTES: u16 = 0xc9b;
const DATA_ATTRIBUTES: u16 = 0xc93;
/// A busy 32-bit task segment and a table: the processor's state at reset has their like.
const TASK_ATTRIBUTES: u16 = 0x08b;
const TABLE_ATTRIBUTES: u16 = 0x082;

const PROTECTED_MODE: u64 = 0x11;
const PAT_AT_RESET: u64 = 0x0007_0406_0007_0406;

/// The descriptor table that the selectors are of. The kernel loads its own at once, but the protocol asks for one.
#[must_use]
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

/// Descriptor with base 0 and limit 4 GiB.
const fn flat(attributes: u16) -> u64 {
    0xffff | 0xf << 48 | (attributes as u64 & 0xff) << 40 | (attributes as u64 >> 8) << 52
}

/// Paging and interrupts off, flat segments, `esi` at the zero page. The stack is the kernel's own affair.
#[must_use]
pub fn entry(plan: &Plan) -> State {
    let mut registers = [0; 16];
    registers[gpr::RSI] = plan.zero_page;
    let data = segment(DATA, DATA_ATTRIBUTES, u32::MAX);
    State {
        gpr: registers,
        rip: plan.kernel,
        rflags: 2,
        cr0: PROTECTED_MODE,
        cr3: 0,
        cr4: 0,
        efer: 0,
        cs: segment(CODE, CODE_ATTRIBUTES, u32::MAX),
        ds: data,
        es: data,
        fs: data,
        gs: data,
        ss: data,
        tr: segment(0, TASK_ATTRIBUTES, 0xffff),
        ldtr: segment(0, TABLE_ATTRIBUTES, 0xffff),
        gdtr: Segment { base: plan.gdt, limit: 31, ..Segment::default() },
        idtr: Segment::default(),
        cr2: 0,
        xcr0: 1,
        pat: PAT_AT_RESET,
        dr6: 0xffff_0ff0,
        dr7: 0x400,
        dirty: dirty::CORE | dirty::SYSTEM,
        event: 0,
        io: Io::default(),
        fault: Fault::default(),
        timer_vector: 0,
        deadline: 0,
        tpr: 0,
        isr: [0; 4],
        irr: [0; 4],
        counters: [0; COUNTERS],
    }
}

const fn segment(selector: u16, attributes: u16, limit: u32) -> Segment {
    Segment { selector, attributes, limit, base: 0 }
}
