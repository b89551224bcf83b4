//! The guest's state between the VMCB and the page shared with the VM monitor.
//!
//! Whatever the monitor writes is only a guest's state: the processor checks it at VMRUN, and
//! nothing in it changes what is intercepted or mapped. EFER.SVME is kept set, and attributes and
//! events are brought into a valid form.

use super::vcpu::Vcpu;
use pillion_abi::vcpu::{Segment, State, dirty, gpr};
use pillion_core::x86_64::svm::{efer, requested_exception};

const PROTECTED_MODE: u64 = 1;
const MACHINE_CHECK_ENABLE: u64 = 1 << 6;

/// A segment with the defined attribute bits only.
const fn segment(s: Segment) -> Segment {
    Segment { attributes: s.attributes & 0xfff, ..s }
}

impl Vcpu {
    /// Takes over what the VM monitor changed, and clears [`State::dirty`]. With `SYSTEM`
    /// everything after `rflags` is taken, so the monitor must have set all of it, or received all
    /// of it ([`Vcpu::store_state`] with `full`). An NMI that cannot be delivered yet stays there.
    pub fn load_state(&mut self, state: &State) {
        let changed = state.dirty.take();
        if changed & dirty::CORE != 0 {
            self.load_core(state);
        }
        if changed & dirty::SYSTEM != 0 {
            self.load_system(state);
            self.drop_nmi();
        }
        if changed & (dirty::EVENT | dirty::NMI) != 0 {
            self.load_events(changed, state);
        }
    }

    #[cold]
    #[inline(never)]
    fn load_events(&mut self, changed: u64, state: &State) {
        if changed & dirty::EVENT != 0
            && let Some(event) = requested_exception(state.event.get())
        {
            self.control_mut().event = event;
        }
        if changed & dirty::NMI != 0 {
            self.request_nmi(state);
        }
        if changed == dirty::NMI {
            // The monitor may not have seen what the guest set since.
            state.tpr.set(self.task_priority().into());
        }
    }

    /// As [`Vcpu::load_state`], for a user vCPU. Shows at once what user mode cannot change.
    #[inline(always)]
    pub fn load_user_state(&mut self, state: &State) {
        let changed = state.dirty.take();
        if changed & dirty::CORE != 0 {
            self.load_core(state);
        }
        if changed & dirty::SYSTEM != 0 {
            self.load_system(state);
            self.confine_state();
            self.store_control(state);
        }
    }

    /// Closes the ways out of user mode: no SYSCALL (SYSENTER has no target, since user mode cannot
    /// give it one), no gate, no descriptor. Real mode would have no privilege levels.
    pub(super) fn confine_state(&mut self) {
        const PRIVILEGE_3: u16 = 3 << 5;
        self.world.guest_xcr0 = self.world.host_xcr0;
        let save = self.save_mut();
        save.cr0 |= PROTECTED_MODE;
        save.efer &= !efer::SCE;
        save.cs.attributes |= PRIVILEGE_3;
        save.ss.attributes |= PRIVILEGE_3;
        save.cpl = 3;
        (save.gdtr, save.idtr) = (Segment::default(), Segment::default());
        (save.ldtr, save.tr) = (Segment::default(), Segment::default());
    }

    #[inline(always)]
    fn load_core(&mut self, state: &State) {
        let save = self.save_mut();
        save.rax = state.gpr[gpr::RAX].get();
        save.rsp = state.gpr[gpr::RSP].get();
        save.rip = state.rip.get();
        save.rflags = state.rflags.get();
        self.control_mut().shadow = 0;
    }

    #[inline(never)]
    fn load_system(&mut self, state: &State) {
        let save = self.save_mut();
        save.cr0 = state.cr0.get();
        save.cr3 = state.cr3.get();
        // Machine checks are the host's; without the bit some processors shut down instead of
        // coming out (15.12.18).
        save.cr4 = state.cr4.get() | MACHINE_CHECK_ENABLE;
        save.efer = (state.efer.get() & (efer::GUEST | efer::LMA)) | efer::SVME;
        save.cs = segment(state.cs.get());
        save.ds = segment(state.ds.get());
        save.es = segment(state.es.get());
        save.fs = segment(state.fs.get());
        save.gs = segment(state.gs.get());
        save.ss = segment(state.ss.get());
        save.tr = segment(state.tr.get());
        save.ldtr = segment(state.ldtr.get());
        save.gdtr = segment(state.gdtr.get());
        save.idtr = segment(state.idtr.get());
        save.cpl = (save.ss.attributes >> 5) as u8 & 3;
        save.cr2 = state.cr2.get();
        save.pat = state.pat.get();
        save.dr6 = state.dr6.get();
        save.dr7 = state.dr7.get();
        // An event that an exit cut short belongs to the state that is gone. XCR0 is as after
        // reset; the monitor cannot set it.
        self.drop_event();
        self.world.guest_xcr0 = self.world.host_xcr0 & 1;
        self.flush_translations();
    }

    /// Shows the guest's state to the VM monitor; all of it where `full`, else what it needs to
    /// handle an ordinary exit.
    pub fn store_state(&self, state: &State, full: bool) {
        self.store_core(state);
        self.store_control(state);
        if full {
            self.store_rest(state);
        }
    }

    /// Shows what user mode can change: the core, and FS and GS, whose bases it can write.
    #[inline(always)]
    pub fn store_user_state(&self, state: &State) {
        self.store_core(state);
        let save = self.save();
        state.fs.set(save.fs);
        state.gs.set(save.gs);
    }

    #[inline(always)]
    fn store_core(&self, state: &State) {
        let save = self.save();
        state.gpr[gpr::RAX].set(save.rax);
        state.gpr[gpr::RSP].set(save.rsp);
        state.rip.set(save.rip);
        state.rflags.set(save.rflags);
    }

    #[inline]
    fn store_control(&self, state: &State) {
        let save = self.save();
        state.cr0.set(save.cr0);
        state.cr3.set(save.cr3);
        state.cr4.set(save.cr4);
        state.efer.set(save.efer & !efer::SVME);
        state.cs.set(save.cs);
        state.xcr0.set(self.world.guest_xcr0);
    }

    fn store_rest(&self, state: &State) {
        let save = self.save();
        state.ds.set(save.ds);
        state.es.set(save.es);
        state.fs.set(save.fs);
        state.gs.set(save.gs);
        state.ss.set(save.ss);
        state.tr.set(save.tr);
        state.ldtr.set(save.ldtr);
        state.gdtr.set(save.gdtr);
        state.idtr.set(save.idtr);
        state.cr2.set(save.cr2);
        state.pat.set(save.pat);
        state.dr6.set(save.dr6);
        state.dr7.set(save.dr7);
    }

    /// The value that WRMSR or XSETBV writes. [`State::gpr`] has `rax` only after
    /// [`Vcpu::store_state`].
    #[inline]
    #[must_use]
    pub fn msr_value(&self, state: &State) -> u64 {
        state.gpr[gpr::RDX].get() << 32 | u64::from(self.save().rax as u32)
    }

    /// Gives RDMSR its value and advances past it.
    #[inline]
    pub fn finish_rdmsr(&mut self, state: &State, value: u64) {
        state.gpr[gpr::RDX].set(value >> 32);
        self.save_mut().rax = u64::from(value as u32);
        self.advance(2);
    }

    /// Number of the hypercall that the guest makes, in `rax`, if its kernel makes it and not a
    /// process.
    #[inline]
    #[must_use]
    pub fn hypercall(&self) -> Option<u64> {
        let save = self.save();
        (save.cpl == 0).then_some(save.rax)
    }

    /// Gives a hypercall its result and advances past it.
    #[inline]
    pub fn finish_hypercall(&mut self, result: u64) {
        self.save_mut().rax = result;
        self.advance(3);
    }

    /// Advances past an instruction of that length, which ends an interrupt shadow.
    #[inline]
    pub fn advance(&mut self, bytes: u64) {
        let next = if self.has_next_rip { self.control().next_rip } else { 0 };
        let save = self.save_mut();
        save.rip = if next != 0 { next } else { save.rip.wrapping_add(bytes) };
        self.control_mut().shadow = 0;
    }
}
