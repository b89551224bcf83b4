//! Letters from one processor to another, as its own kernel delivers them.
//!
//! A letter is a part of the object that it is about, so that sending one needs no memory and no
//! letter is ever refused. It is in one list at a time: a sender sends it again only after the
//! receiver has had it. Each receiver has a list for each sender, which only that sender adds to
//! and only the receiver empties, as a whole; so the sender repeats its step at most once, and
//! nobody waits. Letters of one sender may overtake each other.
//!
//! The receiver is interrupted by the first letter that comes since it last looked. It takes one
//! letter for each interrupt; if there are more, it interrupts itself, so that what is more urgent
//! can come in between.
//!
//! Beside letters there is what else processors use together:
//! - [`Shown`], [`Shootdown`]: translations that others have to drop;
//! - [`Users`]: what a guest takes from a process while others use it;
//! - [`Announced`]: what one uses of another's, so that it does not end;
//! - [`Messages`]: what their guests send each other;
//! - [`Turn`]: who changes capabilities;
//! - [`Trip`]: where a thread is whose call another one carries out;
//! - [`Watched`]: words that are read while they change.
//!
//! The model checker runs this very source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-post --release`.
#![cfg_attr(not(loom), no_std)]
#![forbid(unsafe_code)]

mod announced;
mod messages;
#[cfg(test)]
mod tests;
mod translations;
mod trip;
mod turn;
#[cfg(all(test, loom))]
mod unmapping;
mod users;
mod watched;

pub use announced::Announced;
pub use messages::Messages;
pub use translations::{Shootdown, Shown};
pub use trip::{News, Trip};
pub use turn::Turn;
pub use users::Users;
pub use watched::Watched;

use core::num::NonZeroU32;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// A cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line<T>(T);

/// Where letters are, by their numbers.
pub trait Letters {
    /// The letter with a number that was sent.
    fn letter(&self, number: NonZeroU32) -> &Letter;
}

/// A letter: the number of the next one in the list, or 0.
#[derive(Debug, Default)]
pub struct Letter(AtomicU32);

/// The letters for one of `N` processors, at most 32.
#[derive(Debug)]
pub struct Inbox<const N: usize> {
    /// A bit for each sender that has sent something since the receiver last looked.
    news: Line<AtomicU32>,
    /// The newest letter of each sender, or 0.
    newest: [Line<AtomicU32>; N],
}

impl Letter {
    /// One that is in no list.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Letter {
        Letter(AtomicU32::new(0))
    }
}

impl<const N: usize> Inbox<N> {
    const SENDERS: () = assert!(N <= u32::BITS as usize);

    /// An empty one.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        const { Self::SENDERS };
        Inbox { news: Line(AtomicU32::new(0)), newest: [const { Line(AtomicU32::new(0)) }; N] }
    }

    /// An empty one.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        const { Self::SENDERS };
        Inbox { news: Line::default(), newest: core::array::from_fn(|_| Line::default()) }
    }

    /// Puts a letter in, which is in no list. Returns whether the receiver has to be interrupted.
    /// Only `sender` may call this, with its own number, and not for two letters at once. Constant
    /// time: at most three locked instructions.
    #[must_use = "the receiver learns of the letter by an interrupt only"]
    pub fn put(&self, sender: usize, number: NonZeroU32, letter: &Letter) -> bool {
        let Some(Line(newest)) = self.newest.get(sender) else { return false };
        let mut before = newest.load(Relaxed);
        // The receiver may empty the list meanwhile, and cannot fill it.
        loop {
            letter.0.store(before, Relaxed);
            match newest.compare_exchange(before, number.get(), Release, Relaxed) {
                Ok(_) => break,
                Err(now) => before = now,
            }
        }
        // Where a sender finds news, those of another precede its own in this word, and a receiver
        // that takes the word sees the letters of both.
        self.news.0.fetch_or(1 << sender, AcqRel) == 0
    }
}

impl<const N: usize> Default for Inbox<N> {
    fn default() -> Self {
        Inbox::new()
    }
}

/// The receiver's side.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Senders whose lists are to be taken.
    senders: u32,
    /// The sender whose list was taken last: the others come first.
    last: u32,
    /// What is left of the list that was taken last.
    rest: u32,
}

impl Receiver {
    /// Nothing is known of any letter.
    #[must_use]
    pub const fn new() -> Receiver {
        Receiver { senders: 0, last: 0, rest: 0 }
    }

    /// Takes a letter: for the receiver, once for each interrupt. `None` if there is none, since
    /// something else interrupted it. Constant time: at most two locked instructions.
    pub fn take<const N: usize>(&mut self, inbox: &Inbox<N>, letters: &impl Letters) -> Option<NonZeroU32> {
        self.senders |= inbox.news.0.swap(0, AcqRel);
        if self.rest == 0 && self.senders != 0 {
            let after = self.last + 1;
            self.last = (self.senders.rotate_right(after).trailing_zeros() + after) % u32::BITS;
            self.senders &= !(1 << self.last);
            self.rest = inbox.newest.get(self.last as usize).map_or(0, |Line(newest)| newest.swap(0, Acquire));
        }
        let number = NonZeroU32::new(self.rest)?;
        self.rest = letters.letter(number).0.load(Relaxed);
        Some(number)
    }

    /// Whether letters are known to be left, so that the receiver has to interrupt itself.
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.rest != 0 || self.senders != 0
    }
}
