//! The local APIC's timer (SDM vol. 3, 11.5.4), in terms of the two words shared with the kernel.
//!
//! The timer counts the time-stamp counter: its frequency before the divider is the TSC's, so
//! counts are exact, and the guest need not learn a second frequency. In all three modes the kernel
//! delivers `timer_vector` once `deadline` has passed, and then sets `deadline` to 0;
//! `timer_vector` is 0 while the entry is masked or its vector is illegal.
//!
//! - *TSC-deadline*: `deadline` is the register. The kernel alone handles writes to it; this model
//!   sees them only while the entry is masked.
//! - *One-shot*: a write of the initial count sets `deadline` to now + count × divider. Nothing
//!   more is needed.
//! - *Periodic*: the same, and again each time it has fired. The kernel knows no periods: the
//!   monitor sets a timer object of its own, bound to its thread's notification, to
//!   [`super::LocalApic::next_wake`], and calls [`super::LocalApic::rearm`] at each exit before it
//!   enters the guest again. Periods that passed in the meantime make one interrupt, as on a
//!   processor with interrupts off; the phase is kept.
//!
//! In the counting modes this model ignores writes of the deadline register, as the manual
//! requires. The kernel accepts them while the entry is not masked; a guest that does this changes
//! only its own next interrupt, and the next write of a count repairs it.

use super::Shared;

const MASKED: u32 = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimerMode {
    OneShot,
    Periodic,
    Deadline,
    Reserved,
}

/// The timer's registers.
#[derive(Clone, Debug)]
pub struct Timer {
    entry: u32,
    initial: u32,
    divide: u32,
    /// When the count reaches zero; meaningful while `initial` is not 0 in a counting mode.
    expires: u64,
}

impl Timer {
    pub(super) const fn new() -> Self {
        Timer { entry: MASKED, initial: 0, divide: 0, expires: 0 }
    }

    pub(super) const fn entry(&self) -> u32 {
        self.entry
    }

    pub(super) const fn initial_count(&self) -> u32 {
        self.initial
    }

    pub(super) const fn divide(&self) -> u32 {
        self.divide
    }

    fn mode(&self) -> TimerMode {
        match self.entry >> 17 & 3 {
            0 => TimerMode::OneShot,
            1 => TimerMode::Periodic,
            2 => TimerMode::Deadline,
            _ => TimerMode::Reserved,
        }
    }

    fn counts(&self) -> bool {
        matches!(self.mode(), TimerMode::OneShot | TimerMode::Periodic) && self.initial != 0
    }

    /// The divider as a shift: bits 0, 1 and 3 (figure 11-10); 0b111 divides by 1.
    fn shift(&self) -> u32 {
        let code = self.divide & 3 | self.divide >> 1 & 4;
        (code + 1) & 7
    }

    fn period(&self) -> u64 {
        u64::from(self.initial) << self.shift()
    }

    /// The next expiry after `now`, from the known one on.
    fn upcoming(&self, now: u64) -> Option<u64> {
        if !self.counts() {
            return None;
        }
        if self.expires > now {
            return Some(self.expires);
        }
        if self.mode() == TimerMode::OneShot {
            return None;
        }
        let missed = (now - self.expires) / self.period() + 1;
        Some(self.expires.saturating_add(missed.saturating_mul(self.period())))
    }

    pub(super) fn current_count(&self, now: u64) -> u32 {
        let left = self.upcoming(now).map_or(0, |expires| (expires - now) >> self.shift());
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    pub(super) fn deadline(&self, shared: &Shared) -> u64 {
        if self.mode() == TimerMode::Deadline { shared.deadline } else { 0 }
    }

    pub(super) fn next_wake(&self) -> Option<u64> {
        let wanted = self.mode() == TimerMode::Periodic && self.counts() && self.vector() != 0;
        wanted.then_some(self.expires)
    }

    /// Rearms the timer. While a deadline is set, even a past one, the kernel delivers that first.
    pub(super) fn rearm(&mut self, now: u64, shared: &mut Shared) {
        if self.next_wake().is_none() || shared.deadline != 0 {
            return;
        }
        self.expires = self.upcoming(now).unwrap_or(self.expires);
        shared.deadline = self.expires;
    }

    /// The vector for the kernel, 0 for an illegal one: below 16 (11.5.2).
    fn vector(&self) -> u8 {
        let usable = self.entry & MASKED == 0 && self.entry as u8 >= 16 && self.mode() != TimerMode::Reserved;
        if usable { self.entry as u8 } else { 0 }
    }

    /// Writes the deadline register. A deadline that has passed is kept, because it fires at once.
    pub(super) fn set_deadline(&mut self, value: u64, shared: &mut Shared) {
        if self.mode() != TimerMode::Deadline {
            return;
        }
        shared.deadline = value;
    }

    /// Writes the local vector entry. Changing to or from deadline mode disarms the timer
    /// (11.5.4.1); what expired while the entry was masked is lost.
    pub(super) fn set_entry(&mut self, entry: u32, now: u64, shared: &mut Shared) {
        let before = (self.mode(), self.vector());
        self.entry = entry;
        let changed = self.mode() != before.0;
        if changed && (self.mode() == TimerMode::Deadline || before.0 == TimerMode::Deadline) {
            shared.deadline = 0;
            self.initial = 0;
        }
        if self.mode() == TimerMode::Deadline {
            let lost = before.1 == 0 && shared.deadline <= now;
            shared.timer_vector = self.vector();
            shared.deadline = if lost { 0 } else { shared.deadline };
            return;
        }
        self.publish(now, shared, before.1 == 0 || changed);
    }

    pub(super) fn set_initial_count(&mut self, value: u32, now: u64, shared: &mut Shared) {
        if self.mode() == TimerMode::Deadline {
            return;
        }
        self.initial = value;
        self.expires = now.saturating_add(self.period());
        self.publish(now, shared, true);
    }

    /// Writes the divider: the rest of the count runs at the new rate.
    pub(super) fn set_divide(&mut self, value: u32, now: u64, shared: &mut Shared) {
        let left = self.current_count(now);
        self.divide = value;
        if left == 0 {
            return;
        }
        self.expires = now.saturating_add(u64::from(left) << self.shift());
        self.publish(now, shared, true);
    }

    /// Sets the shared words in a counting mode. A deadline that is set is replaced only if the
    /// count is new: it may have passed without having been delivered yet.
    fn publish(&mut self, now: u64, shared: &mut Shared, fresh: bool) {
        shared.timer_vector = self.vector();
        if shared.timer_vector == 0 || !self.counts() {
            shared.deadline = 0;
        } else if fresh {
            let upcoming = self.upcoming(now);
            self.expires = upcoming.unwrap_or(self.expires);
            shared.deadline = upcoming.unwrap_or(0);
        }
    }
}
