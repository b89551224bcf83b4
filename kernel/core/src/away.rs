//! Visits: calls on objects of another processor, which that processor's kernel carries out.
//!
//! The caller blocks, and a letter takes its call to the home of the object. There the call is made
//! with the caller's capabilities, at the caller's priority: at once if nothing more urgent runs,
//! else as an entry of the agenda. Then the letter takes the answer back. A call that is cut short,
//! or finds that another processor changes capabilities, goes on when its letter, sent to the same
//! processor once more, has come behind those that wait there: it may need one of these, and the
//! timer would go before them all. A call that finds that the next object has yet another home
//! travels on; one that is to go on at the caller's own processor returns and is made again. A call
//! of an endpoint, and a fault, stay at the endpoint until they are answered: see `visitor.rs`.
//!
//! What a thread is away with lies behind it. The processor that has its letter, the holder, uses
//! its [`Visit`]. The caller's own only says that the thread is to come back, or has a higher
//! priority, and tells the holder with a letter of its own, the news. Both use its [`Away`], whose
//! [`Trip`] says who the holder is: whoever passes the visit on does not touch it any more from
//! then on.
//!
//! What a holder does for a thread, its letters included, is on the thread's budget once it is
//! back: else a task could have others interrupted without end, with calls that it has called back.

use crate::{
    Id, Kernel, Machine, Outcome,
    endpoint::Endpoint,
    heap::Node,
    home::Homed,
    notification::Notification,
    syscall::Registers,
    thread::{State, Thread},
    timer::Due,
};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use pillion_abi::{
    NEVER,
    call::Call,
    status::{Error, Result},
};
use pillion_post::{News, Trip};

/// A letter from one kernel to another. The machine links letters that wait.
#[derive(Debug)]
#[repr(C)]
pub struct Letter {
    /// The next letter in the list that it is in.
    pub link: pillion_post::Letter,
    /// What it is about.
    pub about: About,
}

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A thread's call, or the answer to it.
    Away(Id<Thread>),
    /// There are news of a thread that is away.
    News(Id<Thread>),
    /// A notification has bits in its post.
    Signal(Id<Notification>),
}

impl Letter {
    /// One that is in no list.
    pub(crate) fn new(about: About) -> Self {
        Letter { link: pillion_post::Letter::default(), about }
    }
}

/// Where a visit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a letter, or at home.
    Letter,
    /// On the holder's agenda.
    Agenda,
    /// In the queue of an endpoint of the holder.
    Queue(Id<Endpoint>),
    /// A thread of the holder serves it.
    Service(Id<Thread>),
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call is to be made again.
    Again,
    /// Status and values.
    Status(u64, [u64; 2]),
    /// The caller's registers hold the answer, and it goes on.
    InRegisters,
    /// The caller faulted, and its handler does not resume it.
    Stop,
}

/// What home and holder of a thread use at the same time.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Away {
    /// Goes where the thread is.
    pub letter: Letter,
    /// Where that is.
    pub trip: Trip,
    /// It is a call of an endpoint, or a fault, which is one on the thread's behalf: written at
    /// home before it leaves.
    pub is_call: AtomicBool,
    /// Follows it.
    pub news: Aligned,
}

/// A letter where a handle can name it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Aligned(Letter);

/// What a thread is away with: its holder's.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Visit {
    /// It is no call, but a fault to be reported.
    pub faulted: bool,
    /// Where it is.
    pub place: Place,
    /// Number and registers of the call, or 0 and the words of the fault.
    pub call: (u64, Registers),
    /// Badge of the capability that an endpoint is called through.
    pub badge: u64,
    /// How it ended.
    pub answer: Answer,
    /// Time that its steps and the letters about it took at holders, in ticks.
    pub ticks: u64,
    /// What was left of the thread's budget, in ticks: who has used as much is charged for it at
    /// home before the call goes on.
    pub left: u64,
    /// Node on the holder's agenda, or in the queue of an endpoint.
    pub due: Node<Due>,
}

impl Away {
    /// For a new thread.
    pub(crate) fn new(thread: Id<Thread>, home: u8) -> Self {
        Away {
            letter: Letter::new(About::Away(thread)),
            trip: Trip::new(home),
            is_call: AtomicBool::new(false),
            news: Aligned(Letter::new(About::News(thread))),
        }
    }
}

impl Default for Visit {
    fn default() -> Self {
        Visit {
            faulted: false,
            place: Place::Letter,
            call: (0, [0; 6]),
            badge: 0,
            answer: Answer::Again,
            ticks: 0,
            left: 0,
            due: Node::default(),
        }
    }
}

impl<M: Machine> Kernel<M> {
    /// The current thread's call, or the words of its fault, travel to another processor. A boost
    /// ends: its budget is one of this processor's. O(log n).
    pub(crate) fn leave_for(&mut self, home: u8, thread: Id<Thread>, number: u64, registers: &Registers) {
        if let Some(context) = self.m.get(thread).context {
            self.end_boost(context);
        }
        let now = self.m.now();
        self.charge(now);
        let Thread { priority, faulted, context, .. } = *self.m.get(thread);
        let left = context.map(|c| self.m.get(c)).filter(|c| c.is_limited()).map_or(NEVER, |c| c.left);
        let visit = self.m.get(thread.visit());
        (visit.faulted, visit.left) = (faulted, left);
        (visit.call, visit.answer, visit.ticks) = ((number, *registers), Answer::Again, 0);
        let away = self.m.shared(thread.away());
        away.is_call.store(faulted || number == Call::Call as u64, Relaxed);
        away.trip.leave(home, priority);
        self.take_off(thread);
        self.m.get(thread).state = State::Away;
        self.m.post(home, thread.away_letter());
    }

    /// A letter has come. Work: O(log n), and one step of a call.
    pub fn letter(&mut self, about: About) {
        match about {
            About::Away(thread) if self.m.shared(thread.away()).trip.home() == self.cpu.number => self.returned(thread),
            About::Away(thread) => self.arrived(thread),
            About::News(thread) => self.news(thread),
            About::Signal(notification) => self.mail(notification),
        }
    }

    /// A thread of another processor visits this one.
    fn arrived(&mut self, thread: Id<Thread>) {
        let trip = &self.m.shared(thread.away()).trip;
        let priority = trip.priority();
        if trip.is_recalled() {
            self.send_back(thread);
        } else if priority >= self.current_priority() {
            self.visit(thread);
        } else {
            self.wait_for_turn(thread);
        }
    }

    /// Puts a visit on the agenda, as due: it goes on when nothing more urgent runs.
    fn wait_for_turn(&mut self, thread: Id<Thread>) {
        let begin = self.time_for_visit();
        self.m.get(thread.visit()).place = Place::Agenda;
        let level = self.m.shared(thread.away()).trip.priority();
        self.arm(Due::Visit(thread), level, 0);
        self.bill(thread, begin);
    }

    /// What is done from now on, until [`Self::bill`], is a visitor's, not the current thread's:
    /// what that has used is charged to it. Returns the time.
    fn time_for_visit(&mut self) -> u64 {
        let begin = self.m.now();
        self.charge(begin);
        begin
    }

    /// Bills a visitor for the time since `begin`. For its holder.
    fn bill(&mut self, thread: Id<Thread>, begin: u64) {
        let end = self.m.now();
        self.cpu.since = end;
        self.cpu.timers_changed = true;
        let visit = self.m.get(thread.visit());
        visit.ticks = visit.ticks.wrapping_add(end.wrapping_sub(begin));
    }

    /// Goes on with a visitor's call up to a preemption point at which an interrupt is pending or
    /// the visitor's budget is used up. The time is the visitor's. Its slots are looked at, so they
    /// must not change meanwhile; if another processor changes any, it waits. It also waits if an
    /// interrupt is to be handled on the way out, or the timer to be programmed, which has to fire
    /// for what becomes due meanwhile: each alone is long enough with interrupts off.
    pub(crate) fn visit(&mut self, thread: Id<Thread>) {
        let begin = self.time_for_visit();
        if self.m.has_taken_interrupt() || self.cpu.timers_changed || !self.m.enter_tree() {
            self.bill(thread, begin);
            let here = self.cpu.number;
            return self.go_on(thread, here);
        }
        let visit = self.m.get(thread.visit());
        visit.place = Place::Letter;
        let (number, registers) = visit.call;
        let ends = begin.saturating_add(visit.left.saturating_sub(visit.ticks));
        let is_call = self.m.shared(thread.away()).is_call.load(Relaxed);
        self.cpu.visit_ends = ends;
        let outcome = if is_call {
            self.sys_call_visiting(thread, &registers)
        } else {
            self.dispatch_visiting(thread, number, &registers)
        };
        self.cpu.visit_ends = NEVER;
        self.m.leave_tree();
        self.bill(thread, begin);
        let answer = match outcome {
            // It waits at an endpoint.
            Ok(Outcome::Arranged) => return,
            Ok(Outcome::Restart) => {
                let here = self.cpu.number;
                return self.go_on(thread, here);
            }
            Ok(Outcome::Elsewhere(next)) => return self.go_on(thread, next),
            Ok(Outcome::Done(values)) => Answer::Status(0, values),
            // That call is no visit.
            Ok(Outcome::Guest) => Answer::Again,
            Err(error) => Answer::Status(error.to_raw(), [0, 0]),
        };
        self.send_home(thread, answer);
    }

    /// A preemption point: whether the call should stop and start again later, as an interrupt is
    /// pending ([`crate::machine::Time::interrupt_pending`]), or as it is a visitor's whose budget
    /// is used up. Nothing interrupts a visit for that.
    #[inline(never)]
    pub(crate) fn is_to_stop(&mut self) -> bool {
        self.m.interrupt_pending() || self.cpu.visit_ends != NEVER && self.m.now() >= self.cpu.visit_ends
    }

    /// A visit goes on when its letter comes, here behind those that wait, unless it has used up
    /// the thread's budget: then the thread calls again when it has more. A fault cannot be
    /// reported again.
    fn go_on(&mut self, thread: Id<Thread>, at: u8) {
        let Visit { ticks, left, faulted, .. } = *self.m.get(thread.visit());
        if ticks < left || faulted { self.send(thread, at) } else { self.send_home(thread, Answer::Again) }
    }

    /// Sends a thread that was called back home as it is. A call of an endpoint ends with
    /// [`Error::Gone`], as it does when a thread is suspended at home.
    pub(crate) fn send_back(&mut self, thread: Id<Thread>) {
        let faulted = self.m.get(thread.visit()).faulted;
        let is_call = self.m.shared(thread.away()).is_call.load(Relaxed);
        let answer = match (is_call, faulted) {
            (_, true) => Answer::Stop,
            (true, false) => Answer::Status(Error::Gone.to_raw(), [0, 0]),
            (false, false) => Answer::Again,
        };
        self.send_home(thread, answer);
    }

    pub(crate) fn send_home(&mut self, thread: Id<Thread>, answer: Answer) {
        self.m.get(thread.visit()).answer = answer;
        let home = self.m.shared(thread.away()).trip.home();
        self.send(thread, home);
    }

    fn send(&mut self, thread: Id<Thread>, to: u8) {
        self.m.get(thread.visit()).place = Place::Letter;
        self.m.shared(thread.away()).trip.go(to);
        self.m.post(to, thread.away_letter());
    }

    /// A thread of this processor is back, with an answer or to make its call again.
    fn returned(&mut self, thread: Id<Thread>) {
        let Visit { answer, ticks, .. } = *self.m.get(thread.visit());
        let recalled = self.m.shared(thread.away()).trip.end();
        let faulted = core::mem::take(&mut self.m.get(thread).faulted);
        let is_unheard = faulted && matches!(answer, Answer::Status(..) | Answer::Again);
        match answer {
            _ if is_unheard => {}
            Answer::Status(status, values) => self.m.set_result(thread, status, values),
            Answer::Again => self.m.repeat_call(thread),
            Answer::InRegisters | Answer::Stop => {}
        }
        if let Some(context) = self.m.get(thread).context {
            self.charge_to(context, ticks);
        }
        if is_unheard {
            self.fault_unheard(thread);
        } else if recalled || answer == Answer::Stop {
            self.m.get(thread).state = State::Stopped;
        } else {
            self.make_ready(thread);
        }
    }

    /// News of a thread that is, or was, here.
    fn news(&mut self, thread: Id<Thread>) {
        match self.m.shared(thread.away()).trip.news(self.cpu.number) {
            News::Follow(at) => return self.m.post(at, thread.away_news()),
            News::Home => return,
            News::Here => {}
        }
        let begin = self.time_for_visit();
        let (priority, recalled) = self.m.shared(thread.away()).trip.hear();
        match self.m.get(thread.visit()).place {
            // Whoever takes the letter sees them.
            Place::Letter => return,
            Place::Agenda if recalled => self.disarm(Due::Visit(thread)),
            Place::Agenda => self.relevel(Due::Visit(thread), priority),
            Place::Queue(_) | Place::Service(_) if recalled => self.leave_endpoint(thread),
            Place::Queue(endpoint) => self.requeue_visitor(thread, endpoint),
            Place::Service(server) => self.restore_chain(server),
        }
        self.bill(thread, begin);
        if recalled {
            self.send_back(thread);
        }
    }

    /// Sends the news after a thread that is away, where they have to be.
    fn tell(&mut self, thread: Id<Thread>, to: Option<u8>) {
        if let Some(to) = to {
            self.m.post(to, thread.away_news());
        }
    }

    /// A thread of this processor that is away has another priority.
    pub(crate) fn visit_follows(&mut self, thread: Id<Thread>, level: u8) {
        let to = self.m.shared(thread.away()).trip.raise(level);
        self.tell(thread, to);
    }

    /// The processor that has the registers of a thread of any processor: its home, or, while it is
    /// away, its holder. For whoever keeps others from changing capabilities, so that the thread
    /// does not end.
    pub(crate) fn holder(&self, thread: Homed<Thread>) -> u8 {
        self.m.shared(thread.beside().away()).trip.at()
    }

    /// The handle of a thread for a look at its registers, if this processor has them; else
    /// [`Error::Elsewhere`]. Where one processor runs, it does.
    pub(crate) fn own_registers(&self, thread: Homed<Thread>) -> Result<Id<Thread>> {
        let is_elsewhere = self.m.several() && self.holder(thread) != self.cpu.number;
        if is_elsewhere { Err(Error::Elsewhere) } else { Ok(thread.beside()) }
    }

    /// Whether a thread of this processor is here; if it is away, it is called back, and will be
    /// stopped.
    #[inline(always)]
    pub(crate) fn is_here(&mut self, thread: Id<Thread>) -> bool {
        if self.m.get(thread).state != State::Away {
            return true;
        }
        let to = self.m.shared(thread.away()).trip.recall();
        self.tell(thread, to);
        false
    }

    /// Whether a thread of this processor is here, and no letter about it is on its way.
    pub(crate) fn is_settled(&mut self, thread: Id<Thread>) -> bool {
        self.is_here(thread) && !self.m.shared(thread.away()).trip.has_news()
    }
}
