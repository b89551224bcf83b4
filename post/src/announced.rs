//! What a processor is about to use that belongs to another one, so that it does not end meanwhile.
//!
//! The processor says what it uses, and then looks whether it is still there. Whoever ends the
//! object first sees to it that nobody finds it any more, and then looks whether somebody says that
//! he uses it. So one of the two sees the other.

use crate::Line;
use core::num::NonZeroU32;
#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release, SeqCst},
    fence,
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release, SeqCst},
    fence,
};

/// What each of `N` processors uses, by its number, or 0.
#[derive(Debug)]
pub struct Announced<const N: usize>([Line<AtomicU32>; N]);

impl<const N: usize> Announced<N> {
    /// Nothing.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Announced([const { Line(AtomicU32::new(0)) }; N])
    }

    /// Nothing.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Announced(core::array::from_fn(|_| Line::default()))
    }

    /// Says what a processor uses from now on, before it looks whether it is there; or that it uses
    /// nothing more. The processor says so itself.
    pub fn announce(&self, own: usize, number: Option<NonZeroU32>) {
        let Some(Line(used)) = self.0.get(own) else { return };
        used.store(number.map_or(0, NonZeroU32::get), Release);
        if number.is_some() {
            fence(SeqCst);
        }
    }

    /// Whether a processor says that it uses something: for whoever has seen to it that nobody
    /// finds it any more. If not, it has seen all that those did with it.
    #[must_use]
    pub fn is_announced(&self, number: NonZeroU32) -> bool {
        fence(SeqCst);
        self.0.iter().any(|Line(used)| used.load(Acquire) == number.get())
    }
}

impl<const N: usize> Default for Announced<N> {
    fn default() -> Self {
        Announced::new()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::{
        cell::UnsafeCell,
        sync::{Arc, atomic::Ordering::Relaxed},
        thread,
    };

    /// A slot that names an object until it is 0.
    struct Machine {
        slot: AtomicU32,
        object: UnsafeCell<u32>,
        announced: Announced<2>,
    }

    /// Nobody uses an object that has ended, whoever is first.
    #[test]
    fn used_or_ended() {
        loom::model(|| {
            let number = NonZeroU32::new(7).unwrap();
            let machine =
                Arc::new(Machine { slot: AtomicU32::new(7), object: UnsafeCell::new(0), announced: Announced::new() });
            let sender = machine.clone();
            let sender = thread::spawn(move || {
                sender.announced.announce(1, Some(number));
                if sender.slot.load(Relaxed) == 7 {
                    sender.object.with(|_| ());
                }
                sender.announced.announce(1, None);
            });
            machine.slot.store(0, SeqCst);
            while machine.announced.is_announced(number) {
                thread::yield_now();
            }
            machine.object.with_mut(|_| ());
            sender.join().unwrap();
        });
    }
}
