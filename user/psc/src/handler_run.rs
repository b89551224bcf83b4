//! One run of a handler on its vCPU.

use crate::share;
use pillion_abi::channel::{PscSlot, psc};
use pillion_abi::vcpu::{Exit, State, dirty, gpr};
use pillion_abi::{NEVER, PAGE};
use pillion_runtime::info::{self, address};
use pillion_runtime::user_mode::{self, Process};
use pillion_runtime::{fpu, now, sleep, timer_set, vcpu_run};

/// Bit of a runner's notification: a run takes too long.
pub const TOO_LONG: u64 = 1 << 8;

/// Longest run of a handler: a hundredth of a second.
const RUNS_PER_SECOND: u64 = 100;

/// After a page fault a run continues a thousandth of a second later, as long as it has time left:
/// Linux moves pages of processes, even locked ones, and they are absent for a moment.
const PAUSES_PER_SECOND: u64 = 1000;

const PAGE_FAULT: u64 = 14;

const VMMCALL_LENGTH: u64 = 3;

/// Why a handler was stopped.
pub struct Fault {
    /// See [`PscSlot::vector`].
    pub vector: u32,
    /// Address that the handler accessed.
    pub address: u64,
    /// Address of the instruction.
    pub rip: u64,
}

/// A runner's vCPU. It stays with the runner's thread: cells are not shared between threads.
pub struct Guest {
    number: u32,
    state: &'static State,
}

impl Guest {
    /// The vCPU of runner `number`.
    ///
    /// # Safety
    /// The calling thread is this runner.
    pub unsafe fn of(number: usize) -> Guest {
        let place = address::VCPU_STATE + number as u64 * PAGE;
        // SAFETY: the resource manager mapped a page for each runner, for good. It holds cells of
        // integers. Only the runner uses it, and the kernel writes them only while the runner is in
        // `vcpu_run`.
        let state = unsafe { &*(place as *const State) };
        Guest { number: number as u32, state }
    }

    /// Runs a handler until it returns. `hz` is the clock's ticks in a second.
    pub fn run(&self, order: &PscSlot, hz: u64) -> Result<(), Fault> {
        // The handler uses this thread's registers, and must not see what the last one left there.
        // SAFETY: this program is built without them; its runners have the flag.
        unsafe { fpu::reset() };
        begin(self.state, order);
        let timer = info::psc::slot::TIMERS + self.number;
        let end = now().saturating_add(hz / RUNS_PER_SECOND);
        let _ = timer_set(timer, end);
        let result = self.go_on(end, hz / PAUSES_PER_SECOND);
        let _ = timer_set(timer, NEVER);
        result
    }

    fn go_on(&self, end: u64, pause: u64) -> Result<(), Fault> {
        loop {
            let [reason, _] = vcpu_run(info::psc::slot::VCPUS + self.number).unwrap_or([Exit::Invalid as u64, 0]);
            let state = self.state;
            let stopped = |vector, address| Err(Fault { vector, address, rip: state.rip.get() });
            match Exit::from_raw(reason) {
                Some(Exit::Hypercall) if state.gpr[gpr::RAX].get() == psc::DONE => return Ok(()),
                Some(Exit::Hypercall) if state.gpr[gpr::RAX].get() == psc::RING => {
                    share::tell_fifo(state.gpr[gpr::RBX].get());
                    state.rip.set(state.rip.get().wrapping_add(VMMCALL_LENGTH));
                    state.dirty.set(dirty::CORE);
                }
                // The timer of an earlier run may have expired just as that run ended.
                Some(Exit::Notified) if now() < end => {}
                Some(Exit::Notified) => return stopped(psc::TOO_LONG, 0),
                Some(Exit::Exception) if state.fault.get().info & 0xff == PAGE_FAULT && now() + pause < end => {
                    let _ = sleep(now() + pause);
                }
                Some(Exit::Exception) => {
                    return stopped(state.fault.get().info as u32 & 0xff, state.fault.get().address);
                }
                Some(Exit::Memory) => return stopped(psc::NO_MEMORY, state.fault.get().address),
                _ => return stopped(psc::REFUSED, 0),
            }
        }
    }
}

/// Sets the state of a process's thread in 64-bit user mode.
fn begin(state: &State, order: &PscSlot) {
    state.gpr.iter().for_each(|register| register.set(0));
    state.gpr[gpr::RSP].set(order.stack);
    state.gpr[gpr::RDI].set(order.arguments[0]);
    state.gpr[gpr::RSI].set(order.arguments[1]);
    state.rip.set(order.entry);
    state.rflags.set(2);
    let (cr3, cr4) = (order.cr3, order.cr4 & user_mode::CR4);
    user_mode::set(state, &Process { cr3, cr4, fs_base: order.fs_base, gs_base: 0, data: user_mode::DATA });
}
