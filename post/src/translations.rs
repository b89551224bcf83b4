//! Which translations a processor may use, and how others have it drop them.
//!
//! Each processor shows the roots of its address space and of the guest that it runs. Whoever has
//! removed entries from tables tells the processors that show their root, and the memory is put to
//! no other use until all of them have dropped what they know. A root is shown before it is loaded,
//! and entries are removed before anybody looks at what is shown: a processor either shows the root
//! by then, or begins to walk the tables after the entries are gone.

#[cfg(not(loom))]
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use crate::Line;

/// The roots of one processor: physical addresses of tables, or 0.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Shown {
    space: AtomicU64,
    guest: AtomicU64,
}

/// The processors that still have to drop translations.
#[derive(Debug, Default)]
pub struct Shootdown(Line<AtomicU32>);

impl Shown {
    /// No root.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Shown {
        Shown { space: AtomicU64::new(0), guest: AtomicU64::new(0) }
    }

    /// Root of the address space that the processor has loaded; 0 if it has left it.
    #[inline]
    #[must_use]
    pub fn space(&self) -> u64 {
        self.space.load(Acquire)
    }

    /// Shows an address space and loads it, unless that is done already. `load` is a fence as well,
    /// which pairs with that of `shows`: whatever is read of the tables from then on is read after
    /// the root is shown. On x86 loading CR3 is one, as it serialises (AMD APM vol. 2,
    /// "Serializing Instructions").
    #[inline(always)]
    pub fn load_space(&self, root: u64, load: impl FnOnce()) {
        if self.space.load(Relaxed) != root {
            self.space.store(root, Release);
            load();
        }
    }

    /// Shows none any more: the processor has left the address space.
    #[inline]
    pub fn hide_space(&self) {
        self.space.store(0, Release);
    }

    /// Shows a guest, before the processor looks whether it has to drop what it knows of guests,
    /// and enters it.
    #[inline]
    pub fn show_guest(&self, root: u64) {
        self.guest.store(root, Relaxed);
        fence(SeqCst);
    }

    /// Shows no guest. What the processor knows of one is of no use outside, and is dropped before
    /// it enters one again.
    #[inline]
    pub fn hide_guest(&self) {
        self.guest.store(0, Relaxed);
    }

    /// Whether a root is shown: for whoever has removed entries of its tables.
    #[must_use]
    pub fn shows(&self, root: u64) -> bool {
        fence(SeqCst);
        self.space() == root || self.guest.load(Relaxed) == root
    }
}

impl Shootdown {
    /// Nobody has to.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Shootdown {
        Shootdown(Line(AtomicU32::new(0)))
    }

    /// Processors, a bit for each, have to drop translations of tables whose entries are gone: for
    /// the one that changes page tables, when the shootdown before is over. The caller interrupts
    /// each of them.
    pub fn begin(&self, processors: u32) {
        self.0.0.store(processors, Release);
    }

    /// Whether all have dropped them.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.0.load(Acquire) == 0
    }

    /// Whether a processor has to: it asks for itself.
    #[inline]
    #[must_use]
    pub fn concerns(&self, processor: usize) -> bool {
        self.0.0.load(Acquire) & 1 << processor != 0
    }

    /// A processor that had to has dropped them.
    pub fn dropped(&self, processor: usize) {
        self.0.0.fetch_and(!(1 << processor), AcqRel);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::{Arc, Notify};
    use loom::thread;

    const ROOT: u64 = 0x1000;

    /// A machine with one page of memory, which an entry leads to until it is 0.
    struct Machine {
        entry: AtomicU64,
        memory: UnsafeCell<u64>,
        shown: [Shown; 2],
        shootdown: Shootdown,
        sent: AtomicU32,
        interrupts: [Notify; 2],
        progress: Notify,
    }

    impl Machine {
        fn new() -> Self {
            let shown = [Shown::default(), Shown::default()];
            Machine {
                entry: AtomicU64::new(1),
                memory: UnsafeCell::new(0),
                shown,
                shootdown: Shootdown::default(),
                sent: AtomicU32::new(0),
                interrupts: [Notify::new(), Notify::new()],
                progress: Notify::new(),
            }
        }

        /// Drops the translation of a processor that has to. It is in its kernel.
        fn heed(&self, own: usize, known: &mut bool) {
            if self.shootdown.concerns(own) {
                *known = false;
                self.shown[own].hide_space();
                self.shootdown.dropped(own);
            }
        }

        /// A processor goes to user mode twice, where it walks the tables and uses what it knows.
        /// At some time it is interrupted.
        fn walk(&self, own: usize) {
            let mut known = false;
            for _ in 0..2 {
                if self.sent.load(Acquire) != 0 {
                    self.heed(own, &mut known);
                }
                self.shown[own].load_space(ROOT, || fence(SeqCst));
                known |= self.entry.load(Relaxed) != 0;
                if known {
                    self.memory.with(|_| ());
                }
            }
            while self.sent.load(Acquire) == 0 {
                self.interrupts[own].wait();
            }
            self.heed(own, &mut known);
            self.progress.notify();
        }

        /// Another one removes the entry, waits until the shootdown is over, and uses the memory.
        fn unmap(&self) {
            self.entry.store(0, Relaxed);
            let shows = |processor: &usize| self.shown[*processor].shows(ROOT);
            self.shootdown.begin((0..2).filter(shows).fold(0, |set, processor| set | 1 << processor));
            self.sent.store(1, Release);
            self.interrupts.iter().for_each(Notify::notify);
            while !self.shootdown.is_over() {
                self.progress.wait();
            }
            self.memory.with_mut(|_| ());
        }
    }

    /// In every order with three preemptions, nobody reads memory that is used for something else.
    fn removed_while(walkers: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let machine = Arc::new(Machine::new());
            let walkers: Vec<_> = (0..walkers)
                .map(|own| {
                    let machine = machine.clone();
                    thread::spawn(move || machine.walk(own))
                })
                .collect();
            machine.unmap();
            for walker in walkers {
                walker.join().unwrap();
            }
        });
    }

    #[test]
    fn one_walks() {
        removed_while(1);
    }

    #[test]
    fn two_walk() {
        removed_while(2);
    }
}
