//! Full tables.

use super::rig::{Rig, value};
use pillion_runtime::broker::{
    Answer, DEFAULT_MESSAGE_SIZE, DEFAULT_MESSAGES, KEPT_SEMAPHORES, Name, QUEUES, Request, SEMAPHORES,
    errno::{ENFILE, ENOMEM},
    open::CREATE,
};

fn number(n: usize) -> Name {
    Name::new(&[b'/', b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]).unwrap()
}

#[test]
fn as_many_as_there_are_places() {
    let mut rig = Rig::new();
    for n in 0..SEMAPHORES {
        value(rig.ask(0, 0, Request::SemOpen { name: number(n), flags: CREATE, value: n as u32 }));
    }
    let more = Request::SemOpen { name: number(SEMAPHORES), flags: CREATE, value: 0 };
    assert_eq!(rig.ask(0, 0, more), Answer::Failed(ENFILE));
    for n in 0..SEMAPHORES {
        let semaphore = value(rig.ask(1, 0, Request::SemOpen { name: number(n), flags: 0, value: 0 }));
        assert_eq!(value(rig.ask(1, 0, Request::SemValue { semaphore })), n as u32);
    }
    for n in 0..QUEUES {
        value(rig.ask(0, 0, Request::QueueOpen { name: number(n), flags: CREATE, messages: 2, size: 64 }));
    }
    let more = Request::QueueOpen { name: number(QUEUES), flags: CREATE, messages: 1, size: 1 };
    assert_eq!(rig.ask(0, 0, more), Answer::Failed(ENFILE));
}

#[test]
fn a_place_is_used_again_under_another_handle() {
    let mut rig = Rig::new();
    let mut last = 0;
    for _ in 0..300 {
        let handle = value(rig.ask(0, 0, Request::SemOpen { name: number(1), flags: CREATE, value: 0 }));
        assert!(handle != last && handle >> 8 != 0 && handle <= i32::MAX as u32);
        rig.ask(0, 0, Request::SemClose { semaphore: handle });
        rig.ask(0, 0, Request::SemUnlink { name: number(1), only: 0 });
        last = handle;
    }
}

#[test]
fn opens_are_counted_up_to_a_limit() {
    let mut rig = Rig::new();
    let open = Request::SemOpen { name: number(1), flags: CREATE, value: 0 };
    for _ in 0..u16::MAX {
        value(rig.ask(0, 0, open));
    }
    assert_eq!(rig.ask(0, 0, open), Answer::Failed(ENFILE));
}

fn semaphore(n: usize) -> Request {
    Request::SemOpen { name: number(n), flags: CREATE, value: 0 }
}

fn queue(n: usize, messages: u32, size: u32) -> Request {
    Request::QueueOpen { name: number(n), flags: CREATE, messages, size }
}

fn is_done(answer: Answer) -> bool {
    matches!(answer, Answer::Done(_))
}

/// Whatever one task takes, each of the others has its semaphores, its queue and the memory for it.
#[test]
fn one_task_does_not_take_what_is_kept_for_others() {
    let mut rig = Rig::new();
    rig.machine.tasks = 4;
    let made = (0..SEMAPHORES).take_while(|n| is_done(rig.ask(0, 0, semaphore(*n)))).count();
    assert_eq!(made, SEMAPHORES - 3 * KEPT_SEMAPHORES);
    for task in [2, 3, 1] {
        for n in 0..KEPT_SEMAPHORES {
            assert!(is_done(rig.ask(task, 0, semaphore(80 + n))), "{task} {n}");
        }
        assert_eq!(rig.ask(task, 0, semaphore(90)), Answer::Failed(ENFILE));
    }
    let made = (0..QUEUES).take_while(|n| is_done(rig.ask(0, 0, queue(*n, 1, 1)))).count();
    assert_eq!(made, QUEUES - 3);
    let usual = queue(80, DEFAULT_MESSAGES, DEFAULT_MESSAGE_SIZE);
    assert!(is_done(rig.ask(2, 0, usual)) && is_done(rig.ask(3, 0, usual)));

    let mut rig = Rig::new();
    rig.machine.tasks = 4;
    assert_eq!(rig.ask(0, 0, queue(0, 128, 512)), Answer::Failed(ENOMEM), "all of it");
    assert!(is_done(rig.ask(0, 0, queue(0, 104, 512))));
    assert_eq!(rig.ask(0, 0, queue(1, 1, 1)), Answer::Failed(ENOMEM));
    for task in [1, 2, 3] {
        assert!(is_done(rig.ask(task, 0, usual)), "{task}");
    }
}

/// What others have open when its maker ends counts towards their share, and the maker's own share
/// is reserved for it again.
#[test]
fn what_is_left_behind_counts_for_who_has_it() {
    let mut rig = Rig::new();
    rig.machine.tasks = 2;
    for n in 0..KEPT_SEMAPHORES {
        value(rig.ask(0, 0, semaphore(n)));
        value(rig.ask(1, 0, Request::SemOpen { name: number(n), flags: 0, value: 0 }));
    }
    rig.task_ended(0);
    let made = (10..80).take_while(|n| is_done(rig.ask(1, 0, semaphore(*n)))).count();
    assert_eq!(made, SEMAPHORES - 2 * KEPT_SEMAPHORES);
    for n in 0..KEPT_SEMAPHORES {
        assert!(is_done(rig.ask(0, 0, semaphore(90 + n))));
    }
}
