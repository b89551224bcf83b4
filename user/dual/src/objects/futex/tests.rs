use super::*;
use core::cell::Cell;
use proptest::prelude::*;
use std::vec::Vec;

const MEMORY: u8 = 3;
const AT: u64 = 0x1000;
/// Own urgency of each thread, whose number is its index plus one.
const URGENCY: [u8; 5] = [10, 20, 20, 30, 99];

impl Word for Cell<u32> {
    fn load(&self) -> Option<u32> {
        Some(self.get())
    }
    fn exchange(&self, old: u32, new: u32) -> Option<bool> {
        let is_old = self.get() == old;
        if is_old {
            self.set(new);
        }
        Some(is_old)
    }
}

/// Memory that is absent, or changes all the time.
struct Strange(Option<u32>);

impl Word for Strange {
    fn load(&self) -> Option<u32> {
        self.0
    }
    fn exchange(&self, _: u32, _: u32) -> Option<bool> {
        Some(false)
    }
}

fn identity(thread: u32) -> Identity {
    Identity { memory: MEMORY, thread }
}

fn present(thread: u32) -> Option<Present> {
    let priority = *URGENCY.get(thread.checked_sub(1)? as usize)?;
    Some(Present { runner: thread as u8, priority })
}

fn attach(objects: &mut Objects, thread: u32) -> Party {
    objects.attach(identity(thread), 7, thread as u8, URGENCY[thread as usize - 1]).unwrap()
}

fn woken(objects: &mut Objects) -> Vec<usize> {
    bits(objects.take_effects().wakes.into()).collect()
}

#[test]
fn a_futex_goes_to_the_most_urgent_waiter_and_its_owner_inherits() {
    let (mut objects, word) = (Objects::new(), Cell::new(1));
    let [low, high] = [2, 4].map(|thread| attach(&mut objects, thread));
    objects.take_effects();
    for party in [low, high] {
        assert_eq!(objects.futex_lock(party, AT, &word, present), Locked::Waits);
    }
    let owner = objects.party_of(identity(1)).expect("it is known since others wait for it");
    assert_eq!((word.get(), objects.urgency(owner)), (WAITERS | 1, 30));
    assert_eq!(objects.futex_unlock(identity(4), AT, &word), Some(error::EPERM));
    assert_eq!(objects.futex_unlock(identity(1), AT, &word), Some(0));
    assert_eq!((word.get(), woken(&mut objects)), (WAITERS | 4, [4].into()));
    assert_eq!((objects.result(high), objects.urgency(owner)), (Some(0), 10));
    assert_eq!(objects.futex_unlock(identity(4), AT, &word), Some(0));
    assert_eq!((word.get(), woken(&mut objects)), (2, [2].into()), "nobody else waits");
}

#[test]
fn what_is_free_is_locked_and_what_is_wrong_is_said() {
    let mut objects = Objects::new();
    let party = attach(&mut objects, 2);
    for (value, locked) in [(0, 2), (OWNER_DIED, OWNER_DIED | 2), (WAITERS, 2)] {
        let word = Cell::new(value);
        assert_eq!(objects.futex_lock(party, AT, &word, present), Locked::Done(0));
        assert_eq!(word.get(), locked);
        assert_eq!(objects.futex_lock(party, AT, &word, present), Locked::Done(error::EDEADLK));
        assert_eq!(objects.futex_unlock(identity(2), AT, &word), Some(0));
        assert_eq!(word.get(), 0);
    }
    assert_eq!(objects.futex_lock(party, AT, &Cell::new(77), present), Locked::Inversion);
    for strange in [Strange(None), Strange(Some(0)), Strange(Some(1))] {
        assert_eq!(objects.futex_lock(party, AT, &strange, present), Locked::Linux);
    }
    assert_eq!(objects.futex_unlock(identity(2), AT, &Strange(Some(2))), None);
    assert_eq!(objects.futex_waiters, 0);
}

#[test]
fn an_owner_that_leaves_sends_its_waiters_to_linux() {
    let (mut objects, word) = (Objects::new(), Cell::new(1));
    let waiter = attach(&mut objects, 3);
    assert_eq!(objects.futex_lock(waiter, AT, &word, present), Locked::Waits);
    let owner = objects.party_of(identity(1)).unwrap();
    objects.take_effects();
    objects.detach(owner);
    assert_eq!((woken(&mut objects), objects.result(waiter)), ([3].into(), Some(TO_LINUX)));
    assert_eq!((objects.party_of(identity(1)), objects.futex_waiters), (None, 0));
}

#[test]
fn a_circle_is_found() {
    let (mut objects, first, second) = (Objects::new(), Cell::new(1), Cell::new(2));
    let [one, two] = [1, 2].map(|thread| attach(&mut objects, thread));
    assert_eq!(objects.futex_lock(one, AT + 4, &second, present), Locked::Waits);
    assert_eq!(objects.futex_lock(two, AT, &first, present), Locked::Done(error::EDEADLK));
    assert_eq!((objects.cut(one, super::super::Cut::TimedOut), first.get()), (Some(error::ETIMEDOUT), 1));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Lock(usize),
    Unlock(usize),
    Cut,
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    let futex = || 0..3_usize;
    prop_oneof![
        4 => futex().prop_map(Step::Lock),
        4 => futex().prop_map(Step::Unlock),
        1 => Just(Step::Cut),
        1 => Just(Step::Leave),
    ]
}

proptest! {
    /// Threads lock and unlock as the C library does: by themselves where the futex allows it.
    #[test]
    fn each_futex_has_one_owner_and_nobody_waits_for_a_free_one(
        steps in prop::collection::vec((0..URGENCY.len(), step()), 1..200),
    ) {
        let mut objects = Objects::new();
        let words: [Cell<u32>; 3] = Default::default();
        let address = |futex: usize| AT + 4 * futex as u64;
        // What each thread owns, and what it waits for.
        let mut owned = [[false; 3]; URGENCY.len()];
        let mut waits: [Option<usize>; URGENCY.len()] = [None; URGENCY.len()];
        for (index, step) in steps {
            let thread = index as u32 + 1;
            match (step, waits[index]) {
                (Step::Lock(futex), None) if !owned[index][futex] => {
                    if words[futex].get() == 0 {
                        words[futex].set(thread);
                        owned[index][futex] = true;
                        continue;
                    }
                    let party = attach(&mut objects, thread);
                    match objects.futex_lock(party, address(futex), &words[futex], present) {
                        Locked::Waits => waits[index] = Some(futex),
                        locked => prop_assert_eq!(locked, Locked::Done(error::EDEADLK)),
                    }
                }
                (Step::Unlock(futex), None) if owned[index][futex] => {
                    owned[index][futex] = false;
                    if words[futex].get() == thread {
                        words[futex].set(0);
                        continue;
                    }
                    prop_assert_eq!(objects.futex_unlock(identity(thread), address(futex), &words[futex]), Some(0));
                }
                (Step::Cut, Some(_)) => {
                    let party = objects.party_of(identity(thread)).unwrap();
                    prop_assert_eq!(objects.cut(party, super::super::Cut::Recalled), Some(error::EINTR));
                    waits[index] = None;
                }
                (Step::Leave, None) => {
                    if let Some(party) = objects.party_of(identity(thread)) {
                        objects.detach(party);
                    }
                }
                _ => continue,
            }
            for woken in bits(objects.take_effects().wakes.into()) {
                let (index, party) = (woken - 1, objects.party_of(identity(woken as u32)).unwrap());
                let futex = waits[index].take().unwrap();
                match objects.result(party) {
                    Some(0) => owned[index][futex] = true,
                    result => prop_assert_eq!(result, Some(TO_LINUX)),
                }
            }
            for (futex, word) in words.iter().enumerate() {
                let owners: Vec<u32> = (1..).zip(owned).filter(|(_, owned)| owned[futex]).map(|(t, _)| t).collect();
                let free = owners.is_empty();
                prop_assert_eq!(word.get() & !WAITERS, owners.first().copied().unwrap_or(0));
                prop_assert!(owners.len() < 2);
                let waiters = objects.futex_waiters(MEMORY, address(futex));
                prop_assert!(waiters == 0 || !free && word.get() & WAITERS != 0, "a lost wake-up");
                for waiter in bits(waiters) {
                    let owner = objects.party_of(identity(owners[0])).unwrap();
                    prop_assert!(objects.urgency(owner) >= objects.urgency(waiter), "no inheritance");
                }
            }
        }
    }
}
