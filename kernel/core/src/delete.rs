//! Deleting capabilities and, with the original one, objects.
//!
//! Leaves of the tree go first, one per step, with a preemption point after each; a call that was
//! interrupted starts again from the top and finds less to do.

use crate::{
    Cap, Id, Kernel, Machine, Slot,
    cap::{CapSpace, LEVELS},
    context::Context,
    endpoint::Endpoint,
    interrupt::Interrupt,
    notification::Notification,
    slot::Entry,
    space::Space,
    thread::{State, Thread, place},
    timer::{Due, Timer},
    vcpu::Vcpu,
};
use core::sync::atomic::Ordering::Relaxed;
use pillion_abi::status::Error;

/// Slots of a capability space that one step looks at.
const SCAN_STEP: u32 = 16;

/// Nested capability spaces that one step goes down through. At most [`LEVELS`] of them can be
/// nested without a region in between, so a longer way down passes a region.
const NESTED: u32 = 2 * LEVELS as u32;

/// How far a deletion came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// To its end.
    Done,
    /// It was interrupted, and is to begin again.
    Interrupted,
    /// It goes on at the home of the object that is next.
    Elsewhere(u8),
}

/// What the next step of a deletion works on.
enum Step {
    /// This slot has no descendants any more.
    Leaf(Id<Slot>),
    /// Part of a capability space was searched.
    Searched,
    /// Nothing is left.
    Done,
}

impl<M: Machine> Kernel<M> {
    /// Deletes everything derived from a slot and, if `whole`, the slot, as far as it can here.
    pub(crate) fn delete(&mut self, slot: Id<Slot>, whole: bool) -> Deletion {
        let (current, level) = (self.cpu.current, self.current_priority());
        loop {
            match self.next_step(slot, whole) {
                Step::Done => return Deletion::Done,
                Step::Searched => {}
                Step::Leaf(leaf) => {
                    if let Some(home) = self.ends_at(leaf)
                        && home != self.cpu.number
                    {
                        return Deletion::Elsewhere(home);
                    }
                    if self.has_letters(leaf) {
                        // They are on their way, and come by interrupts.
                        return Deletion::Interrupted;
                    }
                    let last = leaf == slot;
                    if self.end(leaf) && last {
                        return Deletion::Done;
                    }
                }
            }
            // A step wakes who waits for what it ends, and can lower the caller or end its time.
            if self.is_to_stop() || self.cpu.current != current || self.current_priority() != level {
                return Deletion::Interrupted;
            }
        }
    }

    /// The only processor that may delete what a leaf holds: the home of an object, for its
    /// original capability, or of the object that the leaf lies in.
    fn ends_at(&mut self, leaf: Id<Slot>) -> Option<u8> {
        let Entry { cap, original, within, .. } = self.m.shared(leaf).entry();
        within.or(cap.home().filter(|_| original))
    }

    /// Whether letters are on their way about the object whose original capability a leaf holds. A
    /// thread that is away is called back. No letter is sent any more once they are here.
    fn has_letters(&mut self, leaf: Id<Slot>) -> bool {
        match self.m.shared(leaf).entry() {
            Entry { cap: Cap::Thread(thread), original: true, .. } => !self.is_settled(thread.beside()),
            Entry { cap: Cap::Notification(n), original: true, .. } => {
                // A sender that found a slot unchanged has said so before it was emptied.
                self.m.several() && {
                    self.m.shared(leaf).retire();
                    self.m.is_announced(n.beside().post()) || self.expects_mail(n.beside())
                }
            }
            _ => false,
        }
    }

    /// Goes down from a slot to one without descendants and without content.
    fn next_step(&mut self, slot: Id<Slot>, whole: bool) -> Step {
        if self.m.shared(slot).is_empty() || (!whole && !self.has_child(slot)) {
            return Step::Done;
        }
        let mut at = slot;
        let mut region = None;
        for _ in 0..NESTED {
            at = self.last_child(at);
            let Entry { cap, original, .. } = self.m.shared(at).entry();
            let (Cap::CapSpace(space), true) = (cap, original) else { return Step::Leaf(at) };
            match self.search(space) {
                Search::Found(content) => at = content,
                Search::NotYet => return Step::Searched,
                Search::Empty => return Step::Leaf(at),
            }
            if let Cap::Region { .. } = self.m.shared(at).cap() {
                region = Some(at);
            }
        }
        // A region in a capability space that was made of it would lead in a circle. So its slot is
        // emptied first, and what was made of it becomes its parent region's.
        if let Some(region) = region {
            self.unlink(region);
        }
        Step::Searched
    }

    /// Goes down the tree by first children, at most [`crate::cap::DEPTH`] of them.
    fn last_child(&mut self, from: Id<Slot>) -> Id<Slot> {
        let mut at = from;
        loop {
            let slot = self.m.shared(at);
            match slot.next() {
                Some(child) if self.m.shared(child).depth() > slot.depth() => at = child,
                _ => return at,
            }
        }
    }

    /// Looks for a capability in a space that is being deleted.
    fn search(&mut self, space: Id<CapSpace>) -> Search {
        let s = self.m.shared(space);
        s.dying.store(true, Relaxed);
        let (from, count) = (s.scanned.load(Relaxed), s.count);
        let to = count.min(from.saturating_add(SCAN_STEP));
        for index in from..to {
            let slot = space.following(index);
            if !self.m.shared(slot).is_empty() {
                s.scanned.store(index, Relaxed);
                return Search::Found(slot);
            }
        }
        s.scanned.store(to, Relaxed);
        if to == count { Search::Empty } else { Search::NotYet }
    }

    /// Deletes what a leaf holds, which is not another processor's to delete, as far as one step
    /// goes, and empties the slot. Returns whether it is empty now.
    fn end(&mut self, leaf: Id<Slot>) -> bool {
        let Entry { cap, original, within, .. } = self.m.shared(leaf).entry();
        if !self.unmap_step(leaf) {
            return false;
        }
        if original {
            if !self.end_object(cap) {
                return false;
            }
        } else if within.is_some() {
            self.unbind(leaf, cap);
        }
        self.unlink(leaf);
        true
    }

    fn end_object(&mut self, cap: Cap) -> bool {
        match cap {
            Cap::Thread(object) => return self.end_thread(object.beside()),
            Cap::Context(object) => self.end_context(object.beside()),
            Cap::Endpoint(object) => return self.end_endpoint(object.beside()),
            Cap::Notification(object) => return self.end_notification(object.beside()),
            Cap::Timer(object) => self.end_timer(object.beside()),
            Cap::Interrupt(object) => self.end_interrupt_object(object.beside()),
            Cap::Vcpu(object) => return self.end_vcpu(object.beside()),
            Cap::AddressSpace(id) | Cap::GuestSpace(id) => return self.end_space(id),
            Cap::CapSpace(id) => self.m.forget(id),
            Cap::None
            | Cap::Region { .. }
            | Cap::Memory { .. }
            | Cap::StatePage
            | Cap::Ports { .. }
            | Cap::SchedControl
            | Cap::IrqControl
            | Cap::Trace => {}
        }
        true
    }

    /// Before a capability that an object holds is deleted: the other side must not name that
    /// object any more.
    fn unbind(&mut self, leaf: Id<Slot>, cap: Cap) {
        match cap {
            Cap::Notification(n) => {
                let n = n.beside();
                if let Some(bound) = self.m.get(n).bound
                    && bound.place(place::NOTIFICATION) == leaf
                {
                    self.m.get(n).bound = None;
                    self.attend(n);
                }
            }
            Cap::GuestSpace(_) => self.m.get(leaf.of_vcpu(0)).configured = false,
            Cap::StatePage => self.m.get(leaf.of_vcpu(1)).configured = false,
            Cap::Thread(thread) => {
                let thread = thread.beside();
                if let Some(endpoint) = self.m.get(thread).endpoint
                    && endpoint.slot() == leaf
                {
                    self.m.get(thread).endpoint = None;
                    // The callers in the queue do not wait for this thread any more.
                    self.restore_chain(thread);
                }
            }
            _ => {}
        }
    }

    /// Empties a slot inside an object that is deleted.
    #[inline]
    fn unlink_inner(&mut self, slot: Id<Slot>) {
        let cap = self.m.shared(slot).cap();
        self.unbind(slot, cap);
        self.unlink(slot);
    }

    /// Empties its slots in a step of their own, as what they name may end before it does. The
    /// current thread may be the one that deletes itself, and needs two of them to go on with that.
    fn end_thread(&mut self, id: Id<Thread>) -> bool {
        let first = if self.cpu.current == Some(id) { place::FAULT } else { place::SPACE };
        let mut done = true;
        for slot in (first..place::COUNT).map(|index| id.place(index)) {
            if !self.m.shared(slot).is_empty() {
                self.unlink_inner(slot);
                done = false;
            }
        }
        if !done {
            return false;
        }
        self.leave_guest(id);
        self.stop_waiting(id);
        self.release_lines_for(id);
        self.m.get(id).state = State::Stopped;
        self.abandon_caller(id);
        if let Some(own) = self.m.get(id).own_context {
            self.m.get(own).owner = None;
            if self.m.get(own).user == Some(id) {
                self.m.get(own).user = None;
            }
        }
        if let Some(context) = self.m.get(id).context {
            self.m.get(context).user = None;
        }
        for index in place::SPACE..first {
            self.unlink_inner(id.place(index));
        }
        self.m.drop_fpu(id);
        self.m.forget(id);
        true
    }

    /// Takes a thread out of `VcpuRun`, with [`Error::Gone`], if it is in it.
    pub(crate) fn leave_guest(&mut self, id: Id<Thread>) {
        if let Some(vcpu) = self.m.get(id).guest.take() {
            self.m.get(vcpu).thread = None;
            self.m.set_result(id, Error::Gone.to_raw(), [0, 0]);
        }
    }

    fn end_context(&mut self, id: Id<Context>) {
        self.disarm(Due::Context(id));
        if let Some(owner) = self.m.get(id).owner {
            self.disown(id, owner);
        } else {
            self.take_time(id);
        }
        if let Some(endpoint) = self.m.get(id).endpoint {
            self.set_visitors_context(endpoint, None);
        }
        if self.cpu.charged == Some(id) {
            self.cpu.charged = None;
        }
        self.m.forget(id);
    }

    fn end_endpoint(&mut self, id: Id<Endpoint>) -> bool {
        if self.dismiss_caller(id) || self.dismiss_first_visitor(id) {
            return false;
        }
        self.set_visitors_context(id, None);
        self.dismiss_receiver(id);
        self.unlink_inner(id.slot());
        self.m.forget(id);
        true
    }

    /// Releases a waiting receiver, with [`Error::Gone`], as its endpoint is deleted.
    fn dismiss_receiver(&mut self, id: Id<Endpoint>) {
        if let Some(receiver) = id.receiver(&self.m)
            && self.m.get(receiver).state == State::Receiving
        {
            self.stop_waiting(receiver);
            self.m.set_result(receiver, Error::Gone.to_raw(), [0, 0]);
            self.make_ready(receiver);
        }
    }

    /// A timer whose capability for the notification is gone may still be in the heap: each step
    /// removes one.
    fn end_notification(&mut self, id: Id<Notification>) -> bool {
        if let Some(timer) = self.m.get(id).timers.first() {
            self.timer_stop(timer);
            return false;
        }
        if let Some(waiter) = self.m.get(id).waiter {
            self.stop_waiting(waiter);
            self.m.set_result(waiter, Error::Gone.to_raw(), [0, 0]);
            self.make_ready(waiter);
        }
        self.release_post(id);
        self.m.forget(id);
        true
    }

    fn end_timer(&mut self, id: Id<Timer>) {
        self.timer_stop(id);
        self.unlink_inner(id.slot());
        self.m.forget(id);
    }

    fn end_interrupt_object(&mut self, id: Id<Interrupt>) {
        self.interrupt_end(id);
        self.unlink_inner(id.slot());
        self.m.forget(id);
    }

    /// Masks one of the passenger's lines per step.
    fn end_vcpu(&mut self, id: Id<Vcpu>) -> bool {
        if self.cpu.passenger == Some(id) && self.lose_passenger_line() {
            return false;
        }
        if let Some(thread) = self.m.get(id).thread {
            let halted = self.m.get(thread).state == State::Halted;
            self.leave_guest(thread);
            if halted {
                self.make_ready(thread);
            }
        }
        self.disarm(Due::Vcpu(id));
        self.reset_guest_interrupts(id);
        if self.cpu.passenger == Some(id) {
            self.cpu.passenger = None;
            self.cpu.passenger_level = u8::MAX;
            self.cpu.timers_changed = true;
            self.m.accept_messages(false);
        }
        self.m.vcpu_drop(id);
        self.unlink_inner(id.space());
        self.unlink_inner(id.state());
        self.unlink_inner(id.signals());
        self.m.forget(id);
        true
    }

    /// Removes part of a mapping per step. No mapping may stay in the tables: until the last step,
    /// the space can be given to a thread.
    fn end_space(&mut self, id: Id<Space>) -> bool {
        if let Some(slot) = self.m.shared(id).mapped() {
            self.unmap_step(slot);
            return false;
        }
        if !self.m.space_drop(id) {
            return false;
        }
        self.m.forget(id);
        true
    }
}

/// What [`Kernel::search`] found.
enum Search {
    Found(Id<Slot>),
    NotYet,
    Empty,
}
