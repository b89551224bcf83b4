//! One behaviour per test.

use super::rig::{CANCEL, CEILING, FINISH, Rig, name, value};
use pillion_runtime::broker::{
    Answer, Caller, DATA_SIZE, ENDED_PARTS, HAND_ONS, NO_THREAD, Request, VALUE_MAX, badge, errno::*, open::*,
};
use std::vec::Vec;

fn semaphore(rig: &mut Rig, task: usize, initial: u32) -> u32 {
    value(rig.ask(task, 0, Request::SemOpen { name: name("/s"), flags: CREATE, value: initial }))
}

fn queue(rig: &mut Rig, task: usize, messages: u32) -> u32 {
    value(rig.ask(task, 0, Request::QueueOpen { name: name("/q"), flags: CREATE, messages, size: 8 }))
}

fn wait(semaphore: u32) -> Request {
    Request::SemWait { semaphore, block: true }
}

fn receive(queue: u32) -> Request {
    Request::QueueReceive { queue, room: 8, block: true }
}

fn failed(errno: i32) -> Answer {
    Answer::Failed(errno)
}

#[test]
fn only_the_right_senders() {
    let mut rig = Rig::new();
    assert_eq!(rig.manager(Request::Ready), Answer::OK);
    assert_eq!(rig.ask(0, 0, Request::Ready), failed(EPERM));
    assert_eq!(rig.ask(0, 0, Request::TaskEnded { index: 0, part: 0 }), failed(EPERM));
    assert_eq!(rig.manager(FINISH), failed(EPERM));
    assert_eq!(rig.manager(Request::TaskEnded { index: 16, part: 0 }), failed(EINVAL));
    assert_eq!(rig.manager(Request::TaskEnded { index: 0, part: ENDED_PARTS }), failed(EINVAL));
    let (label, words) = FINISH.encode(Caller::default());
    for badge in [0, 17, badge::SHARES, badge::SHARES | 17, u64::MAX] {
        let answer = rig.broker.serve(&mut rig.machine, badge, label, &words);
        assert_eq!(Answer::decode(&answer), failed(EPERM), "{badge}");
    }
    let answer = rig.broker.serve(&mut rig.machine, 1, 0, &words);
    assert_eq!(Answer::decode(&answer), failed(ENOSYS));
}

#[test]
fn names_belong_to_a_space() {
    let mut rig = Rig::new();
    let shared = semaphore(&mut rig, 0, 5);
    assert_eq!(semaphore(&mut rig, 1, 9), shared, "tasks that may share find it");
    let own = semaphore(&mut rig, 2, 7);
    assert_eq!(value(rig.ask(2, 0, Request::SemValue { semaphore: own })), 7);
    assert_eq!(rig.ask(3, 0, Request::SemOpen { name: name("/s"), flags: 0, value: 0 }), failed(ENOENT));
    assert_eq!(rig.ask(2, 0, Request::SemPost { semaphore: shared }), failed(EBADF), "a handle of somebody else");
    let exclusive = Request::SemOpen { name: name("/s"), flags: CREATE | EXCLUSIVE, value: 0 };
    assert_eq!(rig.ask(1, 0, exclusive), failed(EEXIST));
}

#[test]
fn a_semaphore_goes_with_its_name_and_its_last_user() {
    let mut rig = Rig::new();
    let old = semaphore(&mut rig, 0, 1);
    semaphore(&mut rig, 1, 0);
    assert_eq!(rig.ask(1, 0, Request::SemUnlink { name: name("/s"), only: 0 }), Answer::OK);
    assert_eq!(rig.ask(1, 0, Request::SemUnlink { name: name("/s"), only: 0 }), failed(ENOENT));
    let new = semaphore(&mut rig, 0, 3);
    assert_ne!(old, new);
    assert_eq!(rig.ask(1, 0, Request::SemUnlink { name: name("/s"), only: old }), failed(ENOENT), "another one");
    assert_eq!(value(rig.ask(1, 0, Request::SemValue { semaphore: old })), 1, "in use still");
    for task in [0, 1] {
        assert_eq!(rig.ask(task, 0, Request::SemClose { semaphore: old }), Answer::OK);
        assert_eq!(rig.ask(task, 0, Request::SemClose { semaphore: old }), failed(EBADF));
    }
    assert_eq!(rig.ask(0, 0, Request::SemClose { semaphore: new }), Answer::OK);
    assert_eq!(
        value(rig.ask(0, 0, Request::SemOpen { name: name("/s"), flags: 0, value: 0 })),
        new,
        "the name keeps it"
    );
}

#[test]
fn a_passing_name_goes_with_the_last_close() {
    let mut rig = Rig::new();
    let open = |flags| Request::SemOpen { name: name("/p"), flags, value: 0 };
    let Answer::Done([made, ..]) = rig.ask(0, 0, open(CREATE | PASSING)) else { panic!() };
    assert_eq!(rig.ask(1, 0, open(0)), Answer::Done([made, 0, 0]));
    assert_eq!(made & PASSES, PASSES);
    let semaphore = made as u32;
    assert_eq!(rig.ask(0, 0, Request::SemClose { semaphore }), Answer::OK);
    assert_eq!(rig.ask(0, 0, open(0)), Answer::Done([made, 0, 0]), "another task has it open");
    for task in [0, 1] {
        assert_eq!(rig.ask(task, 0, Request::SemClose { semaphore }), Answer::OK);
    }
    assert_eq!(rig.ask(0, 0, open(0)), failed(ENOENT));
    let Answer::Done([again, ..]) = rig.ask(0, 0, open(CREATE)) else { panic!() };
    assert_eq!(again & PASSES, 0, "as it was made");
}

#[test]
fn a_message_lies_where_its_thread_says() {
    let mut rig = Rig::new();
    let queue = queue(&mut rig, 0, 2);
    for at in [64, DATA_SIZE as u16, u16::MAX] {
        let begins = usize::from(at).min(DATA_SIZE as usize - 8);
        rig.at = at;
        rig.machine.transfers[0][begins..][..8].copy_from_slice(b"messages");
        assert_eq!(rig.ask(0, 0, Request::QueueSend { queue, length: 8, priority: 1, block: false }), Answer::OK);
        rig.machine.transfers[0].fill(0);
        assert_eq!(rig.ask(0, 0, receive(queue)), Answer::Done([8, 1, 0]));
        assert_eq!(&rig.machine.transfers[0][begins..][..8], b"messages", "{at}");
        assert!(rig.machine.transfers[0][..begins].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn bad_values() {
    let mut rig = Rig::new();
    let open = |value| Request::SemOpen { name: name("/v"), flags: CREATE, value };
    assert_eq!(rig.ask(0, 0, open(VALUE_MAX + 1)), failed(EINVAL));
    let semaphore = value(rig.ask(0, 0, open(VALUE_MAX)));
    assert_eq!(rig.ask(0, 0, Request::SemPost { semaphore }), failed(EOVERFLOW));
    assert_eq!(rig.ask(0, 64, wait(semaphore)), failed(EINVAL), "no such thread");
    assert_eq!(rig.ask(0, 0, Request::Abandon { thread: 64 }), failed(EINVAL));
    assert_eq!(rig.ask(0, 0, FINISH), failed(EINVAL), "nothing was asked for");
    for (messages, size) in [(0, 1), (129, 1), (1, 0), (1, u32::MAX)] {
        assert_eq!(
            rig.ask(0, 0, Request::QueueOpen { name: name("/q"), flags: CREATE, messages, size }),
            failed(EINVAL)
        );
    }
    let big = Request::QueueOpen { name: name("/q"), flags: CREATE, messages: 128, size: 513 };
    assert_eq!(rig.ask(0, 0, big), failed(ENOMEM));
}

#[test]
fn most_urgent_first_then_first_come() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    for (thread, level) in [(1, 20), (2, 50), (3, 20), (4, 50), (5, 10), (6, 50)] {
        assert_eq!(rig.at(0, thread, level, wait(s)), Answer::Wait);
    }
    for _ in 0..6 {
        rig.ask(0, 0, Request::SemPost { semaphore: s });
    }
    let order: Vec<usize> = rig.woken().into_iter().map(|(_, thread)| thread).collect();
    assert_eq!(order, [2, 4, 6, 1, 3, 5]);
    assert_eq!(value(rig.ask(0, 0, Request::SemValue { semaphore: s })), 0);
}

/// A task can state any level, but one that it cannot have brings it before no other.
#[test]
fn no_level_above_the_ceiling_counts() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    semaphore(&mut rig, 1, 0);
    for (task, thread, level) in [(0, 1, CEILING - 1), (0, 2, CEILING), (1, 3, u8::MAX), (0, 4, CEILING)] {
        assert_eq!(rig.at(task, thread, level, wait(s)), Answer::Wait);
    }
    for _ in 0..4 {
        rig.ask(0, 0, Request::SemPost { semaphore: s });
    }
    assert_eq!(rig.woken(), [(0, 2), (1, 3), (0, 4), (0, 1)]);
}

#[test]
fn what_was_handed_over_is_not_lost() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    assert_eq!(rig.ask(0, 1, Request::SemWait { semaphore: s, block: false }), failed(EAGAIN));
    assert_eq!(rig.ask(0, 1, wait(s)), Answer::Wait);
    assert_eq!(rig.ask(0, 1, FINISH), Answer::Wait, "somebody else woke it");
    assert_eq!(rig.ask(0, 1, wait(s)), failed(EBUSY));
    rig.ask(0, 0, Request::SemPost { semaphore: s });
    assert_eq!(rig.ask(0, 2, Request::SemWait { semaphore: s, block: false }), failed(EAGAIN), "nobody takes it away");
    assert_eq!(rig.ask(0, 1, CANCEL), Answer::OK, "it came before the timeout was seen");
    assert_eq!(rig.ask(0, 1, wait(s)), Answer::Wait);
    assert_eq!(rig.ask(0, 1, CANCEL), failed(ECANCELED));
    rig.ask(0, 0, Request::SemPost { semaphore: s });
    assert_eq!(value(rig.ask(0, 0, Request::SemValue { semaphore: s })), 1);
}

#[test]
fn a_thread_that_is_gone_passes_it_on() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    for thread in [3, 2, 1] {
        rig.ask(0, thread, wait(s));
    }
    rig.ask(0, 0, Request::SemPost { semaphore: s });
    rig.ask(0, 0, Request::Abandon { thread: 2 });
    assert_eq!(rig.ask(0, 0, Request::Abandon { thread: 3 }), Answer::OK);
    assert_eq!(rig.woken(), [(0, 3), (0, 1)]);
    assert_eq!(rig.ask(0, 1, FINISH), Answer::OK);
    assert_eq!(rig.ask(0, 3, FINISH), failed(EINVAL));
}

#[test]
fn closing_fails_who_waits() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    semaphore(&mut rig, 1, 0);
    rig.at(0, 1, 9, wait(s));
    rig.at(0, 2, 8, wait(s));
    rig.at(1, 1, 7, wait(s));
    rig.ask(1, 0, Request::SemPost { semaphore: s });
    rig.woken();
    rig.ask(0, 0, Request::SemClose { semaphore: s });
    assert_eq!(rig.woken(), [(0, 2), (1, 1), (0, 1)], "handed on to the other task, and each is told");
    assert_eq!([1, 2].map(|thread| rig.ask(0, thread, FINISH)), [failed(EBADF); 2]);
    assert_eq!(rig.ask(1, 1, FINISH), Answer::OK, "the one that was handed on");
}

/// A semaphore or a queue: task 0 is handed as much of it as its threads can hold, task 1 waits.
/// Returns the request that closes it.
fn hoard(rig: &mut Rig, queue: bool) -> Request {
    let (wait, give, close) = if queue {
        let q = [0, 1].map(|task| self::queue(rig, task, 64))[0];
        (
            receive(q),
            Request::QueueSend { queue: q, length: 0, priority: 0, block: false },
            Request::QueueClose { queue: q },
        )
    } else {
        let s = [0, 1].map(|task| semaphore(rig, task, 0))[0];
        (self::wait(s), Request::SemPost { semaphore: s }, Request::SemClose { semaphore: s })
    };
    (1..64).for_each(|thread| assert_eq!(rig.ask(0, thread, wait), Answer::Wait));
    (1..64).for_each(|_| assert_eq!(rig.ask(0, 0, give), Answer::OK));
    (1..64).for_each(|thread| assert_eq!(rig.ask(1, thread, wait), Answer::Wait));
    rig.woken();
    close
}

/// Number of threads of task 1 woken since the last call.
fn handed_on(rig: &mut Rig) -> usize {
    rig.woken().into_iter().filter(|(task, _)| *task == 1).count()
}

#[test]
fn a_close_hands_on_in_steps() {
    for queue in [false, true] {
        let mut rig = Rig::new();
        let close = hoard(&mut rig, queue);
        assert_eq!(rig.ask(0, 0, close), Answer::More);
        let mut all = handed_on(&mut rig);
        assert_eq!(all, HAND_ONS);
        // In between it is still open, and a thread that was handed something has it.
        assert_eq!(rig.ask(0, 1, FINISH), failed(EBADF));
        assert_eq!([(0, 63), (1, 63)].map(|(task, thread)| rig.ask(task, thread, FINISH)), [Answer::OK; 2]);
        while rig.ask(0, 0, close) == Answer::More {
            let more = handed_on(&mut rig);
            assert!(more <= HAND_ONS);
            all += more;
        }
        assert_eq!(all + handed_on(&mut rig), 62, "all but what was fetched in time");
        assert_eq!(rig.ask(0, 0, close), failed(EBADF));
        assert_eq!(rig.ask(1, 1, FINISH), Answer::Wait);
    }
}

#[test]
fn a_task_that_ends_hands_on_in_parts() {
    for queue in [false, true] {
        let mut rig = Rig::new();
        hoard(&mut rig, queue);
        let mut all = 0;
        for part in 0..ENDED_PARTS {
            assert_eq!(rig.manager(Request::TaskEnded { index: 0, part }), Answer::OK);
            let woken = rig.woken();
            assert!(woken.len() <= HAND_ONS && woken.iter().all(|(task, _)| *task == 1));
            all += woken.len();
        }
        assert_eq!(all, 63);
    }
}

#[test]
fn messages_by_priority_then_age() {
    let mut rig = Rig::new();
    let q = queue(&mut rig, 0, 4);
    for (text, priority) in [(b"one", 0), (b"two", 31), (b"thr", 31), (b"for", 5)] {
        assert_eq!(rig.send(0, 0, q, text, priority), Answer::OK);
    }
    assert_eq!(rig.ask(0, 0, Request::QueueAttributes { queue: q }), Answer::Done([4, 8, 4]));
    for (text, priority) in [(b"two", 31), (b"thr", 31), (b"for", 5), (b"one", 0)] {
        assert_eq!(rig.ask(0, 0, receive(q)), Answer::Done([3, priority, 0]));
        assert_eq!(&rig.machine.transfers[0][..3], text);
    }
    assert_eq!(rig.ask(0, 0, Request::QueueReceive { queue: q, room: 8, block: false }), failed(EAGAIN));
    assert_eq!(rig.ask(0, 0, Request::QueueReceive { queue: q, room: 7, block: true }), failed(EMSGSIZE));
    assert_eq!(rig.send(0, 0, q, &[0; 9], 0), failed(EMSGSIZE));
    assert_eq!(rig.send(0, 0, q, &[0; 8], 32), failed(EINVAL));
}

#[test]
fn a_receiver_gets_its_message_whatever_others_do() {
    let mut rig = Rig::new();
    let q = queue(&mut rig, 0, 1);
    queue(&mut rig, 1, 1);
    assert_eq!(rig.ask(1, 3, receive(q)), Answer::Wait);
    assert_eq!(rig.send(0, 0, q, b"first", 1), Answer::OK);
    assert_eq!(rig.woken(), [(1, 3)]);
    assert_eq!(rig.ask(0, 1, Request::QueueReceive { queue: q, room: 8, block: false }), failed(EAGAIN));
    assert_eq!(rig.send(0, 2, q, b"second", 2), Answer::Wait, "its slot is taken until it is fetched");
    assert_eq!(rig.ask(1, 3, FINISH), Answer::Done([5, 1, 0]));
    assert_eq!(&rig.machine.transfers[1][..5], b"first");
    assert_eq!(rig.woken(), [(0, 2)]);
    rig.machine.transfers[0][..6].copy_from_slice(b"second");
    assert_eq!(rig.ask(0, 2, Request::Finish { length: 9, priority: 2 }), failed(EMSGSIZE));
    assert_eq!(rig.ask(0, 2, Request::Finish { length: 6, priority: 2 }), Answer::OK, "it still had its turn");
    assert_eq!(rig.ask(1, 3, receive(q)), Answer::Done([6, 2, 0]));
    assert_eq!(&rig.machine.transfers[1][..6], b"second");
}

#[test]
fn a_message_that_is_not_fetched_stays_the_next_one() {
    let mut rig = Rig::new();
    let q = queue(&mut rig, 0, 3);
    rig.ask(0, 1, receive(q));
    rig.send(0, 0, q, b"a", 7);
    rig.send(0, 0, q, b"b", 7);
    rig.ask(0, 0, Request::Abandon { thread: 1 });
    assert_eq!(rig.ask(0, 2, receive(q)), Answer::Done([1, 7, 0]));
    assert_eq!(rig.machine.transfers[0][0], b'a');
}

#[test]
fn one_notice_for_a_message_in_the_empty_queue() {
    let mut rig = Rig::new();
    let q = queue(&mut rig, 0, 3);
    queue(&mut rig, 1, 3);
    let notify = |thread, wanted| Request::QueueNotify { queue: q, thread, wanted };
    assert_eq!(rig.ask(1, 0, notify(64, true)), failed(EINVAL));
    assert_eq!(rig.ask(1, 0, notify(5, true)), Answer::OK);
    assert_eq!(rig.ask(0, 0, notify(6, true)), failed(EBUSY));
    assert_eq!(rig.ask(0, 0, notify(6, false)), Answer::OK, "which changes nothing for the other");
    rig.ask(0, 1, receive(q));
    rig.send(0, 0, q, b"receiver", 0);
    rig.send(0, 0, q, b"x", 0);
    assert_eq!(rig.woken(), [(0, 1), (1, 5)]);
    assert_eq!(rig.machine.notices[1], 1 << (q & 0xff));
    rig.send(0, 0, q, b"y", 0);
    assert!(rig.woken().is_empty(), "once");
    assert_eq!(rig.ask(1, 0, notify(NO_THREAD, true)), Answer::OK);
    rig.ask(1, 0, Request::QueueClose { queue: q });
    assert_eq!(rig.ask(0, 0, notify(6, true)), Answer::OK, "it went with the close");
}

#[test]
fn a_task_that_ends_leaves_nothing() {
    let mut rig = Rig::new();
    let s = semaphore(&mut rig, 0, 0);
    semaphore(&mut rig, 1, 0);
    rig.at(0, 1, 9, wait(s));
    rig.at(1, 1, 1, wait(s));
    rig.ask(1, 0, Request::SemPost { semaphore: s });
    rig.woken();
    rig.task_ended(0);
    assert_eq!(rig.woken(), [(1, 1)], "what it was handed goes on");
    assert_eq!(rig.ask(0, 0, Request::SemPost { semaphore: s }), failed(EBADF));
    assert_eq!(value(rig.ask(1, 0, Request::SemOpen { name: name("/s"), flags: 0, value: 0 })), s, "shared names stay");
    assert_eq!(rig.ask(1, 0, Request::SemClose { semaphore: s }), Answer::OK);
    assert_eq!(rig.ask(1, 0, Request::SemClose { semaphore: s }), Answer::OK);
    let again = Request::SemOpen { name: name("/s"), flags: 0, value: 0 };
    assert_eq!(rig.ask(1, 0, again), failed(ENOENT), "until the last one has closed it, as its maker is gone");
    let unused = queue(&mut rig, 0, 128);
    rig.ask(0, 0, Request::QueueClose { queue: unused });
    rig.task_ended(0);
    let again = Request::QueueOpen { name: name("/q"), flags: 0, messages: 1, size: 1 };
    assert_eq!(rig.ask(1, 0, again), failed(ENOENT), "what nobody has open goes with its maker");
    let q = queue(&mut rig, 2, 128);
    rig.task_ended(2);
    assert_eq!(rig.ask(2, 0, Request::QueueAttributes { queue: q }), failed(EBADF));
    let again = Request::QueueOpen { name: name("/q"), flags: 0, messages: 1, size: 1 };
    assert_eq!(rig.ask(2, 0, again), failed(ENOENT), "names of its own do not");
    let all = Request::QueueOpen { name: name("/all"), flags: CREATE, messages: 128, size: 512 };
    assert!(matches!(rig.ask(3, 0, all), Answer::Done(_)), "nor does the memory");
}
