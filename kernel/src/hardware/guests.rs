//! Virtual CPUs: the processor's part of one lies in the pages that follow the object.

use super::{Hardware, devices::kept_ports};
use crate::{
    arch::{
        direct,
        virt::{self, Vcpu as Processor},
    },
    guest::message,
    virtualisation,
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::{
    PAGE,
    status::{Error, Result},
    vcpu::State,
};
use pillion_core::{
    Id,
    machine::{Guests, Objects as _},
    space::Space,
    vcpu::Vcpu,
};

/// Address-space numbers of guests; 0 is the host's.
mod asid {
    pub const PASSENGER: u32 = 1;
    pub const USER: u32 = 2;
}

/// Offset of [`VcpuPart`] in a vCPU's first page.
const VCPU_PART: u64 = 2048;

const _: () = assert!(size_of::<Vcpu>() as u64 <= VCPU_PART && size_of::<VcpuPart>() as u64 <= PAGE - VCPU_PART);
const _: () = assert!(virt::VCPU_PAGES + 1 == pillion_core::create::VCPU_PAGES);

/// The processor's part of a vCPU. While a guest runs there is a reference to `processor`, and to
/// nothing else in it.
#[repr(C)]
struct VcpuPart {
    /// Guest and host state.
    processor: Processor,
    /// The page that the VM monitor shares, in the direct map.
    state: *const State,
}

impl Hardware {
    /// Guest and host state of a vCPU.
    ///
    /// # Safety
    /// After [`Guests::vcpu_init`], while the vCPU lives and no other such reference does. One is
    /// taken while the guest runs, and one by [`Guests::vcpu_allow_ports`], which is a system call.
    #[inline]
    pub unsafe fn processor<'a>(vcpu: Id<Vcpu>) -> &'a mut Processor {
        // SAFETY: `vcpu_init` made it, in the vCPU's own page; the caller vouches for the rest.
        unsafe { &mut (*direct::<VcpuPart>(vcpu.physical() + VCPU_PART)).processor }
    }

    /// The page of a vCPU's state.
    ///
    /// # Safety
    /// After [`Guests::vcpu_init`], and while the vCPU's slot holds the capability for the page.
    #[inline]
    pub unsafe fn shared_state<'a>(vcpu: Id<Vcpu>) -> &'a State {
        // SAFETY: `vcpu_init` wrote the pointer, which is not within what `processor` refers to;
        // the caller vouches that the page is memory. Any number of references to cells may live.
        unsafe { &*(*direct::<VcpuPart>(vcpu.physical() + VCPU_PART)).state }
    }
}

impl Guests for Hardware {
    fn vcpu_prepare(&mut self, vcpu: Id<Vcpu>, step: u32) -> bool {
        // SAFETY: the pages follow the object and are the vCPU's own.
        unsafe { Processor::prepare(vcpu.physical() + PAGE, step) }
    }

    fn vcpu_init(&mut self, vcpu: Id<Vcpu>, space: Id<Space>, state: u64, user: bool) -> Result<()> {
        let features = virtualisation::features().ok_or(Error::Unsupported)?;
        let asid = if user { asid::USER } else { asid::PASSENGER };
        if asid >= features.asids {
            return Err(Error::Unsupported);
        }
        let guest_root = self.shared(space).root;
        // SAFETY: the pages were cleared and prepared, and since used by this vCPU only; the guest
        // space lives as long as the vCPU names it, or the vCPU is not entered any more; there is
        // one passenger per CPU, and user vCPUs, which share a number, drop translations when they
        // change.
        let mut processor = unsafe { Processor::init(vcpu.physical() + PAGE, guest_root, asid, &features) };
        if user {
            processor.confine();
        }
        let part = VcpuPart { processor, state: direct(state) };
        // SAFETY: the rest of the vCPU's first page is for this.
        unsafe { direct::<VcpuPart>(vcpu.physical() + VCPU_PART).write(part) };
        Ok(())
    }

    fn vcpu_allow_ports(&mut self, vcpu: Id<Vcpu>, first: u16, count: u32) {
        // SAFETY: the core checks that `VcpuConfigure` came before; no guest runs during a system
        // call.
        let processor = unsafe { Self::processor(vcpu) };
        processor.allow_ports(first, count);
        for (port, count) in kept_ports() {
            processor.deny_ports(port, count);
        }
    }

    fn vcpu_timer_fired(&mut self, vcpu: Id<Vcpu>) -> Option<u8> {
        // SAFETY: the core checks the slot before it calls this.
        let state = unsafe { Self::shared_state(vcpu) };
        state.deadline.store(0, Relaxed);
        u8::try_from(state.timer_vector.load(Relaxed)).ok().filter(|vector| *vector >= 16)
    }

    fn vcpu_drop(&mut self, vcpu: Id<Vcpu>) {
        let first = vcpu.physical();
        let pages = first..first + pillion_core::create::VCPU_PAGES * PAGE;
        self.fpu_owner = self.fpu_owner.filter(|area| !pages.contains(&area.physical()));
    }

    fn vcpu_show(&mut self, vcpu: Id<Vcpu>) {
        // SAFETY: as in `vcpu_timer_fired`.
        let state = unsafe { Self::shared_state(vcpu) };
        let guest = &self.get(vcpu).apic;
        state.irr.set(*guest.irr());
        state.isr.set(*guest.isr());
    }

    fn take_messages(&mut self) -> [u64; 4] {
        message::take(self.cpu.index())
    }

    fn accept_messages(&mut self, accept: bool) {
        message::accept(self.cpu.index(), accept);
    }
}
