//! Interrupts and exceptions for the guest.
//!
//! External interrupts are given as virtual interrupts (15.21.4), never as injected events: the
//! processor then waits for the guest's interrupt flag by itself, and QEMU delivers injected ones
//! more than once.

use super::vcpu::{EXCEPTIONS, Vcpu};
use super::vmcb::{intercept1, vintr};
use crate::arch::x86_64::apic;
use pillion_abi::vcpu::{State, dirty};
use pillion_core::x86_64::svm::{EVENT_VALID, INJECT_NMI, Interrupted, exception, interrupted};

const INTERRUPT_FLAG: u64 = 1 << 9;
const TRAP_FLAG: u64 = 1 << 8;
const SHADOW: u64 = 1;
/// Bits of DR6: a breakpoint was hit; a single step.
const BREAKPOINTS: u64 = 0xf;
const SINGLE_STEP: u64 = 1 << 14;

/// Exceptions that exit while the trap flag is the kernel's, so that no frame of the guest's
/// contains it: all but INT3 and INTO, of which an exit does not tell where they end.
const WHILE_STEPPING: u32 = !(1 << 3 | 1 << 4);

/// State of a guest that is entered in an interrupt shadow.
pub(super) struct Shadow {
    rip: u64,
    dr6: u64,
    /// An interrupt was requested.
    requested: bool,
    /// An NMI waits.
    pub nmi: bool,
    /// What is pending is held back, and the guest runs one instruction with the trap flag set.
    pub held: bool,
}

impl Vcpu {
    /// Makes the vector pending: the guest takes it as soon as its interrupt flag allows. Replaces
    /// an earlier one.
    #[inline]
    pub fn request_interrupt(&mut self, vector: u8) {
        let word = &mut self.control_mut().virtual_interrupt;
        *word = (*word & vintr::TPR)
            | vintr::MASKING
            | vintr::PENDING
            | vintr::PRIORITY
            | vintr::IGNORE_TPR
            | u64::from(vector) << vintr::VECTOR_SHIFT;
    }

    /// Takes back a vector that the guest has not taken.
    #[inline]
    pub fn cancel_interrupt(&mut self) {
        let word = &mut self.control_mut().virtual_interrupt;
        *word = (*word & vintr::TPR) | vintr::MASKING;
    }

    /// Whether the requested vector is still pending. An interrupt whose delivery an exit cut short
    /// is pending again.
    #[inline]
    #[must_use]
    pub fn interrupt_pending(&self) -> bool {
        self.control().virtual_interrupt & vintr::PENDING != 0
    }

    /// Whether the guest's interrupt flag is set, so that an interrupt ends HLT.
    #[inline]
    #[must_use]
    pub fn interrupts_enabled(&self) -> bool {
        self.save().rflags & INTERRUPT_FLAG != 0
    }

    /// The guest's task priority as CR8 has it, in the format of the local APIC's register.
    #[inline]
    #[must_use]
    pub fn task_priority(&self) -> u8 {
        ((self.control().virtual_interrupt & 0xf) as u8) << 4
    }

    /// Sets what the guest reads from CR8.
    #[inline]
    pub fn set_task_priority(&mut self, tpr: u8) {
        let word = &mut self.control_mut().virtual_interrupt;
        *word = (*word & !vintr::TPR) | u64::from(tpr >> 4);
    }

    /// Delivers an exception at the next entry. Vectors that are not exceptions (2, and from 32 on)
    /// are ignored.
    pub fn inject_exception(&mut self, vector: u8, code: Option<u32>) {
        if vector < 32 && vector != 2 {
            self.control_mut().event = exception(vector, code);
        }
    }

    /// Whether the guest is in an interrupt shadow.
    #[inline]
    pub(super) fn in_shadow(&self) -> bool {
        self.control().shadow & SHADOW != 0
    }

    /// Before an entry in a shadow: if an interrupt or an NMI is pending, holds it back for one
    /// instruction. A guest that single-steps itself, or gets an exception first, is left alone.
    pub(super) fn hold_interrupt(&mut self, state: &State) -> Shadow {
        let (rip, dr6) = (self.save().rip, self.save().dr6);
        let stepping = self.save().rflags & TRAP_FLAG != 0 || self.control().event & EVENT_VALID != 0;
        let requested = self.interrupt_pending();
        let nmi = state.dirty.get() & dirty::NMI != 0 && !self.in_nmi();
        let held = (requested || nmi) && !stepping;
        if held {
            let control = self.control_mut();
            control.virtual_interrupt &= !vintr::PENDING;
            control.intercept_exceptions = WHILE_STEPPING;
            self.save_mut().rflags |= TRAP_FLAG;
        }
        Shadow { rip, dr6, requested, nmi, held }
    }

    /// After that entry: undoes this, and restores the shadow if the guest made no progress
    /// (`early`: the exit came from outside). Returns whether the trap flag alone caused the exit.
    pub(super) fn release_interrupt(&mut self, shadow: &Shadow, early: bool) -> bool {
        let is_there = self.save().rip == shadow.rip;
        // IRET loads the flag that is the guest's.
        let is_loaded = !is_there && self.at_iret;
        if early && is_there {
            self.control_mut().shadow |= SHADOW;
        } else {
            self.at_iret = false;
        }
        if !shadow.held {
            return false;
        }
        let control = self.control_mut();
        control.intercept_exceptions = EXCEPTIONS;
        if shadow.requested {
            control.virtual_interrupt |= vintr::PENDING;
        }
        let save = self.save_mut();
        if !is_loaded {
            save.rflags &= !TRAP_FLAG;
        }
        let stepped = save.dr6 & BREAKPOINTS == 0 && save.dr6 & SINGLE_STEP != 0;
        save.dr6 = (save.dr6 & !SINGLE_STEP) | (shadow.dr6 & SINGLE_STEP);
        stepped
    }

    /// Puts back the event whose delivery the exit interrupted.
    #[cold]
    pub(super) fn recover_event(&mut self) {
        match interrupted(self.control().exit_event) {
            Interrupted::Nothing => {}
            Interrupted::Inject(event) => self.control_mut().event = event,
            Interrupted::Interrupt(vector) => self.request_interrupt(vector),
        }
    }

    /// Forgets an event that was to be injected, and what is left of one whose delivery an exit
    /// interrupted.
    pub(super) fn drop_event(&mut self) {
        let control = self.control_mut();
        (control.event, control.exit_event) = (0, 0);
        self.cancel_interrupt();
    }

    /// Forgets that the guest is in the handler of an NMI. Not for user vCPUs.
    pub(super) fn drop_nmi(&mut self) {
        self.control_mut().intercept1 &= !intercept1::IRET;
        self.at_iret = false;
    }

    /// Whether the guest is in the handler of an NMI: from its delivery until the exit by which its
    /// IRET shows. User vCPUs, which get none, exit at IRET too.
    fn in_nmi(&self) -> bool {
        self.control().intercept1 & intercept1::IRET != 0
    }

    /// Delivers an NMI at the next entry, or leaves it in [`State::dirty`]. If it comes behind an
    /// exception, an interrupt in which there is nothing to do brings the guest out once that is
    /// delivered.
    pub(super) fn request_nmi(&mut self, state: &State) {
        let behind_event = self.control().event & EVENT_VALID != 0;
        if self.in_nmi() || self.in_shadow() || behind_event {
            state.dirty.update(|bits| bits | dirty::NMI);
            if !self.in_nmi() && behind_event {
                apic::send_interrupt(apic::id(), apic::vector::IPI);
            }
        } else {
            let control = self.control_mut();
            control.event = INJECT_NMI;
            control.intercept1 |= intercept1::IRET;
        }
    }

    /// The guest is about to execute IRET, which ends the handler of an NMI. The next one is held
    /// back for one instruction more, as in an interrupt shadow.
    pub(super) fn leave_nmi(&mut self) {
        let control = self.control_mut();
        control.intercept1 &= !intercept1::IRET;
        control.shadow |= SHADOW;
        self.at_iret = true;
    }

    /// Whether the exit interrupted the delivery of an event.
    #[inline]
    pub(super) fn event_interrupted(&self) -> bool {
        self.control().exit_event & EVENT_VALID != 0
    }
}
