//! Random requests of three tasks, compared with the model: same answers, same threads woken in the
//! same order, same bytes.

use super::{
    model::Model,
    rig::{Rig, name},
};
use pillion_runtime::broker::{Answer, NO_THREAD, Request, open::CREATE};
use proptest::{collection, prelude::*};
use std::{vec, vec::Vec};

#[derive(Clone, Debug)]
struct Step {
    task: usize,
    thread: u8,
    level: u8,
    what: What,
}

/// A request; handles are indices into those seen so far.
#[derive(Clone, Debug)]
enum What {
    Ask(Request),
    TaskEnded,
}

fn names() -> impl Strategy<Value = pillion_runtime::broker::Name> {
    prop_oneof![Just("/a"), Just("/b")].prop_map(name)
}

fn request() -> impl Strategy<Value = Request> {
    // Mostly the newest two: those that were opened first.
    let handle = prop_oneof![12 => 0u32..2, 1 => 2u32..9];
    let h = || handle.clone();
    let length = prop_oneof![8 => 0u32..5, 1 => Just(9u32)];
    let priority = prop_oneof![8 => 0u32..3, 1 => 30u32..33];
    let message = (length, priority);
    let m = || message.clone();
    prop_oneof![
        1 => (names(), 0u32..4, 0u32..3).prop_map(|(name, flags, value)| Request::SemOpen { name, flags, value }),
        1 => h().prop_map(|semaphore| Request::SemClose { semaphore }),
        1 => names().prop_map(|name| Request::SemUnlink { name, only: 0 }),
        8 => (h(), any::<bool>()).prop_map(|(semaphore, block)| Request::SemWait { semaphore, block }),
        8 => h().prop_map(|semaphore| Request::SemPost { semaphore }),
        1 => h().prop_map(|semaphore| Request::SemValue { semaphore }),
        1 => (names(), 0u32..4, 0u32..4)
            .prop_map(|(name, flags, messages)| Request::QueueOpen { name, flags, messages, size: 4 }),
        1 => h().prop_map(|queue| Request::QueueClose { queue }),
        1 => names().prop_map(|name| Request::QueueUnlink { name, only: 0 }),
        9 => (h(), m(), any::<bool>())
            .prop_map(|(queue, (length, priority), block)| Request::QueueSend { queue, length, priority, block }),
        8 => (h(), 3u32..6, any::<bool>()).prop_map(|(queue, room, block)| Request::QueueReceive { queue, room, block }),
        1 => h().prop_map(|queue| Request::QueueAttributes { queue }),
        2 => (h(), prop_oneof![0u8..3, Just(NO_THREAD)], any::<bool>())
            .prop_map(|(queue, thread, wanted)| Request::QueueNotify { queue, thread, wanted }),
        12 => m().prop_map(|(length, priority)| Request::Finish { length, priority }),
        4 => m().prop_map(|(length, priority)| Request::Cancel { length, priority }),
        2 => (0u8..4).prop_map(|thread| Request::Abandon { thread }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![80 => request().prop_map(What::Ask), 1 => Just(What::TaskEnded)];
    (0usize..3, 0u8..4, 1u8..4, what).prop_map(|(task, thread, level, what)| Step { task, thread, level, what })
}

/// Initially both sharers have a semaphore and a queue open, and the third task has its own.
fn opens() -> impl Iterator<Item = Step> {
    let requests = [
        Request::SemOpen { name: name("/a"), flags: CREATE, value: 0 },
        Request::QueueOpen { name: name("/a"), flags: CREATE, messages: 2, size: 4 },
    ];
    let by = move |task| requests.map(|request| Step { task, thread: 0, level: 1, what: What::Ask(request) });
    [2, 0, 1].into_iter().flat_map(by)
}

/// Handles that the broker gave, of semaphores and of queues.
#[derive(Default)]
struct Handles {
    semaphores: Vec<u32>,
    queues: Vec<u32>,
}

impl Handles {
    /// Replaces the index in the request by a handle: the newest for 0, or one that never existed.
    fn fill(&self, mut request: Request) -> Request {
        let pick = |of: &Vec<u32>, index: &mut u32| {
            *index = of.iter().rev().nth(*index as usize).copied().unwrap_or(*index);
        };
        match &mut request {
            Request::SemClose { semaphore }
            | Request::SemWait { semaphore, .. }
            | Request::SemPost { semaphore }
            | Request::SemValue { semaphore } => pick(&self.semaphores, semaphore),
            Request::QueueClose { queue }
            | Request::QueueSend { queue, .. }
            | Request::QueueReceive { queue, .. }
            | Request::QueueAttributes { queue }
            | Request::QueueNotify { queue, .. } => pick(&self.queues, queue),
            _ => {}
        }
        request
    }

    fn note(&mut self, request: Request, handle: u32) {
        let list = match request {
            Request::SemOpen { .. } => &mut self.semaphores,
            Request::QueueOpen { .. } => &mut self.queues,
            _ => return,
        };
        if !list.contains(&handle) {
            list.push(handle);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_the_model_says(steps in collection::vec(step(), 1..150)) {
        let (mut rig, mut model, mut handles) = (Rig::new(), Model::default(), Handles::default());
        for (number, Step { task, thread, level, what }) in opens().chain(steps).enumerate() {
            let What::Ask(request) = what else {
                rig.task_ended(task);
                model.task_ended(task);
                prop_assert_eq!(rig.woken(), core::mem::take(&mut model.wakes));
                continue;
            };
            let request = handles.fill(request);
            let sent = [number as u8; 9];
            rig.machine.transfers[task][..9].copy_from_slice(&sent);
            let answer = rig.at(task, thread, level, request);
            let handle = match answer {
                Answer::Done([value, ..]) => value as u32,
                _ => 0,
            };
            prop_assert_eq!(answer, model.ask((task, thread), level, request, &sent, handle), "{:?}", request);
            if handle != 0 {
                handles.note(request, handle);
            }
            prop_assert_eq!(rig.woken(), core::mem::take(&mut model.wakes), "{:?}", request);
            for task in core::mem::take(&mut model.notices) {
                prop_assert_ne!(core::mem::take(&mut rig.machine.notices[task]), 0);
            }
            prop_assert!(rig.machine.notices.iter().all(|bits| *bits == 0));
            if let Some(bytes) = &model.received {
                prop_assert_eq!(&rig.machine.transfers[task][..bytes.len()], &bytes[..]);
            }
        }
    }

    /// The broker answers any message with any badge, without a panic.
    #[test]
    fn any_message(messages in collection::vec((0u64..20, any::<bool>(), 0u64..80, any::<u16>(), prop::array::uniform8(0u64..4)), 1..100)) {
        let mut rig = Rig::new();
        for (badge, shares, number, caller, words) in messages {
            let label = number | u64::from(caller) << 8;
            let badge = badge | u64::from(shares) << 8;
            let answer = rig.broker.serve(&mut rig.machine, badge, label, &words);
            prop_assert_eq!(Answer::decode(&answer).encode(), answer);
        }
    }
}
