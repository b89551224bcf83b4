use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

fn queue(most: u32, size: u32) -> Queue {
    let (word, zero) = (AtomicU32::new, || AtomicU64::new(0));
    Queue {
        lock: word(FREE),
        number: word(3),
        most: word(most),
        size: word(size),
        polled: word(0),
        notifies: word(0),
        posted: zero(),
        next: zero(),
        texts: AtomicU64::new(0xffff_8880_0001_0000),
        _reserved: [zero(), zero()],
        messages: [const { Message { order: AtomicU64::new(0), length: AtomicU32::new(0), _reserved: AtomicU32::new(0) } };
            MESSAGES],
    }
}

#[test]
fn a_queue_of_unknown_measures_is_none() {
    for (most, size) in [(0, 1), (MESSAGES as u32 + 1, 1), (1, 0), (1, SIZE as u32 + 1), (u32::MAX, u32::MAX)] {
        assert_eq!(queue(most, size).shape(), None, "{most} of {size}");
    }
    let stranger = queue(1, 1);
    stranger.number.store(QUEUES as u32, Relaxed);
    assert_eq!(stranger.shape(), None);
    let shape = queue(MESSAGES as u32, SIZE as u32).shape().unwrap();
    assert_eq!(shape.text(2), 0xffff_8880_0001_0000 + 2 * SIZE as u64);
    assert_eq!([Side::Receives, Side::Sends].map(|side| shape.address(side)), [4 * (FIRST + 6), 4 * (FIRST + 7)]);
}

#[test]
fn whoever_is_at_the_messages_is_alone() {
    let queue = queue(1, 1);
    assert_eq!(queue.alone(true, || queue.alone(true, || ())), Some(None));
    queue.lock.store(BY_LINUX, Relaxed);
    assert_eq!(queue.alone(true, || ()), None, "a thread in Linux was interrupted");
    assert_eq!(queue.alone(false, || ()), Some(()), "it does not go on any more");
    assert_eq!(queue.alone(true, || ()), Some(()));
    for stranger in [BY_TASK, 7, u32::MAX] {
        queue.lock.store(stranger, Relaxed);
        assert_eq!(queue.alone(false, || ()), None, "{stranger}");
    }
}

#[test]
fn a_priority_that_nobody_sent_is_one() {
    let queue = queue(2, 8);
    let shape = queue.shape().unwrap();
    queue.messages[1].order.store(u64::MAX, Relaxed);
    queue.messages[1].length.store(u32::MAX, Relaxed);
    let first = queue.first(&shape).unwrap();
    assert!(first.priority < PRIORITIES && first.length == 8 && first.place == 1);
}

proptest! {
    /// Against POSIX: the highest priority first, and the oldest of these.
    #[test]
    fn messages_come_by_priority_then_by_age(
        most in 1..=MESSAGES,
        calls in prop::collection::vec(prop_oneof![Just(None), (0..4_u32, 0..9_usize).prop_map(Some)], 0..200),
    ) {
        let queue = queue(most as u32, 8);
        let shape = queue.shape().unwrap();
        let mut expected: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        let mut count = 0;
        for (call, priority) in calls.into_iter().enumerate() {
            prop_assert_eq!(queue.lets(&shape, Side::Receives), count != 0);
            prop_assert_eq!(queue.lets(&shape, Side::Sends), count != most);
            if let Some((priority, length)) = priority {
                let Some(place) = queue.room(&shape) else { continue };
                prop_assert!(!expected.values().flatten().any(|(there, _)| *there == place), "call {call}");
                queue.put(place, priority * 9999, length.min(8));
                expected.entry(priority * 9999).or_default().push((place, length.min(8)));
                count += 1;
            } else {
                let highest = expected.iter_mut().rev().find(|(_, messages)| !messages.is_empty());
                let wanted = highest.map(|(priority, messages)| {
                    let (place, length) = messages.remove(0);
                    There { place, priority: *priority, length }
                });
                let first = queue.first(&shape);
                prop_assert_eq!(first, wanted);
                if let Some(first) = first {
                    queue.remove(first.place);
                    count -= 1;
                }
            }
        }
    }

    /// Whatever Linux writes there, what comes of it is within bounds.
    #[test]
    fn any_words_are_bounded(
        words in prop::array::uniform4(any::<u32>()), orders in prop::collection::vec(any::<u64>(), MESSAGES),
        lengths in any::<u32>(),
    ) {
        let queue = queue(words[0], words[1]);
        queue.number.store(words[2], Relaxed);
        queue.lock.store(words[3], Relaxed);
        for (message, order) in queue.messages.iter().zip(orders) {
            message.order.store(order, Relaxed);
            message.length.store(lengths, Relaxed);
        }
        if let Some(shape) = queue.shape() {
            prop_assert!(shape.size <= SIZE && shape.address(Side::Sends) < 4 * (FIRST + 2 * QUEUES as u64));
            if let Some(first) = queue.first(&shape) {
                prop_assert!(first.place < MESSAGES && first.length <= shape.size && first.priority < PRIORITIES);
                queue.remove(first.place);
            }
            if let Some(place) = queue.room(&shape) {
                prop_assert!(place < MESSAGES);
                queue.put(place, words[3], SIZE);
            }
        }
        queue.alone(words[0] % 2 == 0, || ());
    }
}
