//! Calls on interrupts, ports, the trace and the log.

use super::{Caller, DONE, Outcome, allowed, arguments::*};
use crate::{Cap, Id, Kernel, Machine, Slot, interrupt::Interrupt};
use pillion_abi::{
    call::{IRQ_MSI, irq},
    object::right,
    status::{Error, Result},
    vcpu::route,
};

impl<M: Machine> Kernel<M> {
    pub(super) fn sys_interrupt_ack(&mut self, me: Caller, a: InterruptAck) -> Result<Outcome> {
        let Cap::Interrupt(id) = self.cap(me, a.interrupt())? else { return Err(Error::WrongKind) };
        let id = self.own(id)?;
        self.interrupt_ack(id);
        DONE
    }

    pub(super) fn sys_interrupt_bind(&mut self, me: Caller, a: InterruptBind) -> Result<Outcome> {
        let Cap::Interrupt(id) = self.cap(me, a.interrupt())? else { return Err(Error::WrongKind) };
        let id = self.own(id)?;
        self.notification(me, a.notification())?;
        let source = self.slot(me.caps, a.notification().index)?;
        self.interrupt_bind(id, source, a.bits())?;
        DONE
    }

    pub(super) fn sys_interrupt_create(&mut self, me: Caller, a: InterruptCreate) -> Result<Outcome> {
        let Cap::IrqControl = self.cap(me, a.control())? else { return Err(Error::WrongKind) };
        let asked = a.flags();
        let home = asked >> irq::HOME_SHIFT & 0xff;
        if asked & !(irq::LEVEL | irq::LOW | 0xff << irq::HOME_SHIFT) != 0 || !self.runs(home) {
            return Err(Error::BadArgument);
        }
        // The vectors are the home's.
        if home != u64::from(self.cpu.number) {
            return Err(Error::Elsewhere);
        }
        let region = self.slot(me.caps, a.region().index)?;
        let vector = self.free_vector()?;
        let line = match a.line() {
            IRQ_MSI => None,
            line => Some(self.checked_line(line)?),
        };
        let flags =
            if asked & irq::LEVEL != 0 { route::LEVEL } else { 0 } | if asked & irq::LOW != 0 { route::LOW } else { 0 };
        let interrupt = Interrupt { line, flags, vector, ..Interrupt::default() };
        self.create_interrupt(region, me.caps, a.to(), interrupt)?;
        Ok(Outcome::Done(if line.is_none() { self.m.msi(vector) } else { [0, 0] }))
    }

    pub(super) fn sys_port_in(&mut self, me: Caller, a: PortIn) -> Result<Outcome> {
        let port = self.port(me, a.ports(), a.port(), a.width())?;
        Ok(Outcome::Done([u64::from(self.m.port_in(port, a.width() as u8)), 0]))
    }

    pub(super) fn sys_port_out(&mut self, me: Caller, a: PortOut) -> Result<Outcome> {
        let port = self.port(me, a.ports(), a.port(), a.width())?;
        self.m.port_out(port, a.width() as u8, a.value() as u32);
        DONE
    }

    pub(super) fn sys_ports_part(&mut self, me: Caller, a: PortsPart) -> Result<Outcome> {
        let slot = self.ports(me, a.ports().index, a.first(), a.count())?;
        let at = self.empty_slot(me.caps, a.to())?;
        self.derive_part(slot, at, right::ALL, [a.first(), a.count()])?;
        DONE
    }

    /// A port that may be read or written with a width. The arguments are checked before the
    /// rights.
    fn port(&mut self, me: Caller, named: Named, port: u64, width: u64) -> Result<u16> {
        let slot = self.ports(me, named.index, port, width)?;
        if !matches!(width, 1 | 2 | 4) {
            return Err(Error::BadArgument);
        }
        allowed(self.m.shared(slot).look(), named.rights)?;
        Ok(port as u16)
    }

    /// The slot of a capability for ports that include those asked for.
    fn ports(&mut self, me: Caller, index: u64, asked: u64, n: u64) -> Result<Id<Slot>> {
        let (slot, Cap::Ports { first, count }) = self.held(me, Named { index, rights: 0 })? else {
            return Err(Error::WrongKind);
        };
        let (first, count) = (u64::from(first), u64::from(count));
        let inside = n != 0 && asked >= first && asked.saturating_add(n) <= first + count;
        if inside { Ok(slot) } else { Err(Error::BadArgument) }
    }

    pub(super) fn sys_trace_control(&mut self, me: Caller, a: TraceControl) -> Result<Outcome> {
        let Cap::Trace = self.cap(me, a.trace())? else { return Err(Error::WrongKind) };
        self.m.trace(a.on() != 0);
        DONE
    }

    pub(super) fn sys_log_put(&mut self, me: Caller, a: LogPut) -> Result<Outcome> {
        let Cap::Trace = self.cap(me, a.trace())? else { return Err(Error::WrongKind) };
        if self.m.log_byte(a.byte() as u8) { DONE } else { Err(Error::Busy) }
    }
}
