use super::*;
use pillion_abi::dual::file::BY_LINUX;
use proptest::prelude::*;
use std::vec::Vec;

fn file(kind: u32, value: u64) -> File {
    let word = AtomicU64::new;
    File {
        kind: AtomicU32::new(kind),
        polled: AtomicU32::new(0),
        key: word(0xffff_8880_0000_1000),
        value: word(value),
        posted: word(0),
        clock: word(MONOTONIC),
        changing: AtomicU32::new(FREE),
        _reserved: [const { AtomicU32::new(0) }; 5],
        settings: [0, 0].map(|first| Setting {
            clock: word(MONOTONIC),
            first: word(first),
            interval: word(0),
            flags: word(0),
        }),
    }
}

fn timer(first: u64, interval: u64) -> File {
    let file = file(kind::TIMER, 6 * TAKEN);
    file.settings[0].first.store(first, Relaxed);
    file.settings[0].interval.store(interval, Relaxed);
    file
}

fn at(time: u64) -> impl Fn(u64) -> Option<u64> {
    move |clock| (clock == MONOTONIC).then_some(time)
}

fn due(time: u64) -> Option<Due> {
    Some(Due { clock: MONOTONIC, time })
}

#[test]
fn an_event_is_taken_as_a_whole_and_a_semaphore_by_one() {
    let event = file(kind::EVENT, 7);
    assert_eq!(event.take(at(0)), Some(Take::Taken(7, None)));
    assert_eq!(event.take(at(0)), Some(Take::Nothing(None)));
    let semaphore = file(kind::SEMAPHORE, 2);
    assert_eq!(semaphore.take(at(0)), Some(Take::Taken(1, None)));
    assert_eq!(semaphore.take(at(0)), Some(Take::Taken(1, None)));
    assert_eq!(semaphore.take(at(0)), Some(Take::Nothing(None)));
}

#[test]
fn a_count_has_a_highest_value() {
    let event = file(kind::EVENT, 1);
    assert_eq!(event.add(COUNT_MAX), None, "eventfd(2): at most 0xfffffffffffffffe");
    assert_eq!(event.add(COUNT_MAX - 1), Some(()));
    assert_eq!(event.take(at(0)), Some(Take::Taken(COUNT_MAX, None)));
    assert_eq!(timer(1, 1).add(1), None);
    assert_eq!(file(kind::NONE, 1).take(at(0)), None);
}

#[test]
fn a_timer_that_expires_once_is_read_once() {
    let timer = timer(100, 0);
    assert_eq!(timer.take(at(99)), Some(Take::Nothing(due(100))));
    assert_eq!(timer.take(at(100)), Some(Take::Taken(1, due(100))));
    assert_eq!(timer.take(at(1_000)), Some(Take::Nothing(None)));
    timer.restore(1);
    assert_eq!(timer.take(at(1_000)), Some(Take::Taken(1, due(100))));
}

#[test]
fn a_timer_that_is_set_owes_nothing_of_before() {
    let timer = timer(100, 10);
    assert_eq!(timer.take(at(105)), Some(Take::Taken(1, due(100))));
    assert_eq!(timer.rest(at(105)), Some(Rest { left: 5, interval: 10 }));
    assert_eq!(timer.rest(at(127)), Some(Rest { left: 3, interval: 10 }), "whoever takes what has expired");
    assert_eq!(timer.set(New { first: 50, is_absolute: false, interval: 0 }, at(127)), Some(()));
    assert_eq!(timer.rest(at(130)), Some(Rest { left: 47, interval: 0 }));
    assert_eq!(timer.take(at(130)), Some(Take::Nothing(due(177))));
    assert_eq!(timer.take(at(177)), Some(Take::Taken(1, due(177))));
    assert_eq!(timer.rest(at(177)), Some(Rest::default()));
    assert_eq!(timer.set(New { first: 0, is_absolute: false, interval: 7 }, at(180)), Some(()));
    assert_eq!(timer.rest(at(180)), Some(Rest { left: 0, interval: 7 }));
    assert_eq!(timer.take(at(1_000)), Some(Take::Nothing(None)));
}

#[test]
fn a_length_of_time_counts_by_a_clock_that_nobody_sets() {
    let timer = timer(0, 0);
    timer.clock.store(REALTIME, Relaxed);
    assert_eq!(timer.set(New { first: 5, is_absolute: false, interval: 0 }, at(100)), Some(()));
    assert_eq!(timer.take(at(100)), Some(Take::Nothing(due(105))));
    assert_eq!(timer.set(New { first: 5, is_absolute: true, interval: 0 }, at(100)), Some(()));
    assert_eq!(timer.take(at(100)), None, "that clock is unknown");
}

#[test]
fn a_timer_that_linux_sets_is_left_alone() {
    let timer = timer(100, 10);
    timer.changing.store(BY_LINUX, Relaxed);
    assert_eq!(timer.set(New { first: 5, is_absolute: true, interval: 0 }, at(1)), None);
    assert_eq!(timer.take(at(100)), Some(Take::Taken(1, due(100))), "it is what it was");
}

#[test]
fn a_timer_whose_clock_is_set_back_waits_for_the_same_expiry() {
    let timer = timer(100, 10);
    assert_eq!(timer.take(at(125)), Some(Take::Taken(3, due(100))));
    assert_eq!(timer.take(at(50)), Some(Take::Nothing(due(130))));
}

proptest! {
    /// However late somebody reads, each expiry is taken once.
    #[test]
    fn expiries_are_counted_from_the_first(
        first in 1..1_000_000_u64, interval in 1..10_000_u64, mut times in prop::collection::vec(0..2_000_000_u64, 1..50),
    ) {
        times.sort_unstable();
        let timer = timer(first, interval);
        let taken: Vec<u64> = times.iter().map(|time| match timer.take(at(*time)) {
            Some(Take::Taken(count, _)) => count,
            Some(Take::Nothing(_)) => 0,
            None => panic!("refused"),
        }).collect();
        let last = *times.last().unwrap();
        let expired = if last < first { 0 } else { (last - first) / interval + 1 };
        prop_assert_eq!(taken.iter().sum::<u64>(), expired);
    }

    /// Whatever Linux writes, nothing overflows.
    #[test]
    fn any_words_are_taken(kind in 0..5_u32, value: u64, first: u64, interval: u64, now: u64, count: u64) {
        let file = timer(first, interval);
        file.kind.store(kind, Relaxed);
        file.value.store(value, Relaxed);
        let _ = file.take(at(now));
        let _ = file.rest(at(now));
        let _ = file.set(New { first, is_absolute: count % 2 == 0, interval }, at(now));
        let _ = file.add(count);
        file.restore(count);
    }
}
