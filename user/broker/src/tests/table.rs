//! Full tables.

use super::board::{Rig, value};
use pillion_runtime::broker::{Answer, Name, QUEUES, Request, SEMAPHORES, errno::ENFILE, open::CREATE};

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
        rig.ask(0, 0, Request::SemUnlink { name: number(1) });
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
