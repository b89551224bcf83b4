//! A virtual CPU: its pages, how they are prepared, and what the guest may be allowed.

use super::vmcb::{Control, Save, Vmcb, intercept1, intercept2, tlb, vintr};
use super::world::{World, read_xcr0};
use crate::arch::x86_64::fpu::Area;
use crate::arch::x86_64::layout::direct;
use crate::arch::x86_64::virt::Features;
use core::arch::asm;
use core::ptr::NonNull;
use pillion_abi::PAGE;
use pillion_core::x86_64::svm::{self, IO_MAP_WORDS, MSR_MAP_WORDS, efer};

/// Pages that a vCPU needs: see [`page`].
pub const VCPU_PAGES: u64 = 8;

/// Numbers of the pages in a vCPU's area.
mod page {
    pub const VMCB: u64 = 0;
    pub const FPU: u64 = 1;
    pub const HOST: u64 = 2;
    pub const IO_MAP: u64 = 3;
    pub const MSR_MAP: u64 = 6;
}

/// Exceptions that exit: the guest could keep the processor busy for ever delivering #DB or #AC,
/// and a machine check is not the guest's.
pub(super) const EXCEPTIONS: u32 = 1 << 1 | 1 << 17 | 1 << 18;

/// A virtual CPU. It may be entered only on the CPU that it belongs to.
#[derive(Debug)]
pub struct Vcpu {
    vmcb: NonNull<Vmcb>,
    pub(super) world: World,
    area: u64,
    flush: u32,
    pub(super) has_next_rip: bool,
    /// The next instruction is the IRET of an NMI's handler.
    pub(super) at_iret: bool,
}

/// Words of the maps that one step of [`Vcpu::prepare`] fills. Divides both.
const PREPARE_WORDS: usize = 128;

impl Vcpu {
    /// Fills a part of the permission maps, so that all ports and registers are intercepted, and in
    /// the end opens the registers that are the guest's own. Returns whether there was nothing left
    /// to do. Called for each step from 0 on, before [`Vcpu::init`].
    ///
    /// # Safety
    /// As for `area` of [`Vcpu::init`].
    #[must_use]
    pub unsafe fn prepare(area: u64, step: u32) -> bool {
        const MAPS: [(u64, usize); 2] = [(page::IO_MAP, IO_MAP_WORDS), (page::MSR_MAP, MSR_MAP_WORDS)];
        let mut from = step as usize * PREPARE_WORDS;
        for (first_page, words) in MAPS {
            if from < words {
                let end = words.min(from + PREPARE_WORDS);
                // SAFETY: the caller vouches for the area, in which the maps lie; the words lie in
                // the map.
                let part = unsafe {
                    core::slice::from_raw_parts_mut(direct::<u64>(area + first_page * PAGE).add(from), end - from)
                };
                part.fill(u64::MAX);
                return false;
            }
            from -= words;
        }
        if from > 0 {
            return true;
        }
        // SAFETY: as above, for the whole of the second map.
        let map = unsafe { core::slice::from_raw_parts_mut(direct(area + page::MSR_MAP * PAGE), MSR_MAP_WORDS) };
        svm::open_msrs(map);
        false
    }

    /// Prepares a vCPU in its pages, after [`Vcpu::prepare`]: everything that matters and can be
    /// intercepted is; the guest reaches no port, and no register but its own.
    ///
    /// SMIs are the firmware's, as without a guest. CR writes are left to the guest: it owns its
    /// CR0, CR3 and CR4.
    ///
    /// # Safety
    /// `area` is the physical address of [`VCPU_PAGES`] pages of RAM that hold zeros, or what an
    /// earlier `init` and its guest left, and belong to this vCPU until it is gone; `nested_root`
    /// maps nothing that must be kept from the guest; `asid` is not 0 and below `features.asids`,
    /// and any other vCPU that has it drops translations before it is entered.
    #[must_use]
    pub unsafe fn init(area: u64, nested_root: u64, asid: u32, features: &Features) -> Self {
        let xcr0 = host_xcr0();
        let mut vcpu = Self {
            // SAFETY: the direct map is nowhere near address 0.
            vmcb: unsafe { NonNull::new_unchecked(direct(area + page::VMCB * PAGE)) },
            world: World {
                vmcb: area + page::VMCB * PAGE,
                host: area + page::HOST * PAGE,
                guest_xcr0: xcr0 & 1,
                host_xcr0: xcr0,
            },
            area,
            flush: if features.flush_by_asid { tlb::GUEST } else { tlb::ALL },
            has_next_rip: features.next_rip,
            at_iret: false,
        };
        vcpu.init_control(nested_root, asid);
        vcpu.init_save();
        vcpu.init_fpu();
        vcpu
    }

    /// Makes it a user vCPU, which never leaves user mode: all exceptions exit, and its state is
    /// kept such that nothing else leads out of user mode, also no target that an earlier guest
    /// gave SYSENTER. Instructions that show the descriptor tables exit, since these are not the
    /// guest's, and so do those that can set the trap flag, and ICEBP: an exit by a debug exception
    /// would come after the instruction, which the guest's kernel could not execute again. Each
    /// entry drops all translations.
    pub fn confine(&mut self) {
        use intercept1::{GDTR_READ, IDTR_READ, IRET, LDTR_READ, POPF, TR_READ};
        self.flush_translations();
        let control = self.control_mut();
        control.intercept_exceptions = u32::MAX;
        control.intercept1 |= IDTR_READ | GDTR_READ | LDTR_READ | TR_READ | POPF | IRET;
        control.intercept2 |= intercept2::ICEBP;
        self.save_mut().system = [0; 8];
        self.confine_state();
    }

    fn init_control(&mut self, nested_root: u64, asid: u32) {
        let (io_map, msr_map) = (self.area + page::IO_MAP * PAGE, self.area + page::MSR_MAP * PAGE);
        let control = self.control_mut();
        control.intercept_exceptions = EXCEPTIONS;
        control.intercept1 = {
            use intercept1::*;
            INTR | NMI | INIT | RDPMC | CPUID | INVD | HLT | INVLPGA | IOIO | MSR | FERR_FREEZE | SHUTDOWN
        };
        // WBINVD could keep the processor busy for milliseconds.
        control.intercept2 = {
            use intercept2::*;
            SVM | WBINVD | MONITOR | MWAIT | MWAIT_ARMED | XSETBV | RDPRU
        };
        control.io_map = io_map;
        control.msr_map = msr_map;
        control.asid = asid;
        control.tlb_control = tlb::ALL;
        control.virtual_interrupt = vintr::MASKING;
        control.nested = 1;
        control.nested_root = nested_root;
        (control.event, control.exit_event, control.shadow) = (0, 0, 0);
    }

    /// Values that the processor accepts, for a monitor that enters before it has set any.
    pub(super) fn init_save(&mut self) {
        let save = self.save_mut();
        save.efer = efer::SVME;
        (save.cr0, save.cr2, save.cr3, save.cr4) = (0x10, 0, 0, 0);
        (save.rip, save.rsp, save.rax, save.rflags) = (0, 0, 0, 2);
        save.dr6 = 0xffff_0ff0;
        save.dr7 = 0x400;
        save.pat = 0x0007_0406_0007_0406;
    }

    /// State of the FPU after reset: with the header zero only the control words matter. What an
    /// earlier guest left stays.
    fn init_fpu(&mut self) {
        let area = direct::<u8>(self.fpu_area().physical());
        // SAFETY: the page is this vCPU's and not in use yet, and both offsets (AMD APM vol. 2,
        // 11.5) are in it and aligned.
        unsafe {
            area.cast::<u16>().write(0x037f);
            area.add(24).cast::<u32>().write(0x1f80);
        }
    }

    /// The guest's FPU state; valid from the start.
    #[must_use]
    pub const fn fpu_area(&self) -> Area {
        // SAFETY: a page of this vCPU's own, in which `init` put the state after reset.
        unsafe { Area::at(self.area + page::FPU * PAGE) }
    }

    #[inline]
    pub(super) fn control(&self) -> &Control {
        // SAFETY: the caller of `init` vouched that the page is this vCPU's; the processor uses it
        // during `enter` only.
        unsafe { &self.vmcb.as_ref().control }
    }

    #[inline]
    pub(super) fn control_mut(&mut self) -> &mut Control {
        // SAFETY: as in `control`.
        unsafe { &mut self.vmcb.as_mut().control }
    }

    #[inline]
    pub(super) fn save(&self) -> &Save {
        // SAFETY: as in `control`.
        unsafe { &self.vmcb.as_ref().save }
    }

    #[inline]
    pub(super) fn save_mut(&mut self) -> &mut Save {
        // SAFETY: as in `control`.
        unsafe { &mut self.vmcb.as_mut().save }
    }

    fn io_map(&mut self) -> &mut [u64] {
        // SAFETY: three pages of this vCPU's area, which `&mut self` borrows.
        unsafe { core::slice::from_raw_parts_mut(direct(self.area + page::IO_MAP * PAGE), IO_MAP_WORDS) }
    }

    /// Lets the guest use ports `first..first + count` without an exit; those beyond the last port
    /// are left out. At most 1,024 words.
    pub fn allow_ports(&mut self, first: u16, count: u32) {
        let count = count.min(0x1_0000 - u32::from(first));
        svm::clear_bits(self.io_map(), usize::from(first), count as usize);
    }

    /// Makes the guest's accesses to a few ports exit.
    pub fn deny_ports(&mut self, first: u16, count: u16) {
        for port in (first..).take(count.into()) {
            self.io_map()[usize::from(port) / 64] |= 1 << (port % 64);
        }
    }

    /// The root of the nested tables.
    #[must_use]
    pub fn nested_root(&self) -> u64 {
        self.control().nested_root
    }

    /// Drops the guest's translations at the next entry. Needed after a nested mapping was taken
    /// away.
    #[inline]
    pub fn flush_translations(&mut self) {
        self.control_mut().tlb_control = self.flush;
    }
}

/// XCR0 of the host, or 0 when it does not use XSAVE.
fn host_xcr0() -> u64 {
    const OSXSAVE: u64 = 1 << 18;
    let cr4: u64;
    // SAFETY: reading CR4 in kernel mode changes nothing.
    unsafe { asm!("mov {}, cr4", out(reg) cr4, options(nomem, nostack, preserves_flags)) };
    if cr4 & OSXSAVE == 0 {
        return 0;
    }
    // SAFETY: OSXSAVE is set.
    unsafe { read_xcr0() }
}
