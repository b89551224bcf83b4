//! System calls. The table in `pillion_abi` names the arguments (`arguments.rs`); for each call, a
//! function `sys_..` first checks them and then carries the call out.

mod arguments;
mod device;
mod guest;
mod memory;
mod message;
mod thread;

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    thread::{State, Thread},
};
use arguments::{Frequent, Named, Other, Registers};
use pillion_abi::status::{Error, Result};

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with values.
    Done([u64; 2]),
    /// The thread's registers hold the result already, or will when it is woken.
    Arranged,
    /// Cut short: the thread is to repeat the call.
    Restart,
    /// The thread goes into its guest.
    Guest,
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
            Frequent::Call(a) => self.sys_call(me, a),
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
    fn caller(&mut self, thread: Id<Thread>) -> Result<Caller> {
        let caps = self.m.get(thread).caps().ok_or(Error::BadCap)?;
        Ok(Caller { thread, caps })
    }

    /// The capability that a call names, if it has the rights.
    fn cap(&mut self, me: Caller, named: Named) -> Result<Cap> {
        let slot = self.slot(me.caps, named.index)?;
        let Slot { cap, rights, .. } = *self.m.get(slot);
        if cap.is_none() {
            return Err(Error::BadCap);
        }
        allowed(rights, named.rights)?;
        Ok(cap)
    }

    /// The same, and its slot.
    fn held(&mut self, me: Caller, named: Named) -> Result<(Id<Slot>, Cap)> {
        let slot = self.slot(me.caps, named.index)?;
        Ok((slot, self.cap(me, named)?))
    }

    fn thread(&mut self, me: Caller, named: Named) -> Result<Id<Thread>> {
        if let Cap::Thread(id) = self.cap(me, named)? { Ok(id) } else { Err(Error::WrongKind) }
    }
}

#[inline]
fn allowed(has: u8, needed: u8) -> Result<()> {
    if has & needed == needed { Ok(()) } else { Err(Error::NoRight) }
}

fn done_or_restart(done: bool) -> Outcome {
    if done { Outcome::Done([0, 0]) } else { Outcome::Restart }
}
