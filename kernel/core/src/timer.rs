//! Everything that happens at a point in time: one heap per CPU, one hardware timer programmed for its first.

use crate::{
    Id, Kernel, Machine, Slot,
    context::Context,
    heap::{Heap, Node, Nodes},
    thread::{State, Thread},
    vcpu::Vcpu,
};
use pillion_abi::status::Error;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A thread's sleep or time limit ends.
    Thread(Id<Thread>),
    /// A budget is filled again.
    Context(Id<Context>),
    /// A timer object signals.
    Timer(Id<Timer>),
    /// A guest's local APIC timer fires.
    Vcpu(Id<Vcpu>),
}

/// A timer object.
#[derive(Debug, Default)]
pub struct Timer {
    /// Place among the timers.
    pub node: Node<Due>,
    /// Bits that it signals.
    pub bits: u64,
    /// The notification, as a capability that it holds.
    pub slot: Slot,
}

/// Lets the heap find its nodes in the objects.
pub(crate) struct InObjects<'a, M: Machine>(pub &'a mut M);

impl<M: Machine> Nodes<Due> for InObjects<'_, M> {
    #[inline]
    fn node(&mut self, due: Due) -> &mut Node<Due> {
        match due {
            Due::Thread(id) => &mut self.0.get(id).timeout,
            Due::Context(id) => &mut self.0.get(id).refill,
            Due::Timer(id) => &mut self.0.get(id).node,
            Due::Vcpu(id) => &mut self.0.get(id).timer,
        }
    }
}

impl<M: Machine> Kernel<M> {
    /// Arms what is not armed. O(log n).
    pub(crate) fn arm(&mut self, due: Due, deadline: u64) {
        self.cpu.timers.insert(&mut InObjects(&mut self.m), due, deadline);
        self.cpu.timers_changed = true;
    }

    /// Disarms; nothing happens when it is not armed. O(log n).
    pub(crate) fn disarm(&mut self, due: Due) {
        self.cpu.timers.remove(&mut InObjects(&mut self.m), due);
        self.cpu.timers_changed = true;
    }

    /// Deadline of the first, or never.
    pub(crate) fn first_deadline(&mut self) -> u64 {
        let nodes = &mut InObjects(&mut self.m);
        self.cpu.timers.first().map_or(pillion_abi::NEVER, |due| nodes.node(due).key())
    }

    /// The CPU's timer fired: handles one thing that is due. What else is due lets the timer fire again at once, so that
    /// the work of one interrupt is bounded.
    #[inline(always)]
    pub fn timer_interrupt(&mut self) {
        self.m.end_of_interrupt();
        self.cpu.programmed = pillion_abi::NEVER;
        self.cpu.timers_changed = true;
        let now = self.m.now();
        let Some(due) = self.cpu.timers.first() else { return };
        if InObjects(&mut self.m).node(due).key() > now {
            return;
        }
        self.cpu.timers.pop(&mut InObjects(&mut self.m));
        match due {
            Due::Thread(id) => self.thread_due(id),
            Due::Context(id) => self.refill(id, now),
            Due::Timer(id) => {
                let timer = self.m.get(id);
                let bits = timer.bits;
                if let crate::Cap::Notification(n) = timer.slot.cap {
                    self.signal(n, bits);
                }
            }
            Due::Vcpu(id) => self.guest_timer(id),
        }
    }

    #[inline(always)]
    fn thread_due(&mut self, id: Id<Thread>) {
        let thread = self.m.get(id);
        let waited_for = thread.waiting_for.take();
        let status = if thread.state == State::Sleeping { 0 } else { Error::Timeout.to_raw() };
        if let Some(n) = waited_for {
            self.m.get(n).waiter = None;
        }
        self.m.set_result(id, status, [0, 0]);
        self.make_ready(id);
    }

    /// Sets a timer object.
    pub(crate) fn timer_set(&mut self, id: Id<Timer>, deadline: u64) {
        self.disarm(Due::Timer(id));
        if deadline != pillion_abi::NEVER {
            self.arm(Due::Timer(id), deadline);
        }
    }
}

/// The heap of a CPU.
pub type Timers = Heap<Due>;
