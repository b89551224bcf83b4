use super::wait::Place;
use super::*;
use pillion_abi::dual::service::ANY;
use pillion_rt_core::inherit::bits;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const NUMBER: u64 = 4711;

/// No mutex has a word.
pub(super) struct NoWords;

impl Words for NoWords {
    fn load(&self, _: u64) -> Option<u32> {
        None
    }
    fn exchange(&self, _: u64, _: u32, _: u32) -> Option<bool> {
        None
    }
    fn present(&self, _: u32) -> Option<futex::Present> {
        None
    }
}

pub(super) fn attach(objects: &mut Objects, thread: u32, priority: u8) -> Party {
    objects.attach(Identity { memory: 3, thread }, NUMBER, thread as u8, priority).unwrap()
}

/// Objects with a thread for each priority.
pub(super) fn with_threads<const N: usize>(priorities: [u8; N]) -> (Objects, [Party; N]) {
    let mut objects = Objects::new();
    let mut thread = 0;
    let parties = priorities.map(|priority| {
        thread += 1;
        attach(&mut objects, thread, priority)
    });
    objects.take_effects();
    (objects, parties)
}

pub(super) fn create(objects: &mut Objects, party: Party, kind: u64, value: u64, flags: u64) -> u64 {
    let handle = objects.create(party, kind, value, flags);
    assert!(handle > 0, "{handle}");
    handle as u64
}

/// Ends all that belonged to memories that have gone.
pub(super) fn sweep(objects: &mut Objects, numbers: impl Fn(usize) -> u64) {
    objects.miss(numbers);
    while objects.sweep_some() {}
}

/// Ends a thread.
pub(super) fn end(objects: &mut Objects, party: Party) {
    let mut next = Some(0);
    while let Some(from) = next {
        next = objects.thread_ends(party, from);
    }
}

pub(super) fn woken(objects: &mut Objects, party: Party) -> bool {
    let runner = objects.runner(party).unwrap();
    objects.take_effects().wakes >> runner & 1 == 1
}

#[test]
fn a_semaphore_goes_to_the_most_urgent_waiter() {
    let (mut objects, [low, high, same]) = with_threads([10, 30, 30]);
    let semaphore = create(&mut objects, low, object::SEMAPHORE, 1, 0);
    assert_eq!(objects.semaphore_wait(low, semaphore, false), Outcome::Done(0));
    assert_eq!(objects.semaphore_wait(low, semaphore, false), Outcome::Done(error::EAGAIN));
    for party in [low, high, same] {
        assert_eq!(objects.semaphore_wait(party, semaphore, true), Outcome::Waits);
        assert_eq!(objects.result(party), None);
    }
    for party in [high, same, low] {
        assert_eq!(objects.semaphore_post(party, semaphore, false), Ok(0));
        assert!(woken(&mut objects, party));
        assert_eq!(objects.result(party), Some(0));
    }
    assert_eq!(objects.semaphore_value(low, semaphore), Ok(0));
    assert_eq!(objects.create(low, object::SEMAPHORE, 1 << 31, 0), error::EINVAL);
    let full = create(&mut objects, low, object::SEMAPHORE, semaphore::MOST.into(), 0);
    assert_eq!(objects.semaphore_post(low, full, false), Err(error::EOVERFLOW));
}

#[test]
fn a_wake_up_that_comes_first_is_not_lost() {
    let (mut objects, [waiter, poster]) = with_threads([10, 30]);
    let semaphore = create(&mut objects, waiter, object::SEMAPHORE, 0, 0);
    for why in [Cut::TimedOut, Cut::Recalled] {
        objects.semaphore_wait(waiter, semaphore, true);
        objects.semaphore_post(poster, semaphore, false).unwrap();
        assert_eq!(objects.cut(waiter, why), Some(0), "{why:?}");
        assert_eq!(objects.semaphore_value(poster, semaphore), Ok(0));
    }
    objects.semaphore_wait(waiter, semaphore, true);
    assert_eq!(objects.cut(waiter, Cut::TimedOut), Some(error::ETIMEDOUT));
    objects.semaphore_post(poster, semaphore, false).unwrap();
    assert_eq!(objects.semaphore_value(poster, semaphore), Ok(1), "nobody waits any more");
}

#[test]
fn a_condition_gives_the_mutex_back() {
    let (mut objects, [waiter, waker, third]) = with_threads([10, 20, 15]);
    let condition = create(&mut objects, waker, object::CONDITION, 0, 0);
    let mutex = create(&mut objects, waker, object::MUTEX, 0, object::INHERIT);
    assert_eq!(objects.condition_wait(waiter, condition, mutex), Outcome::Done(error::EPERM));
    objects.mutex_lock(waiter, mutex, true);
    assert_eq!(objects.condition_wait(waiter, condition, mutex), Outcome::Waits);
    // It is woken while the mutex is locked: it gets that, and the result, when it is unlocked.
    assert_eq!(objects.mutex_lock(waker, mutex, true), Outcome::Done(0));
    objects.condition_wake(waker, condition, false, &NoWords).unwrap();
    assert_eq!(objects.result(waiter), None);
    objects.mutex_unlock(waker, mutex).unwrap();
    assert_eq!(objects.result(waiter), Some(0));
    // Its time is over while another has the mutex.
    objects.condition_wait(waiter, condition, mutex);
    objects.mutex_lock(third, mutex, true);
    assert_eq!(objects.cut(waiter, Cut::TimedOut), None);
    objects.mutex_unlock(third, mutex).unwrap();
    assert_eq!(objects.result(waiter), Some(error::ETIMEDOUT));
    assert_eq!(objects.mutex_lock(third, mutex, false), Outcome::Done(error::EBUSY));
    // It is woken in time, and its time is over while another has the mutex.
    objects.condition_wait(waiter, condition, mutex);
    objects.mutex_lock(third, mutex, true);
    objects.condition_wake(third, condition, false, &NoWords).unwrap();
    assert_eq!(objects.cut(waiter, Cut::TimedOut), None);
    objects.mutex_unlock(third, mutex).unwrap();
    assert_eq!(objects.result(waiter), Some(0));
    assert_eq!(objects.mutex_lock(third, mutex, false), Outcome::Done(error::EBUSY));
    // Linux wants it: it has to lock the mutex itself.
    objects.condition_wait(waiter, condition, mutex);
    assert_eq!(objects.cut(waiter, Cut::Recalled), Some(error::EINTR));
    assert_eq!(objects.mutex_lock(third, mutex, false), Outcome::Done(0));
    // A wait for the mutex itself has an end of its own.
    assert_eq!(objects.mutex_lock(waiter, mutex, true), Outcome::Waits);
    assert_eq!(objects.cut(waiter, Cut::TimedOut), Some(error::ETIMEDOUT));
}

#[test]
fn flags_wake_those_for_whom_they_are_enough() {
    let (mut objects, [all, one, setter]) = with_threads([10, 20, 5]);
    let flags = create(&mut objects, setter, object::FLAGS, 1, 0);
    assert_eq!(objects.flags_wait(all, flags, 0, true), Outcome::Done(error::EINVAL));
    assert_eq!(objects.flags_wait(all, flags, 7, true), Outcome::Waits);
    assert_eq!(objects.flags_wait(one, flags, ANY | 6, true), Outcome::Waits);
    objects.flags_set(setter, flags, 4, false).unwrap();
    assert_eq!([all, one].map(|party| objects.result(party)), [None, Some(4)]);
    objects.flags_set(setter, flags, 2, false).unwrap();
    assert_eq!(objects.result(all), Some(7));
    assert_eq!(objects.flags_clear(setter, flags, 3), Ok(7));
    assert_eq!(objects.flags_wait(all, flags, ANY | 7, false), Outcome::Done(4));
}

#[test]
fn flags_that_are_taken_are_for_one() {
    let (mut objects, [low, high, all, setter]) = with_threads([10, 20, 30, 5]);
    let flags = create(&mut objects, setter, object::FLAGS, 1, object::TAKEN);
    assert_eq!(objects.create(setter, object::FLAGS, 0, object::TAKEN | object::INHERIT), error::EINVAL);
    assert_eq!(objects.flags_wait(low, flags, ANY | 3, false), Outcome::Done(1));
    assert_eq!(objects.flags_wait(low, flags, ANY | 3, true), Outcome::Waits);
    assert_eq!(objects.flags_wait(high, flags, ANY | 6, true), Outcome::Waits);
    assert_eq!(objects.flags_wait(all, flags, 0x12, true), Outcome::Waits);
    let results = |objects: &mut Objects| [low, high, all].map(|party| objects.result(party));
    // The most urgent one does not have enough, and the next one leaves nothing.
    objects.flags_set(setter, flags, 2, false).unwrap();
    assert_eq!(results(&mut objects), [None, Some(2), None]);
    assert_eq!(objects.flags_clear(setter, flags, 0), Ok(0));
    assert_eq!(objects.flags_wait(high, flags, ANY | 6, true), Outcome::Waits);
    objects.flags_set(setter, flags, 0x1a, true).unwrap();
    assert_eq!(results(&mut objects), [Some(2), Some(2), Some(0x12)], "all that wait");
    assert_eq!(objects.flags_clear(setter, flags, 0), Ok(8), "what nobody waited for");
}

#[test]
fn a_condition_wakes_one_thread_that_is_named() {
    let (mut objects, [first, second, waker]) = with_threads([20, 10, 5]);
    let condition = create(&mut objects, waker, object::CONDITION, 0, 0);
    let mutex = create(&mut objects, waker, object::MUTEX, 0, 0);
    for party in [first, second] {
        assert_eq!(objects.mutex_lock(party, mutex, true), Outcome::Done(0));
        assert_eq!(objects.condition_wait(party, condition, mutex), Outcome::Waits);
    }
    let [number, own] = [second, waker].map(|party| objects.parties[party].identity.unwrap().thread.into());
    // Who does not wait, or is nobody, is not woken, and neither is anybody else.
    for thread in [own, 0xffff] {
        assert_eq!(objects.condition_wake_thread(waker, condition, thread, &NoWords), Ok(0));
    }
    assert_eq!([first, second].map(|party| objects.result(party)), [None, None]);
    assert_eq!(objects.condition_wake_thread(waker, condition, number, &NoWords), Ok(0));
    assert_eq!([first, second].map(|party| objects.result(party)), [None, Some(0)]);
}

#[test]
fn releases_that_have_passed_are_counted() {
    let (mut objects, [party]) = with_threads([10]);
    assert_eq!(objects.released(party, 0), error::EPERM);
    assert_eq!(objects.period_set(party, 1, 0, 999), error::EINVAL);
    assert_eq!(objects.period_set(party, 1, 10_000, 2_000), 0);
    let releases = [(10_100, 0, 12_000), (12_000, 0, 14_000), (18_999, 2, 20_000), (19_000, 0, 22_000)];
    for (now, missed, next) in releases {
        assert_eq!(objects.released(party, now), missed, "at {now}");
        assert_eq!(objects.period(party).unwrap().next, next);
    }
    objects.released(party, u64::MAX);
    assert_eq!(objects.period_set(party, 1, 0, 0), 0);
    assert!(objects.period(party).is_none());
}

#[test]
fn what_a_process_has_is_bounded_and_ends_with_it() {
    let (mut objects, [party, waiter]) = with_threads([10, 20]);
    let semaphore = create(&mut objects, party, object::SEMAPHORE, 0, 0);
    let mutex = create(&mut objects, party, object::MUTEX, 0, object::INHERIT);
    objects.mutex_lock(party, mutex, true);
    objects.semaphore_wait(waiter, semaphore, true);
    for _ in 2..OBJECTS_OF_ONE {
        create(&mut objects, party, object::FLAGS, 0, 0);
    }
    assert_eq!(objects.create(party, object::FLAGS, 0, 0), error::ENOSPC);
    let foreign = objects.attach(Identity { memory: 4, thread: 1 }, 1, 9, 50).unwrap();
    assert_eq!(objects.semaphore_post(foreign, semaphore, false), Err(error::EINVAL));
    assert_eq!(objects.semaphore_post(foreign, u64::MAX, false), Err(error::EINVAL));
    sweep(&mut objects, |memory| if memory == 3 { 4712 } else { 1 });
    assert!(woken(&mut objects, waiter));
    assert_eq!(objects.result(waiter), Some(error::EIDRM));
    assert_eq!(objects.semaphore_post(party, semaphore, false), Err(error::EINVAL));
    assert!(objects.objects.iter().all(|object| object.kind.is_none()));
    for party in [party, waiter, foreign] {
        objects.detach(party);
    }
    assert_eq!(objects.away(), 0);
    let again = attach(&mut objects, 1, 10);
    assert_eq!(objects.semaphore_post(again, semaphore, false), Err(error::EINVAL), "an old handle");
}

/// A hostile Linux can keep them in primary mode.
#[test]
fn threads_whose_memory_has_gone_have_nothing_in_common() {
    let (mut objects, [first]) = with_threads([10]);
    let second = objects.attach(Identity { memory: 4, thread: 1 }, 1, 9, 50).unwrap();
    let handles = [first, second].map(|party| create(&mut objects, party, object::MUTEX, 0, 0));
    sweep(&mut objects, |_| 0);
    for party in [first, second] {
        assert_eq!(objects.create(party, object::MUTEX, 0, 0), error::EAGAIN);
        assert!(handles.iter().all(|mutex| objects.mutex_lock(party, *mutex, true) == Outcome::Done(error::EINVAL)));
        end(&mut objects, party);
        objects.detach(party);
    }
    let again = attach(&mut objects, 1, 10);
    assert!(create(&mut objects, again, object::MUTEX, 0, 0) != 0);
}

#[test]
fn threads_of_one_process_are_bounded() {
    let mut objects = Objects::new();
    let mut party = |memory, thread| objects.attach(Identity { memory, thread }, 1, 1, 1);
    let known = (0..100).take_while(|thread| party(0, *thread).is_ok()).count();
    assert_eq!(known, 32);
    assert_eq!(party(0, 0), Ok(0), "it is known already");
    assert!(party(1, 0).is_ok());
    assert_eq!(party(32, 0), Err(error::EAGAIN));
    assert_eq!(objects.attach(Identity { memory: 0, thread: 0 }, 1, 2, 1), Err(error::EAGAIN), "in two places");
    assert_eq!(objects.attach(Identity { memory: 2, thread: 0 }, 0, 1, 1), Err(error::EAGAIN), "no memory");
}

const THREADS: [u8; 6] = [0, 10, 20, 20, 30, 99];

#[derive(Clone, Copy, Debug)]
enum Step {
    Take,
    Post(bool),
    Lock(usize),
    Unlock(usize),
    Rise(usize, u64),
    Wait(usize),
    Wake(bool),
    WaitFlags(u64),
    Set(u64),
    Clear(u64),
    Cut(Cut),
    /// Leaves primary mode and comes back.
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Take),
        any::<bool>().prop_map(Step::Post),
        (0..5_usize).prop_map(Step::Lock),
        (0..5_usize).prop_map(Step::Unlock),
        (3..5_usize, 0..100_u64).prop_map(|(mutex, ceiling)| Step::Rise(mutex, ceiling)),
        (0..5_usize).prop_map(Step::Wait),
        any::<bool>().prop_map(Step::Wake),
        (1..8_u64).prop_map(Step::WaitFlags),
        (1..8_u64).prop_map(|bits| Step::WaitFlags(bits | ANY)),
        (0..8_u64).prop_map(Step::Set),
        (0..8_u64).prop_map(Step::Clear),
        prop_oneof![Just(Cut::TimedOut), Just(Cut::Recalled)].prop_map(Step::Cut),
        Just(Step::Leave),
    ]
}

/// The urgency of the most urgent thread that waits for a mutex of a party's, as long as they wait
/// in no circle.
fn lent_to(objects: &Objects, party: Party) -> u8 {
    let lenders = objects.objects.iter().filter_map(|object| match object.kind {
        Some(Kind::Mutex(mutex)) if mutex.owner == Some(party as u8) => Some(object.waiters),
        _ => None,
    });
    let lends = |waiter: &usize| !objects.inheritance.closes_circle(*waiter, party);
    lenders.flat_map(bits).filter(lends).map(|waiter| objects.urgency(waiter)).max().unwrap_or(0)
}

/// What must hold between two operations.
fn check(objects: &Objects) {
    for (index, object) in objects.objects.iter().enumerate() {
        for waiter in bits(object.waiters) {
            assert_eq!(objects.parties[waiter].wait.place, Some(Place::Object(index as u16)));
        }
        match object.kind {
            Some(Kind::Semaphore { value }) => assert!(value == 0 || object.waiters == 0, "a lost wake-up"),
            Some(Kind::Mutex(mutex)) => {
                assert!(mutex.owner.is_some() || object.waiters == 0, "a lost wake-up");
                for waiter in bits(object.waiters) {
                    let owner = usize::from(mutex.owner.unwrap());
                    let circle = objects.inheritance.closes_circle(waiter, owner);
                    assert!(circle || objects.urgency(owner) >= objects.urgency(waiter), "no inheritance");
                }
            }
            Some(Kind::Flags(flags)) => {
                for waiter in bits(object.waiters) {
                    assert_eq!(flags::found(flags.bits, objects.parties[waiter].wait.bits), None, "a lost wake-up");
                }
            }
            _ => {}
        }
    }
    for (party, known) in objects.parties.iter().enumerate() {
        let is_owner = |object: &&Object| matches!(object.kind, Some(Kind::Mutex(m)) if m.owner == Some(party as u8));
        assert_eq!(objects.objects.iter().filter(is_owner).count(), known.owned as usize);
        let ceiling = objects.objects.iter().filter(is_owner).filter_map(|object| match object.kind {
            Some(Kind::Mutex(mutex)) => Some(mutex.ceiling),
            _ => None,
        });
        let (own, lent) = (known.base.max(ceiling.max().unwrap_or(0)), lent_to(objects, party));
        assert_eq!(objects.urgency(party), own.max(lent), "party {party}");
        if let Some(Place::Object(index)) = known.wait.place {
            assert_eq!(objects.objects[usize::from(index)].waiters >> party & 1, 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Threads that wait do nothing but have their wait cut short; nothing is lost, and whoever has
    /// a result was woken.
    #[test]
    fn any_sequence_leaves_a_consistent_state(steps in prop::collection::vec((0..THREADS.len(), step()), 1..200)) {
        let (mut objects, mut parties) = with_threads(THREADS);
        let first = parties[0];
        let semaphore = create(&mut objects, first, object::SEMAPHORE, 1, 0);
        let condition = create(&mut objects, first, object::CONDITION, 0, 0);
        let flags = [0, object::TAKEN].map(|kind| create(&mut objects, first, object::FLAGS, 0, kind));
        let with_inheritance = [0, object::RECURSIVE, object::CHECKED].map(|flags| (0, object::INHERIT | flags));
        let mutexes: Vec<u64> = with_inheritance.into_iter().chain([(25, 0), (99, object::RECURSIVE)])
            .map(|(ceiling, flags)| create(&mut objects, first, object::MUTEX, ceiling, flags)).collect();
        for (number, (thread, step)) in steps.into_iter().enumerate() {
            let party = parties[thread];
            let waits = objects.parties[party].wait.place.is_some();
            match step {
                Step::Cut(why) if waits => drop(objects.cut(party, why)),
                _ if waits => continue,
                Step::Take => drop(objects.semaphore_wait(party, semaphore, true)),
                Step::Post(all) => drop(objects.semaphore_post(party, semaphore, all)),
                Step::Lock(n) => drop(objects.mutex_lock(party, mutexes[n], true)),
                Step::Unlock(n) => drop(objects.mutex_unlock(party, mutexes[n])),
                Step::Rise(n, ceiling) => drop(objects.mutex_ceiling(party, mutexes[n], ceiling)),
                Step::Wait(n) => drop(objects.condition_wait(party, condition, mutexes[n])),
                Step::Wake(all) => drop(objects.condition_wake(party, condition, all, &NoWords)),
                Step::WaitFlags(bits) => drop(objects.flags_wait(party, flags[number % 2], bits, true)),
                Step::Set(bits) => drop(objects.flags_set(party, flags[number % 2], bits, bits % 3 == 0)),
                Step::Clear(bits) => drop(objects.flags_clear(party, flags[number % 2], bits)),
                Step::Cut(_) => {}
                Step::Leave => {
                    objects.detach(party);
                    parties[thread] = attach(&mut objects, thread as u32 + 1, THREADS[thread]);
                }
            }
            check(&objects);
            let wakes = objects.take_effects().wakes;
            for other in parties {
                let runner = objects.runner(other).unwrap();
                let has_result = objects.parties[other].wait.result.is_some();
                prop_assert!(other == party || has_result == (wakes >> runner & 1 == 1));
                if other != party && has_result {
                    objects.result(other);
                }
            }
        }
    }
}
