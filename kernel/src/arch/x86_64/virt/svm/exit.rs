//! Entering the guest, and what an exit means (AMD APM vol. 2, appendix C).

use super::vcpu::Vcpu;
use super::vmcb::tlb;
use super::world;
use crate::arch::x86_64::virt::HwExit;
use pillion_abi::vcpu::{Fault, State, gpr};
use pillion_core::x86_64::svm;

/// Codes of exits.
mod code {
    pub const EXCEPTION: u32 = 0x40;
    pub const EXCEPTION_LAST: u32 = 0x5f;
    pub const DEBUG: u32 = 0x41;
    pub const ALIGNMENT: u32 = 0x51;
    pub const INTR: u32 = 0x60;
    pub const MACHINE_CHECK: u32 = 0x52;
    pub const NMI: u32 = 0x61;
    pub const INIT: u32 = 0x63;
    pub const RDPMC: u32 = 0x6f;
    pub const CPUID: u32 = 0x72;
    pub const IRET: u32 = 0x74;
    pub const INVD: u32 = 0x76;
    pub const HLT: u32 = 0x78;
    pub const INVLPGA: u32 = 0x7a;
    pub const IOIO: u32 = 0x7b;
    pub const MSR: u32 = 0x7c;
    pub const SHUTDOWN: u32 = 0x7f;
    pub const VMRUN: u32 = 0x80;
    pub const VMMCALL: u32 = 0x81;
    pub const VMLOAD: u32 = 0x82;
    pub const SKINIT: u32 = 0x86;
    pub const WBINVD: u32 = 0x89;
    pub const MONITOR: u32 = 0x8a;
    pub const MWAIT_ARMED: u32 = 0x8c;
    pub const XSETBV: u32 = 0x8d;
    pub const RDPRU: u32 = 0x8e;
    pub const NESTED_FAULT: u32 = 0x400;
    /// -1; QEMU stores only 32 bits of it.
    pub const INVALID: u32 = 0xffff_ffff;
}

/// Code of the exit by a machine check.
pub const MACHINE_CHECK: u64 = code::MACHINE_CHECK as u64;

const EFER: u32 = 0xc000_0080;
const GENERAL_PROTECTION: u8 = 13;
const PAGE_FAULT: u32 = 14;
/// Exceptions that have an error code: #DF, #TS, #NP, #SS, #GP, #PF, #AC, #CP, #VC, #SX.
const HAVE_CODE: u32 = 1 << 8 | 0x1f << 10 | 1 << 17 | 1 << 21 | 1 << 29 | 1 << 30;
const PAGING: u64 = 1 << 31;

/// Details of an exception from the two words of the VMCB (15.12).
const fn exception(vector: u32, code: u64, address: u64) -> Fault {
    let address = if vector == PAGE_FAULT { address } else { 0 };
    let code = if HAVE_CODE & 1 << vector != 0 { code << 32 } else { 0 };
    Fault { address, info: vector as u64 | code }
}

/// Exit of a user vCPU: see [`Vcpu::decode_user`].
#[derive(Debug)]
pub struct UserExit(u32);

impl Vcpu {
    /// Runs the guest up to the next exit. The general registers other than `rax` and `rsp` are
    /// taken from and left in `state`.
    ///
    /// After [`HwExit::Interrupt`] the physical interrupt is still pending. Bounded: no loop.
    ///
    /// # Safety
    /// Interrupts are off, [`super::enable`] was called on this CPU, this is the CPU that the vCPU
    /// belongs to, and the FPU holds the guest's state.
    #[inline]
    pub unsafe fn enter(&mut self, state: &State) -> HwExit {
        if self.in_shadow() {
            // SAFETY: as the caller says.
            return unsafe { self.enter_in_shadow(state) };
        }
        // SAFETY: as the caller says.
        let number = unsafe { self.run(state) };
        if number == code::INTR && !self.event_interrupted() {
            return HwExit::Interrupt;
        }
        self.decode(state, number)
    }

    /// As [`Vcpu::enter`], for a user vCPU: an exception is the usual exit. No event is ever
    /// delivered in it, so no exit can cut one short; an INT instruction that an exit cuts short is
    /// executed again. User mode cannot change XCR0, and has the host's.
    ///
    /// # Safety
    /// As [`Vcpu::enter`].
    #[inline(always)]
    pub unsafe fn enter_user(&mut self, state: &State) -> core::result::Result<Fault, UserExit> {
        // SAFETY: as the caller says.
        unsafe { self.switch(state) };
        let control = self.control();
        let number = control.exit_code as u32;
        let vector = number.wrapping_sub(code::EXCEPTION);
        if vector > code::EXCEPTION_LAST - code::EXCEPTION || number == code::MACHINE_CHECK {
            return Err(UserExit(number));
        }
        Ok(exception(vector, control.exit_info1, control.exit_info2))
    }

    /// What an exit of a user vCPU means that is not an exception.
    #[inline]
    pub fn decode_user(&mut self, UserExit(number): UserExit) -> HwExit {
        let control = self.control();
        match number {
            code::INTR => HwExit::Interrupt,
            code::NMI | code::INIT => HwExit::Taken,
            code::MACHINE_CHECK => HwExit::MachineCheck,
            code::VMMCALL => HwExit::Hypercall,
            code::NESTED_FAULT => HwExit::NestedFault(Fault { address: control.exit_info2, info: control.exit_info1 }),
            code::SHUTDOWN => HwExit::Shutdown,
            code::INVALID => self.refused_state(),
            _ => HwExit::Refused,
        }
    }

    /// The processor did not accept a user vCPU's state. QEMU leaves the host's state in its place,
    /// which is not user mode.
    #[cold]
    fn refused_state(&mut self) -> HwExit {
        let code = self.control().exit_code;
        self.init_save();
        self.confine_state();
        HwExit::Invalid { code }
    }

    /// Switches to the guest and back; returns the code of the exit.
    ///
    /// # Safety
    /// As [`Vcpu::enter`].
    #[inline]
    unsafe fn run(&mut self, state: &State) -> u32 {
        self.world.load_xcr0();
        // SAFETY: as the caller says.
        unsafe { self.switch(state) };
        self.world.restore_xcr0();
        let control = self.control_mut();
        control.tlb_control = tlb::KEEP;
        control.exit_code as u32
    }

    /// # Safety
    /// As [`Vcpu::enter`].
    #[inline(always)]
    unsafe fn switch(&mut self, state: &State) {
        // SAFETY: the caller vouches for the CPU; `init` made a VMCB that intercepts what the host
        // relies on.
        unsafe { world::switch(state.gpr.as_ptr().cast_mut().cast(), &self.world) };
    }

    /// As [`Vcpu::enter`], for a guest that is between STI (or a load of SS) and the next
    /// instruction. QEMU forgets that at VMRUN, and an interrupt between STI and HLT would leave
    /// the guest asleep; see [`Shadow`](super::event::Shadow).
    ///
    /// # Safety
    /// As [`Vcpu::enter`].
    #[cold]
    unsafe fn enter_in_shadow(&mut self, state: &State) -> HwExit {
        let shadow = self.hold_interrupt(state);
        // SAFETY: as the caller says.
        let number = unsafe { self.run(state) };
        let stepped = self.release_interrupt(&shadow, matches!(number, code::INTR | code::NMI | code::INIT));
        if number == code::DEBUG && stepped {
            return HwExit::Handled;
        }
        match number {
            // The NMI ends it.
            code::HLT if shadow.nmi => self.handled(1),
            code::DEBUG | code::MACHINE_CHECK => self.decode(state, number),
            code::EXCEPTION..=code::EXCEPTION_LAST if shadow.held => self.give_back(number),
            _ => self.decode(state, number),
        }
    }

    /// Gives the guest an exception that exited because of the kernel's trap flag.
    fn give_back(&mut self, number: u32) -> HwExit {
        let vector = number - code::EXCEPTION;
        let Fault { address, info } = exception(vector, self.control().exit_info1, self.control().exit_info2);
        if vector == PAGE_FAULT {
            self.save_mut().cr2 = address;
        }
        self.reflect(number, (HAVE_CODE & 1 << vector != 0).then_some((info >> 32) as u32))
    }

    fn decode(&mut self, state: &State, number: u32) -> HwExit {
        if self.event_interrupted() {
            self.recover_event();
        }
        let info = self.control().exit_info1;
        match number {
            code::INTR => HwExit::Interrupt,
            code::NMI | code::INIT => HwExit::Taken,
            code::MACHINE_CHECK => HwExit::MachineCheck,
            code::HLT => HwExit::Halt,
            code::IRET => {
                self.leave_nmi();
                HwExit::Handled
            }
            code::CPUID => HwExit::Cpuid,
            code::MSR => self.msr(state, info & 1 != 0),
            code::IOIO => HwExit::Port(svm::io(info, self.control().exit_info2)),
            code::NESTED_FAULT => HwExit::NestedFault(Fault { address: self.control().exit_info2, info }),
            code::VMMCALL => HwExit::Hypercall,
            code::SHUTDOWN => HwExit::Shutdown,
            code::INVALID => HwExit::Invalid { code: self.control().exit_code },
            code::WBINVD | code::INVD => self.handled(2),
            code::XSETBV => self.xsetbv(state),
            code::DEBUG => self.reflect(number, None),
            code::ALIGNMENT => self.reflect(number, Some(info as u32)),
            code::VMRUN | code::VMLOAD..=code::SKINIT | code::INVLPGA => HwExit::Refused,
            code::MONITOR..=code::MWAIT_ARMED | code::RDPMC | code::RDPRU => HwExit::Refused,
            _ => HwExit::Unexpected { code: self.control().exit_code },
        }
    }

    /// The instruction was handled: advances past it.
    fn handled(&mut self, bytes: u64) -> HwExit {
        self.advance(bytes);
        HwExit::Handled
    }

    /// The instruction causes a fault.
    fn faulted(&mut self) -> HwExit {
        self.inject_exception(GENERAL_PROTECTION, Some(0));
        HwExit::Handled
    }

    /// Gives the guest an exception that is intercepted only to force an exit.
    fn reflect(&mut self, number: u32, error: Option<u32>) -> HwExit {
        self.inject_exception((number - code::EXCEPTION) as u8, error);
        HwExit::Handled
    }

    /// EFER is the only register handled here: the guest must not see that SVM is on.
    fn msr(&mut self, state: &State, write: bool) -> HwExit {
        let number = state.gpr[gpr::RCX].get() as u32;
        match (number, write) {
            (EFER, false) => {
                let value = self.save().efer & !svm::efer::SVME;
                self.finish_rdmsr(state, value);
                HwExit::Handled
            }
            (EFER, true) => self.write_efer(self.msr_value(state)),
            _ => HwExit::Msr { write, number },
        }
    }

    fn write_efer(&mut self, value: u64) -> HwExit {
        let save = self.save_mut();
        match svm::write_efer(save.efer, value, save.cr0 & PAGING != 0) {
            Some(value) => {
                save.efer = value;
                self.flush_translations();
                self.handled(2)
            }
            None => self.faulted(),
        }
    }

    fn xsetbv(&mut self, state: &State) -> HwExit {
        let value = self.msr_value(state);
        let accepted = state.gpr[gpr::RCX].get() as u32 == 0 && svm::xcr0_is_valid(value, self.world.host_xcr0);
        if self.save().cpl != 0 || !accepted {
            return self.faulted();
        }
        self.world.guest_xcr0 = value;
        self.handled(3)
    }
}
