//! System calls: arguments are decoded and checked first, then the call is carried out.

mod device;
mod guest;
mod memory;
mod thread;

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::CapSpace,
    notification::Notification,
    thread::{State, Thread},
};
use pillion_abi::{
    call::{Call, endpoint},
    object::right,
    status::{Error, Result},
};

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, with values.
    Done([u64; 2]),
    /// The thread's registers hold the result already, or will when it is woken.
    Arranged,
    /// Interrupted: the thread is to make the call again.
    Restart,
    /// The thread goes into its guest.
    Guest,
}

/// Registers of a call: capability, then arguments.
pub type Arguments = [u64; 6];

const DONE: Result<Outcome> = Ok(Outcome::Done([0, 0]));

/// The thread that makes a call, and its capability space.
#[derive(Clone, Copy)]
struct Caller {
    thread: Id<Thread>,
    caps: Id<CapSpace>,
}

impl<M: Machine> Kernel<M> {
    /// Carries out a call of the current thread. Returns how it went; the result is in the thread's registers unless
    /// it is to restart.
    ///
    /// Work: as each call says; never more than one step of a long one beyond the first preemption point.
    #[inline]
    pub fn syscall(&mut self, number: u64, arguments: &Arguments) -> Outcome {
        let Some(thread) = self.cpu.current else { return Outcome::Arranged };
        let outcome = self.dispatch(thread, number, arguments);
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
    fn dispatch(&mut self, thread: Id<Thread>, number: u64, a: &Arguments) -> Result<Outcome> {
        let call = Call::from_raw(number).ok_or(Error::BadCall)?;
        let caps = self.m.get(thread).caps().ok_or(Error::BadCap)?;
        let me = Caller { thread, caps };
        match call {
            Call::Call => {
                let slot = self.slot(caps, a[0])?;
                let Slot { cap: Cap::Endpoint(id), rights, badge, .. } = *self.m.get(slot) else {
                    return Err(self.wrong(slot));
                };
                allowed(rights, right::WRITE)?;
                let need = self.m.get(id).need;
                if need != 0 && !self.has_time_for(thread, need)? {
                    return Ok(Outcome::Restart);
                }
                self.call(thread, id, badge)?;
                Ok(Outcome::Arranged)
            }
            Call::ReplyReceive => self.reply_receive(thread).map(|()| Outcome::Arranged),
            Call::Receive => self.receive(thread, a[1]).map(|()| Outcome::Arranged),
            Call::Reply => self.reply(thread).map(|()| Outcome::Done([0, 0])),
            Call::Signal => {
                let (id, badge) = self.notification(me, a[0], right::WRITE)?;
                self.m.set_result(thread, 0, [0, 0]);
                self.signal(id, badge);
                Ok(Outcome::Arranged)
            }
            Call::Wait => {
                let (id, _) = self.notification(me, a[0], right::READ)?;
                Ok(match self.wait(thread, id, a[1])? {
                    Some(bits) => Outcome::Done([bits, 0]),
                    None => Outcome::Arranged,
                })
            }
            Call::Sleep => {
                self.m.set_result(thread, 0, [0, 0]);
                self.sleep(thread, a[1]);
                Ok(Outcome::Arranged)
            }
            _ => self.dispatch_rest(me, call, a),
        }
    }

    #[inline(never)]
    fn dispatch_rest(&mut self, me: Caller, call: Call, a: &Arguments) -> Result<Outcome> {
        match call {
            Call::Yield => {
                self.m.set_result(me.thread, 0, [0, 0]);
                self.yield_now();
                Ok(Outcome::Arranged)
            }
            Call::VcpuRun => self.vcpu_run(me, a),
            Call::TimerSet => {
                let Cap::Timer(id) = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
                self.timer_set(id, a[1]);
                DONE
            }
            Call::InterruptAck => {
                let Cap::Interrupt(id) = self.cap(me, a[0], right::WRITE)? else { return Err(Error::WrongKind) };
                self.interrupt_ack(id);
                DONE
            }
            Call::RegionCreate | Call::RegionReset | Call::MemoryPart | Call::MemoryMap | Call::MemoryUnmap => {
                self.memory_call(me, call, a)
            }
            Call::CapDerive | Call::CapMove | Call::CapDelete | Call::CapRevoke | Call::CapIdentify => {
                self.cap_call(me, call, a)
            }
            Call::ThreadConfigure
            | Call::ThreadSetRegisters
            | Call::ThreadResume
            | Call::ThreadSuspend
            | Call::ThreadBindContext
            | Call::ThreadBindNotification
            | Call::ThreadRegister => self.thread_call(me, call, a),
            Call::ContextConfigure | Call::ContextConsumed | Call::ContextSetPriority => self.context_call(me, call, a),
            Call::EndpointBind => {
                let Cap::Endpoint(id) = self.cap(me, a[0], right::CONTROL)? else { return Err(Error::WrongKind) };
                let slot = self.slot(me.caps, a[1])?;
                let Cap::Thread(thread) = self.cap(me, a[1], right::CONTROL)? else { return Err(Error::WrongKind) };
                if a[2] & !endpoint::OWN_PRIORITY != 0 {
                    return Err(Error::BadArgument);
                }
                self.endpoint_bind(id, slot, thread, a[2] & endpoint::OWN_PRIORITY != 0, a[3])?;
                DONE
            }
            Call::TimerBind => self.timer_bind(me, a),
            Call::InterruptCreate | Call::InterruptBind => self.interrupt_call(me, call, a),
            Call::PortIn | Call::PortOut | Call::PortsPart => self.port_call(me, call, a),
            Call::VcpuConfigure
            | Call::VcpuAllowPorts
            | Call::VcpuInject
            | Call::VcpuRouteLine
            | Call::VcpuReset
            | Call::VcpuEndOfInterrupt => self.vcpu_call(me, call, a),
            Call::TraceControl | Call::LogPut => self.trace_call(me, call, a),
            Call::Call | Call::ReplyReceive | Call::Receive | Call::Reply | Call::Signal | Call::Wait | Call::Sleep => {
                Err(Error::BadCall)
            }
        }
    }

    /// Why a slot does not hold what a call needs.
    #[cold]
    fn wrong(&mut self, slot: Id<Slot>) -> Error {
        if self.m.get(slot).cap == Cap::None { Error::BadCap } else { Error::WrongKind }
    }

    /// The capability with an index, if it has the rights.
    fn cap(&mut self, me: Caller, index: u64, rights: u8) -> Result<Cap> {
        let slot = self.slot(me.caps, index)?;
        let Slot { cap, rights: has, .. } = *self.m.get(slot);
        if cap == Cap::None {
            return Err(Error::BadCap);
        }
        allowed(has, rights)?;
        Ok(cap)
    }

    #[inline]
    fn notification(&mut self, me: Caller, index: u64, rights: u8) -> Result<(Id<Notification>, u64)> {
        let slot = self.slot(me.caps, index)?;
        let Slot { cap: Cap::Notification(id), rights: has, badge, .. } = *self.m.get(slot) else {
            return Err(self.wrong(slot));
        };
        allowed(has, rights)?;
        Ok((id, badge))
    }

    /// The capability space that a call names: 0 is the caller's own.
    fn target_space(&mut self, me: Caller, index: u64) -> Result<Id<CapSpace>> {
        if index == 0 {
            return Ok(me.caps);
        }
        match self.cap(me, index, right::CONTROL)? {
            Cap::CapSpace(id) => Ok(id),
            _ => Err(Error::WrongKind),
        }
    }
}

#[inline]
fn allowed(has: u8, needed: u8) -> Result<()> {
    if has & needed == needed { Ok(()) } else { Err(Error::NoRight) }
}

/// What `CapIdentify` tells: the kind in bits 0..=7 of the first value, the base in the rest of it for memory and ports (bases are
/// page-aligned, so that the two do not meet), the size in the second.
fn identify(cap: Cap) -> [u64; 2] {
    let kind = cap.kind() as u64;
    match cap {
        Cap::Region { base, size, .. } | Cap::Memory { base, size, .. } => [kind | base, size],
        Cap::Ports { first, count } => [kind | u64::from(first) << 16, u64::from(count)],
        _ => [kind, 0],
    }
}
