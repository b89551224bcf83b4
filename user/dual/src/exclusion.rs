//! Mutual exclusion of runners.
//!
//! Free, it is taken and left without a system call. A runner that finds it taken raises the owner
//! to its own level and waits; so it waits for one operation, and, if that owner's budget ends in
//! it, for the owner's next period. All of this holds on several processors, too.
//!
//! The model checker runs this same source:
//! `RUSTFLAGS="--cfg loom" cargo test -p pillion-dual --release --lib`.

use crate::sync::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use pillion_rt_core::inherit;

/// The runners, by number: at most 32.
pub trait Runners {
    /// A runner's level, without what it is lent.
    fn level(&self, runner: usize) -> u8;
    /// Sets a runner's level until [`Runners::restore`].
    fn lend(&self, runner: usize, level: u8);
    /// Takes back what a runner was lent.
    fn restore(&self, runner: usize);
    /// The calling runner waits for a signal; one that came before counts.
    fn wait(&self, me: usize);
    /// Signals a runner.
    fn signal(&self, runner: usize);

    /// Signals several, as bits, the most urgent first.
    fn signal_all(&self, mut set: u32) {
        while let Some(next) = bits(set).max_by_key(|runner| self.level(*runner)) {
            set &= !(1 << next);
            self.signal(next);
        }
    }
}

/// Gives a runner the level that is its own now. For a runner that does not own the lock: whoever
/// does may set that level meanwhile.
pub fn settle(runner: usize, runners: &impl Runners) {
    loop {
        let level = runners.level(runner);
        runners.lend(runner, level);
        if runners.level(runner) == level {
            return;
        }
    }
}

/// Has at most one owner.
#[derive(Debug)]
pub struct Exclusion {
    /// The owner's number plus one, or 0.
    owner: AtomicU32,
    /// Runners that wait for it, as bits.
    waiters: AtomicU32,
}

/// The numbers of the bits of a set.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    inherit::bits(set.into())
}

#[cfg(not(loom))]
impl Exclusion {
    /// Without an owner.
    #[must_use]
    pub const fn new() -> Exclusion {
        Exclusion { owner: AtomicU32::new(0), waiters: AtomicU32::new(0) }
    }
}

#[cfg(not(loom))]
impl Default for Exclusion {
    fn default() -> Exclusion {
        Exclusion::new()
    }
}

impl Exclusion {
    #[inline]
    fn try_enter(&self, me: usize) -> bool {
        self.owner.compare_exchange(0, me as u32 + 1, SeqCst, Relaxed).is_ok()
    }

    /// Makes the calling runner the owner, which it is not.
    #[inline]
    pub fn enter(&self, me: usize, runners: &impl Runners) {
        if !self.try_enter(me) {
            self.contend(me, runners);
        }
    }

    #[cold]
    fn contend(&self, me: usize, runners: &impl Runners) {
        let mut raised = 0;
        loop {
            // Whoever leaves from here on signals this runner.
            self.waiters.fetch_or(1 << me, SeqCst);
            if self.try_enter(me) {
                break;
            }
            if let Some(owner) = (self.owner.load(SeqCst) as usize).checked_sub(1) {
                raised |= self.raise(owner, runners);
                runners.wait(me);
            }
        }
        self.waiters.fetch_and(!(1 << me), SeqCst);
        // Only the owner sets levels for good, and that is this runner now.
        bits(raised).for_each(|runner| runners.restore(runner));
        // The signal may have been for something else as well.
        runners.signal(me);
    }

    /// Lends the owner the level of its most urgent waiter, if that is above its own. Returns the
    /// owner, as a bit, if it was lent something.
    fn raise(&self, owner: usize, runners: &impl Runners) -> u32 {
        let mut lent = 0;
        loop {
            let own = runners.level(owner);
            let most = bits(self.waiters.load(SeqCst)).map(|waiter| runners.level(waiter)).max().unwrap_or(0);
            // Another waiter may have come, or the owner may have set its level, before this was
            // lent.
            let level = own.max(most);
            if level == lent || lent == 0 && level == own {
                return u32::from(lent != 0) << owner;
            }
            lent = level;
            runners.lend(owner, level);
        }
    }

    /// Levels have changed, perhaps that of the calling runner, which is the owner: gives it the
    /// highest of its own and those of its waiters, in one step.
    #[inline]
    pub fn levels_changed(&self, me: usize, own_changed: bool, runners: &impl Runners) {
        if own_changed || self.waiters.load(SeqCst) != 0 {
            self.take_highest_level(me, runners);
        }
    }

    #[inline(never)]
    fn take_highest_level(&self, me: usize, runners: &impl Runners) {
        let (mut waiters, mut given) = (self.waiters.load(SeqCst), 0);
        loop {
            let most = bits(waiters).map(|waiter| runners.level(waiter)).max().unwrap_or(0);
            let level = runners.level(me).max(most);
            if level == given {
                return;
            }
            given = level;
            runners.lend(me, level);
            waiters = self.waiters.load(SeqCst);
        }
    }

    /// The calling runner, which is the owner, no longer is.
    #[inline]
    pub fn leave(&self, me: usize, runners: &impl Runners) {
        self.owner.store(0, SeqCst);
        let waiters = self.waiters.swap(0, SeqCst);
        if waiters != 0 {
            runners.signal_all(waiters);
            // What a waiter lent is over: it may be queued behind this runner.
            settle(me, runners);
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::{Arc, Mutex, Notify};
    use loom::thread;

    const LEVELS: [u8; 3] = [10, 30, 20];

    /// What the kernel knows of the runners, and their own levels.
    struct Kernel {
        levels: [u8; 3],
        own: [u8; 3],
        waits: [bool; 3],
    }

    struct Model {
        lock: Exclusion,
        kernel: Mutex<Kernel>,
        inside: AtomicU32,
        signals: [Notify; 3],
    }

    impl Runners for Model {
        fn level(&self, runner: usize) -> u8 {
            self.kernel.lock().unwrap().own[runner]
        }
        fn lend(&self, runner: usize, level: u8) {
            self.kernel.lock().unwrap().levels[runner] = level;
        }
        fn restore(&self, runner: usize) {
            self.lend(runner, self.level(runner));
        }
        fn wait(&self, me: usize) {
            self.kernel.lock().unwrap().waits[me] = true;
            self.signals[me].wait();
            self.kernel.lock().unwrap().waits[me] = false;
        }
        fn signal(&self, runner: usize) {
            self.signals[runner].notify();
        }
    }

    fn model(test: impl Fn(Arc<Model>) + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            test(Arc::new(Model {
                lock: Exclusion { owner: AtomicU32::new(0), waiters: AtomicU32::new(0) },
                kernel: Mutex::new(Kernel { levels: LEVELS, own: LEVELS, waits: [false; 3] }),
                inside: AtomicU32::new(0),
                signals: core::array::from_fn(|_| Notify::new()),
            }));
        });
    }

    fn use_it(model: &Model, me: usize) {
        model.lock.enter(me, model);
        assert_eq!(model.inside.fetch_add(1, SeqCst), 0, "two owners");
        model.inside.fetch_sub(1, SeqCst);
        model.lock.leave(me, model);
    }

    fn others(model: &Arc<Model>) -> Vec<thread::JoinHandle<()>> {
        let user = |me| {
            let model = model.clone();
            thread::spawn(move || use_it(&model, me))
        };
        vec![user(1), user(2)]
    }

    /// The owner's level when both others wait.
    fn level_when_both_wait(model: &Model) -> u8 {
        loop {
            {
                let kernel = model.kernel.lock().unwrap();
                if kernel.waits == [false, true, true] {
                    return kernel.levels[0];
                }
            }
            thread::yield_now();
        }
    }

    /// A lost wake-up would be a deadlock, which the model checker reports.
    #[test]
    fn one_owner_at_a_time() {
        model(|model| {
            let others = others(&model);
            use_it(&model, 0);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }

    /// Whoever waits first, the owner is as urgent as the most urgent of them, and none is raised
    /// when all have left.
    #[test]
    fn an_owner_is_as_urgent_as_each_waiter() {
        model(|model| {
            model.lock.enter(0, &*model);
            let others = others(&model);
            assert_eq!(level_when_both_wait(&model), 30);
            model.lock.leave(0, &*model);
            others.into_iter().for_each(|other| other.join().unwrap());
            assert_eq!(model.kernel.lock().unwrap().levels, LEVELS);
        });
    }

    /// An owner that sets levels keeps what it is lent, and is lent what a waiter rises to.
    #[test]
    fn set_levels_take_no_loan_away() {
        for (runner, level, lent) in [(0, 15, 30), (0, 40, 40), (2, 35, 35)] {
            model(move |model| {
                model.lock.enter(0, &*model);
                let others = others(&model);
                {
                    let mut kernel = model.kernel.lock().unwrap();
                    kernel.own[runner] = level;
                    if runner != 0 {
                        kernel.levels[runner] = level;
                    }
                }
                model.lock.levels_changed(0, runner == 0, &*model);
                assert_eq!(level_when_both_wait(&model), lent, "runner {runner} at level {level}");
                model.lock.leave(0, &*model);
                others.into_iter().for_each(|other| other.join().unwrap());
                let kernel = model.kernel.lock().unwrap();
                assert_eq!(kernel.levels, kernel.own);
            });
        }
    }

    /// Who was lent a level gives it back after it has left the lock, when another owner may set
    /// its own.
    #[test]
    fn no_level_is_set_back() {
        model(|model| {
            model.lock.enter(0, &*model);
            let other = sets_level_of_0(&model);
            model.lock.leave(0, &*model);
            other.join().unwrap();
            let kernel = model.kernel.lock().unwrap();
            assert_eq!(kernel.levels, kernel.own);
        });
    }

    fn sets_level_of_0(model: &Arc<Model>) -> thread::JoinHandle<()> {
        let model = model.clone();
        thread::spawn(move || {
            model.lock.enter(1, &*model);
            model.kernel.lock().unwrap().own[0] = 25;
            model.lend(0, 25);
            model.lock.leave(1, &*model);
        })
    }

    /// A runner that takes its new level after it has left the lock takes the one that another
    /// owner gives it in between.
    #[test]
    fn a_level_settles_without_the_lock() {
        model(|model| {
            let other = sets_level_of_0(&model);
            model.lock.enter(0, &*model);
            model.kernel.lock().unwrap().own[0] = 5;
            model.lock.leave(0, &*model);
            settle(0, &*model);
            other.join().unwrap();
            let kernel = model.kernel.lock().unwrap();
            assert_eq!(kernel.levels, kernel.own);
        });
    }
}
