//! Calls on vCPUs.

use super::{Caller, DONE, Outcome, arguments::*};
use crate::{Cap, Id, Kernel, Machine, interrupt::LineUser, vcpu::Vcpu};
use pillion_abi::{
    GUEST_VECTOR_FIRST, MESSAGE_VECTOR, NEVER, RT_VECTOR_FIRST,
    status::{Error, Result},
    vcpu::{configure, route},
};

/// Maximum number of ports that one call opens for a guest.
const PORTS_AT_ONCE: u32 = 1024;

/// A vector that a guest can get.
fn vector(argument: u64) -> Result<u8> {
    u8::try_from(argument).ok().filter(|vector| *vector >= 16).ok_or(Error::BadArgument)
}

impl<M: Machine> Kernel<M> {
    pub(super) fn sys_vcpu_run(&mut self, me: Caller, a: VcpuRun) -> Result<Outcome> {
        let id = self.vcpu(me, a.vcpu())?;
        let v = self.m.get(id);
        if !v.configured {
            return Err(Error::BadState);
        }
        if v.thread.is_some() {
            return Err(Error::Busy);
        }
        v.thread = Some(me.thread);
        let t = self.m.get(me.thread);
        t.guest = Some(id);
        let (level, passive) = (t.priority, t.own_context.is_none());
        self.guest_follows(id, level);
        if passive {
            // Each call that a passive thread serves sets its priority without moving the timers of
            // its notification. They end the guest's run, so from now on they have its priority.
            self.follow(me.thread);
        }
        Ok(Outcome::Guest)
    }

    pub(super) fn sys_vcpu_configure(&mut self, me: Caller, a: VcpuConfigure) -> Result<Outcome> {
        let id = self.vcpu(me, a.vcpu())?;
        let Cap::GuestSpace(space) = self.cap(me, a.space())? else { return Err(Error::WrongKind) };
        let Cap::Memory { device: false, base, .. } = self.cap(me, a.state())? else { return Err(Error::WrongKind) };
        if a.flags() & !configure::USER != 0 {
            return Err(Error::BadArgument);
        }
        let user = a.flags() & configure::USER != 0;
        if !self.vcpu_is_free(id, user) {
            return Err(Error::Busy);
        }
        while !self.vcpu_prepare(id) {
            if self.is_to_stop() {
                return Ok(Outcome::Restart);
            }
        }
        self.m.vcpu_init(id, space, base, user)?;
        let (from_space, from_state) = (self.slot(me.caps, a.space().index)?, self.slot(me.caps, a.state().index)?);
        self.derive_inner(from_space, id.space())?;
        if let Err(error) = self.derive_state_page(from_state, id.state()) {
            self.unlink(id.space());
            return Err(error);
        }
        // Should it be configured again, ports that are opened until then are closed first.
        let v = self.m.get(id);
        (v.user, v.configured, v.prepared) = (user, true, 0);
        if user {
            // Interrupts that it was sent before it became a user vCPU.
            self.reset_guest_interrupts(id);
        } else {
            self.cpu.passenger = Some(id);
            self.cpu.passenger_level = self.m.get(id).level;
            self.cpu.timers_changed = true;
            self.m.accept_messages(true);
        }
        DONE
    }

    pub(super) fn sys_vcpu_allow_ports(&mut self, me: Caller, a: VcpuAllowPorts) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        let Cap::Ports { first, count } = self.cap(me, a.ports())? else { return Err(Error::WrongKind) };
        if count > PORTS_AT_ONCE {
            return Err(Error::BadArgument);
        }
        if self.m.shared(id.space()).is_empty() {
            return Err(Error::BadState);
        }
        self.m.vcpu_allow_ports(id, first, count);
        DONE
    }

    pub(super) fn sys_vcpu_inject(&mut self, me: Caller, a: VcpuInject) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        let vector = vector(a.vector())?;
        self.guest_interrupt(id, vector);
        DONE
    }

    pub(super) fn sys_vcpu_notify(&mut self, me: Caller, a: VcpuNotify) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        let vector = vector(a.vector())?;
        let Cap::Notification(next) = self.cap(me, a.next())? else { return Err(Error::WrongKind) };
        let next = self.own(next)?;
        // First, as long as the caller is the current thread.
        let bits = self.wait(me.thread, next, NEVER)?;
        if let Some(bits) = bits {
            self.m.set_result(me.thread, 0, [bits, 0]);
        }
        if a.urgency() != 0 {
            self.guest_at_least(id, a.urgency());
        }
        if a.spare() != 0 {
            self.guest_spared(id, a.spare());
        }
        self.guest_notify(id, vector);
        Ok(Outcome::Arranged)
    }

    pub(super) fn sys_vcpu_route_line(&mut self, me: Caller, a: VcpuRouteLine) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        let Cap::IrqControl = self.cap(me, a.control())? else { return Err(Error::WrongKind) };
        let line = self.checked_line(a.line())?;
        let number = u8::try_from(line).map_err(|_| Error::BadArgument)?;
        let vector = a.route() as u8;
        let masked = a.route() & route::MASKED != 0;
        if !masked && !(GUEST_VECTOR_FIRST..RT_VECTOR_FIRST).contains(&vector) {
            return Err(Error::BadArgument);
        }
        if !masked && vector == MESSAGE_VECTOR && self.m.several() {
            return Err(Error::BadArgument);
        }
        if self.cpu.passenger != Some(id) {
            return Err(Error::BadState);
        }
        if masked {
            self.cpu.passenger_lines.remove(number);
            self.m.set_line_user(line, LineUser::Nobody);
            self.m.mask_line(line, true);
        } else {
            self.cpu.passenger_lines.insert(number);
            self.m.set_line_user(line, LineUser::Passenger(self.cpu.number));
            let apic = &mut self.m.get(id).apic;
            apic.set_level(vector, a.route() & route::LEVEL != 0);
            apic.set_through(vector, a.route() & route::THROUGH != 0);
            self.m.route_line(line, vector, a.route() & (route::LEVEL | route::LOW));
        }
        DONE
    }

    pub(super) fn sys_vcpu_reset(&mut self, me: Caller, a: VcpuReset) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        self.guest_deadline(id, 0);
        self.reset_guest_interrupts(id);
        DONE
    }

    pub(super) fn sys_vcpu_end_of_interrupt(&mut self, me: Caller, a: VcpuEndOfInterrupt) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        self.guest_end_of_interrupt(id);
        DONE
    }

    pub(super) fn sys_vcpu_bind_signals(&mut self, me: Caller, a: VcpuBindSignals) -> Result<Outcome> {
        let id = self.whole_vcpu(me, a.vcpu())?;
        let source = match a.space() {
            Named { index: 0, .. } => None,
            named => match self.held(me, named)? {
                (slot, Cap::CapSpace(_)) => Some(slot),
                _ => return Err(Error::WrongKind),
            },
        };
        if self.cpu.passenger != Some(id) {
            return Err(Error::BadState);
        }
        let at = id.signals();
        self.unlink(at);
        if let Some(source) = source {
            self.derive_inner(source, at)?;
        }
        DONE
    }

    fn vcpu(&mut self, me: Caller, named: Named) -> Result<Id<Vcpu>> {
        if let Cap::Vcpu(id) = self.cap(me, named)? { self.own(id) } else { Err(Error::WrongKind) }
    }

    /// A vCPU with ports and interrupts, which a user vCPU does not have.
    fn whole_vcpu(&mut self, me: Caller, named: Named) -> Result<Id<Vcpu>> {
        let id = self.vcpu(me, named)?;
        if self.m.get(id).user { Err(Error::BadState) } else { Ok(id) }
    }

    /// Whether a vCPU can be configured: there may be many user vCPUs and one passenger.
    fn vcpu_is_free(&mut self, id: Id<Vcpu>, user: bool) -> bool {
        let is_bare = self.m.shared(id.space()).is_empty() && self.m.shared(id.state()).is_empty();
        let unused = is_bare && self.m.get(id).thread.is_none();
        match self.cpu.passenger {
            Some(passenger) => unused && user && passenger != id,
            None => unused,
        }
    }

    /// One step of preparing a vCPU's pages. Returns whether they are ready.
    fn vcpu_prepare(&mut self, id: Id<Vcpu>) -> bool {
        let step = self.m.get(id).prepared;
        if step == u32::MAX {
            return true;
        }
        let last = self.m.vcpu_prepare(id, step);
        self.m.get(id).prepared = if last { u32::MAX } else { step + 1 };
        last
    }
}
