use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const RUNNERS: usize = 6;

fn waiters() -> [Waiter; RUNNERS] {
    core::array::from_fn(|_| Waiter {
        state: AtomicU64::new(0),
        address: AtomicU64::new(0),
        since: AtomicU64::new(0),
        bitset: AtomicU32::new(0),
        urgency: AtomicU32::new(0),
    })
}

fn futexes() -> Futexes {
    Futexes {
        waiters: AtomicU32::new(0),
        anywhere: AtomicU32::new(0),
        busy: AtomicU32::new(0),
        _reserved: AtomicU32::new(0),
        waits: [const { AtomicU32::new(0) }; BUCKETS],
        owned: [const { AtomicU32::new(0) }; BUCKETS],
        posts: [const { AtomicU64::new(0) }; POSTS],
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Begin { runner: usize, address: u64, bitset: u32, urgency: u8, holds: Option<bool> },
    Wake { address: u64, bitset: u32, most: u32 },
    End(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let address = || (1..4_u64).prop_map(|n| n * 4);
    let holds = prop_oneof![4 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)];
    prop_oneof![
        3 => (0..RUNNERS, address(), 1..4_u32, 0..3_u8, holds)
            .prop_map(|(runner, address, bitset, urgency, holds)| Step::Begin { runner, address, bitset, urgency, holds }),
        2 => (address(), 1..4_u32, prop_oneof![0..4_u32, Just(u32::MAX)])
            .prop_map(|(address, bitset, most)| Step::Wake { address, bitset, most }),
        1 => (0..RUNNERS).prop_map(Step::End),
    ]
}

/// Who waits, as plainly as it can be said: in the order in which they came.
#[derive(Default)]
struct Plain(Vec<(usize, Wait)>);

impl Plain {
    fn wake(&mut self, address: u64, bitset: u32, most: u32) -> u32 {
        let mut woken = 0_u32;
        while woken.count_ones() < most {
            let waits = |wait: &Wait| wait.address == address && wait.bitset & bitset != 0;
            let most_urgent = self.0.iter().filter(|(_, wait)| waits(wait)).map(|(_, wait)| wait.urgency).max();
            let Some(urgency) = most_urgent else { break };
            let first = self.0.iter().position(|(_, wait)| waits(wait) && wait.urgency == urgency).unwrap();
            woken |= 1 << self.0.remove(first).0;
        }
        woken
    }
}

proptest! {
    #[test]
    fn wake_ups_are_those_of_a_plain_list(steps in prop::collection::vec(step(), 1..200)) {
        let (waiters, futexes, mut plain) = (waiters(), futexes(), Plain::default());
        let mut waits = [false; RUNNERS];
        for (since, step) in (0..).zip(steps) {
            match step {
                Step::Begin { runner, address, bitset, urgency, holds } if !waits[runner] => {
                    let wait = Wait { address, bitset, urgency, since };
                    let begun = waiters[runner].begin(runner, &futexes, &wait, || holds);
                    prop_assert_eq!(begun, match holds {
                        Some(true) => Begun::Waits,
                        Some(false) => Begun::Differs,
                        None => Begun::Absent,
                    });
                    waits[runner] = begun == Begun::Waits;
                    if waits[runner] {
                        plain.0.push((runner, wait));
                    }
                }
                Step::Wake { address, bitset, most } => {
                    prop_assert_eq!(futexes.wake(&waiters, address, bitset, most), plain.wake(address, bitset, most));
                }
                Step::End(runner) if waits[runner] => {
                    let before = plain.0.len();
                    plain.0.retain(|(waiter, _)| *waiter != runner);
                    prop_assert_eq!(waiters[runner].is_woken(), plain.0.len() == before);
                    prop_assert_eq!(waiters[runner].end(runner, &futexes), plain.0.len() == before);
                    waits[runner] = false;
                }
                _ => {}
            }
        }
    }

    /// Linux writes what it likes.
    #[test]
    fn nothing_that_linux_writes_is_a_panic(words: [u64; RUNNERS], mask: u32, most: u32, bitset: u32) {
        let (waiters, futexes) = (waiters(), futexes());
        for (waiter, word) in waiters.iter().zip(words) {
            waiter.state.store(word, Relaxed);
            waiter.address.store(word & 4, Relaxed);
            waiter.bitset.store(word as u32, Relaxed);
        }
        futexes.waiters.store(mask, Relaxed);
        let woken = futexes.wake(&waiters, 4, bitset, most);
        prop_assert!(woken < 1 << RUNNERS && woken.count_ones() <= most);
        let wait = Wait { address: 4, bitset: 1, urgency: 1, since: 1 };
        let spoil = || {
            waiters[0].state.store(words[1], Relaxed);
            Some(true)
        };
        let begun = waiters[0].begin(0, &futexes, &wait, spoil);
        prop_assert!(begun == Begun::Waits || begun == Begun::Woken);
        waiters[0].end(0, &futexes);
    }
}

/// A thread that is woken at while it arrives compares again; if that does not end, it is woken.
#[test]
fn who_arrives_while_others_wake_compares_again() {
    let (waiters, futexes) = (waiters(), futexes());
    let wait = Wait { address: 4, bitset: 1, urgency: 1, since: 1 };
    let mut comparisons = 0;
    let begun = waiters[0].begin(0, &futexes, &wait, || {
        comparisons += 1;
        assert_eq!(futexes.wake(&waiters, 4, 1, u32::from(comparisons < 3)), 0, "it does not wait yet");
        Some(true)
    });
    assert_eq!((begun, comparisons), (Begun::Waits, 3));
    assert_eq!(futexes.wake(&waiters, 4, 1, 1), 1);
    waiters[0].end(0, &futexes);
    let mut comparisons = 0;
    let begun = waiters[0].begin(0, &futexes, &wait, || {
        comparisons += 1;
        futexes.wake(&waiters, 4, 1, 1);
        Some(true)
    });
    assert_eq!((begun, comparisons), (Begun::Woken, ATTEMPTS));
    assert_eq!(futexes.waiters.load(Relaxed), 0);
}

#[test]
fn posts_are_kept_once_until_linux_takes_them() {
    let futexes = futexes();
    assert!(!futexes.in_linux(8));
    futexes.waits[bucket(8)].store(1, Relaxed);
    assert!(futexes.in_linux(8));
    for post in 0..POSTS as u64 {
        assert!(futexes.post(4 + 4 * post) && futexes.post(4 + 4 * post));
    }
    assert!(!futexes.post(4 + 4 * POSTS as u64), "there is no room");
    futexes.posts[3].store(0, Relaxed);
    assert!(futexes.post(4 + 4 * POSTS as u64));
}
