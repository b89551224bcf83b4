//! Where a thread is whose call another processor carries out, and what its home has to say of it
//! meanwhile.
//!
//! A letter goes with the thread: whoever has it is the holder, and says to whom it goes before it
//! sends it. The home only says that the thread is to come back, or has a higher priority, and
//! sends the news after it with a second letter. That letter is on its way once at a time. If the
//! thread is no more where the news arrive, they follow it; at home they end.

#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicBool, AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicBool, AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// What home and holder of a thread use at the same time. Each step takes constant time.
#[derive(Debug)]
pub struct Trip {
    home: u8,
    /// The holder, or where the letter is on its way to.
    at: AtomicU8,
    /// Written at home only.
    priority: AtomicU8,
    /// Written at home only.
    recalled: AtomicBool,
    /// Set at home, cleared by whoever reads the news.
    news_sent: AtomicBool,
}

/// What is to be done with news that have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The thread has travelled on: they are sent after it.
    Follow(u8),
    /// It is at home: nobody needs to be told.
    Home,
    /// It is here, or its letter on its way here: [`Trip::hear`] says what they are.
    Here,
}

impl Trip {
    /// Of a thread that is at home.
    #[must_use]
    pub fn new(home: u8) -> Trip {
        Trip {
            home,
            at: AtomicU8::new(home),
            priority: AtomicU8::new(0),
            recalled: AtomicBool::new(false),
            news_sent: AtomicBool::new(false),
        }
    }

    /// The thread's home.
    #[must_use]
    pub fn home(&self) -> u8 {
        self.home
    }

    /// The holder, or where the letter is on its way to: who sees that also sees what was written
    /// before [`Self::go`].
    #[must_use]
    pub fn at(&self) -> u8 {
        self.at.load(Acquire)
    }

    /// The highest priority that the thread has had since it left.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.priority.load(Relaxed)
    }

    /// Whether the thread is to come back as it is.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(Relaxed)
    }

    /// Whether news are on their way.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.news_sent.load(Acquire)
    }

    /// At home: the thread leaves for a processor. Its letter is sent there afterwards.
    pub fn leave(&self, to: u8, priority: u8) {
        self.priority.store(priority, Relaxed);
        self.recalled.store(false, Relaxed);
        self.go(to);
    }

    /// The holder passes the thread on, and does not touch what it is away with any more. Its
    /// letter is sent there afterwards.
    pub fn go(&self, to: u8) {
        self.at.store(to, Release);
    }

    /// At home, where the thread's letter has come back. Returns whether it was recalled.
    pub fn end(&self) -> bool {
        self.recalled.swap(false, Relaxed)
    }

    /// At home: the thread is to come back. Returns where the news have to be sent, if anywhere.
    #[must_use = "the holder learns of it by the news only"]
    pub fn recall(&self) -> Option<u8> {
        if self.recalled.swap(true, Relaxed) { None } else { self.tell() }
    }

    /// At home: the thread has a priority. The holder is told if it is higher than any since the
    /// thread left, so that a call has an end of news. Returns where the news have to be sent, if
    /// anywhere.
    #[must_use = "the holder learns of it by the news only"]
    pub fn raise(&self, priority: u8) -> Option<u8> {
        if priority <= self.priority() {
            return None;
        }
        self.priority.store(priority, Relaxed);
        self.tell()
    }

    /// News are sent unless they are on their way, or the thread is on its way home.
    fn tell(&self) -> Option<u8> {
        let at = self.at();
        (at != self.home && !self.news_sent.swap(true, AcqRel)).then_some(at)
    }

    /// News have come to a processor.
    #[must_use]
    pub fn news(&self, own: u8) -> News {
        let at = self.at();
        if at != own {
            return News::Follow(at);
        }
        if at == self.home {
            // Only the home, which alone sends the thread away again, says so: elsewhere, it might
            // have left again by now, and have news.
            self.news_sent.store(false, Release);
            return News::Home;
        }
        News::Here
    }

    /// The holder hears the news: what the home says from now on comes with another letter; what it
    /// said before is seen. Returns the priority, and whether the thread is recalled.
    pub fn hear(&self) -> (u8, bool) {
        self.news_sent.swap(false, AcqRel);
        (self.priority(), self.is_recalled())
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::{Inbox, Letter, Letters, Receiver};
    use core::num::NonZeroU32;
    use loom::{
        cell::UnsafeCell,
        sync::{Arc, Notify},
        thread,
    };

    const THREAD: NonZeroU32 = NonZeroU32::new(1).unwrap();
    const NEWS: NonZeroU32 = NonZeroU32::new(2).unwrap();
    /// Who has the thread at this priority is done with its call.
    const URGENT: u8 = 2;

    #[derive(Default)]
    struct Desk([Letter; 2]);

    impl Letters for Desk {
        fn letter(&self, number: NonZeroU32) -> &Letter {
            &self.0[number.get() as usize - 1]
        }
    }

    /// A thread of processor 0, which 1 passes on to 2, and 2 keeps until it has to let it go.
    struct Machine {
        trip: Trip,
        /// Whether 2 keeps it.
        kept: AtomicBool,
        /// What it is away with: the holder's alone, as the checker sees.
        visit: UnsafeCell<()>,
        desk: Desk,
        inboxes: [Inbox<3>; 3],
        interrupts: [Notify; 3],
        over: AtomicBool,
    }

    impl Machine {
        fn new() -> Machine {
            Machine {
                trip: Trip::new(0),
                kept: AtomicBool::new(false),
                visit: UnsafeCell::new(()),
                desk: Desk::default(),
                inboxes: core::array::from_fn(|_| Inbox::new()),
                interrupts: core::array::from_fn(|_| Notify::new()),
                over: AtomicBool::new(false),
            }
        }

        fn keep(&self, kept: bool) {
            self.visit.with_mut(|_| self.kept.store(kept, Relaxed));
        }

        fn is_kept(&self) -> bool {
            self.visit.with(|_| self.kept.load(Relaxed))
        }

        fn post(&self, own: u8, to: u8, number: NonZeroU32) {
            if self.inboxes[usize::from(to)].put(own.into(), number, self.desk.letter(number)) {
                self.interrupts[usize::from(to)].notify();
            }
        }

        fn send(&self, own: u8, to: u8) {
            self.keep(false);
            self.trip.go(to);
            self.post(own, to, THREAD);
        }

        /// Takes letters until `is_over`, after each of them, or when all is over. Returns whether
        /// the thread has come home.
        fn run(&self, own: u8, receiver: &mut Receiver, is_over: impl Fn(bool) -> bool) -> bool {
            let mut is_back = false;
            while !is_over(is_back) && !self.over.load(Acquire) {
                match receiver.take(&self.inboxes[usize::from(own)], &self.desk) {
                    Some(THREAD) if own == 0 => is_back = true,
                    Some(THREAD) => self.arrived(own),
                    Some(_) => self.news(own),
                    None => self.interrupts[usize::from(own)].wait(),
                }
            }
            is_back
        }

        fn arrived(&self, own: u8) {
            let (priority, is_recalled) = (self.trip.priority(), self.trip.is_recalled());
            if is_recalled || own == 2 && priority == URGENT {
                self.send(own, 0);
            } else if own == 1 {
                self.send(own, 2);
            } else {
                self.keep(true);
            }
        }

        fn news(&self, own: u8) {
            match self.trip.news(own) {
                News::Follow(to) => self.post(own, to, NEWS),
                News::Home => {}
                News::Here => {
                    let (priority, is_recalled) = self.trip.hear();
                    if self.is_kept() && (is_recalled || priority == URGENT) {
                        self.send(own, 0);
                    }
                }
            }
        }

        fn leave(&self, to: u8) {
            self.keep(false);
            self.trip.leave(to, 1);
            self.post(0, to, THREAD);
        }

        fn tell(&self, news: Option<u8>) {
            if let Some(to) = news {
                self.post(0, to, NEWS);
            }
        }
    }

    /// Explores a story of the home, which begins with the thread on its way to 1, and ends with it
    /// at home, and no news on their way. With two preemptions it would take five minutes.
    fn explore(home: fn(&Machine, &mut Receiver)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(1);
        model.check(move || {
            let machine = Arc::new(Machine::new());
            machine.leave(1);
            let holders = [1, 2].map(|own| {
                let machine = machine.clone();
                thread::spawn(move || machine.run(own, &mut Receiver::new(), |_| false))
            });
            let mut receiver = Receiver::new();
            home(&machine, &mut receiver);
            machine.run(0, &mut receiver, |_| !machine.trip.has_news());
            machine.over.store(true, Release);
            machine.interrupts.iter().for_each(Notify::notify);
            for holder in holders {
                holder.join().unwrap();
            }
            assert_eq!(machine.trip.at(), 0);
        });
    }

    fn comes_back(machine: &Machine, receiver: &mut Receiver) {
        machine.tell(machine.trip.recall());
        assert!(machine.run(0, receiver, |is_back| is_back) && machine.trip.end());
    }

    fn is_raised(machine: &Machine, receiver: &mut Receiver) {
        machine.tell(machine.trip.raise(URGENT));
        assert!(machine.run(0, receiver, |is_back| is_back) && !machine.trip.end());
    }

    /// A thread that is recalled comes back, wherever it is on its way.
    #[test]
    fn recalled() {
        explore(comes_back);
    }

    /// A priority reaches the holder.
    #[test]
    fn raised() {
        explore(is_raised);
    }

    /// News that come too late do not keep those of the next call back.
    #[test]
    fn leaves_again() {
        explore(|machine, receiver| {
            comes_back(machine, receiver);
            machine.leave(2);
            is_raised(machine, receiver);
        });
    }
}
