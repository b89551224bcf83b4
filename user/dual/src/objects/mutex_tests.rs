use super::tests::{NoWords, attach, create, end, with_threads, woken};
use super::*;

#[test]
fn urgency_is_inherited_through_a_chain_until_the_mutex_is_unlocked() {
    let (mut objects, [low, middle, high]) = with_threads([10, 20, 30]);
    let [first, second] = [0; 2].map(|value| create(&mut objects, low, object::MUTEX, value, object::INHERIT));
    objects.mutex_lock(low, first, true);
    objects.mutex_lock(middle, second, true);
    assert_eq!(objects.mutex_lock(middle, first, true), Outcome::Waits);
    assert_eq!(objects.mutex_lock(high, second, true), Outcome::Waits);
    assert_eq!([low, middle].map(|party| objects.urgency(party)), [30, 30]);
    assert_eq!(objects.take_effects().changed, 1 << low | 1 << middle);
    assert_eq!(objects.mutex_unlock(low, first), Ok(0));
    assert_eq!((objects.urgency(low), objects.result(middle)), (10, Some(0)));
    assert_eq!(objects.cut(high, Cut::TimedOut), Some(error::ETIMEDOUT));
    assert_eq!(objects.urgency(middle), 20);
}

#[test]
fn an_owner_is_at_least_as_urgent_as_the_ceiling() {
    let (mut objects, [low, high]) = with_threads([10, 40]);
    let [first, second] = [30, 35].map(|ceiling| create(&mut objects, low, object::MUTEX, ceiling, 0));
    for (ceiling, flags) in [(100, 0), (30, object::INHERIT), (u64::MAX, 0)] {
        assert_eq!(objects.create(low, object::MUTEX, ceiling, flags), error::EINVAL);
    }
    let mut urgency_after = |mutex, locks: bool| {
        let done = if locks {
            objects.mutex_lock(low, mutex, true)
        } else {
            Outcome::Done(objects.mutex_unlock(low, mutex).unwrap())
        };
        assert_eq!(done, Outcome::Done(0));
        (objects.take_effects().changed >> low & 1 == 1, objects.urgency(low))
    };
    assert_eq!(urgency_after(first, true), (true, 30));
    assert_eq!(urgency_after(second, true), (true, 35));
    assert_eq!(urgency_after(first, false), (false, 35));
    assert_eq!(urgency_after(first, true), (false, 35));
    assert_eq!(urgency_after(second, false), (true, 30));
    assert_eq!(urgency_after(first, false), (true, 10));
    // Whoever is more urgent may not have it, but to change the ceiling.
    for may_wait in [true, false] {
        assert_eq!(objects.mutex_lock(high, first, may_wait), Outcome::Done(error::EINVAL));
    }
    assert_eq!(objects.mutex_lock_above(high, first, true), Outcome::Done(0));
    assert_eq!(objects.mutex_ceiling(high, first, 40), Ok(30));
    assert_eq!([objects.mutex_unlock(high, first), objects.mutex_ceiling(low, first, 0)], [Ok(0), Ok(40)]);
    assert_eq!(objects.mutex_lock(high, first, true), Outcome::Done(0));
    assert_eq!(objects.mutex_ceiling(high, first, 100), Err(error::EINVAL));
    let inherits = create(&mut objects, low, object::MUTEX, 0, object::INHERIT);
    assert_eq!(objects.mutex_ceiling(low, inherits, 5), Err(error::EINVAL));
}

/// Whoever gets it has its ceiling before it runs, also after a condition, and loses it while it
/// waits for one; an owner keeps it in Linux.
#[test]
fn a_ceiling_goes_with_the_mutex() {
    let (mut objects, [owner, waiter]) = with_threads([10, 20]);
    let mutex = create(&mut objects, owner, object::MUTEX, 30, object::RECURSIVE);
    let condition = create(&mut objects, owner, object::CONDITION, 0, 0);
    assert_eq!(objects.mutex_lock(waiter, mutex, true), Outcome::Done(0));
    assert_eq!(objects.condition_wait(waiter, condition, mutex), Outcome::Waits);
    assert_eq!(objects.urgency(waiter), 20);
    assert_eq!(objects.mutex_lock(owner, mutex, true), Outcome::Done(0));
    objects.detach(owner);
    assert_eq!(attach(&mut objects, 1, 15), owner);
    assert_eq!(objects.urgency(owner), 30);
    objects.condition_wake(owner, condition, false, &NoWords).unwrap();
    assert_eq!((objects.mutex_ceiling(owner, mutex, 50), objects.urgency(owner)), (Ok(30), 50));
    objects.mutex_unlock(owner, mutex).unwrap();
    assert_eq!([owner, waiter].map(|party| objects.urgency(party)), [15, 50]);
    assert!(woken(&mut objects, waiter));
    end(&mut objects, waiter);
    assert_eq!(objects.urgency(waiter), 20);
}

#[test]
fn a_mutex_knows_its_owner() {
    let (mut objects, [owner, other]) = with_threads([10, 20]);
    let checked = create(&mut objects, owner, object::MUTEX, 0, object::CHECKED);
    let recursive = create(&mut objects, owner, object::MUTEX, 0, object::RECURSIVE);
    assert_eq!(objects.create(owner, object::MUTEX, 0, object::RECURSIVE | object::CHECKED), error::EINVAL);
    for mutex in [checked, recursive] {
        assert_eq!(objects.mutex_unlock(owner, mutex), Err(error::EPERM));
        assert_eq!(objects.mutex_lock(owner, mutex, true), Outcome::Done(0));
        assert_eq!(objects.mutex_unlock(other, mutex), Err(error::EPERM));
        assert_eq!(objects.mutex_lock(other, mutex, false), Outcome::Done(error::EBUSY));
        assert_eq!(objects.destroy(owner, mutex, true), error::EBUSY);
    }
    assert_eq!(objects.mutex_lock(owner, checked, true), Outcome::Done(error::EDEADLK));
    assert_eq!(objects.mutex_lock(owner, recursive, true), Outcome::Done(0));
    assert_eq!([0; 3].map(|_| objects.mutex_unlock(owner, recursive)), [Ok(0), Ok(0), Err(error::EPERM)]);
}

#[test]
fn a_robust_mutex_is_mended_or_lost() {
    let (mut objects, [ends, mends, waits]) = with_threads([10, 20, 15]);
    let mutex = create(&mut objects, ends, object::MUTEX, 0, object::ROBUST | object::INHERIT);
    let condition = create(&mut objects, ends, object::CONDITION, 0, 0);
    assert_eq!(objects.mutex_consistent(ends, mutex), Err(error::EINVAL));
    // The next owner is told, also if it waited already, or waits for a condition.
    objects.mutex_lock(ends, mutex, true);
    assert_eq!(objects.mutex_lock(mends, mutex, true), Outcome::Waits);
    end(&mut objects, ends);
    assert_eq!(objects.result(mends), Some(error::EOWNERDEAD));
    assert_eq!(objects.mutex_consistent(waits, mutex), Err(error::EINVAL));
    assert_eq!([objects.mutex_consistent(mends, mutex), objects.mutex_unlock(mends, mutex)], [Ok(0); 2]);
    assert_eq!(objects.mutex_lock(waits, mutex, true), Outcome::Done(0));
    assert_eq!(objects.condition_wait(waits, condition, mutex), Outcome::Waits);
    objects.mutex_lock(ends, mutex, true);
    objects.condition_wake(ends, condition, false, &NoWords).unwrap();
    end(&mut objects, ends);
    assert_eq!(objects.result(waits), Some(error::EOWNERDEAD));
    // It ends as well: another one is told.
    end(&mut objects, waits);
    assert_eq!(objects.mutex_lock(mends, mutex, false), Outcome::Done(error::EOWNERDEAD));
    // It is not mended: who waits goes away empty-handed, and so does everybody after that.
    assert_eq!(objects.mutex_lock(waits, mutex, true), Outcome::Waits);
    assert_eq!((objects.mutex_unlock(mends, mutex), objects.result(waits)), (Ok(0), Some(error::ENOTRECOVERABLE)));
    assert_eq!(objects.mutex_lock(ends, mutex, false), Outcome::Done(error::ENOTRECOVERABLE));
    assert_eq!(objects.mutex_unlock(mends, mutex), Err(error::EPERM));
    assert_eq!(objects.destroy(ends, mutex, false), 0);
    assert_eq!(objects.parties.iter().map(|party| party.owned).sum::<u32>(), 0);
}

/// The owner of a mutex is known in Linux as well, and unlocks it when it has come back.
#[test]
fn an_owner_comes_back() {
    let (mut objects, [owner, waiter]) = with_threads([10, 20]);
    let mutex = create(&mut objects, owner, object::MUTEX, 0, object::INHERIT);
    objects.mutex_lock(owner, mutex, true);
    assert!(!objects.is_owned_in_linux(waiter, mutex, &NoWords));
    objects.detach(owner);
    assert!(objects.is_owned_in_linux(waiter, mutex, &NoWords) && !objects.is_owned_in_linux(waiter, 0, &NoWords));
    assert_eq!(objects.away(), 1);
    assert_eq!(objects.mutex_lock(waiter, mutex, true), Outcome::Waits);
    assert_eq!(attach(&mut objects, 1, 10), owner);
    assert_eq!((objects.urgency(owner), objects.away()), (20, 0));
    objects.mutex_unlock(owner, mutex).unwrap();
    assert_eq!(objects.result(waiter), Some(0));
    objects.detach(owner);
    end(&mut objects, waiter);
    objects.detach(waiter);
    assert_eq!(objects.away(), 0);
    assert_eq!(objects.inheritance.effective(waiter), 0);
}

/// Whoever wants to be told that the owner goes to Linux is; others wait on.
#[test]
fn an_owner_leaves() {
    let (mut objects, [owner, told, other]) = with_threads([10, 20, 30]);
    let [mutex, free] = [0; 2].map(|value| create(&mut objects, owner, object::MUTEX, value, object::INHERIT));
    objects.mutex_lock(owner, mutex, true);
    for party in [told, other] {
        assert_eq!(objects.mutex_lock(party, mutex, true), Outcome::Waits);
    }
    objects.tell_of_owner(told);
    objects.take_effects();
    objects.detach(owner);
    assert!(woken(&mut objects, told));
    assert_eq!([told, other].map(|party| objects.result(party)), [Some(futex::TO_LINUX), None]);
    // It waits again, for whoever has the mutex then.
    assert_eq!(objects.mutex_lock(told, mutex, true), Outcome::Waits);
    objects.tell_of_owner(told);
    assert_eq!(attach(&mut objects, 1, 10), owner);
    assert_eq!((objects.urgency(owner), objects.mutex_unlock(owner, mutex)), (30, Ok(0)));
    objects.mutex_lock(owner, free, true);
    objects.detach(owner);
    assert_eq!([told, other].map(|party| objects.result(party)), [None, Some(0)]);
}
