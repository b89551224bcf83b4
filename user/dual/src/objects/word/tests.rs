use super::super::Outcome;
use super::super::tests::sweep;
use super::*;
use core::cell::Cell;
use pillion_abi::dual::object::{CHECKED, CONDITION, INHERIT, RECURSIVE};
use pillion_rt_core::inherit::bits;
use proptest::prelude::*;
use std::vec::Vec;

const MEMORY: u8 = 3;
/// Own urgency of each thread, whose number is its index plus one.
const URGENCY: [u8; 5] = [10, 20, 20, 30, 99];
const WORDS: usize = 3;

/// A process with words at 12, 20, ..., each behind a handle, and threads of which some are in
/// primary mode.
#[derive(Default)]
struct Process {
    words: [Cell<u32>; WORDS],
    handles: [Cell<u32>; WORDS],
    in_linux: Cell<u8>,
    /// Its memory is absent.
    is_absent: Cell<bool>,
    /// A word has changed each time that it is exchanged.
    is_strange: Cell<bool>,
}

impl Process {
    fn word(&self, at: u64) -> Option<&Cell<u32>> {
        let column = if at % 8 == 0 { &self.handles } else { &self.words };
        column.get((at as usize / 8).checked_sub(1)?).filter(|_| !self.is_absent.get())
    }
}

impl Words for Process {
    fn load(&self, at: u64) -> Option<u32> {
        self.word(at).map(Cell::get)
    }
    fn exchange(&self, at: u64, old: u32, new: u32) -> Option<bool> {
        let word = self.word(at)?;
        let is_old = word.get() == old && !self.is_strange.get();
        if is_old {
            word.set(new);
        }
        Some(is_old)
    }
    fn present(&self, thread: u32) -> Option<Present> {
        let priority = *URGENCY.get(thread.checked_sub(1)? as usize)?;
        (self.in_linux.get() >> thread & 1 == 0).then_some(Present { runner: thread as u8, priority })
    }
}

fn attach(objects: &mut Objects, thread: u32) -> Party {
    let priority = URGENCY[thread as usize - 1];
    objects.attach(Identity { memory: MEMORY, thread }, 7, thread as u8, priority).unwrap()
}

fn mutex(objects: &mut Objects, party: Party, word: u64) -> u64 {
    let handle = objects.create_with_word(party, INHERIT, 8 * (word + 1) + 4);
    assert!(handle > 0, "{handle}");
    handle as u64
}

fn lock(objects: &mut Objects, party: Party, mutex: u64, process: &Process) -> Outcome {
    let locked = objects.claimed(party, mutex, process, |objects| objects.mutex_lock(party, mutex, true));
    locked.unwrap_or_else(Outcome::Done)
}

fn unlock(objects: &mut Objects, party: Party, mutex: u64, process: &Process) -> Result<i64, i64> {
    objects.claimed(party, mutex, process, |objects| objects.mutex_unlock(party, mutex)).flatten()
}

fn wait(objects: &mut Objects, party: Party, condition: u64, mutex: u64, process: &Process) -> Outcome {
    let waits = objects.claimed(party, mutex, process, |objects| objects.condition_wait(party, condition, mutex));
    waits.unwrap_or_else(Outcome::Done)
}

#[test]
fn who_waits_finds_the_owner_which_inherits() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let [low, high] = [2, 4].map(|thread| attach(&mut objects, thread));
    let mutex = mutex(&mut objects, low, 0);
    process.words[0].set(1);
    for party in [low, high] {
        assert_eq!(lock(&mut objects, party, mutex, &process), Outcome::Waits);
    }
    let owner = objects.party_of(Identity { memory: MEMORY, thread: 1 }).expect("others wait for it");
    assert_eq!((process.words[0].get(), objects.urgency(owner)), (CLAIMED | 1, 30));
    assert_eq!(unlock(&mut objects, high, mutex, &process), Err(error::EPERM));
    assert_eq!(unlock(&mut objects, owner, mutex, &process), Ok(0));
    assert_eq!((process.words[0].get(), objects.urgency(owner)), (CLAIMED | 4, 10));
    assert_eq!(unlock(&mut objects, high, mutex, &process), Ok(0));
    assert_eq!((process.words[0].get(), objects.result(low)), (2, Some(0)), "nobody else waits");
    assert_eq!(objects.parties[low].owned, 0, "only the word knows");
}

#[test]
fn what_is_free_is_locked_by_a_call_as_well() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let party = attach(&mut objects, 1);
    let mutex = mutex(&mut objects, party, 0);
    assert_eq!(lock(&mut objects, party, mutex, &process), Outcome::Done(0));
    assert_eq!(process.words[0].get(), 1);
    assert_eq!(unlock(&mut objects, party, mutex, &process), Ok(0));
    assert_eq!(process.words[0].get(), 0);
    for (flags, at) in [(RECURSIVE, 4), (CHECKED, 6), (CHECKED, 0), (8, 4)] {
        assert_eq!(objects.create_with_word(party, flags, at), error::EINVAL);
    }
}

/// An owner in Linux is known as long as somebody waits for it, and comes back to what it inherits.
#[test]
fn an_owner_in_linux_is_found() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let waiter = attach(&mut objects, 4);
    let mutex = mutex(&mut objects, waiter, 0);
    process.in_linux.set(1 << 1);
    process.words[0].set(1);
    assert!(objects.is_owned_in_linux(waiter, mutex, &process));
    assert_eq!((lock(&mut objects, waiter, mutex, &process), objects.away()), (Outcome::Waits, 1));
    assert!(objects.is_owned_in_linux(waiter, mutex, &process));
    let owner = attach(&mut objects, 1);
    assert_eq!((objects.urgency(owner), objects.is_owned_in_linux(waiter, mutex, &process)), (30, false));
    assert_eq!(unlock(&mut objects, owner, mutex, &process), Ok(0));
    assert_eq!(objects.result(waiter), Some(0));
    objects.detach(owner);
    assert_eq!(objects.away(), 0);
    // Somebody who only asks leaves nobody behind.
    process.words[0].set(5);
    process.in_linux.set(1 << 5);
    let tried = objects.claimed(waiter, mutex, &process, |objects| objects.mutex_lock(waiter, mutex, false));
    assert_eq!((tried, process.words[0].get(), objects.away()), (Ok(Outcome::Done(error::EBUSY)), 5, 0));
}

#[test]
fn a_condition_gives_it_back() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let [waiter, waker] = [4, 2].map(|thread| attach(&mut objects, thread));
    let mutex = mutex(&mut objects, waiter, 0);
    let condition = objects.create(waiter, CONDITION, 0, 0) as u64;
    assert_eq!(wait(&mut objects, waiter, condition, mutex, &process), Outcome::Done(error::EPERM));
    process.words[0].set(4);
    assert_eq!(wait(&mut objects, waiter, condition, mutex, &process), Outcome::Waits);
    process.words[0].set(2);
    assert_eq!(objects.condition_wake(waker, condition, true, &process), Ok(0));
    assert_eq!((process.words[0].get(), objects.urgency(waker)), (CLAIMED | 2, 30));
    assert_eq!(unlock(&mut objects, waker, mutex, &process), Ok(0));
    assert_eq!((process.words[0].get(), objects.result(waiter)), (4, Some(0)));
    // Its time is over: it waits for the mutex, or has it at once.
    for (owner, result) in [(2, None), (0, Some(error::ETIMEDOUT))] {
        process.words[0].set(4);
        assert_eq!(wait(&mut objects, waiter, condition, mutex, &process), Outcome::Waits);
        process.words[0].set(owner);
        assert_eq!(objects.cut_with_words(waiter, Cut::TimedOut, &process), result);
        if result.is_none() {
            assert_eq!(unlock(&mut objects, waker, mutex, &process), Ok(0));
            assert_eq!(objects.result(waiter), Some(error::ETIMEDOUT));
        }
        assert_eq!(process.words[0].get(), 4);
    }
    // Its memory cannot be reached: it has to lock the mutex itself.
    assert_eq!(wait(&mut objects, waiter, condition, mutex, &process), Outcome::Waits);
    process.is_absent.set(true);
    assert_eq!(objects.cut_with_words(waiter, Cut::TimedOut, &process), Some(error::EINTR));
    process.is_absent.set(false);
    process.words[0].set(4);
    assert_eq!(wait(&mut objects, waiter, condition, mutex, &process), Outcome::Waits);
    process.is_absent.set(true);
    assert_eq!(objects.condition_wake(waker, condition, false, &process), Ok(0));
    assert_eq!(objects.result(waiter), Some(error::EINTR));
}

#[test]
fn a_thread_that_ends_leaves_nothing_locked() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let [ends, waits] = [1, 4].map(|thread| attach(&mut objects, thread));
    let mutexes = [0, 1, 2].map(|word| mutex(&mut objects, ends, word));
    [1, 1, 4].iter().zip(&process.words).for_each(|(owner, word)| word.set(*owner));
    mutexes.iter().zip(&process.handles).for_each(|(mutex, handle)| handle.set(*mutex as u32));
    assert_eq!(lock(&mut objects, waits, mutexes[1], &process), Outcome::Waits);
    let mut next = Some(0);
    while let Some(from) = next {
        next = objects.thread_ends_with_word(ends, from, &process);
    }
    assert_eq!(process.words.each_ref().map(Cell::get), [0, 4, 4]);
    assert_eq!((objects.result(waits), objects.parties[ends].owned), (Some(0), 0));
    // What lies there now is no mutex.
    process.words[0].set(1);
    process.handles[0].set(0);
    assert_eq!(objects.thread_ends_with_word(ends, 0, &process), Some(1));
    assert_eq!(process.words[0].get(), 1);
}

#[test]
fn a_faulty_process_harms_itself() {
    let (mut objects, process) = (Objects::new(), Process::default());
    let party = attach(&mut objects, 1);
    let mutex = mutex(&mut objects, party, 0);
    for flag in [&process.is_absent, &process.is_strange] {
        for word in [0, 77] {
            process.words[0].set(word);
            flag.set(true);
            assert_eq!(lock(&mut objects, party, mutex, &process), Outcome::Done(error::EFAULT));
            assert_eq!((objects.away(), objects.parties[party].owned), (0, 0));
            flag.set(false);
        }
    }
    // Owners that there are not are as many as a process may have threads.
    let handles: Vec<u64> = (0..40).map(|_| self::mutex(&mut objects, party, 0)).collect();
    let mut refused = 0;
    for (handle, number) in handles.into_iter().zip(1000..) {
        process.words[0].set(number);
        refused += usize::from(lock(&mut objects, party, handle, &process) != Outcome::Waits);
        objects.cut(party, Cut::TimedOut);
    }
    assert_eq!((refused, objects.away()), (9, 31));
    assert!(objects.attach(Identity { memory: 4, thread: 1 }, 8, 9, 1).is_ok());
    sweep(&mut objects, |_| 0);
    assert_eq!(objects.away(), 0);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Lock(usize),
    Unlock(usize),
    Wait(usize),
    Wake(bool),
    Cut(Cut),
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    let word = || 0..WORDS;
    prop_oneof![
        4 => word().prop_map(Step::Lock),
        4 => word().prop_map(Step::Unlock),
        1 => word().prop_map(Step::Wait),
        1 => any::<bool>().prop_map(Step::Wake),
        1 => prop_oneof![Just(Cut::TimedOut), Just(Cut::Recalled)].prop_map(Step::Cut),
        1 => Just(Step::Leave),
    ]
}

proptest! {
    /// Threads lock and unlock by themselves where the word allows it, in both modes. Each mutex
    /// has one owner, which is as urgent as those that wait for it, and nobody waits for a free
    /// one.
    #[test]
    fn words_and_task_agree(steps in prop::collection::vec((0..URGENCY.len(), step()), 1..200)) {
        let (mut objects, process) = (Objects::new(), Process::default());
        let first = attach(&mut objects, 1);
        let mutexes = [0, 1, 2].map(|word| mutex(&mut objects, first, word));
        let condition = objects.create(first, CONDITION, 0, 0) as u64;
        let mut owned = [[false; WORDS]; URGENCY.len()];
        // What each thread waits for, and the mutex that it has then.
        let mut waits: [Option<usize>; URGENCY.len()] = [None; URGENCY.len()];
        for (index, step) in steps {
            let thread = index as u32 + 1;
            process.in_linux.set(process.in_linux.get() & !(1 << thread));
            let party = attach(&mut objects, thread);
            match (step, waits[index]) {
                (Step::Lock(n), None) if !owned[index][n] => {
                    if process.words[n].get() == 0 {
                        process.words[n].set(thread);
                        owned[index][n] = true;
                    } else if lock(&mut objects, party, mutexes[n], &process) == Outcome::Waits {
                        waits[index] = Some(n);
                    } else {
                        prop_assert!(false, "locked twice");
                    }
                }
                (Step::Unlock(n), None) if owned[index][n] => {
                    owned[index][n] = false;
                    if process.words[n].get() == thread {
                        process.words[n].set(0);
                    } else {
                        prop_assert_eq!(unlock(&mut objects, party, mutexes[n], &process), Ok(0));
                    }
                }
                (Step::Wait(n), None) if owned[index][n] => {
                    owned[index][n] = false;
                    prop_assert_eq!(wait(&mut objects, party, condition, mutexes[n], &process), Outcome::Waits);
                    waits[index] = Some(n);
                }
                (Step::Wake(all), None) => drop(objects.condition_wake(party, condition, all, &process)),
                (Step::Cut(why), Some(n)) => {
                    if let Some(result) = objects.cut_with_words(party, why, &process) {
                        waits[index] = None;
                        let was_in_time = result == 0;
                        owned[index][n] = was_in_time || process.words[n].get() & THREAD == thread;
                    }
                }
                (Step::Leave, None) => {
                    process.in_linux.set(process.in_linux.get() | 1 << thread);
                    objects.detach(party);
                }
                _ => {}
            }
            for (index, n) in waits.into_iter().enumerate().filter_map(|(index, n)| n.map(|n| (index, n))) {
                let party = objects.party_of(Identity { memory: MEMORY, thread: index as u32 + 1 }).unwrap();
                if objects.parties[party].wait.place.is_none() {
                    prop_assert!(matches!(objects.result(party), Some(0 | error::ETIMEDOUT)));
                    owned[index][n] = true;
                    waits[index] = None;
                }
            }
            for n in 0..WORDS {
                let owners: Vec<u32> = (0..URGENCY.len()).filter(|i| owned[*i][n]).map(|i| i as u32 + 1).collect();
                prop_assert!(owners.len() <= 1, "two owners");
                let word = process.words[n].get();
                prop_assert_eq!(word & THREAD, owners.first().copied().unwrap_or(0));
                let object = objects.with_word(objects.party_of(Identity { memory: MEMORY, thread }).unwrap_or(first), mutexes[n]);
                let Some(object) = object else { continue };
                let waiters = objects.objects[object].waiters;
                prop_assert!(waiters == 0 || word & CLAIMED != 0, "an owner that does not ask");
                prop_assert!(waiters == 0 || word & THREAD != 0, "a lost wake-up");
                if let Some(owner) = objects.owner(object) {
                    let lends = |waiter: &usize| !objects.inheritance.closes_circle(*waiter, owner);
                    let lent = bits(waiters).filter(lends).map(|waiter| objects.urgency(waiter)).max();
                    prop_assert!(objects.urgency(owner) >= lent.unwrap_or(0), "no inheritance");
                }
            }
        }
    }
}
