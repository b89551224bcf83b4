//! Calls on threads and scheduling contexts.

use super::{Arguments, Caller, DONE, Outcome};
use crate::{
    Cap, Id, Kernel, Machine,
    context::Context,
    thread::{State, Thread, place},
};
use pillion_abi::{
    NEVER,
    call::{Call, thread},
    object::right,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    pub(super) fn thread_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        let Cap::Thread(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        match call {
            Call::ThreadConfigure => self.thread_configure(me, id, a)?,
            Call::ThreadSetRegisters => {
                self.stopped(id)?;
                self.m.set_registers(id, a[1], a[2], a[3]);
            }
            Call::ThreadResume => {
                self.stopped(id)?;
                if self.m.get(id).space().is_none() {
                    return Err(Error::BadState);
                }
                self.restore_priority(id);
                self.make_ready(id);
            }
            Call::ThreadSuspend => {
                self.m.set_result(me.thread, 0, [0, 0]);
                self.leave_guest(id);
                let Thread { state, faulted, .. } = *self.m.get(id);
                self.stop_waiting(id);
                if matches!(state, State::Receiving | State::Waiting | State::Calling | State::Served) && !faulted {
                    self.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
                }
                self.m.get(id).state = State::Stopped;
            }
            Call::ThreadBindContext => self.bind_context(me, id, a[1])?,
            Call::ThreadBindNotification => self.bind_notification(me, id, a[1])?,
            _ => {
                if a[1] > 8 {
                    return Err(Error::BadArgument);
                }
                return Ok(Outcome::Done(self.m.register_pair(id, a[1])));
            }
        }
        DONE
    }

    fn stopped(&mut self, id: Id<Thread>) -> Result<()> {
        if self.m.get(id).state == State::Stopped { Ok(()) } else { Err(Error::BadState) }
    }

    fn thread_configure(&mut self, me: Caller, id: Id<Thread>, a: &Arguments) -> Result<()> {
        self.stopped(id)?;
        let Cap::AddressSpace(_) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::CapSpace(_) = self.cap(me, a[2], right::CONTROL)? else { return Err(Error::WrongKind) };
        let given = [(place::SPACE, a[1]), (place::CAPS, a[2]), (place::FAULT, a[3])];
        if a[3] != 0 && !matches!(self.cap(me, a[3], right::WRITE)?, Cap::Endpoint(_)) {
            return Err(Error::WrongKind);
        }
        if a[4] & !thread::FPU != 0 {
            return Err(Error::BadArgument);
        }
        for (index, source) in given {
            if source != 0 {
                self.fill_place(me, id, index, source)?;
            } else {
                self.unlink(id.place(index));
            }
        }
        self.m.get(id).fpu = a[4] & thread::FPU != 0;
        Ok(())
    }

    /// Puts a copy of a capability into one of the slots of a thread.
    fn fill_place(&mut self, me: Caller, id: Id<Thread>, index: usize, source: u64) -> Result<()> {
        let source = self.slot(me.caps, source)?;
        let at = id.place(index);
        if self.m.get(source).depth >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        self.unlink(at);
        self.derive_inner(source, at)
    }

    fn bind_context(&mut self, me: Caller, id: Id<Thread>, index: u64) -> Result<()> {
        if index == 0 {
            if let Some(old) = self.m.get(id).own_context {
                // It is with a server, which would stand still in the middle of its work.
                if self.m.get(old).user.is_some_and(|user| user != id) {
                    return Err(Error::Busy);
                }
                self.disown(old, id);
            }
            return Ok(());
        }
        let Cap::Context(context) = self.cap(me, index, right::CONTROL)? else { return Err(Error::WrongKind) };
        let thread = self.m.get(id);
        let busy = thread.own_context.is_some() || thread.context.is_some();
        let Context { priority, owner, user, .. } = *self.m.get(context);
        if busy || owner.is_some() || user.is_some() {
            return Err(Error::Busy);
        }
        if priority == 0 {
            return Err(Error::BadState);
        }
        let to = self.needs_time(id)?;
        self.m.get(context).owner = Some(id);
        self.m.get(id).own_context = Some(context);
        let runs = self.give_time(context, to);
        if let Some(runs) = runs {
            self.make_ready(runs);
        }
        self.wake_for_bits(id);
        Ok(())
    }

    fn bind_notification(&mut self, me: Caller, id: Id<Thread>, index: u64) -> Result<()> {
        let at = id.place(place::NOTIFICATION);
        let new = if index == 0 { None } else { Some(self.notification(me, index, right::READ)?.0) };
        if let Some(n) = new
            && self.m.get(n).bound.is_some_and(|bound| bound != id)
        {
            return Err(Error::Busy);
        }
        if let Some(old) = self.m.get(id).notification() {
            self.m.get(old).bound = None;
            self.attend(old);
            self.unlink(at);
        }
        let Some(n) = new else { return Ok(()) };
        let source = self.slot(me.caps, index)?;
        self.derive_inner(source, at)?;
        self.m.get(n).bound = Some(id);
        self.attend(n);
        self.wake_for_bits(id);
        Ok(())
    }

    pub(super) fn context_call(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        if call == Call::ContextConsumed {
            let Cap::Context(id) = self.cap(me, a[0], right::READ)? else { return Err(Error::WrongKind) };
            let c = self.m.get(id);
            return Ok(Outcome::Done([c.consumed, c.exhausted]));
        }
        if call == Call::ContextSetPriority {
            let Cap::Context(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
            let Context { priority, ceiling, .. } = *self.m.get(id);
            if a[1] == 0 || a[1] > u64::from(ceiling) {
                return Err(Error::BadArgument);
            }
            self.set_context_priority(id, a[1] as u8);
            return Ok(Outcome::Done([priority.into(), 0]));
        }
        let Cap::SchedControl = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
        let Cap::Context(id) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
        let (priority, budget, period, ceiling) = (a[2], a[3], a[4], a[5]);
        let valid = (1..pillion_abi::PRIORITIES as u64).contains(&priority)
            && ceiling < pillion_abi::PRIORITIES as u64
            && budget != 0
            && (budget == NEVER || (budget <= period && period < NEVER / 4));
        if !valid {
            return Err(Error::BadArgument);
        }
        self.configure_context(id, priority as u8, budget, period);
        self.m.get(id).ceiling = ceiling.max(priority) as u8;
        DONE
    }
}
