//! What Linux takes from a process on one processor while threads of that process are in primary
//! mode on another: see [`pillion_post::Users`].
//!
//! A thread with a restartable sequence is one that looks at a guest's page tables and then uses
//! what they lead to, itself or on its user vCPU. It is shown where it goes on and its FPU state is
//! not loaded: so the way to other threads has nothing to look at. Its sequence begins again then;
//! and if nobody was shown, a count changes that it compares, as if the guest had run here.
//! Translations of a user vCPU are dropped at each entry. So a processor that shows nobody has
//! nothing to drop. One that shows somebody is interrupted, shows nobody, and leaves the FPU's
//! state, so that whoever goes on is shown again.

use super::errno;
use crate::arch::{self, Cpu, MAX_CPUS};
use crate::hardware::Hardware;
use crate::trace::add_one;
use pillion_abi::{dual, vcpu::counter};
use pillion_core::{Id, Kernel, machine::Objects as _, thread::Thread, vcpu::Vcpu};
use pillion_post::Users;

static USERS: [Users; MAX_CPUS] = [const { Users::new() }; MAX_CPUS];

/// Shows a thread that goes on, if it has a restartable sequence, where several processors run. Its
/// FPU state has just been loaded. Without a sequence, it uses no such memory, and nobody is shown.
#[cold]
#[inline(never)]
pub fn show(k: &mut Kernel<Hardware>, id: Id<Thread>) {
    let users = &USERS[k.m.cpu.index()];
    let shown = users.shown();
    if shown == id.number() {
        return;
    }
    if !k.has_sequence(id) {
        if shown != 0 {
            users.hide();
        }
        return;
    }
    if users.show(id.number()) {
        end_moment(k);
    }
    k.restart_sequence(id);
}

/// The guest goes on, with FPU state of its own: it is in nobody's way.
#[inline]
pub fn hide(cpu: Cpu) {
    USERS[cpu.index()].hide();
}

/// What was found in memory of the guest on this processor may have been taken.
fn end_moment(k: &mut Kernel<Hardware>) {
    let Some(passenger) = k.cpu.passenger.filter(|passenger| k.m.get(*passenger).configured) else { return };
    // SAFETY: it is configured, so `vcpu_init` came before, and its state's page is there.
    let state = unsafe { Hardware::shared_state(passenger) };
    for which in [counter::EXITS, counter::MOMENTS] {
        add_one(&state.counters[which]);
    }
}

/// Heeds what others have asked for: for a processor that was interrupted by another one.
#[inline]
pub fn heed(m: &mut Hardware) {
    if USERS[m.cpu.index()].is_asked() {
        let_go(m);
    }
}

#[cold]
#[inline(never)]
fn let_go(m: &mut Hardware) {
    let own = m.cpu.index();
    m.leave_fpu();
    if USERS[own].heed() {
        arch::interrupt_processor(own);
    }
}

/// The hypercall [`dual::TAKEN`]: returns its result.
#[cold]
#[inline(never)]
pub fn taken(k: &Kernel<Hardware>, vcpu: Id<Vcpu>, argument: u64) -> u64 {
    if !k.guest_has_signals(vcpu) {
        return errno::NO_SUCH_CALL;
    }
    let own = k.m.cpu.index();
    let mut processors = 0..arch::processors() as usize;
    let Some(other) = processors.find(|number| arch::has_apic(*number, argument as u32)) else {
        return errno::INVALID;
    };
    let users = &USERS[other];
    if other == own {
        // Its guest runs, and no thread in primary mode.
        return 0;
    }
    if argument & dual::ASK != 0 && users.ask(own) == Some(true) {
        arch::interrupt_processor(other);
    }
    if users.keeps(own) {
        // An emulator that has processors run in turn lets another one run.
        core::hint::spin_loop();
        return dual::ASKED;
    }
    0
}
