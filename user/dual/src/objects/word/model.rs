//! The model checker runs this source with threads that exchange the word at any moment between two
//! accesses of the task's: `RUSTFLAGS="--cfg loom" cargo test -p pillion-dual --release --lib`.

use super::super::Outcome;
use super::*;
use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;
use pillion_abi::dual::object::INHERIT;
use std::boxed::Box;
use std::vec::Vec;

const AT: u64 = 4;
const THREADS: u32 = 3;

struct Model {
    word: AtomicU32,
    /// Under the lock of the task's objects.
    objects: Mutex<Box<Objects>>,
    mutex: u64,
    inside: AtomicU32,
    signals: [Notify; THREADS as usize + 1],
}

impl Words for Model {
    fn load(&self, _: u64) -> Option<u32> {
        Some(self.word.load(SeqCst))
    }
    fn exchange(&self, _: u64, old: u32, new: u32) -> Option<bool> {
        Some(self.word.compare_exchange(old, new, SeqCst, SeqCst).is_ok())
    }
    fn present(&self, thread: u32) -> Option<Present> {
        Some(Present { runner: thread as u8, priority: thread as u8 })
    }
}

impl Model {
    fn new() -> Model {
        let mut objects = Box::new(Objects::new());
        let party = objects.attach(Identity { memory: 0, thread: 1 }, 7, 1, 1).unwrap();
        let mutex = objects.create_with_word(party, INHERIT, AT) as u64;
        Model {
            word: AtomicU32::new(0),
            objects: Mutex::new(objects),
            mutex,
            inside: AtomicU32::new(0),
            signals: core::array::from_fn(|_| Notify::new()),
        }
    }

    /// A call: signals whom it wakes.
    fn call<R>(&self, me: u32, operation: impl FnOnce(&mut Objects, Party) -> R) -> R {
        let mut objects = self.objects.lock().unwrap();
        let party = objects.attach(Identity { memory: 0, thread: me }, 7, me as u8, me as u8).unwrap();
        let result = operation(&mut objects, party);
        let wakes = objects.take_effects().wakes;
        drop(objects);
        (1..=THREADS)
            .filter(|runner| wakes >> runner & 1 == 1)
            .for_each(|runner| self.signals[runner as usize].notify());
        result
    }

    fn lock(&self, me: u32) {
        if self.word.compare_exchange(0, me, SeqCst, SeqCst).is_ok() {
            return;
        }
        let locked = self.call(me, |objects, party| {
            objects.claimed(party, self.mutex, self, |objects| objects.mutex_lock(party, self.mutex, true))
        });
        if locked == Ok(Outcome::Waits) {
            loop {
                self.signals[me as usize].wait();
                // The signal may have been for nothing.
                if let Some(result) = self.call(me, |objects, party| objects.result(party)) {
                    return assert_eq!(result, 0);
                }
            }
        } else {
            assert_eq!(locked, Ok(Outcome::Done(0)));
        }
    }

    fn unlock(&self, me: u32) {
        if self.word.compare_exchange(me, 0, SeqCst, SeqCst).is_err() {
            let unlocked = self.call(me, |objects, party| {
                objects.claimed(party, self.mutex, self, |objects| objects.mutex_unlock(party, self.mutex))
            });
            assert_eq!(unlocked, Ok(Ok(0)));
        }
    }

    fn use_it(&self, me: u32) {
        self.lock(me);
        assert_eq!(self.inside.fetch_add(1, SeqCst), 0, "two owners");
        self.inside.fetch_sub(1, SeqCst);
        self.unlock(me);
    }
}

/// A lost wake-up would be a deadlock, which the model checker reports.
#[test]
fn one_owner_at_a_time() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(4);
    builder.check(|| {
        let model = Arc::new(Model::new());
        let user = |me| {
            let model = model.clone();
            thread::spawn(move || model.use_it(me))
        };
        let others: Vec<_> = (2..=THREADS).map(user).collect();
        model.use_it(1);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(model.word.load(SeqCst), 0);
        assert!(model.call(1, |objects, party| objects.parties[party].owned == 0));
    });
}
