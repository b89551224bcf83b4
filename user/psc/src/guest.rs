//! One run of a handler on its vCPU.

use crate::share;
use pillion_abi::{
    NEVER, PAGE,
    channel::{PscSlot, psc},
    vcpu::{Exit, Segment, State, dirty, gpr},
};
use pillion_runtime::{
    info::{address, slot},
    now, sleep, timer_set, vcpu_run,
};

/// Bit of a runner's notification: a run takes too long.
pub const TOO_LONG: u64 = 1 << 8;

/// A run may take a hundredth of a second.
const RUNS_PER_SECOND: u64 = 100;

/// After a page fault a run goes on after a thousandth of a second, as long as it may: Linux moves pages of processes, locked ones too, and they are not there
/// for a moment.
const PAUSES_PER_SECOND: u64 = 1000;

/// Exception.
const PAGE_FAULT: u64 = 14;

/// Bits of CR4 that concern user mode: PAE, PGE, OSFXSR, OSXMMEXCPT, LA57, FSGSBASE, OSXSAVE, and TSD.
const CR4: u64 = 1 << 5 | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 16 | 1 << 18 | 1 << 2;
const PAE: u64 = 1 << 5;

/// Paging, write protection, and what the FPU needs.
const CR0: u64 = 0x8005_0033;
/// Long mode, no-execute pages.
const EFER: u64 = 0xd00;
/// Bits of CR3 that are the address of a table.
const ROOT: u64 = 0x000f_ffff_ffff_f000;
const VMMCALL_LENGTH: u64 = 3;

/// Why a handler was stopped.
pub struct Fault {
    /// See [`PscSlot::vector`].
    pub vector: u32,
    /// Address that it touched.
    pub address: u64,
    /// Instruction.
    pub rip: u64,
}

/// The state page of a handler's vCPU.
fn state<'a>(number: usize) -> &'a mut State {
    let place = address::VCPU_STATE + number as u64 * PAGE;
    // SAFETY: the resource manager mapped a page for each vCPU, for good; a runner uses its own only, one reference at a time, and the kernel writes it only
    // while the runner is in `vcpu_run`.
    unsafe { &mut *(place as *mut State) }
}

/// Runs a handler until it returns. The clock has `hz` ticks in a second.
pub fn run(number: usize, order: &PscSlot, hz: u64) -> Result<(), Fault> {
    begin(state(number), order);
    let timer = slot::TIMERS + number as u32;
    let end = now().saturating_add(hz / RUNS_PER_SECOND);
    let _ = timer_set(timer, end);
    let result = go_on(number, end, hz / PAUSES_PER_SECOND);
    let _ = timer_set(timer, NEVER);
    result
}

/// The state of a process's thread in 64-bit user mode.
fn begin(state: &mut State, order: &PscSlot) {
    let code = Segment { selector: 0x33, attributes: 0xafb, limit: u32::MAX, base: 0 };
    let data = Segment { selector: 0x2b, attributes: 0xcf3, limit: u32::MAX, base: 0 };
    let none = Segment::default();
    state.gpr = [0; 16];
    state.gpr[gpr::RSP] = order.stack;
    [state.gpr[gpr::RDI], state.gpr[gpr::RSI]] = order.arguments;
    (state.rip, state.rflags) = (order.entry, 2);
    (state.cr0, state.cr3, state.cr4, state.efer) = (CR0, order.cr3 & ROOT, order.cr4 & CR4 | PAE, EFER);
    (state.cs, state.ss, state.ds, state.es) = (code, data, data, data);
    (state.fs, state.gs) = (Segment { base: order.fs_base, ..data }, data);
    (state.tr, state.ldtr, state.gdtr, state.idtr) = (none, none, none, none);
    (state.cr2, state.dr6, state.dr7, state.pat) = (0, 0xffff_0ff0, 0x400, 0x0007_0406_0007_0406);
    state.dirty = dirty::CORE | dirty::SYSTEM;
}

fn go_on(number: usize, end: u64, pause: u64) -> Result<(), Fault> {
    loop {
        let [reason, _] = vcpu_run(slot::VCPUS + number as u32).unwrap_or([Exit::Invalid as u64, 0]);
        let state = state(number);
        let stopped = |vector, address| Err(Fault { vector, address, rip: state.rip });
        match Exit::from_raw(reason) {
            Some(Exit::Hypercall) if state.gpr[gpr::RAX] == psc::DONE => return Ok(()),
            Some(Exit::Hypercall) if state.gpr[gpr::RAX] == psc::RING => {
                share::tell_fifo(state.gpr[gpr::RBX]);
                state.rip = state.rip.wrapping_add(VMMCALL_LENGTH);
                state.dirty = dirty::CORE;
            }
            // The timer of an earlier run may have expired just when that was over.
            Some(Exit::Notified) if now() < end => {}
            Some(Exit::Notified) => return stopped(psc::TOO_LONG, 0),
            Some(Exit::Exception) if state.fault.info & 0xff == PAGE_FAULT && now() + pause < end => {
                let _ = sleep(now() + pause);
            }
            Some(Exit::Exception) => return stopped(state.fault.info as u32 & 0xff, state.fault.address),
            Some(Exit::Memory) => return stopped(psc::NO_MEMORY, state.fault.address),
            _ => return stopped(psc::REFUSED, 0),
        }
    }
}
