//! Threads.

use crate::{
    Id, Opt, cap::CapSpace, context::Context, endpoint::Endpoint, heap::Node, id::place_at, machine::Objects,
    notification::Notification, space::Space, timer::Due, vcpu::Vcpu,
};

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not started, suspended, or faulted without a handler.
    Stopped,
    /// Runs, or would run if it had the CPU.
    Ready,
    /// Waits for a message (or for its bound notification).
    Receiving,
    /// Waits for a notification.
    Waiting,
    /// Waits for a point in time.
    Sleeping,
    /// Waits in the queue of an endpoint for its receiver.
    Calling,
    /// Waits for the reply.
    Served,
    /// Runs a guest that waits for an interrupt.
    Halted,
    /// Another processor carries out its call, or it waits for a server there.
    Away,
}

/// The slots behind a thread, with the capabilities that it holds itself.
pub mod place {
    /// Address space.
    pub const SPACE: usize = 0;
    /// Capability space.
    pub const CAPS: usize = 1;
    /// Endpoint that faults are reported to.
    pub const FAULT: usize = 2;
    /// Bound notification.
    pub const NOTIFICATION: usize = 3;
    /// Number of slots.
    pub const COUNT: usize = 4;
}

/// A thread. The kernel keeps its registers beside it.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    /// What it is doing.
    pub state: State,
    /// Priority that it runs at now: its context's, or what it inherited.
    pub priority: u8,
    /// Whether it is in the ready queue.
    pub queued: bool,
    /// Whether the call that it waits in is a fault report, to be answered by resuming it.
    pub faulted: bool,
    /// Whether it uses the floating-point and vector registers.
    pub fpu: bool,
    /// Context that it runs on now, its own or donated by a caller.
    pub context: Opt<Context>,
    /// Context of its own.
    pub own_context: Opt<Context>,
    /// The caller that it serves.
    pub caller: Opt<Thread>,
    /// The caller of another processor that it serves.
    pub visitor: Opt<Thread>,
    /// The thread that serves it.
    pub server: Opt<Thread>,
    /// Previous in the ready queue.
    pub previous: Opt<Thread>,
    /// Next in the ready queue.
    pub next: Opt<Thread>,
    /// Endpoint in whose queue it waits.
    pub waiting_at: Opt<Endpoint>,
    /// Notification that it waits for.
    pub waiting_for: Opt<Notification>,
    /// Endpoint that it receives from.
    pub endpoint: Opt<Endpoint>,
    /// The guest that it runs, while it is in `VcpuRun`.
    pub guest: Opt<Vcpu>,
    /// Badge of the capability that it calls through.
    pub badge: u64,
    /// Fault to be reported when its handler receives.
    pub fault: crate::machine::Message,
    /// Its restartable sequence: addresses of the first instruction, and after the last.
    pub sequence: [u64; 2],
    /// Its node on the agenda, while it sleeps or waits with a timeout.
    pub timeout: Node<Due>,
    /// Its node in the queue of an endpoint.
    pub waiting: Node<Id<Thread>>,
}

impl Default for Thread {
    fn default() -> Self {
        Thread {
            state: State::Stopped,
            priority: 0,
            queued: false,
            faulted: false,
            fpu: false,
            context: None,
            own_context: None,
            caller: None,
            visitor: None,
            server: None,
            previous: None,
            next: None,
            waiting_at: None,
            waiting_for: None,
            endpoint: None,
            guest: None,
            badge: 0,
            fault: crate::machine::Message::default(),
            sequence: [0; 2],
            timeout: Node::default(),
            waiting: Node::default(),
        }
    }
}

impl Id<Thread> {
    /// Its capability space.
    #[inline(always)]
    pub fn caps(self, m: &impl Objects) -> Opt<CapSpace> {
        m.slot_behind(self, place_at(place::CAPS)).object()
    }

    /// Its address space.
    #[inline(always)]
    pub fn space(self, m: &impl Objects) -> Opt<Space> {
        m.slot_behind(self, place_at(place::SPACE)).object()
    }

    /// Its bound notification.
    #[inline(always)]
    pub fn notification(self, m: &impl Objects) -> Opt<Notification> {
        m.slot_behind(self, place_at(place::NOTIFICATION)).object()
    }
}
