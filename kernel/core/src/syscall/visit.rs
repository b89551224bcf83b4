//! Which calls are carried out at the home of the object that they name.

use super::{Caller, arguments::*};
use crate::{Cap, Kernel, Machine};
use pillion_abi::{call::irq, object::Kind};

impl<M: Machine> Kernel<M> {
    /// The processor, other than this one, that a call has to be made at. Whatever else is wrong
    /// with the call is found there.
    pub(super) fn is_elsewhere(&mut self, me: Caller, call: &Other<'_>) -> Option<u8> {
        let (named, kind) = match call {
            Other::ThreadConfigure(a) => (a.thread(), Kind::Thread),
            Other::ThreadSetRegisters(a) => (a.thread(), Kind::Thread),
            Other::ThreadResume(a) => (a.thread(), Kind::Thread),
            Other::ThreadSuspend(a) => (a.thread(), Kind::Thread),
            Other::ThreadBindContext(a) => (a.thread(), Kind::Thread),
            Other::ThreadBindNotification(a) => (a.thread(), Kind::Thread),
            Other::ThreadRegister(a) => (a.thread(), Kind::Thread),
            Other::ThreadSetSequence(a) => (a.thread(), Kind::Thread),
            Other::ContextConfigure(a) => (a.context(), Kind::SchedContext),
            Other::ContextSetPriority(a) => (a.context(), Kind::SchedContext),
            Other::ContextAllowBoost(a) => (a.context(), Kind::SchedContext),
            Other::EndpointBind(a) => (a.endpoint(), Kind::Endpoint),
            Other::TimerBind(a) => (a.timer(), Kind::Timer),
            Other::TimerSet(a) => (a.timer(), Kind::Timer),
            Other::InterruptBind(a) => (a.interrupt(), Kind::Interrupt),
            Other::InterruptAck(a) => (a.interrupt(), Kind::Interrupt),
            Other::VcpuConfigure(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuAllowPorts(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuInject(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuRouteLine(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuReset(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuEndOfInterrupt(a) => (a.vcpu(), Kind::Vcpu),
            Other::VcpuBindSignals(a) => (a.vcpu(), Kind::Vcpu),
            Other::InterruptCreate(a) => return self.other_processor(a.flags() >> irq::HOME_SHIFT & 0xff),
            _ => return None,
        };
        let slot = self.m.shared(self.slot(me.caps, named.index).ok()?);
        let look = slot.look();
        let cap = slot.cap_in(look);
        let home = cap.home().filter(|_| cap.kind() == kind && look.allows(named.rights))?;
        let at = match (call, cap) {
            (Other::ThreadRegister(_), Cap::Thread(thread)) => self.holder(thread),
            _ => home,
        };
        self.other_processor(at.into())
    }

    /// The number of a processor, if it runs and is not this one.
    fn other_processor(&mut self, number: u64) -> Option<u8> {
        let is_other = number != u64::from(self.cpu.number) && self.runs(number);
        u8::try_from(number).ok().filter(|_| is_other)
    }
}
