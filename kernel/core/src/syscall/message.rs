//! Calls on endpoints, notifications and timers, and calls that wait.

use super::{Caller, DONE, Outcome, allowed, arguments::*};
use crate::{Cap, Id, Kernel, Machine, Slot, id::slot_of, notification::Notification, timer::Timer};
use pillion_abi::{
    call::endpoint,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    #[inline]
    pub(super) fn sys_call(&mut self, me: Caller, a: Call) -> Result<Outcome> {
        let Named { index, rights: needed } = a.endpoint();
        let slot = self.slot(me.caps, index)?;
        let Slot { cap: Cap::Endpoint(id), rights, badge, .. } = *self.m.get(slot) else {
            return Err(self.wrong(slot));
        };
        allowed(rights, needed)?;
        let need = self.m.get(id).need;
        if need != 0 && !self.has_time_for(me.thread, need)? {
            return Ok(Outcome::Restart);
        }
        self.call(me.thread, id, badge)?;
        Ok(Outcome::Arranged)
    }

    #[inline]
    pub(super) fn sys_signal(&mut self, me: Caller, a: Signal) -> Result<Outcome> {
        let (id, badge) = self.notification(me, a.notification())?;
        self.m.set_result(me.thread, 0, [0, 0]);
        self.signal(id, badge);
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
        let (id, badge) = self.notification(me, a.notification())?;
        self.m.set_result(me.thread, 0, [0, 0]);
        self.signal(id, badge);
        // Whoever is more urgent runs already.
        if self.cpu.current == Some(me.thread) {
            self.yield_now();
        }
        Ok(Outcome::Arranged)
    }

    pub(super) fn sys_endpoint_bind(&mut self, me: Caller, a: EndpointBind) -> Result<Outcome> {
        let Cap::Endpoint(id) = self.cap(me, a.endpoint())? else { return Err(Error::WrongKind) };
        let slot = self.slot(me.caps, a.thread().index)?;
        let thread = self.thread(me, a.thread())?;
        if a.flags() & !endpoint::OWN_PRIORITY != 0 {
            return Err(Error::BadArgument);
        }
        self.endpoint_bind(id, slot, thread, a.flags() & endpoint::OWN_PRIORITY != 0, a.need())?;
        DONE
    }

    pub(super) fn sys_timer_set(&mut self, me: Caller, a: TimerSet) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a.timer())? else { return Err(Error::WrongKind) };
        self.timer_set(id, a.deadline());
        DONE
    }

    pub(super) fn sys_timer_bind(&mut self, me: Caller, a: TimerBind) -> Result<Outcome> {
        let Cap::Timer(id) = self.cap(me, a.timer())? else { return Err(Error::WrongKind) };
        self.notification(me, a.notification())?;
        if !self.m.get(id).slot.cap.is_none() {
            return Err(Error::Busy);
        }
        let source = self.slot(me.caps, a.notification().index)?;
        let at = id.slot_in(slot_of!(Timer, slot));
        self.derive_inner(source, at)?;
        self.m.get(id).bits = a.bits();
        self.timer_bound(id);
        DONE
    }

    /// A notification and the badge of the capability for it.
    #[inline]
    pub(super) fn notification(&mut self, me: Caller, named: Named) -> Result<(Id<Notification>, u64)> {
        let slot = self.slot(me.caps, named.index)?;
        let Slot { cap: Cap::Notification(id), rights, badge, .. } = *self.m.get(slot) else {
            return Err(self.wrong(slot));
        };
        allowed(rights, named.rights)?;
        Ok((id, badge))
    }

    /// The error for a slot that does not hold what a call needs.
    #[cold]
    fn wrong(&mut self, slot: Id<Slot>) -> Error {
        if self.m.get(slot).cap.is_none() { Error::BadCap } else { Error::WrongKind }
    }
}
