//! Which processors use memory of a guest's processes, and how those on which the guest takes
//! something from a process have them stop.
//!
//! A processor shows whom it lets use such memory: a thread that has looked at page tables, or is
//! about to. Whoever has changed these asks each processor that shows somebody to show nobody, and
//! gives what was taken to another use when that is done. A processor that shows somebody anew
//! says so: what its threads found before that is not used any more. So one that shows nobody is
//! not asked, and need not be.

use crate::Line;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

/// Whom one processor lets use such memory, and who waits until it does so no more.
#[derive(Debug, Default)]
pub struct Users(Line<Words>);

#[derive(Debug, Default)]
struct Words {
    /// The thread, or 0.
    user: AtomicU32,
    /// The processors that wait, a bit for each.
    asked: AtomicU32,
}

impl Users {
    /// Nobody.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Users {
        Users(Line(Words { user: AtomicU32::new(0), asked: AtomicU32::new(0) }))
    }

    /// The thread that is shown, or 0: for the processor itself.
    #[inline]
    #[must_use]
    pub fn shown(&self) -> u32 {
        self.0.0.user.load(Relaxed)
    }

    /// Shows a thread, before it goes on. Returns whether nobody was shown before: then others may
    /// have taken something meanwhile. Whatever is read of page tables from then on is read after
    /// it is shown.
    #[must_use = "what was found before may have been taken"]
    pub fn show(&self, user: u32) -> bool {
        let is_first = self.shown() == 0;
        self.0.0.user.store(user, Release);
        if is_first {
            fence(SeqCst);
        }
        is_first
    }

    /// Shows nobody: whoever was shown does not go on before it is shown again.
    #[inline]
    pub fn hide(&self) {
        self.0.0.user.store(0, Release);
    }

    /// Another processor has changed page tables. Returns whether it has to wait, and whether it
    /// has to interrupt the processor. Whoever asks again before it has waited need not interrupt
    /// anybody. Constant time: a fence and a locked instruction.
    #[must_use = "what was taken may still be in use"]
    pub fn ask(&self, asker: usize) -> Option<bool> {
        fence(SeqCst);
        if self.0.0.user.load(Acquire) == 0 {
            return None;
        }
        Some(self.0.0.asked.fetch_or(1 << asker, AcqRel) == 0)
    }

    /// Whether a processor that asked has to wait on.
    #[must_use]
    pub fn keeps(&self, asker: usize) -> bool {
        self.0.0.asked.load(Acquire) & 1 << asker != 0
    }

    /// Whether others have asked: for the processor itself.
    #[inline]
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.0.asked.load(Acquire) != 0
    }

    /// Shows nobody if others have asked for that: for a processor that was interrupted. Returns
    /// whether another one has asked meanwhile, which relied on that interrupt: then the processor
    /// interrupts itself.
    #[must_use = "who asked last would wait for ever"]
    pub fn heed(&self) -> bool {
        let asked = self.0.0.asked.load(Acquire);
        if asked == 0 {
            return false;
        }
        self.hide();
        self.0.0.asked.fetch_and(!asked, AcqRel) != asked
    }
}

#[cfg(all(test, loom))]
mod model;
