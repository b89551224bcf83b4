//! Signals from other processors.
//!
//! Whoever signals a notification of another processor sets bits in its post, and sends its letter
//! if it is not under way; the sender does not wait. The home takes the bits when the letter comes.
//! If no thread takes them there and then, the post is held: the letter stays, and bits gather in
//! the post without another letter, until the bits that came are taken. So a less urgent processor
//! interrupts a more urgent thread at most twice for each time that the receiver takes bits: once
//! when it is woken, and once when it does not wait.

use crate::{
    Id, Kernel, Machine, Slot,
    away::{About, Letter},
    cap::CapSpace,
    home::Homed,
    notification::Notification,
    slot::Look,
};
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, SeqCst},
};
use pillion_abi::status::{Error, Result};

/// The bit of [`crate::Cpu::held_lines`], which no line has, for posts that are held.
pub const MAIL: u16 = 1 << 15;

/// What other processors use of a notification. It lies behind it.
///
/// A sender sets bits, then `busy`; the home clears `busy`, then takes the bits. So bits that the
/// home does not find come with another letter.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Post {
    /// Says that there are bits.
    pub letter: Letter,
    /// Bits that were set and that the home has not taken.
    pub bits: AtomicU64,
    /// The letter is under way, or held by the home.
    pub busy: AtomicBool,
}

impl Post {
    /// For a new notification.
    pub(crate) fn new(notification: Id<Notification>) -> Self {
        let letter = Letter::new(About::Signal(notification));
        Post { letter, bits: AtomicU64::new(0), busy: AtomicBool::new(false) }
    }

    /// Sets bits. Returns whether the letter is to be sent. For a sender.
    fn put(&self, bits: u64) -> bool {
        self.bits.fetch_or(bits, AcqRel);
        !self.busy.swap(true, AcqRel)
    }

    /// Whether the bits that this letter was sent for came with the one before: they were set while
    /// that was given back. For the home.
    fn is_empty(&self) -> bool {
        self.bits.load(Acquire) == 0
    }

    /// Takes the bits and keeps the letter. For the home, which has it.
    fn take(&self) -> u64 {
        self.bits.swap(0, AcqRel)
    }

    /// Gives the letter back and takes the bits. For the home, which has it.
    fn release(&self) -> u64 {
        // It reads the word, so a sender that found the letter busy put its bits in before.
        self.busy.swap(false, AcqRel);
        self.take()
    }
}

impl<M: Machine> Kernel<M> {
    /// Signals a notification of any processor, with what a look at a slot found.
    /// [`Error::BadCap`] if that is emptied meanwhile. Without bits, it does nothing elsewhere: a
    /// post that is held would have no bits whose taking ends that. Work: as [`Self::signal`], or
    /// a letter.
    #[inline]
    pub(crate) fn signal_any(
        &mut self,
        space: Id<CapSpace>,
        index: u64,
        look: Look,
        notification: Homed<Notification>,
    ) -> Result<()> {
        let Ok(id) = self.own(notification) else {
            return self.signal_elsewhere(space, index, look, notification);
        };
        self.signal(id, look.badge);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn signal_elsewhere(
        &mut self,
        space: Id<CapSpace>,
        index: u64,
        look: Look,
        notification: Homed<Notification>,
    ) -> Result<()> {
        let slot = self.slot(space, index)?;
        if self.signal_through(slot, look, notification) { Ok(()) } else { Err(Error::BadCap) }
    }

    /// Signals a notification of another processor, which a look at a slot found, unless that does
    /// not show it any more. Returns whether it does.
    ///
    /// The notification may be about to end. Its end waits for this processor once it has said what
    /// it uses; if the slot is the same after that, the end has not looked yet.
    #[inline(always)]
    pub(crate) fn signal_through(&mut self, slot: Id<Slot>, look: Look, notification: Homed<Notification>) -> bool {
        let post = notification.post();
        self.m.announce(Some(post));
        let is_there = self.m.shared(slot).shows(look);
        if is_there && look.badge != 0 && self.m.shared(post).put(look.badge) {
            self.m.post(notification.home(), post.letter());
        }
        self.m.announce(None);
        is_there
    }

    /// The letter of a notification of this processor has come. O(1), or O(log n) with a timeout to
    /// disarm.
    pub(crate) fn mail(&mut self, id: Id<Notification>) {
        let waits = self.m.get(id).waiter.is_some();
        let post = self.m.shared(id.post());
        let bits = if waits || post.is_empty() {
            post.release()
        } else {
            let bits = post.take();
            self.m.get(id).held = true;
            self.cpu.held_posts += 1;
            self.cpu.held_lines |= MAIL;
            bits
        };
        if bits != 0 {
            // A bound thread that receives takes them now, which releases the post.
            self.signal(id, bits);
        }
    }

    /// The bits of a notification are taken, or it ends: if its post is held, takes the bits that
    /// have gathered there, and lets it go. O(1).
    pub(crate) fn release_post(&mut self, id: Id<Notification>) {
        if !core::mem::take(&mut self.m.get(id).held) {
            return;
        }
        self.cpu.held_posts -= 1;
        if self.cpu.held_posts == 0 {
            self.cpu.held_lines &= !MAIL;
        }
        let bits = self.m.shared(id.post()).release();
        self.m.get(id).bits |= bits;
    }

    /// Whether the letter of a notification of this processor is under way. Then it comes by an
    /// interrupt.
    pub(crate) fn expects_mail(&mut self, id: Id<Notification>) -> bool {
        let held = self.m.get(id).held;
        self.m.shared(id.post()).busy.load(SeqCst) && !held
    }
}
