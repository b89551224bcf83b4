//! Calls on threads and scheduling contexts.

use super::{Caller, DONE, Outcome, arguments::*};
use crate::{
    Cap, Id, Kernel, Machine,
    context::Context,
    thread::{State, Thread, place},
};
use pillion_abi::{
    NEVER, USER_END,
    call::thread,
    status::{Error, Result},
};

impl<M: Machine> Kernel<M> {
    pub(super) fn sys_thread_set_registers(&mut self, me: Caller, a: ThreadSetRegisters) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        self.stopped(id)?;
        self.m.set_registers(id, a.entry(), a.stack(), a.argument());
        DONE
    }

    pub(super) fn sys_thread_resume(&mut self, me: Caller, a: ThreadResume) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        self.stopped(id)?;
        if id.space(&self.m).is_none() {
            return Err(Error::BadState);
        }
        self.restore_priority(id);
        self.make_ready(id);
        DONE
    }

    pub(super) fn sys_thread_suspend(&mut self, me: Caller, a: ThreadSuspend) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        if !self.is_here(id) {
            return Ok(Outcome::Restart);
        }
        if id == me.thread {
            self.m.set_result(id, 0, [0, 0]);
        }
        self.leave_guest(id);
        let Thread { state, faulted, .. } = *self.m.get(id);
        self.stop_waiting(id);
        if matches!(state, State::Receiving | State::Waiting | State::Calling | State::Served) && !faulted {
            self.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
        }
        self.m.get(id).state = State::Stopped;
        self.restart_sequence(id);
        DONE
    }

    pub(super) fn sys_thread_register(&mut self, me: Caller, a: ThreadRegister) -> Result<Outcome> {
        let Cap::Thread(thread) = self.cap(me, a.thread())? else { return Err(Error::WrongKind) };
        let id = self.own_registers(thread)?;
        if a.pair() > 8 {
            return Err(Error::BadArgument);
        }
        Ok(Outcome::Done(self.m.register_pair(id, a.pair())))
    }

    pub(super) fn sys_thread_set_sequence(&mut self, me: Caller, a: ThreadSetSequence) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        if a.first() > a.end() || a.end() > USER_END {
            return Err(Error::BadArgument);
        }
        self.m.get(id).sequence = [a.first(), a.end()];
        DONE
    }

    fn stopped(&mut self, id: Id<Thread>) -> Result<()> {
        if self.m.get(id).state == State::Stopped { Ok(()) } else { Err(Error::BadState) }
    }

    pub(super) fn sys_thread_configure(&mut self, me: Caller, a: ThreadConfigure) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        self.stopped(id)?;
        let Cap::AddressSpace(_) = self.cap(me, a.space())? else { return Err(Error::WrongKind) };
        let Cap::CapSpace(_) = self.cap(me, a.caps())? else { return Err(Error::WrongKind) };
        if a.fault().index != 0 && !matches!(self.cap(me, a.fault())?, Cap::Endpoint(_)) {
            return Err(Error::WrongKind);
        }
        if a.flags() & !thread::FPU != 0 {
            return Err(Error::BadArgument);
        }
        for (index, source) in [(place::SPACE, a.space()), (place::CAPS, a.caps()), (place::FAULT, a.fault())] {
            if source.index != 0 {
                self.fill_place(me, id, index, source.index)?;
            } else {
                self.unlink(id.place(index));
            }
        }
        self.m.get(id).fpu = a.flags() & thread::FPU != 0;
        DONE
    }

    /// Puts a copy of a capability into one of the slots of a thread.
    fn fill_place(&mut self, me: Caller, id: Id<Thread>, index: usize, source: u64) -> Result<()> {
        let source = self.slot(me.caps, source)?;
        let at = id.place(index);
        if self.m.shared(source).depth() >= crate::cap::DEPTH {
            return Err(Error::TooDeep);
        }
        self.unlink(at);
        self.derive_inner(source, at)
    }

    pub(super) fn sys_thread_bind_context(&mut self, me: Caller, a: ThreadBindContext) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        if a.context().index == 0 {
            if let Some(old) = self.m.get(id).own_context {
                // A server runs on it and would stop in the middle of its work.
                let is_lent = self.m.get(old).user.is_some_and(|user| user != id);
                // What the thread's call takes elsewhere is charged to it when the thread is back.
                if is_lent || self.m.get(id).state == State::Away {
                    return Err(Error::Busy);
                }
                self.disown(old, id);
            }
            return DONE;
        }
        let context = self.context(me, a.context())?;
        let thread = self.m.get(id);
        let busy = thread.own_context.is_some() || thread.context.is_some();
        let Context { priority, owner, user, endpoint, .. } = *self.m.get(context);
        if busy || owner.is_some() || user.is_some() || endpoint.is_some() {
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
        self.wake_for_callers(id);
        DONE
    }

    pub(super) fn sys_thread_bind_notification(&mut self, me: Caller, a: ThreadBindNotification) -> Result<Outcome> {
        let id = self.thread(me, a.thread())?;
        let named = a.notification();
        let at = id.place(place::NOTIFICATION);
        let new = if named.index == 0 { None } else { Some(self.notification(me, named)?.0) };
        if let Some(n) = new
            && self.m.get(n).bound.is_some_and(|bound| bound != id)
        {
            return Err(Error::Busy);
        }
        if let Some(old) = id.notification(&self.m) {
            self.m.get(old).bound = None;
            self.attend(old);
            self.unlink(at);
        }
        let Some(n) = new else { return DONE };
        let source = self.slot(me.caps, named.index)?;
        self.derive_inner(source, at)?;
        self.m.get(n).bound = Some(id);
        self.attend(n);
        self.wake_for_bits(id);
        DONE
    }

    pub(super) fn sys_context_configure(&mut self, me: Caller, a: ContextConfigure) -> Result<Outcome> {
        let Cap::SchedControl = self.cap(me, a.control())? else { return Err(Error::WrongKind) };
        let id = self.context(me, a.context())?;
        let (priority, budget, period, ceiling) = (a.priority(), a.budget(), a.period(), a.ceiling());
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

    pub(super) fn sys_context_consumed(&mut self, me: Caller, a: ContextConsumed) -> Result<Outcome> {
        // Of any processor: nobody there is interrupted, and nobody here waits for anybody there.
        let Cap::Context(context) = self.cap(me, a.context())? else { return Err(Error::WrongKind) };
        Ok(Outcome::Done(self.m.used(context.beside()).so_far()))
    }

    pub(super) fn sys_context_set_priority(&mut self, me: Caller, a: ContextSetPriority) -> Result<Outcome> {
        let id = self.context(me, a.context())?;
        let Context { ceiling, .. } = *self.m.get(id);
        if a.priority() == 0 || a.priority() > u64::from(ceiling) {
            return Err(Error::BadArgument);
        }
        self.end_boost(id);
        let Context { priority, .. } = *self.m.get(id);
        self.set_context_priority(id, a.priority() as u8);
        Ok(Outcome::Done([priority.into(), 0]))
    }

    pub(super) fn sys_context_allow_boost(&mut self, me: Caller, a: ContextAllowBoost) -> Result<Outcome> {
        let Cap::SchedControl = self.cap(me, a.control())? else { return Err(Error::WrongKind) };
        let id = self.context(me, a.context())?;
        let (ceiling, budget, period) = (a.ceiling(), a.budget(), a.period());
        let valid = ceiling < pillion_abi::PRIORITIES as u64
            && (ceiling == 0 || budget != 0 && budget <= period && period < NEVER / 4);
        if !valid {
            return Err(Error::BadArgument);
        }
        self.cpu.boosts |= ceiling != 0;
        self.allow_boost(id, ceiling as u8, budget, period);
        DONE
    }

    pub(super) fn context(&mut self, me: Caller, named: Named) -> Result<Id<Context>> {
        if let Cap::Context(id) = self.cap(me, named)? { self.own(id) } else { Err(Error::WrongKind) }
    }
}
