//! Virtual CPUs: the part that concerns interrupts, time and scheduling. The processor's part
//! follows the object in memory and belongs to the machine.

use crate::{
    Id, Kernel, Machine, Opt,
    cap::CapSpace,
    context::Context,
    heap::Node,
    id::slot_of,
    machine::Objects,
    thread::{State, Thread},
    timer::Due,
    x86_64::apic::GuestApic,
};
use pillion_abi::{
    MESSAGE_VECTOR, NEVER,
    object::right,
    status::{Error, Result},
};

/// A virtual CPU.
#[derive(Debug, Default)]
pub struct Vcpu {
    /// It is a user vCPU: it runs a guest's code in user mode and has no part in the guest's
    /// interrupts.
    pub user: bool,
    /// It can be entered: it was configured, and what it was given is still there.
    pub configured: bool,
    /// Interrupt state.
    pub apic: GuestApic,
    /// The guest's local APIC timer.
    pub timer: Node<Due>,
    /// What the guest set it to: it may be armed for later (`guest_spared`).
    pub deadline: u64,
    /// Steps of its preparation that are done; `u32::MAX` when all are.
    pub prepared: u32,
    /// Priority of the thread that runs it, or that ran it last.
    pub level: u8,
    /// If its thread is halted: the guest waits by a hypercall, and not by HLT.
    pub waits: bool,
    /// The thread that is in `VcpuRun` with it.
    pub thread: Opt<Thread>,
    /// When its thread was last halted.
    pub halted_at: u64,
    /// When it was woken from that.
    pub woken_at: u64,
    /// Ticks that its thread was halted before that.
    pub halted: u64,
}

impl Vcpu {
    /// Ticks that its thread was halted, now that it is not.
    fn all_halted(&self) -> u64 {
        self.halted.wrapping_add(self.woken_at.wrapping_sub(self.halted_at))
    }
}

impl Id<Vcpu> {
    /// Whether it has the page of the shared state.
    #[inline(always)]
    fn has_state(self, m: &impl Objects) -> bool {
        !m.slot_behind(self, slot_of::<Vcpu>(1)).is_empty()
    }

    /// The space of the notifications that its guest may signal.
    #[inline(always)]
    fn signalled(self, m: &impl Objects) -> Opt<CapSpace> {
        m.slot_behind(self, slot_of::<Vcpu>(2)).object()
    }
}

/// The boost in an argument of [`pillion_abi::dual::URGENCY`].
const fn boost_of(urgency: u64) -> u8 {
    urgency as u8
}

/// The task priority of the shield in it.
const fn shield_of(urgency: u64) -> u8 {
    (urgency >> 8) as u8
}

impl<M: Machine> Kernel<M> {
    /// The guest signals the notification in a slot of the space bound to it, with the badge there.
    /// Fails with [`Error::Unsupported`] if no space is bound. O(1), or O(log n) with a timeout to
    /// disarm.
    #[inline]
    pub fn guest_signal(&mut self, id: Id<Vcpu>, index: u64) -> Result<()> {
        let space = id.signalled(&self.m).ok_or(Error::Unsupported)?;
        let look = self.look(space, index)?;
        let n = look.notification().ok_or(Error::WrongKind)?;
        if !look.allows(right::WRITE) {
            return Err(Error::NoRight);
        }
        self.signal_any(space, index, look, n)
    }

    /// Whether the guest may signal somebody: it is Linux, which knows of dual mode.
    pub fn guest_has_signals(&self, id: Id<Vcpu>) -> bool {
        id.signalled(&self.m).is_some()
    }

    /// The guest states how urgent it is, as [`pillion_abi::dual::URGENCY`] says. Fails with
    /// [`Error::Unsupported`] if it may signal nobody. Work: that of a boost.
    #[inline(never)]
    pub fn guest_urgency(&mut self, id: Id<Vcpu>, urgency: u64) -> Result<()> {
        if id.signalled(&self.m).is_none() {
            return Err(Error::Unsupported);
        }
        let v = self.m.get(id);
        v.apic.set_shield(shield_of(urgency));
        if let Some(context) = self.guest_context(id) {
            self.boost(context, boost_of(urgency));
        }
        Ok(())
    }

    /// Has the guest be at least that urgent, if its thread runs it now.
    pub(crate) fn guest_at_least(&mut self, id: Id<Vcpu>, urgency: u64) {
        let (apic, boost) = (&mut self.m.get(id).apic, boost_of(urgency));
        apic.set_shield(shield_of(urgency).max(apic.shield()));
        if boost != 0
            && let Some(context) = self.guest_context(id)
            && self.m.get(context).priority < boost
        {
            self.boost(context, boost);
        }
    }

    /// The context of the thread that runs the guest.
    fn guest_context(&mut self, id: Id<Vcpu>) -> Opt<Context> {
        let thread = self.m.get(id).thread?;
        self.m.get(thread).own_context
    }

    /// The guest's timer fired.
    pub(crate) fn guest_timer(&mut self, id: Id<Vcpu>) {
        if !id.has_state(&self.m) {
            return;
        }
        if let Some(vector) = self.m.vcpu_timer_fired(id) {
            self.guest_interrupt(id, vector);
        }
    }

    /// Gives a guest's timer and interrupts the priority of the thread that runs it. O(log n).
    pub(crate) fn guest_follows(&mut self, id: Id<Vcpu>, level: u8) {
        let v = self.m.get(id);
        if v.level == level {
            return;
        }
        v.level = level;
        if self.cpu.passenger == Some(id) {
            self.cpu.passenger_level = level;
            self.cpu.timers_changed = true;
        }
        let v = self.m.get(id);
        if v.timer.is_linked() {
            self.relevel(Due::Vcpu(id), level);
        }
    }

    /// Makes a virtual interrupt pending. O(1).
    pub fn guest_interrupt(&mut self, id: Id<Vcpu>, vector: u8) {
        self.m.get(id).apic.raise(vector);
        self.wake_guest(id);
    }

    /// A physical interrupt of the passenger arrived. Without a passenger it only gets its EOI.
    /// O(1).
    #[inline]
    pub fn passenger_interrupt(&mut self, vector: u8) {
        match self.cpu.passenger {
            Some(id) if vector == MESSAGE_VECTOR && self.m.several() => self.passenger_messages(id),
            Some(id) => {
                self.m.get(id).apic.raise_physical(vector);
                self.wake_guest(id);
            }
            None => self.m.end_of_interrupt(),
        }
    }

    /// Other processors' guests have sent the passenger interrupts, for which no physical EOI is
    /// owed; or a device has sent that vector, and there are none.
    #[cold]
    #[inline(never)]
    fn passenger_messages(&mut self, id: Id<Vcpu>) {
        self.m.end_of_interrupt();
        let vectors = self.m.take_messages();
        if vectors != [0; 4] {
            self.m.get(id).apic.raise_all(&vectors);
            self.wake_guest(id);
        }
    }

    fn wake_guest(&mut self, id: Id<Vcpu>) {
        if let Some(thread) = self.m.get(id).thread
            && self.m.get(thread).state == State::Halted
        {
            self.guest_woken(id);
            self.make_ready(thread);
        }
    }

    /// The thread of a halted guest becomes ready.
    #[inline(always)]
    pub(crate) fn guest_woken(&mut self, id: Id<Vcpu>) {
        let now = self.m.now();
        self.m.get(id).woken_at = now;
    }

    /// For how many ticks other threads had the processor although the guest's thread, which is the
    /// current one, could have run, counted from an arbitrary time: what was neither its own nor
    /// spent halted. Time in which the thread waited for something else counts too. O(1).
    #[inline]
    pub fn guest_stolen(&mut self, id: Id<Vcpu>) -> u64 {
        let halted = self.m.get(id).all_halted();
        let own = self.guest_context(id).map_or(0, |context| self.m.used(context).so_far()[0]);
        // What has not been charged yet is the current thread's.
        self.cpu.since.wrapping_sub(own).wrapping_sub(halted)
    }

    /// The guest ends its most urgent interrupt in service. Sends the physical EOIs that this makes
    /// due.
    #[inline]
    pub fn guest_end_of_interrupt(&mut self, id: Id<Vcpu>) {
        for _ in 0..self.m.get(id).apic.end_of_interrupt().physical_eois {
            self.m.end_of_interrupt();
        }
    }

    /// Sets the guest's timer; 0 disarms it, and so does [`NEVER`].
    pub fn guest_deadline(&mut self, id: Id<Vcpu>, deadline: u64) {
        self.disarm(Due::Vcpu(id));
        if deadline != 0 && deadline != NEVER {
            let v = self.m.get(id);
            v.deadline = deadline;
            let level = v.level;
            self.arm(Due::Vcpu(id), level, deadline);
        }
    }

    /// The deadline that the guest set its timer to; 0 when it is not armed.
    pub fn guest_deadline_armed(&mut self, id: Id<Vcpu>) -> u64 {
        let v = self.m.get(id);
        if v.timer.is_linked() { v.deadline } else { 0 }
    }

    /// The guest has something urgent to do for so many ticks: its timer, if it is due by then,
    /// waits that long. Once only until the guest sets it again, so it always fires. O(log n).
    pub(crate) fn guest_spared(&mut self, id: Id<Vcpu>, ticks: u64) {
        let until = self.m.now().saturating_add(ticks);
        let v = self.m.get(id);
        let (is_armed, at, level) = (v.timer.is_linked(), v.timer.key(), v.level);
        if is_armed && at == v.deadline && at < until && until != NEVER {
            self.disarm(Due::Vcpu(id));
            self.arm(Due::Vcpu(id), level, until);
        }
    }

    /// Returns a thread from its guest, with a reason and a value.
    pub fn leave_guest_with(&mut self, id: Id<Thread>, reason: u64, value: u64) {
        if let Some(vcpu) = self.m.get(id).guest.take() {
            let v = self.m.get(vcpu);
            v.thread = None;
            if !v.user && vcpu.has_state(&self.m) {
                self.m.vcpu_show(vcpu);
            }
        }
        self.m.set_result(id, 0, [reason, value]);
    }

    /// As [`Self::leave_guest_with`], for a thread that is in a user vCPU.
    #[inline(always)]
    pub fn leave_user_guest(&mut self, id: Id<Thread>, vcpu: Id<Vcpu>, reason: u64) {
        self.m.get(id).guest = None;
        self.m.get(vcpu).thread = None;
        self.m.set_result(id, 0, [reason, 0]);
    }

    /// The guest executed HLT: its thread waits for an interrupt, unless one can be delivered.
    pub fn guest_halt(&mut self, id: Id<Vcpu>) {
        self.guest_waits(id, false);
    }

    /// The guest waits by a hypercall: as [`Self::guest_halt`], and its wait can also be ended
    /// without an interrupt. Fails with [`Error::Unsupported`] if it may signal nobody.
    pub fn guest_wait(&mut self, id: Id<Vcpu>) -> Result<()> {
        if id.signalled(&self.m).is_none() {
            return Err(Error::Unsupported);
        }
        self.guest_waits(id, true);
        Ok(())
    }

    #[inline(always)]
    fn guest_waits(&mut self, id: Id<Vcpu>, by_hypercall: bool) {
        let now = self.m.now();
        let v = self.m.get(id);
        if v.apic.deliverable().is_none() {
            v.waits = by_hypercall;
            v.halted = v.all_halted();
            (v.halted_at, v.woken_at) = (now, now);
            self.block_current(State::Halted);
        }
    }

    /// Ends the guest's wait by a hypercall, or makes an interrupt pending if it is in none. O(1).
    pub(crate) fn guest_notify(&mut self, id: Id<Vcpu>, vector: u8) {
        let v = self.m.get(id);
        match (v.waits, v.thread) {
            (true, Some(thread)) if self.m.get(thread).state == State::Halted => {
                self.guest_woken(id);
                self.make_ready(thread);
            }
            _ => self.guest_interrupt(id, vector),
        }
    }

    /// Forgets the guest's interrupts and sends every EOI that is owed: at most 13, since a local
    /// APIC has no more than one vector of each priority class in service (Intel SDM vol. 3,
    /// 11.8.3), and three of the 16 classes are not the guest's: those of exceptions and of tasks.
    pub(crate) fn reset_guest_interrupts(&mut self, id: Id<Vcpu>) {
        for _ in 0..self.m.get(id).apic.reset() {
            self.m.end_of_interrupt();
        }
        if self.m.several() && self.cpu.passenger == Some(id) {
            self.m.accept_messages(true);
        }
    }
}
