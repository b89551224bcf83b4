//! Shared FIFOs.

use super::rig::{ALONE, Rig, value};
use pillion_runtime::broker::{Answer, DATA_SIZE, Request, errno::*};

fn failed(errno: i32) -> Answer {
    Answer::Failed(errno)
}

fn create(fifo: u32, size: u32) -> Request {
    Request::FifoCreate { fifo, size }
}

#[test]
fn for_tasks_that_may_share_and_numbers_that_are_shared() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask(ALONE, 0, create(0, 8)), failed(EACCES));
    for fifo in [2, 63, 64, u32::MAX] {
        assert_eq!(rig.ask(0, 0, create(fifo, 8)), failed(ENODEV), "{fifo}");
    }
    for size in [0, 1 << 31] {
        assert_eq!(rig.ask(0, 0, create(0, size)), failed(EINVAL));
    }
    assert_eq!(rig.ask(0, 0, create(0, 4096)), failed(ENOMEM));
    for request in [
        Request::FifoDestroy { fifo: 0 },
        Request::FifoResize { fifo: 0, size: 8 },
        Request::FifoPut { fifo: 0, length: 1 },
        Request::FifoGet { fifo: 0, length: 1 },
        Request::FifoFlush { fifo: 0 },
        Request::FifoState { fifo: 0 },
        Request::FifoPair { get: 0, put: 1 },
    ] {
        assert_eq!(rig.ask(0, 0, request), failed(EINVAL), "{request:?}: it is not there");
    }
}

#[test]
fn any_sharer_uses_it() {
    let mut rig = Rig::new();
    assert_eq!(rig.ask(0, 0, create(3, 10)), Answer::OK);
    assert_eq!(rig.ask(1, 0, create(3, 10)), failed(EBUSY));
    rig.machine.transfers[1][..5].copy_from_slice(b"hello");
    assert_eq!(value(rig.ask(1, 0, Request::FifoPut { fifo: 3, length: 5 })), 5);
    assert_eq!(rig.ask(1, 0, Request::FifoPut { fifo: 3, length: 6 }), failed(ENOSPC));
    assert_eq!(rig.ask(1, 0, Request::FifoPut { fifo: 3, length: DATA_SIZE + 1 }), failed(EINVAL));
    assert_eq!(rig.ask(0, 0, Request::FifoState { fifo: 3 }), Answer::Done([10, 5, 0]));
    assert_eq!(value(rig.ask(0, 0, Request::FifoGet { fifo: 3, length: u32::MAX })), 5);
    assert_eq!(&rig.machine.transfers[0][..5], b"hello");
    rig.ask(0, 0, Request::FifoPut { fifo: 3, length: 4 });
    assert_eq!(rig.ask(1, 0, Request::FifoFlush { fifo: 3 }), Answer::OK);
    assert_eq!(rig.ask(0, 0, Request::FifoState { fifo: 3 }), Answer::Done([10, 0, 0]));
    rig.ask(0, 0, create(1, 10));
    assert_eq!(rig.ask(0, 0, Request::FifoPair { get: 1, put: 3 }), Answer::OK);
    assert_eq!(rig.machine.fifos[1].as_ref().unwrap().read_from, 3);
}

#[test]
fn rings_lie_apart_and_their_memory_comes_back() {
    let mut rig = Rig::new();
    for (fifo, size) in [(0, 65), (1, 1024), (3, 800)] {
        assert_eq!(rig.ask(0, 0, create(fifo, size)), Answer::OK);
    }
    let mut rings: std::vec::Vec<(u64, u64)> = std::vec::Vec::new();
    for pipe in rig.machine.fifos.iter().flatten() {
        rings.extend(pipe.rings.map(|at| (at, at + pipe.size as u64)));
    }
    rings.sort_unstable();
    assert!(rings.windows(2).all(|pair| pair[0].1 <= pair[1].0) && rings[0].0 >= 0x1000 && rings[5].1 <= 0x2000);
    assert_eq!(rig.ask(0, 0, Request::FifoResize { fifo: 3, size: 1024 }), failed(ENOMEM));
    assert_eq!(rig.ask(0, 0, Request::FifoState { fifo: 3 }), Answer::Done([800, 0, 0]), "as it was");
    assert_eq!(rig.ask(0, 0, Request::FifoResize { fifo: 1, size: 512 }), Answer::OK);
    assert_eq!(rig.ask(0, 0, Request::FifoDestroy { fifo: 0 }), Answer::OK);
    assert_eq!(rig.ask(0, 0, create(0, 512)), Answer::OK);
}

#[test]
fn not_destroyed_while_a_process_has_it_open_unless_its_task_ends() {
    let mut rig = Rig::new();
    rig.ask(0, 0, create(0, 10));
    rig.ask(1, 0, create(1, 10));
    for fifo in [0, 1] {
        rig.machine.fifos[fifo].as_mut().unwrap().opens = 1;
    }
    assert_eq!(rig.ask(1, 0, Request::FifoDestroy { fifo: 0 }), failed(EINVAL));
    rig.task_ended(0);
    let ended = |fifo: usize| rig.machine.fifos[fifo].as_ref().unwrap().ended;
    assert!(ended(0) && !ended(1));
    assert_eq!(rig.ask(1, 0, create(0, 10)), Answer::OK);
}

#[test]
fn another_size_changes_neither_who_has_it_open_nor_who_made_it() {
    let mut rig = Rig::new();
    rig.ask(0, 0, create(0, 10));
    rig.machine.fifos[0].as_mut().unwrap().opens = 1;
    rig.ask(0, 0, Request::FifoPair { get: 0, put: 0 });
    assert_eq!(rig.ask(1, 0, Request::FifoResize { fifo: 0, size: 200 }), Answer::OK);
    let pipe = rig.machine.fifos[0].as_ref().unwrap();
    assert_eq!((pipe.opens, pipe.size), (1, 200));
    assert_eq!(rig.ask(0, 0, Request::FifoDestroy { fifo: 0 }), failed(EINVAL), "it is open still");
    rig.task_ended(1);
    assert!(!rig.machine.fifos[0].as_ref().unwrap().ended);
    rig.task_ended(0);
    assert!(rig.machine.fifos[0].as_ref().unwrap().ended, "it goes with who made it");
}

/// A process may have been interrupted between reading the rings' place and copying.
#[test]
fn rings_that_a_process_is_at_stay_where_they_are() {
    let mut rig = Rig::new();
    rig.ask(0, 0, create(0, 64));
    rig.machine.fifos[0].as_mut().unwrap().entered = true;
    let [start, _] = rig.machine.fifos[0].as_ref().unwrap().rings;
    assert_eq!(rig.ask(0, 0, Request::FifoResize { fifo: 0, size: 200 }), failed(EBUSY));
    assert_eq!(rig.ask(0, 0, Request::FifoState { fifo: 0 }), Answer::Done([64, 0, 0]), "as it was");
    rig.task_ended(0);
    assert_eq!(rig.ask(1, 0, create(0, 64)), failed(EBUSY));
    assert_eq!(rig.ask(1, 0, create(1, 64)), Answer::OK);
    assert!(rig.machine.fifos[1].as_ref().unwrap().rings[0] >= start + 128, "not at the old ones");
    rig.machine.fifos[0].as_mut().unwrap().entered = false;
    assert_eq!(rig.ask(1, 0, create(3, 64)), Answer::OK);
    assert_eq!(rig.machine.fifos[3].as_ref().unwrap().rings[0], start);
    assert_eq!(rig.ask(1, 0, create(0, 64)), Answer::OK);
}

/// A FIFO that takes all it can leaves some to each of the other shared FIFOs.
#[test]
fn one_fifo_does_not_take_all_the_memory() {
    let mut rig = Rig::new();
    let largest = (1..32).rev().map(|n| 64 * n).find(|size| rig.ask(0, 0, create(0, *size)) == Answer::OK);
    assert_eq!(largest, Some(1664));
    for fifo in [1, 3] {
        assert_eq!(rig.ask(1, 0, create(fifo, 128)), Answer::OK);
    }
}
