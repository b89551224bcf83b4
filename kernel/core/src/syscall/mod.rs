//! System calls. The table in `pillion_abi` names the arguments (`arguments.rs`); for each call, a
//! function `sys_..` first checks them and then carries the call out.

mod arguments;
mod device;
mod guest;
mod memory;
mod message;
mod thread;
mod visit;

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    slot::Look,
    thread::{State, Thread},
};
pub use arguments::Registers;
use arguments::{Frequent, Named, Other};
use pillion_abi::status::{Error, Result};

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with values.
    Done([u64; 2]),
    /// The thread's registers hold the result already, or will when it is woken.
    Arranged,
    /// Cut short: the thread is to repeat the call. Where several processors run, its registers
    /// say so already.
    Restart,
    /// The thread goes into its guest.
    Guest,
    /// The call goes on at another processor.
    Elsewhere(u8),
}

const DONE: Result<Outcome> = Ok(Outcome::Done([0, 0]));

/// The thread that makes a call, and its capability space.
#[derive(Clone, Copy)]
struct Caller {
    thread: Id<Thread>,
    caps: Id<CapSpace>,
}

impl<M: Machine> Kernel<M> {
    /// Carries out a call of the current thread. Returns how it went; the result is in the thread's
    /// registers unless it is to restart.
    ///
    /// Work: as each call says; never more than one step of a long one beyond the first preemption
    /// point.
    #[inline]
    pub fn syscall(&mut self, number: u64, registers: &Registers) -> Outcome {
        let Some(thread) = self.cpu.current else { return Outcome::Arranged };
        let outcome = self.dispatch(thread, number, registers);
        let (status, values) = match outcome {
            Ok(Outcome::Done(values)) => (0, values),
            Ok(other) => return other,
            Err(error) => (error.to_raw(), [0, 0]),
        };
        if self.m.get(thread).state == State::Ready {
            self.m.set_result(thread, status, values);
        }
        Outcome::Arranged
    }

    #[inline]
    fn dispatch(&mut self, thread: Id<Thread>, number: u64, registers: &Registers) -> Result<Outcome> {
        let Some(call) = Frequent::decode(number, registers) else {
            return self.dispatch_other(thread, number, registers);
        };
        let me = self.caller(thread)?;
        match call {
            Frequent::Call(a) => self.sys_call(me, a, registers),
            Frequent::ReplyReceive(_) => self.reply_receive(thread).map(|()| Outcome::Arranged),
            Frequent::Receive(a) => self.receive(thread, a.deadline()).map(|()| Outcome::Arranged),
            Frequent::Reply(_) => self.reply(thread).map(|()| Outcome::Done([0, 0])),
            Frequent::Signal(a) => self.sys_signal(me, a),
            Frequent::Wait(a) => self.sys_wait(me, a),
            Frequent::Sleep(a) => self.sys_sleep(me, a),
        }
    }

    /// Cold, so that the frequent calls save no registers for it.
    #[cold]
    #[inline(never)]
    fn dispatch_other(&mut self, thread: Id<Thread>, number: u64, registers: &Registers) -> Result<Outcome> {
        if self.m.several() {
            return self.dispatch_or_leave(thread, number, registers);
        }
        self.dispatch_here(thread, number, registers)
    }

    /// Where several processors run: what cannot be done here travels. What only a few objects of
    /// this processor are used for is done whatever others do; for the rest, one processor at a
    /// time changes capabilities.
    #[cold]
    fn dispatch_or_leave(&mut self, thread: Id<Thread>, number: u64, registers: &Registers) -> Result<Outcome> {
        let call = Other::decode(number, registers).ok_or(Error::BadCall)?;
        let outcome = if is_local(&call) {
            self.dispatch_visiting(thread, number, registers)
        } else if self.m.enter_tree() {
            let outcome = self.dispatch_visiting(thread, number, registers);
            let outcome = self.answer(thread, outcome);
            self.m.leave_tree();
            outcome
        } else {
            return self.restart(thread);
        };
        if let Ok(Outcome::Elsewhere(home)) = outcome {
            self.leave_for(home, thread, number, registers);
            return Ok(Outcome::Arranged);
        }
        outcome
    }

    /// Gives a thread the result of its call, as long as nobody else changes capabilities: the call
    /// may have ended the thread, and then its memory is soon something else. Only the current
    /// thread can leave: one that made a more urgent one ready calls again when it is its turn.
    fn answer(&mut self, thread: Id<Thread>, outcome: Result<Outcome>) -> Result<Outcome> {
        let (status, values) = match outcome {
            Ok(Outcome::Elsewhere(_)) if self.cpu.current == Some(thread) => return outcome,
            Ok(Outcome::Elsewhere(_) | Outcome::Restart) => return self.restart(thread),
            Ok(Outcome::Arranged | Outcome::Guest) => return outcome,
            Ok(Outcome::Done(values)) => (0, values),
            Err(error) => (error.to_raw(), [0, 0]),
        };
        if self.m.get(thread).state == State::Ready {
            self.m.set_result(thread, status, values);
        }
        Ok(Outcome::Arranged)
    }

    /// Has a thread of this processor make its call again.
    pub(crate) fn restart(&mut self, thread: Id<Thread>) -> Result<Outcome> {
        if self.m.several() {
            self.m.repeat_call(thread);
        }
        Ok(Outcome::Restart)
    }

    /// Carries out a call of a thread of this processor's, or of a visitor's, as far as it can be
    /// done here.
    pub(crate) fn dispatch_visiting(
        &mut self,
        thread: Id<Thread>,
        number: u64,
        registers: &Registers,
    ) -> Result<Outcome> {
        let call = Other::decode(number, registers).ok_or(Error::BadCall)?;
        let me = self.caller(thread)?;
        match self.is_elsewhere(me, &call) {
            Some(home) => Ok(Outcome::Elsewhere(home)),
            None => self.dispatch_here(thread, number, registers),
        }
    }

    /// Carries out a call whose object, if it has a home, is this processor's.
    #[inline(never)]
    fn dispatch_here(&mut self, thread: Id<Thread>, number: u64, registers: &Registers) -> Result<Outcome> {
        let call = Other::decode(number, registers).ok_or(Error::BadCall)?;
        let me = self.caller(thread)?;
        match call {
            Other::Yield(a) => self.sys_yield(me, a),
            Other::VcpuRun(a) => self.sys_vcpu_run(me, a),
            Other::TimerSet(a) => self.sys_timer_set(me, a),
            Other::InterruptAck(a) => self.sys_interrupt_ack(me, a),
            Other::SignalYield(a) => self.sys_signal_yield(me, a),
            Other::RegionCreate(a) => self.sys_region_create(me, a),
            Other::RegionReset(a) => self.sys_region_reset(me, a),
            Other::MemoryPart(a) => self.sys_memory_part(me, a),
            Other::MemoryMap(a) => self.sys_memory_map(me, a),
            Other::MemoryUnmap(a) => self.sys_memory_unmap(me, a),
            Other::CapDerive(a) => self.sys_cap_derive(me, a),
            Other::CapMove(a) => self.sys_cap_move(me, a),
            Other::CapDelete(a) => self.sys_cap_delete(me, a),
            Other::CapRevoke(a) => self.sys_cap_revoke(me, a),
            Other::CapIdentify(a) => self.sys_cap_identify(me, a),
            Other::ThreadConfigure(a) => self.sys_thread_configure(me, a),
            Other::ThreadSetRegisters(a) => self.sys_thread_set_registers(me, a),
            Other::ThreadResume(a) => self.sys_thread_resume(me, a),
            Other::ThreadSuspend(a) => self.sys_thread_suspend(me, a),
            Other::ThreadBindContext(a) => self.sys_thread_bind_context(me, a),
            Other::ThreadBindNotification(a) => self.sys_thread_bind_notification(me, a),
            Other::ThreadRegister(a) => self.sys_thread_register(me, a),
            Other::ContextConfigure(a) => self.sys_context_configure(me, a),
            Other::ContextConsumed(a) => self.sys_context_consumed(me, a),
            Other::EndpointBind(a) => self.sys_endpoint_bind(me, a),
            Other::TimerBind(a) => self.sys_timer_bind(me, a),
            Other::ContextSetPriority(a) => self.sys_context_set_priority(me, a),
            Other::ContextAllowBoost(a) => self.sys_context_allow_boost(me, a),
            Other::ThreadSetSequence(a) => self.sys_thread_set_sequence(me, a),
            Other::InterruptCreate(a) => self.sys_interrupt_create(me, a),
            Other::InterruptBind(a) => self.sys_interrupt_bind(me, a),
            Other::PortIn(a) => self.sys_port_in(me, a),
            Other::PortOut(a) => self.sys_port_out(me, a),
            Other::PortsPart(a) => self.sys_ports_part(me, a),
            Other::VcpuConfigure(a) => self.sys_vcpu_configure(me, a),
            Other::VcpuAllowPorts(a) => self.sys_vcpu_allow_ports(me, a),
            Other::VcpuInject(a) => self.sys_vcpu_inject(me, a),
            Other::VcpuNotify(a) => self.sys_vcpu_notify(me, a),
            Other::VcpuRouteLine(a) => self.sys_vcpu_route_line(me, a),
            Other::VcpuReset(a) => self.sys_vcpu_reset(me, a),
            Other::VcpuEndOfInterrupt(a) => self.sys_vcpu_end_of_interrupt(me, a),
            Other::VcpuBindSignals(a) => self.sys_vcpu_bind_signals(me, a),
            Other::TraceControl(a) => self.sys_trace_control(me, a),
            Other::LogPut(a) => self.sys_log_put(me, a),
        }
    }

    #[inline]
    fn caller(&self, thread: Id<Thread>) -> Result<Caller> {
        let caps = thread.caps(&self.m).ok_or(Error::BadCap)?;
        Ok(Caller { thread, caps })
    }

    /// Looks at the slot with an index in a capability space, which another processor may change
    /// meanwhile.
    #[inline(always)]
    pub(crate) fn look(&self, space: Id<CapSpace>, index: u64) -> Result<Look> {
        let slot = self.at(space, index)?;
        let look = slot.look();
        if self.m.several() && !slot.shows(look) {
            // It held that capability, and does not any more.
            return Err(Error::BadCap);
        }
        Ok(look)
    }

    /// The slot with an index in a capability space.
    #[inline(always)]
    pub(crate) fn at(&self, space: Id<CapSpace>, index: u64) -> Result<&Slot> {
        if index >= u64::from(self.m.shared(space).count) {
            return Err(Error::BadCap);
        }
        Ok(self.m.slot_behind(space, 1 + index))
    }

    /// The capability that a call names, if it has the rights. Inlined, as most calls take one kind
    /// of capability only, and nothing else is decoded then.
    #[inline(always)]
    fn cap(&mut self, me: Caller, named: Named) -> Result<Cap> {
        let slot = self.m.shared(self.slot(me.caps, named.index)?);
        let look = slot.look();
        if look.is_none() {
            return Err(Error::BadCap);
        }
        allowed(look, named.rights)?;
        Ok(slot.cap_in(look))
    }

    /// The same, and its slot.
    #[inline(always)]
    fn held(&mut self, me: Caller, named: Named) -> Result<(Id<Slot>, Cap)> {
        let slot = self.slot(me.caps, named.index)?;
        Ok((slot, self.cap(me, named)?))
    }

    fn thread(&mut self, me: Caller, named: Named) -> Result<Id<Thread>> {
        if let Cap::Thread(id) = self.cap(me, named)? { self.own(id) } else { Err(Error::WrongKind) }
    }
}

/// Whether a call uses objects of one processor, and the slots that name them.
fn is_local(call: &Other<'_>) -> bool {
    matches!(
        call,
        Other::Yield(_) | Other::VcpuRun(_) | Other::TimerSet(_) | Other::InterruptAck(_) | Other::SignalYield(_)
    )
}

#[inline]
fn allowed(look: Look, needed: u8) -> Result<()> {
    if look.allows(needed) { Ok(()) } else { Err(Error::NoRight) }
}

fn done_or_restart(done: bool) -> Outcome {
    if done { Outcome::Done([0, 0]) } else { Outcome::Restart }
}
