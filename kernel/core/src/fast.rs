//! Fast paths for the common cases of call and reply, a waiting receiver without a scheduling
//! context of its own and a caller that can continue at once, of running a guest, and, where
//! several processors run, of a signal. Everything is checked before anything is changed; if a
//! check fails, the slow path is taken. Both lead to the same state.

use crate::{
    Id, Kernel, Machine, Opt,
    thread::{State, Thread},
    vcpu::Vcpu,
};
use pillion_abi::object::right;

/// Where the notification is that a thread signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// It is this processor's: the kernel has to be left as ever.
    Here,
    /// It is another one's: here, nothing but the thread's registers has changed.
    Elsewhere,
}

impl<M: Machine> Kernel<M> {
    /// `Call` of the current thread through the capability at an index. Returns the receiver, which
    /// is the current thread now, or `None` if nothing was done.
    #[inline(always)]
    pub fn call_fast(&mut self, caller: Id<Thread>, index: u64) -> Opt<Thread> {
        let caps = caller.caps(&self.m)?;
        let look = self.look(caps, index).ok()?;
        let endpoint = self.own(look.endpoint()?).ok()?;
        let server = endpoint.receiver(&self.m)?;
        let s = self.m.get(server);
        let waits = s.state == State::Receiving && s.own_context.is_none() && !s.timeout.is_linked();
        let context = self.m.get(caller).context?;
        if !waits || !look.allows(right::WRITE) || (self.m.get(endpoint).need != 0 && self.m.get(context).is_limited())
        {
            return None;
        }
        let c = self.m.get(caller);
        (c.state, c.server, c.badge, c.context) = (State::Served, Some(server), look.badge, None);
        let priority = c.priority;
        let s = self.m.get(server);
        (s.state, s.caller, s.context, s.priority) = (State::Ready, Some(caller), Some(context), priority);
        self.m.get(context).user = Some(server);
        self.m.copy_message(caller, server, look.badge);
        self.cpu.current = Some(server);
        Some(server)
    }

    /// `ReplyReceive` of the current thread. Returns the caller, which is the current thread now,
    /// or `None` if nothing was done.
    #[inline(always)]
    pub fn reply_receive_fast(&mut self, server: Id<Thread>) -> Opt<Thread> {
        let s = self.m.get(server);
        let (caller, endpoint, context) = (s.caller?, s.endpoint?, s.context?);
        let passive = s.own_context.is_none();
        let empty = !self.m.get(endpoint).is_awaited;
        let c = self.m.get(caller);
        let (faulted, priority) = (c.faulted, c.priority);
        let has_time = self.cpu.charged == Some(context) && self.m.get(context).left != 0;
        if !passive || !empty || faulted || !has_time || self.cpu.ready.top() > priority {
            return None;
        }
        let s = self.m.get(server);
        (s.state, s.caller, s.context, s.priority) = (State::Receiving, None, None, 0);
        let c = self.m.get(caller);
        (c.state, c.server, c.context) = (State::Ready, None, Some(context));
        self.m.get(context).user = Some(caller);
        self.m.copy_message(server, caller, 0);
        self.cpu.current = Some(caller);
        Some(caller)
    }

    /// `Signal` of the current thread through the capability at an index, where several processors
    /// run. Returns where the notification is, or `None` if nothing was done.
    #[inline(always)]
    pub fn signal_fast(&mut self, thread: Id<Thread>, index: u64) -> Option<Signalled> {
        let caps = thread.caps(&self.m)?;
        let slot = self.slot(caps, index).ok()?;
        let look = self.m.shared(slot).look();
        let notification = look.notification()?;
        if !look.allows(right::WRITE) {
            return None;
        }
        let Ok(id) = self.own(notification) else {
            let is_there = self.signal_through(slot, look, notification);
            return is_there.then(|| {
                self.m.set_result(thread, 0, [0, 0]);
                Signalled::Elsewhere
            });
        };
        if !self.m.shared(slot).shows(look) {
            return None;
        }
        self.m.set_result(thread, 0, [0, 0]);
        self.signal(id, look.badge);
        Some(Signalled::Here)
    }

    /// `VcpuRun` of the current thread with the capability at an index. Returns the vCPU, which the
    /// thread is to run now, or `None` if nothing was done.
    #[inline(always)]
    pub fn vcpu_run_fast(&mut self, thread: Id<Thread>, index: u64) -> Opt<Vcpu> {
        let caps = thread.caps(&self.m)?;
        let id = self.own(self.at(caps, index).ok()?.vcpu(right::CONTROL)?).ok()?;
        let t = self.m.get(thread);
        let (level, passive) = (t.priority, t.own_context.is_none());
        let v = self.m.get(id);
        // Where the level differs, or the thread is passive, timers follow.
        if passive || v.level != level || v.thread.is_some() || !v.configured {
            return None;
        }
        v.thread = Some(thread);
        self.m.get(thread).guest = Some(id);
        Some(id)
    }
}
