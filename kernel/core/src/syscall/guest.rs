//! Calls on vCPUs.

use super::{Arguments, Caller, DONE, Outcome};
use crate::{Cap, Id, Kernel, Machine, id::slot_of, vcpu::Vcpu};
use pillion_abi::{
    RT_VECTOR_FIRST,
    call::Call,
    object::right,
    status::{Error, Result},
    vcpu::{configure, route},
};

/// Most ports that one call opens for a guest.
const PORTS_AT_ONCE: u32 = 1024;

impl<M: Machine> Kernel<M> {
    pub(super) fn vcpu_run(&mut self, me: Caller, a: &Arguments) -> Result<Outcome> {
        let Cap::Vcpu(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        let v = self.m.get(id);
        if v.space.cap == Cap::None || v.state.cap == Cap::None {
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
            // Its priority is its caller's, which the timers of its notification do not follow while it is in no guest.
            self.follow(me.thread);
        }
        Ok(Outcome::Guest)
    }

    pub(super) fn vcpu_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Vcpu(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        match call {
            Call::VcpuConfigure => {
                if !self.vcpu_configure(me, id, a)? {
                    return Ok(Outcome::Restart);
                }
            }
            _ if self.m.get(id).user => return Err(Error::BadState),
            Call::VcpuAllowPorts => {
                let Cap::Ports { first, count } = self.cap(me, a[1], right::READ | right::WRITE)? else {
                    return Err(Error::WrongKind);
                };
                if count > PORTS_AT_ONCE {
                    return Err(Error::BadArgument);
                }
                if self.m.get(id).space.cap == Cap::None {
                    return Err(Error::BadState);
                }
                self.m.vcpu_allow_ports(id, first, count);
            }
            Call::VcpuInject => {
                let vector = u8::try_from(a[1]).ok().filter(|v| *v >= 16).ok_or(Error::BadArgument)?;
                self.m.set_result(me.thread, 0, [0, 0]);
                self.guest_interrupt(id, vector);
                return Ok(Outcome::Arranged);
            }
            Call::VcpuRouteLine => {
                let Cap::IrqControl = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
                let line = self.checked_line(a[2])?;
                let number = u8::try_from(line).map_err(|_| Error::BadArgument)?;
                let vector = a[3] as u8;
                let masked = a[3] & route::MASKED != 0;
                if !masked && !(pillion_abi::GUEST_VECTOR_FIRST..RT_VECTOR_FIRST).contains(&vector) {
                    return Err(Error::BadArgument);
                }
                if self.cpu.passenger != Some(id) {
                    return Err(Error::BadState);
                }
                if masked {
                    self.cpu.passenger_lines.remove(number);
                    self.m.mask_line(line, true);
                } else {
                    self.cpu.passenger_lines.insert(number);
                    self.m.get(id).apic.set_level(vector, a[3] & route::LEVEL != 0);
                    self.m.route_line(line, vector, a[3] & (route::LEVEL | route::LOW));
                }
            }
            Call::VcpuEndOfInterrupt => self.guest_end_of_interrupt(id),
            _ => {
                self.guest_deadline(id, 0);
                self.reset_guest_interrupts(id);
            }
        }
        DONE
    }

    fn vcpu_configure(&mut self, me: Caller, id: Id<Vcpu>, a: &Arguments) -> Result<bool> {
        let Cap::GuestSpace(space) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::Memory { device: false, base, .. } = self.cap(me, a[2], right::READ | right::WRITE)? else {
            return Err(Error::WrongKind);
        };
        if a[3] & !configure::USER != 0 {
            return Err(Error::BadArgument);
        }
        let user = a[3] & configure::USER != 0;
        if !self.vcpu_is_free(id, user) {
            return Err(Error::Busy);
        }
        while !self.vcpu_prepare(id) {
            if self.m.interrupt_pending() {
                return Ok(false);
            }
        }
        let root = self.m.get(space).root;
        self.m.vcpu_init(id, root, base, user)?;
        let (from_space, from_state) = (self.slot(me.caps, a[1])?, self.slot(me.caps, a[2])?);
        let to_space = id.slot_in(slot_of!(Vcpu, space));
        let to_state = id.slot_in(slot_of!(Vcpu, state));
        self.derive_inner(from_space, to_space)?;
        if let Err(error) = self.derive_inner(from_state, to_state) {
            self.unlink(to_space);
            return Err(error);
        }
        self.m.get(id).user = user;
        if user {
            // Those that it was sent before it was known what it would be.
            self.reset_guest_interrupts(id);
        } else {
            self.cpu.passenger = Some(id);
            self.cpu.passenger_level = self.m.get(id).level;
            self.cpu.timers_changed = true;
        }
        Ok(true)
    }

    /// Whether a vCPU can be configured: there may be many user vCPUs and one passenger.
    fn vcpu_is_free(&mut self, id: Id<Vcpu>, user: bool) -> bool {
        let v = self.m.get(id);
        let unused = v.space.cap == Cap::None && v.state.cap == Cap::None && v.thread.is_none();
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
