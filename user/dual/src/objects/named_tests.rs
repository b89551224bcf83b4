use super::named::{NAMES, NAMES_OF_ONE, Wanted};
use super::tests::{NoWords, sweep};
use super::*;
use pillion_abi::dual::name::{CREATE, EXCLUSIVE, GROUPS, SIZE};
use pillion_abi::dual::{Naming, object::INHERIT};
use proptest::prelude::*;
use std::vec;

/// The number of a memory.
const fn number(memory: u8) -> u64 {
    4711 + memory as u64
}

/// A thread of the process with that memory.
fn attach(objects: &mut Objects, memory: u8, priority: u8) -> Party {
    let runner = objects.parties.iter().filter(|known| known.identity.is_some()).count() as u8;
    objects.attach(Identity { memory, thread: u32::from(runner) + 1 }, number(memory), runner, priority).unwrap()
}

fn naming(name: &str, kind: u64, flags: u32, user: u32) -> Naming {
    let mut bytes = [0; SIZE];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Naming {
        name: bytes,
        kind: kind as u32,
        flags,
        mode: 0o600,
        object_flags: 0,
        value: 0,
        user,
        group: 100,
        privileged: 0,
        group_count: 0,
        groups: [0; GROUPS],
    }
}

fn wanted(name: &str, kind: u64, flags: u32) -> Wanted {
    Wanted::new(&naming(name, kind, flags, 1)).unwrap()
}

/// Two processes with a thread each, and a mutex that both have open.
fn two_with_mutex() -> (Objects, [Party; 2], u64) {
    let mut objects = Objects::new();
    let parties = [10, 30].map(|priority| attach(&mut objects, priority / 10, priority));
    let mut mutex = naming("/m", object::MUTEX, CREATE, 1);
    mutex.object_flags = INHERIT as u32;
    let mutex = Wanted::new(&mutex).unwrap();
    let handle = objects.open(parties[0], &mutex);
    assert!(handle > 0 && objects.open(parties[1], &mutex) == handle, "{handle}");
    (objects, parties, handle as u64)
}

/// The processes of today, without one.
fn without(gone: u8) -> impl Fn(usize) -> u64 {
    move |memory| if memory == usize::from(gone) { 0 } else { number(memory as u8) }
}

#[test]
fn two_processes_meet_at_a_name() {
    let (mut objects, [low, high], mutex) = two_with_mutex();
    assert_eq!(objects.mutex_lock(low, mutex, true), Outcome::Done(0));
    assert_eq!(objects.mutex_lock(high, mutex, true), Outcome::Waits);
    assert_eq!(objects.urgency(low), 30, "it inherits across processes");
    assert_eq!(objects.mutex_unlock(low, mutex), Ok(0));
    assert_eq!((objects.result(high), objects.urgency(low)), (Some(0), 10));
    let third = attach(&mut objects, 2, 50);
    assert_eq!(objects.mutex_lock(third, mutex, false), Outcome::Done(error::EINVAL), "it has not opened it");
    assert_eq!(objects.open(third, &wanted("/m", object::FLAGS, 0)), error::ENOENT, "another kind");
    assert_eq!(objects.open(low, &wanted("/m", object::MUTEX, CREATE | EXCLUSIVE)), error::EEXIST);
    assert_eq!(objects.destroy(low, mutex, true), error::EINVAL, "it is closed, not destroyed");
}

#[test]
fn a_condition_wakes_a_thread_of_another_process() {
    let (mut objects, [low, high], mutex) = two_with_mutex();
    let [flags, condition] = [object::FLAGS, object::CONDITION].map(|kind| {
        let handle = objects.open(low, &wanted("/x", kind, CREATE));
        assert!(handle > 0 && objects.open(high, &wanted("/x", kind, 0)) == handle);
        handle as u64
    });
    assert_eq!(objects.mutex_lock(high, mutex, true), Outcome::Done(0));
    assert_eq!(objects.condition_wait(high, condition, mutex), Outcome::Waits);
    assert_eq!(objects.condition_wake(low, condition, false, &NoWords), Ok(0));
    assert_eq!(objects.result(high), Some(0));
    assert_eq!(objects.flags_wait(high, flags, 5, true), Outcome::Waits);
    assert_eq!(objects.flags_set(low, flags, 7, false), Ok(0));
    assert_eq!(objects.result(high), Some(5));
}

#[test]
fn the_mode_decides_who_may() {
    let mut objects = Objects::new();
    let [owner, other] = [1, 2].map(|memory| attach(&mut objects, memory, 10));
    let asks = |user, group, more: &[u32]| {
        let mut asked = naming("/r", object::FLAGS, 0, user);
        asked.group = group;
        let stated = &more[..more.len().min(GROUPS)];
        asked.groups[..stated.len()].copy_from_slice(stated);
        asked.group_count = more.len() as u32;
        asked
    };
    // One of more groups than Linux states can be the object's.
    let many = [7; GROUPS + 1];
    for (mode, user, group, more, may) in [
        (0o606, 2, 5, &many[..], false),
        (0o660, 2, 5, &many, false),
        (0o666, 2, 5, &many, true),
        (0o606, 2, 5, &many[..GROUPS], true),
        (0o600, 1, 5, &[], true),
        (0o600, 2, 100, &[], false),
        (0o660, 2, 100, &[], true),
        (0o660, 2, 5, &[7, 100], true),
        (0o660, 2, 5, &[7], false),
        (0o066, 1, 100, &[], false),
        (0o666, 2, 5, &[], true),
        (0o644, 2, 5, &[], false),
        (0o606, 2, 100, &[], false),
    ] {
        let mut made = naming("/r", object::FLAGS, CREATE | EXCLUSIVE, 1);
        made.mode = mode;
        let handle = objects.open(owner, &Wanted::new(&made).unwrap());
        assert!(handle > 0);
        let mut asked = asks(user, group, more);
        let result = objects.open(other, &Wanted::new(&asked).unwrap());
        assert_eq!(result, if may { handle } else { error::EACCES }, "{mode:o}");
        let unlinked = objects.unlink(&Wanted::new(&asked).unwrap());
        assert_eq!(unlinked, if user == 1 { 0 } else { error::EACCES }, "{mode:o}");
        asked.privileged = 1;
        if user != 1 {
            assert_eq!(objects.open(other, &Wanted::new(&asked).unwrap()), handle);
            assert_eq!(objects.unlink(&Wanted::new(&asked).unwrap()), 0);
        }
        for party in [owner, other] {
            let _ = objects.close(party, handle as u64);
        }
        assert_eq!(objects.find(owner, handle as u64), None, "{mode:o}");
    }
}

/// Whatever Linux's kernel states, at most a call fails.
#[test]
fn odd_names_are_refused() {
    let mut long = naming("", object::FLAGS, CREATE, 1);
    long.name = [b'x'; SIZE];
    assert_eq!(Wanted::new(&long).unwrap_err(), error::ENAMETOOLONG);
    assert_eq!(Wanted::new(&naming("", object::FLAGS, CREATE, 1)).unwrap_err(), error::EINVAL);
    assert_eq!(Wanted::new(&naming("/x", object::FLAGS, 4, 1)).unwrap_err(), error::EINVAL);
    let mut many = naming("/x", object::FLAGS, CREATE, 1);
    many.group_count = u32::MAX;
    assert_eq!(Wanted::new(&many).unwrap().asker.more_count, GROUPS);
    let mut objects = Objects::new();
    let party = attach(&mut objects, 1, 10);
    assert_eq!(objects.open(party, &wanted("/x", 99, CREATE)), error::EINVAL);
}

#[test]
fn a_name_ends_with_its_last_user() {
    let (mut objects, [low, high], mutex) = two_with_mutex();
    objects.mutex_lock(low, mutex, true);
    assert_eq!(objects.close(low, mutex), Err(error::EBUSY), "its owner");
    objects.mutex_lock(high, mutex, true);
    assert_eq!(objects.close(high, mutex), Err(error::EBUSY), "a waiter");
    objects.mutex_unlock(low, mutex).unwrap();
    assert_eq!(objects.close(low, mutex), Ok(0));
    assert_eq!(objects.close(low, mutex), Err(error::EINVAL));
    assert_eq!(objects.mutex_unlock(high, mutex), Ok(0));
    assert_eq!(objects.unlink(&wanted("/m", object::MUTEX, 0)), 0);
    assert_eq!(objects.open(low, &wanted("/m", object::MUTEX, 0)), error::ENOENT);
    let other = objects.open(low, &wanted("/m", object::MUTEX, CREATE));
    assert!(other > 0 && other as u64 != mutex);
    assert_eq!(objects.mutex_lock(high, mutex, true), Outcome::Done(0), "it stays for who has it open");
    sweep(&mut objects, without(3));
    assert_eq!(objects.open(low, &wanted("/m", object::MUTEX, 0)), other, "the end of one leaves the other's name");
    let private = objects.create(low, object::FLAGS, 0, 0);
    assert_eq!(objects.close(low, private as u64), Err(error::EINVAL), "it is destroyed, not closed");
}

/// A mutex whose owner is in primary mode no more. The other thread waits for it, or does not.
fn owner_gone(waits: bool) -> (Objects, Party, u64) {
    let (mut objects, [low, high], mutex) = two_with_mutex();
    objects.mutex_lock(low, mutex, true);
    objects.detach(low);
    if waits {
        objects.mutex_lock(high, mutex, true);
    }
    (objects, high, mutex)
}

#[test]
fn the_next_owner_is_told_of_the_death_of_the_last() {
    for waits in [true, false] {
        let (mut objects, high, mutex) = owner_gone(waits);
        objects.take_effects();
        sweep(&mut objects, without(1));
        if waits {
            assert_eq!(objects.take_effects().wakes, 1 << objects.runner(high).unwrap());
            assert_eq!(objects.result(high), Some(error::EOWNERDEAD));
        } else {
            assert_eq!(objects.mutex_lock(high, mutex, true), Outcome::Done(error::EOWNERDEAD));
        }
        assert_eq!(objects.mutex_unlock(high, mutex), Ok(0));
        assert_eq!(objects.mutex_lock(high, mutex, true), Outcome::Done(0), "told once");
        assert_eq!(objects.mutex_unlock(high, mutex), Ok(0));
        sweep(&mut objects, without(3));
        assert!(objects.names.iter().all(Option::is_none) && objects.objects.iter().all(|one| one.kind.is_none()));
    }
}

/// Before what is left of that has been ended: it is for whoever uses the mutex, or waits for it.
#[test]
fn nobody_meets_the_dead() {
    for waits in [true, false] {
        let (mut objects, high, mutex) = owner_gone(waits);
        objects.miss(without(1));
        if waits {
            objects.bury_for(high);
            assert_eq!(objects.result(high), Some(error::EOWNERDEAD));
        } else {
            objects.bury([0, mutex]);
            assert_eq!(objects.mutex_lock(high, mutex, false), Outcome::Done(error::EOWNERDEAD));
        }
        assert!(objects.has_dead());
        while objects.sweep_some() {}
        assert_eq!(objects.mutex_unlock(high, mutex), Ok(0));
    }
}

/// A condition's mutex, whose owner dies while the condition's waiter waits for it.
#[test]
fn a_condition_tells_of_the_owners_death() {
    let (mut objects, [low, high], mutex) = two_with_mutex();
    let condition = objects.open(high, &wanted("/c", object::CONDITION, CREATE)) as u64;
    objects.mutex_lock(high, mutex, true);
    objects.condition_wait(high, condition, mutex);
    objects.mutex_lock(low, mutex, true);
    assert_eq!(objects.condition_wake(high, condition, true, &NoWords), Ok(0));
    assert_eq!(objects.result(high), None);
    sweep(&mut objects, without(1));
    assert_eq!(objects.result(high), Some(error::EOWNERDEAD));
    // Another one dies before the waiter is woken, and nothing of it has been ended.
    let low = attach(&mut objects, 1, 10);
    assert_eq!(objects.open(low, &wanted("/m", object::MUTEX, 0)) as u64, mutex);
    objects.condition_wait(high, condition, mutex);
    objects.mutex_lock(low, mutex, true);
    objects.miss(without(1));
    assert_eq!(objects.condition_wake(high, condition, true, &NoWords), Ok(0));
    assert_eq!(objects.result(high), Some(error::EOWNERDEAD));
    assert_eq!(objects.mutex_unlock(high, mutex), Ok(0));
}

#[test]
fn names_are_bounded() {
    let mut objects = Objects::new();
    let parties = [1, 2, 3].map(|memory| attach(&mut objects, memory, 10));
    let name = |number: usize| std::format!("/{number}");
    let open =
        |objects: &mut Objects, party, number| objects.open(party, &wanted(&name(number), object::FLAGS, CREATE));
    for number in 0..NAMES_OF_ONE {
        assert!(open(&mut objects, parties[0], number) > 0);
        assert!(open(&mut objects, parties[1], number) > 0);
    }
    assert_eq!(open(&mut objects, parties[0], NAMES), error::ENOSPC);
    for number in NAMES_OF_ONE..NAMES {
        assert!(open(&mut objects, parties[2], number) > 0);
    }
    assert_eq!(open(&mut objects, parties[0], NAMES_OF_ONE), error::ENOSPC, "one that is there, too");
    let fourth = attach(&mut objects, 4, 10);
    assert_eq!(open(&mut objects, fourth, NAMES), error::ENOSPC, "all names are in use");
    assert!(open(&mut objects, fourth, 0) > 0, "one that is there");
    sweep(&mut objects, without(3));
    assert!(open(&mut objects, fourth, NAMES) > 0);
}

const KEPT: Kept = Kept { is_queue: false, handle: 77 };

fn privileged(name: &str) -> Wanted {
    let mut asked = naming(name, object::SEMAPHORE, 0, 9);
    asked.privileged = 1;
    Wanted::new(&asked).unwrap()
}

/// Pays for all closes; returns how many there were.
fn pay(objects: &mut Objects) -> usize {
    let mut count = 0;
    while let Some((index, kept)) = objects.first_owed() {
        assert_eq!(kept, KEPT);
        assert_eq!(objects.first_owed(), None, "one runner at a time");
        objects.paid(index);
        count += 1;
    }
    count
}

#[test]
fn each_open_of_what_the_broker_keeps_is_closed_once() {
    let mut objects = Objects::new();
    let [first, second, third] = [1, 2, 3].map(|memory| attach(&mut objects, memory, 10));
    let own = wanted("/s", object::SEMAPHORE, CREATE);
    let (handle, needed) = objects.adopt(first, &own, KEPT, Origin::Made).unwrap();
    assert!(needed);
    assert_eq!(objects.adopt(first, &own, KEPT, Origin::Process), Ok((handle, false)), "it has it open");
    assert_eq!(objects.adopt(second, &own, KEPT, Origin::Process), Ok((handle, true)));
    let handle = u64::from(handle);
    assert_eq!(objects.semaphore_post(first, handle, false), Err(error::ELSEWHERE));
    assert_eq!(objects.semaphore_wait(second, handle, true), Outcome::Done(error::ELSEWHERE));
    assert_eq!((objects.kept(first, handle), objects.kept(third, handle)), (Some(KEPT), None));
    assert_eq!(objects.flags_set(first, handle, 1, false), Err(error::EINVAL));
    assert_eq!(pay(&mut objects), 0);
    assert_eq!(objects.close(first, handle), Ok(0));
    assert_eq!(pay(&mut objects), 1);
    sweep(&mut objects, without(2));
    // Whoever opens it before that is paid meets the same object, and the same rights.
    let (index, _) = objects.first_owed().unwrap();
    let foreign = Wanted::new(&naming("/s", object::SEMAPHORE, 0, 2)).unwrap();
    assert_eq!(objects.adopt(third, &foreign, KEPT, Origin::Process), Err(error::EACCES));
    assert_eq!(objects.adopt(third, &own, KEPT, Origin::Process), Ok((handle as u32, true)));
    objects.paid(index);
    assert_eq!(objects.kept(third, handle), Some(KEPT));
    assert_eq!(objects.close(third, handle), Ok(0));
    assert_eq!(pay(&mut objects), 1);
    assert_eq!(objects.objects.iter().find(|one| one.kind == Some(Kind::Kept(KEPT))).map(|one| one.generation), None);
    assert!(objects.names.iter().all(Option::is_none));
}

/// Nobody tells the broker: however often processes open and close, and several at once, the closes
/// that it has not been told of are bounded.
#[test]
fn what_is_owed_is_bounded() {
    let mut objects = Objects::new();
    let parties = [1, 2, 3].map(|memory| attach(&mut objects, memory, 10));
    let own = wanted("/s", object::SEMAPHORE, CREATE);
    let mut refused = 0;
    for round in 0..300 {
        let opened = parties.map(|party| objects.adopt(party, &own, KEPT, Origin::Made));
        for (party, opened) in parties.into_iter().zip(opened) {
            match opened {
                Ok((handle, _)) => assert_eq!(objects.close(party, handle.into()), Ok(0), "{round}"),
                Err(why) => refused += usize::from(why == error::EAGAIN),
            }
        }
    }
    let owed = pay(&mut objects);
    assert_eq!(owed + refused, 900);
    assert!(owed < 64 + MEMORIES, "{owed}");
    assert!(objects.adopt(parties[0], &own, KEPT, Origin::Made).is_ok(), "it has been paid");
}

#[test]
fn who_may_open_what_the_broker_keeps() {
    let mut objects = Objects::new();
    let party = attach(&mut objects, 1, 10);
    let any = Wanted::new(&naming("/s", object::SEMAPHORE, 0, 7)).unwrap();
    assert_eq!(objects.adopt(party, &any, KEPT, Origin::Process), Err(error::FORGOTTEN), "nobody knows whose it was");
    assert!(!objects.may_unlink(&any, KEPT) && objects.may_unlink(&privileged("/s"), KEPT));
    let (handle, _) = objects.adopt(party, &any, KEPT, Origin::Task).unwrap();
    assert!(!objects.may_unlink(&any, KEPT), "a task's");
    assert_eq!(objects.close(party, handle.into()), Ok(0));
    assert_eq!(pay(&mut objects), 1);
    assert!(objects.adopt(party, &any, KEPT, Origin::Made).is_ok() && objects.may_unlink(&any, KEPT));
    // A semaphore with a name is the broker's, never one of these.
    assert_eq!(objects.open(party, &wanted("/t", object::SEMAPHORE, CREATE)), error::EINVAL);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Open(usize),
    Close(usize),
    Unlink(usize),
    Lock,
    Unlock,
    Wait,
    Wake(bool),
    WaitFlags(u64),
    Set(u64),
    Cut,
    Pay,
    /// The process ends, and another one takes its place.
    Die,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..4usize).prop_map(Step::Open),
        (0..4usize).prop_map(Step::Open),
        (0..4usize).prop_map(Step::Close),
        (0..4usize).prop_map(Step::Unlink),
        Just(Step::Lock),
        Just(Step::Lock),
        Just(Step::Unlock),
        Just(Step::Wait),
        any::<bool>().prop_map(Step::Wake),
        (1..8u64).prop_map(Step::WaitFlags),
        (0..8u64).prop_map(Step::Set),
        Just(Step::Cut),
        Just(Step::Pay),
        Just(Step::Die),
    ]
}

const KINDS: [u64; 4] = [object::MUTEX, object::CONDITION, object::FLAGS, object::SEMAPHORE];

/// What a process has open, by kind; 0: nothing, or something that has ended.
type Handles = [u64; 4];

/// Opens counted by the broker that is not there, of what it keeps under each handle.
#[derive(Default)]
struct Broker {
    opens: std::collections::BTreeMap<u32, usize>,
    named: Option<u32>,
    made: u32,
}

impl Broker {
    fn open(&mut self) -> (Kept, Origin) {
        let (handle, from) = match self.named {
            Some(handle) => (handle, Origin::Process),
            None => {
                self.made += 1;
                (self.made, Origin::Made)
            }
        };
        self.named = Some(handle);
        *self.opens.entry(handle).or_default() += 1;
        (Kept { is_queue: false, handle }, from)
    }

    fn close(&mut self, kept: Kept) {
        let opens = self.opens.get_mut(&kept.handle).expect("it was open");
        *opens = opens.checked_sub(1).expect("it was open as often");
        if *opens == 0 && self.named == Some(kept.handle) {
            self.named = None;
        }
    }
}

fn open(objects: &mut Objects, broker: &mut Broker, party: Party, kind: usize) -> u64 {
    let wanted = wanted("/x", KINDS[kind], CREATE);
    if KINDS[kind] != object::SEMAPHORE {
        return objects.open(party, &wanted).try_into().unwrap();
    }
    let (kept, from) = broker.open();
    let adopted = objects.adopt(party, &wanted, kept, from);
    if !matches!(adopted, Ok((_, true))) {
        broker.close(kept);
    }
    adopted.unwrap().0.into()
}

fn check(objects: &Objects, broker: &Broker) {
    for (index, object) in objects.objects.iter().enumerate() {
        let Some(kind) = object.kind else { continue };
        assert!(object.memories != 0 || object.owed != 0, "nobody has object {index} open");
        for waiter in pillion_rt_core::inherit::bits(object.waiters) {
            assert!(object.is_open_in(objects.parties[waiter].memory().unwrap()), "a stranger waits");
        }
        if let Some(owner) = objects.owner(index) {
            assert!(object.is_open_in(objects.parties[owner].memory().unwrap()), "a stranger is the owner");
        }
        if let Kind::Kept(kept) = kind {
            let opens = object.memories.count_ones() as usize + usize::from(object.owed);
            assert_eq!(broker.opens[&kept.handle], opens);
        }
    }
    for (party, known) in objects.parties.iter().enumerate() {
        let owned = (0..OBJECTS).filter(|index| objects.owner(*index) == Some(party)).count();
        assert_eq!(known.owned as usize, owned);
    }
    for named in objects.names.iter().flatten() {
        assert!(objects.objects[usize::from(named.object)].kind.is_some(), "a name without an object");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Processes open, use and close four objects, and die in all states: nobody keeps what a dead
    /// one had, and nothing is left when all have died.
    #[test]
    fn whatever_processes_do_nothing_is_left_of_them(steps in prop::collection::vec((0..3usize, step()), 1..200)) {
        let (mut objects, mut broker) = (Objects::new(), Broker::default());
        let mut numbers = [0; MEMORIES];
        let mut parties = [0; 3];
        let mut handles: [Handles; 3] = [[0; 4]; 3];
        let mut born = 0;
        let mut bear = |objects: &mut Objects, numbers: &mut [u64; MEMORIES], process: usize| {
            born += 1;
            numbers[process] = born;
            let identity = Identity { memory: process as u8, thread: 1 };
            objects.attach(identity, born, process as u8, 10 * process as u8).unwrap()
        };
        for process in 0..3 {
            parties[process] = bear(&mut objects, &mut numbers, process);
        }
        for (process, step) in steps {
            let (party, own) = (parties[process], &mut handles[process]);
            let waits = objects.parties[party].wait.place.is_some();
            match step {
                Step::Die => {
                    objects.detach(party);
                    numbers[process] = 0;
                    sweep(&mut objects, |memory| numbers[memory]);
                    *own = [0; 4];
                    parties[process] = bear(&mut objects, &mut numbers, process);
                }
                Step::Cut => drop(objects.cut(party, Cut::TimedOut)),
                Step::Pay => while let Some((index, kept)) = objects.first_owed() {
                    broker.close(kept);
                    objects.paid(index);
                },
                _ if waits => continue,
                Step::Open(kind) => own[kind] = open(&mut objects, &mut broker, party, kind),
                Step::Close(kind) => drop(objects.close(party, own[kind])),
                Step::Unlink(kind) if KINDS[kind] == object::SEMAPHORE => broker.named = None,
                Step::Unlink(kind) => drop(objects.unlink(&wanted("/x", KINDS[kind], 0))),
                Step::Lock => drop(objects.mutex_lock(party, own[0], true)),
                Step::Unlock => drop(objects.mutex_unlock(party, own[0])),
                Step::Wait => drop(objects.condition_wait(party, own[1], own[0])),
                Step::Wake(all) => drop(objects.condition_wake(party, own[1], all, &NoWords)),
                Step::WaitFlags(wanted) => drop(objects.flags_wait(party, own[2], wanted, true)),
                Step::Set(bits) => drop(objects.flags_set(party, own[2], bits, false)),
            }
            check(&objects, &broker);
            objects.take_effects();
            for party in parties {
                if objects.parties[party].wait.place.is_none() {
                    objects.parties[party].wait.result = None;
                }
            }
        }
        sweep(&mut objects, |_| 0);
        while let Some((index, kept)) = objects.first_owed() {
            broker.close(kept);
            objects.paid(index);
        }
        prop_assert!(objects.objects.iter().all(|object| object.kind.is_none()));
        prop_assert!(objects.names.iter().all(Option::is_none));
        prop_assert!(broker.opens.values().all(|opens| *opens == 0) && broker.named.is_none());
    }
}
