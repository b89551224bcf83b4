//! Calls on timers, interrupts, ports, the trace and the log.

use super::{Arguments, Caller, DONE, Outcome, allowed};
use crate::{Cap, Kernel, Machine, id::slot_of, interrupt::Interrupt, timer::Timer};
use pillion_abi::{
    call::{Call, IRQ_MSI, irq},
    object::right,
    status::{Error, Result},
    vcpu::route,
};

impl<M: Machine> Kernel<M> {
    pub(super) fn timer_bind(&mut self, me: Caller, a: &Arguments) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        self.notification(me, a[1], right::WRITE)?;
        if self.m.get(id).slot.cap != Cap::None {
            return Err(Error::Busy);
        }
        let source = self.slot(me.caps, a[1])?;
        let at = id.slot_in(slot_of!(Timer, slot));
        self.derive_inner(source, at)?;
        self.m.get(id).bits = a[2];
        self.timer_bound(id);
        DONE
    }

    pub(super) fn interrupt_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::InterruptBind {
            let Cap::Interrupt(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
            self.notification(me, a[1], right::WRITE)?;
            let source = self.slot(me.caps, a[1])?;
            self.interrupt_bind(id, source, a[2])?;
            return DONE;
        }
        let Cap::IrqControl = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        if a[2] & !(irq::LEVEL | irq::LOW) != 0 {
            return Err(Error::BadArgument);
        }
        let region = self.slot(me.caps, a[4])?;
        let vector = self.free_vector()?;
        let line = match a[1] {
            IRQ_MSI => None,
            line => Some(self.checked_line(line)?),
        };
        let flags =
            if a[2] & irq::LEVEL != 0 { route::LEVEL } else { 0 } | if a[2] & irq::LOW != 0 { route::LOW } else { 0 };
        let interrupt = Interrupt { line, flags, vector, ..Interrupt::default() };
        self.create_interrupt(region, me.caps, a[3], interrupt)?;
        Ok(Outcome::Done(if line.is_none() { self.m.msi(vector) } else { [0, 0] }))
    }

    pub(super) fn checked_line(&mut self, line: u64) -> Result<u32> {
        let line = u32::try_from(line).map_err(|_| Error::BadArgument)?;
        if !self.m.line_exists(line) {
            return Err(Error::BadArgument);
        }
        let taken = self.cpu.vectors.into_iter().flatten().any(|i| self.m.get(i).line == Some(line));
        if taken { Err(Error::Busy) } else { Ok(line) }
    }

    pub(super) fn port_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let slot = self.slot(me.caps, a[0])?;
        let Cap::Ports { first, count } = self.cap(me, a[0], 0)? else { return Err(Error::WrongKind) };
        let inside = |port: u64, n: u64| {
            n != 0 && port >= u64::from(first) && port.saturating_add(n) <= u64::from(first) + u64::from(count)
        };
        let rights = self.m.get(slot).rights;
        if call == Call::PortsPart {
            if !inside(a[1], a[2]) {
                return Err(Error::BadArgument);
            }
            let at = self.empty_slot(me.caps, a[3])?;
            self.derive(slot, at, right::ALL, 0)?;
            self.m.get(at).cap = Cap::Ports { first: a[1] as u16, count: a[2] as u32 };
            return DONE;
        }
        if !matches!(a[2], 1 | 2 | 4) || !inside(a[1], a[2]) {
            return Err(Error::BadArgument);
        }
        if call == Call::PortIn {
            allowed(rights, right::READ)?;
            return Ok(Outcome::Done([u64::from(self.m.port_in(a[1] as u16, a[2] as u8)), 0]));
        }
        allowed(rights, right::WRITE)?;
        self.m.port_out(a[1] as u16, a[2] as u8, a[3] as u32);
        DONE
    }

    pub(super) fn trace_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Trace = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
        if call == Call::TraceControl {
            self.m.trace(a[1] != 0);
        } else if !self.m.log_byte(a[1] as u8) {
            return Err(Error::Busy);
        }
        DONE
    }
}
