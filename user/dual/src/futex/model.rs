//! Waiting and waking in all interleavings. Linux's side uses what corresponds to the `smp_mb`,
//! `smp_load_acquire` and `cmpxchg` of `linux/module/dual_futex.c`, and for its own futexes what
//! they promise: comparing and queueing are one step.

use super::*;
use loom::sync::{Arc, Mutex, Notify};
use loom::thread;
use std::sync::atomic::AtomicU64 as Counter;

const HERE: u64 = 0x1000;
const THERE: u64 = 0x2000;
const ALL: u32 = u32::MAX;

/// Memory of a process with the futexes at `HERE` and `THERE`, two runners, and Linux.
struct Model {
    word: AtomicU32,
    futexes: Futexes,
    waiters: [Waiter; 2],
    signals: [Notify; 2],
    /// Whether the thread in Linux is queued, and what wakes it.
    queued: Mutex<bool>,
    linux: Notify,
}

fn model(test: impl Fn(Arc<Model>) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let zero = || AtomicU32::new(0);
        let long = || AtomicU64::new(0);
        test(Arc::new(Model {
            word: zero(),
            futexes: Futexes {
                waiters: zero(),
                anywhere: zero(),
                busy: zero(),
                _reserved: zero(),
                waits: core::array::from_fn(|_| zero()),
                owned: core::array::from_fn(|_| zero()),
                posts: core::array::from_fn(|_| long()),
            },
            waiters: core::array::from_fn(|_| Waiter {
                state: long(),
                address: long(),
                since: long(),
                bitset: zero(),
                urgency: zero(),
            }),
            signals: core::array::from_fn(|_| Notify::new()),
            queued: Mutex::new(false),
            linux: Notify::new(),
        }));
    });
}

impl Model {
    fn begin(&self, me: usize, address: u64) -> Begun {
        let wait = Wait { address, bitset: ALL, urgency: me as u8, since: 0 };
        self.waiters[me].begin(me, &self.futexes, &wait, || Some(self.word.load(Relaxed) == 0))
    }

    /// FUTEX_WAIT of a runner's thread while the word is 0.
    fn wait(&self, me: usize) {
        if self.begin(me, HERE) == Begun::Waits {
            while !self.waiters[me].is_woken() {
                self.signals[me].wait();
            }
            self.waiters[me].end(me, &self.futexes);
        }
    }

    /// FUTEX_WAKE of a runner's thread. Returns how many threads in primary mode that woke.
    fn wake(&self, address: u64, most: u32) -> u32 {
        let woken = self.futexes.wake(&self.waiters, address, ALL, most);
        bits(woken.into()).for_each(|runner| self.signals[runner].notify());
        if woken.count_ones() < most && self.futexes.in_linux(address) {
            assert!(self.futexes.post(address));
        }
        woken.count_ones()
    }

    /// The module's way to the threads in primary mode, without their order.
    fn wake_from_linux(&self, address: u64, most: u32) -> u32 {
        let mut woken = 0;
        fence(SeqCst);
        let there = self.futexes.waiters.load(Acquire);
        for (runner, waiter) in self.waiters.iter().enumerate() {
            if there >> runner & 1 == 0 || woken == most {
                continue;
            }
            let mut found = waiter.state.load(Acquire);
            if waiter.address.load(Relaxed) != address {
                continue;
            }
            if found & KIND == state::ARRIVING {
                let again = found & !KIND | state::AGAIN;
                match waiter.state.compare_exchange(found, again, SeqCst, SeqCst) {
                    Err(now) if now == found & !KIND | state::WAITING => found = now,
                    _ => continue,
                }
            }
            let ended = found & !KIND | state::WOKEN;
            if found & KIND == state::WAITING && waiter.state.compare_exchange(found, ended, SeqCst, SeqCst).is_ok() {
                woken += 1;
                self.signals[runner].notify();
            }
        }
        woken
    }

    /// FUTEX_WAIT of a thread in Linux while the word is 0.
    fn wait_in_linux(&self) {
        self.futexes.waits[bucket(HERE)].fetch_add(1, Relaxed);
        fence(SeqCst);
        let mut queued = self.queued.lock().unwrap();
        *queued = self.word.load(Relaxed) == 0;
        if *queued {
            drop(queued);
            while *self.queued.lock().unwrap() {
                self.linux.wait();
            }
        }
        self.futexes.waits[bucket(HERE)].fetch_sub(1, Release);
    }

    /// Linux wakes those of its threads for which runners asked.
    fn deliver(&self) {
        for post in &self.futexes.posts {
            if post.swap(0, SeqCst) == HERE {
                *self.queued.lock().unwrap() = false;
                self.linux.notify();
            }
        }
    }

    /// Takes one from the word.
    fn try_take(&self) -> bool {
        let word = self.word.load(Relaxed);
        word > 0 && self.word.compare_exchange(word, word - 1, SeqCst, Relaxed).is_ok()
    }
}

fn here(me: usize) -> Wait {
    Wait { address: HERE, bitset: ALL, urgency: me as u8, since: 0 }
}

/// A lost wake-up would be a deadlock, which the model checker reports.
#[test]
fn each_side_wakes_a_thread_in_primary_mode() {
    for from_linux in [false, true] {
        model(move |model| {
            let waiter = {
                let model = model.clone();
                thread::spawn(move || model.wait(0))
            };
            model.word.store(1, Relaxed);
            if from_linux {
                model.wake_from_linux(HERE, 1)
            } else {
                model.wake(HERE, 1)
            };
            waiter.join().unwrap();
            assert_eq!(model.futexes.waiters.load(Relaxed), 0);
        });
    }
}

#[test]
fn a_thread_in_linux_is_woken_from_primary_mode() {
    model(|model| {
        let waiter = {
            let model = model.clone();
            thread::spawn(move || model.wait_in_linux())
        };
        model.word.store(1, Relaxed);
        model.wake(HERE, 1);
        model.deliver();
        waiter.join().unwrap();
    });
}

/// Two threads take what is put there one by one: if a wake-up were used up by a thread that does
/// not wait, the other would wait for ever.
#[test]
fn no_wake_up_is_used_up_for_nothing() {
    for from_linux in [false, true] {
        model(move |model| {
            let takers: Vec<_> = (0..2)
                .map(|me| {
                    let model = model.clone();
                    thread::spawn(move || {
                        while !model.try_take() {
                            model.wait(me);
                        }
                    })
                })
                .collect();
            for turn in 0..2 {
                model.word.fetch_add(1, Relaxed);
                if from_linux == (turn == 0) {
                    model.wake_from_linux(HERE, 1)
                } else {
                    model.wake(HERE, 1)
                };
            }
            takers.into_iter().for_each(|taker| taker.join().unwrap());
        });
    }
}

/// A queue's users wake one who waits for each message, and are taken for such as long as they use
/// the queue: who was woken and goes with something else, or with nothing, passes that on.
#[test]
fn who_goes_with_something_else_passes_the_wake_up_on() {
    for (from_linux, gives_up) in [(false, false), (true, false), (false, true), (true, true)] {
        model(move |model| {
            let uses = move |model: &Model, me: usize, waits: bool| {
                assert_eq!(model.waiters[me].begin(me, &model.futexes, &here(me), || Some(true)), Begun::Waits);
                // One step, as under the lock of a queue.
                let take = || model.word.fetch_update(SeqCst, SeqCst, |word| word.checked_sub(1)).is_ok();
                let mut took = take();
                while !took && waits {
                    if model.waiters[me].is_woken() {
                        model.waiters[me].go_on();
                        took = take();
                    } else {
                        model.signals[me].wait();
                    }
                }
                if model.waiters[me].end(me, &model.futexes) && model.word.load(SeqCst) != 0 {
                    model.wake(HERE, 1);
                }
                took
            };
            let user = |me, waits| {
                let model = model.clone();
                thread::spawn(move || uses(&model, me, waits))
            };
            let (other, waiter) = (user(1, !gives_up), user(0, true));
            let put = |model: &Model, from_linux| {
                model.word.fetch_add(1, SeqCst);
                if from_linux {
                    model.wake_from_linux(HERE, 1)
                } else {
                    model.wake(HERE, 1)
                };
            };
            put(&model, from_linux);
            // Who gives up may have taken the first one.
            if !gives_up || other.join().unwrap() {
                put(&model, !from_linux);
            }
            assert!(waiter.join().unwrap());
        });
    }
}

/// Whoever wakes counts the waits that it ended: a wait that its time ended is none of them, and
/// neither is the same thread's next wait, elsewhere.
#[test]
fn a_wake_up_is_counted_where_it_arrives() {
    for from_linux in [false, true] {
        let woken_waits = std::sync::Arc::new(Counter::new(0));
        let seen = woken_waits.clone();
        model(move |model| {
            let waiter = {
                let model = model.clone();
                thread::spawn(move || {
                    assert_eq!(model.begin(0, HERE), Begun::Waits);
                    let was_woken = model.waiters[0].end(0, &model.futexes);
                    assert_eq!(model.begin(0, THERE), Begun::Waits);
                    assert!(!model.waiters[0].end(0, &model.futexes), "nobody wakes there");
                    u32::from(was_woken)
                })
            };
            let woken = if from_linux { model.wake_from_linux(HERE, 1) } else { model.wake(HERE, 1) };
            assert_eq!(woken, waiter.join().unwrap());
            woken_waits.fetch_add(woken.into(), core::sync::atomic::Ordering::Relaxed);
        });
        assert_ne!(seen.load(core::sync::atomic::Ordering::Relaxed), 0, "nothing was ever woken");
    }
}

/// Futexes with priority inheritance are changed by one side at a time.
#[test]
fn one_side_at_a_time_owns() {
    model(|model| {
        let inside = Arc::new(AtomicU32::new(0));
        let linux = {
            let (model, inside) = (model.clone(), inside.clone());
            thread::spawn(move || {
                model.futexes.owned[bucket(HERE)].fetch_add(1, Relaxed);
                fence(SeqCst);
                while model.futexes.busy.load(Acquire) != 0 {
                    thread::yield_now();
                }
                assert_eq!(inside.fetch_add(1, Relaxed), 0);
                inside.fetch_sub(1, Relaxed);
                model.futexes.owned[bucket(HERE)].fetch_sub(1, Release);
            })
        };
        model.futexes.alone(HERE, || {
            assert_eq!(inside.fetch_add(1, Relaxed), 0);
            inside.fetch_sub(1, Relaxed);
        });
        linux.join().unwrap();
    });
}
