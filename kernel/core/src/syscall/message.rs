//! Calls on endpoints, notifications and timers, and calls that wait.

use super::{Caller, DONE, Outcome, allowed, arguments::*};
use crate::{
    Cap, Id, Kernel, Machine,
    home::Homed,
    notification::Notification,
    slot::Look,
    thread::{Thread, place},
};
use pillion_abi::{
    call::{self, endpoint},
    object::right,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    #[inline]
    pub(super) fn sys_call(&mut self, me: Caller, a: Call, registers: &Registers) -> Result<Outcome> {
        let Named { index, rights: needed } = a.endpoint();
        let look = self.look(me.caps, index)?;
        let id = look.endpoint().ok_or_else(|| wrong(look))?;
        allowed(look, needed)?;
        let home = id.home();
        let Ok(id) = self.own(id) else { return self.call_elsewhere(me.thread, home, registers) };
        let need = self.m.get(id).need;
        if need != 0 && !self.has_time_for(me.thread, need)? {
            return self.restart(me.thread);
        }
        self.call(me.thread, id, look.badge)?;
        Ok(Outcome::Arranged)
    }

    /// The current thread calls an endpoint of another processor.
    #[cold]
    fn call_elsewhere(&mut self, thread: Id<Thread>, home: u8, registers: &Registers) -> Result<Outcome> {
        self.may_call(thread, home)?;
        self.leave_for(home, thread, call::Call::Call as u64, registers);
        Ok(Outcome::Arranged)
    }

    /// The call of an endpoint, or the fault, of a thread of another processor.
    ///
    /// Whether it may call where the endpoint is was checked at home, for the endpoint that its
    /// capability named then. If that names another processor's by now, it calls again.
    pub(crate) fn sys_call_visiting(&mut self, visitor: Id<Thread>, registers: &Registers) -> Result<Outcome> {
        let home = self.m.shared(visitor.away()).trip.home();
        let faulted = self.m.get(visitor.visit()).faulted;
        let look = if faulted {
            self.m.shared(visitor.place(place::FAULT)).look()
        } else {
            let me = self.caller(visitor)?;
            self.look(me.caps, registers[0])?
        };
        let endpoint = look.endpoint().ok_or_else(|| wrong(look))?;
        if !faulted {
            allowed(look, right::WRITE)?;
        }
        let Ok(endpoint) = self.own(endpoint) else { return Ok(Outcome::Elsewhere(home)) };
        self.call_of_visitor(visitor, endpoint, look.badge)?;
        Ok(Outcome::Arranged)
    }

    #[inline]
    pub(super) fn sys_signal(&mut self, me: Caller, a: Signal) -> Result<Outcome> {
        let named = a.notification();
        let (notification, look) = self.any_notification(me, named)?;
        self.m.set_result(me.thread, 0, [0, 0]);
        self.signal_any(me.caps, named.index, look, notification)?;
        Ok(Outcome::Arranged)
    }

    #[inline]
    pub(super) fn sys_wait(&mut self, me: Caller, a: Wait) -> Result<Outcome> {
        let (id, _) = self.notification(me, a.notification())?;
        Ok(match self.wait(me.thread, id, a.deadline())? {
            Some(bits) => Outcome::Done([bits, 0]),
            None => Outcome::Arranged,
        })
    }

    #[inline]
    pub(super) fn sys_sleep(&mut self, me: Caller, a: Sleep) -> Result<Outcome> {
        self.m.set_result(me.thread, 0, [0, 0]);
        self.sleep(me.thread, a.deadline());
        Ok(Outcome::Arranged)
    }

    pub(super) fn sys_yield(&mut self, me: Caller, _: Yield) -> Result<Outcome> {
        self.m.set_result(me.thread, 0, [0, 0]);
        self.yield_now();
        Ok(Outcome::Arranged)
    }

    pub(super) fn sys_signal_yield(&mut self, me: Caller, a: SignalYield) -> Result<Outcome> {
        let named = a.notification();
        let (notification, look) = self.any_notification(me, named)?;
        self.m.set_result(me.thread, 0, [0, 0]);
        self.signal_any(me.caps, named.index, look, notification)?;
        // Whoever is more urgent runs already.
        if self.cpu.current == Some(me.thread) {
            self.yield_now();
        }
        Ok(Outcome::Arranged)
    }

    pub(super) fn sys_endpoint_bind(&mut self, me: Caller, a: EndpointBind) -> Result<Outcome> {
        let Cap::Endpoint(id) = self.cap(me, a.endpoint())? else { return Err(Error::WrongKind) };
        let id = self.own(id)?;
        let slot = self.slot(me.caps, a.thread().index)?;
        let thread = self.thread(me, a.thread())?;
        if a.flags() & !endpoint::OWN_PRIORITY != 0 {
            return Err(Error::BadArgument);
        }
        let context = if a.visitors().index == 0 { None } else { Some(self.context(me, a.visitors())?) };
        self.endpoint_bind(id, (slot, thread), a.flags() & endpoint::OWN_PRIORITY != 0, a.need(), context)?;
        DONE
    }

    pub(super) fn sys_timer_set(&mut self, me: Caller, a: TimerSet) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a.timer())? else { return Err(Error::WrongKind) };
        let id = self.own(id)?;
        self.timer_set(id, a.deadline());
        DONE
    }

    pub(super) fn sys_timer_bind(&mut self, me: Caller, a: TimerBind) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a.timer())? else { return Err(Error::WrongKind) };
        let id = self.own(id)?;
        self.notification(me, a.notification())?;
        if !self.m.shared(id.slot()).is_empty() {
            return Err(Error::Busy);
        }
        let source = self.slot(me.caps, a.notification().index)?;
        self.derive_inner(source, id.slot())?;
        self.m.get(id).bits = a.bits();
        self.timer_bound(id);
        DONE
    }

    /// A notification of this processor and the badge of the capability for it.
    #[inline]
    pub(super) fn notification(&mut self, me: Caller, named: Named) -> Result<(Id<Notification>, u64)> {
        let (notification, look) = self.any_notification(me, named)?;
        Ok((self.own(notification)?, look.badge))
    }

    /// The same of any processor.
    #[inline]
    fn any_notification(&mut self, me: Caller, named: Named) -> Result<(Homed<Notification>, Look)> {
        let look = self.look(me.caps, named.index)?;
        let id = look.notification().ok_or_else(|| wrong(look))?;
        allowed(look, named.rights)?;
        Ok((id, look))
    }
}

/// The error for a slot that does not hold what a call needs.
#[cold]
fn wrong(look: Look) -> Error {
    if look.is_none() { Error::BadCap } else { Error::WrongKind }
}
