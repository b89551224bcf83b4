use super::dead::STEP;
use super::tests::{NoWords, attach, create, end, sweep, with_threads};
use super::*;
use std::vec::Vec;

fn objects_left(objects: &Objects) -> usize {
    objects.objects.iter().filter(|object| object.kind.is_some()).count()
}

/// As many mutexes as a process may have, with ceilings that fall, all locked by its thread.
fn with_ceilings() -> (Objects, Party, Vec<u64>) {
    let (mut objects, [owner]) = with_threads([1]);
    let ceilings = (1..=OBJECTS_OF_ONE as u64).rev().map(|n| n.min(object::CEILING_MAX));
    let mutexes: Vec<u64> = ceilings.map(|ceiling| create(&mut objects, owner, object::MUTEX, ceiling, 0)).collect();
    mutexes.iter().for_each(|mutex| assert_eq!(objects.mutex_lock(owner, *mutex, true), Outcome::Done(0)));
    (objects, owner, mutexes)
}

/// Whoever holds the lock does a bounded part, in which nobody looks for the highest ceiling that
/// is left.
#[test]
fn the_dead_are_ended_a_few_at_a_time() {
    let (mut objects, owner, _) = with_ceilings();
    objects.detach(owner);
    objects.miss(|_| 0);
    let mut left = objects_left(&objects);
    assert_eq!(left, OBJECTS_OF_ONE, "nothing yet");
    while objects.sweep_some() {
        let before = core::mem::replace(&mut left, objects_left(&objects));
        assert!(before - left <= STEP);
        assert_eq!(objects.parties[owner].ceiling, object::CEILING_MAX as u8);
    }
    assert_eq!((objects_left(&objects), objects.away(), objects.has_dead()), (0, 0, false));
    assert_eq!(objects.urgency(owner), 0);
}

#[test]
fn threads_of_the_dead_are_ended_a_few_at_a_time() {
    let (mut objects, parties) = with_threads([1; 24]);
    for party in parties {
        assert_eq!(objects.period_set(party, 1, 1, 1_000_000_000), 0);
        objects.detach(party);
    }
    objects.miss(|_| 0);
    let mut left = objects.away();
    assert_eq!(left, parties.len());
    while objects.sweep_some() {
        let before = core::mem::replace(&mut left, objects.away());
        assert!(before - left <= STEP);
    }
    assert_eq!(objects.away(), 0);
}

#[test]
fn a_thread_that_ends_unlocks_a_few_mutexes_at_a_time() {
    let (mut objects, owner, mutexes) = with_ceilings();
    let mut owned = objects.parties[owner].owned as usize;
    let mut next = Some(0);
    while let Some(from) = next {
        next = objects.thread_ends(owner, from);
        let before = core::mem::replace(&mut owned, objects.parties[owner].owned as usize);
        assert!(before - owned <= STEP);
    }
    assert_eq!((owned, objects.urgency(owner)), (0, 1));
    let other = attach(&mut objects, 2, 1);
    assert!(mutexes.iter().all(|mutex| objects.mutex_lock(other, *mutex, false) == Outcome::Done(0)));
    end(&mut objects, other);
    assert_eq!(objects.urgency(other), 1);
}

/// Another process is in the place of one of which something is left.
#[test]
fn a_process_begins_when_nothing_is_left_of_the_last() {
    let (mut objects, [first]) = with_threads([10]);
    let left = create(&mut objects, first, object::MUTEX, 0, 0);
    objects.detach(first);
    let begin = |objects: &mut Objects| objects.attach(Identity { memory: 3, thread: 1 }, 1, 1, 20);
    assert_eq!(begin(&mut objects), Err(error::EAGAIN));
    sweep(&mut objects, |_| 1);
    let second = begin(&mut objects).unwrap();
    assert_eq!(objects.mutex_lock(second, left, true), Outcome::Done(error::EINVAL));
    // One dies while what another left is being ended.
    let parties = [4, 5].map(|memory| objects.attach(Identity { memory, thread: 1 }, 1, memory, 1).unwrap());
    for party in parties {
        (0..=STEP).for_each(|_| assert!(create(&mut objects, party, object::FLAGS, 0, 0) != 0));
    }
    objects.miss(|memory| u64::from(memory != 5));
    assert!(objects.sweep_some());
    objects.miss(|memory| u64::from(memory == 3));
    while objects.sweep_some() {}
    assert_eq!((objects_left(&objects), objects.memories[3..6] == [1, 0, 0]), (0, true));
}

/// A hostile Linux keeps one in primary mode.
#[test]
fn a_thread_of_the_dead_makes_nothing() {
    let (mut objects, [dead]) = with_threads([10]);
    let mutex = create(&mut objects, dead, object::MUTEX, 20, 0);
    objects.miss(|_| 0);
    assert_eq!(objects.create(dead, object::FLAGS, 0, 0), error::EAGAIN);
    assert_eq!(objects.mutex_lock(dead, mutex, true), Outcome::Done(error::EINVAL));
    assert_eq!(objects.condition_wake(dead, mutex, true, &NoWords), Err(error::EINVAL));
}
