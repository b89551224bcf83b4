//! FIFOs against a model of two queues.

mod common;

use common::{Linux, Rig};
use pillion_channel::{Full, Moved};
use proptest::{collection::vec, prelude::*};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Step {
    Put(usize),
    Get(usize),
    LinuxRead(usize),
    LinuxWrite(usize),
    Flush,
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![0usize..12, 0usize..200];
    prop_oneof![
        4 => len.clone().prop_map(Step::Put),
        3 => len.clone().prop_map(Step::Get),
        3 => len.clone().prop_map(Step::LinuxRead),
        3 => len.prop_map(Step::LinuxWrite),
        1 => Just(Step::Flush),
        1 => Just(Step::Look),
    ]
}

/// The model: two bounded queues.
#[derive(Default)]
struct Model {
    to_linux: VecDeque<u8>,
    to_task: VecDeque<u8>,
    next: u8,
}

impl Model {
    fn fresh(&mut self, len: usize) -> Vec<u8> {
        let start = self.next;
        self.next = self.next.wrapping_add(len as u8).wrapping_add(1);
        (0..len).map(|i| start.wrapping_add(i as u8)).collect()
    }

    fn drain(first: &mut VecDeque<u8>, second: &mut VecDeque<u8>, most: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = first.drain(..most.min(first.len())).collect();
        let rest = most - bytes.len();
        bytes.extend(second.drain(..rest.min(second.len())));
        bytes
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// While both sides keep the rules, bytes come out as they went in, and a ring holds its size.
    #[test]
    fn as_two_queues(size in 1usize..150, steps in vec(step(), 1..80)) {
        let rig = Rig::new(size);
        let (mut fifo, mut linux, mut model) = (rig.fifo(), Linux::default(), Model::default());
        for step in steps {
            match step {
                Step::Put(len) => {
                    let bytes = model.fresh(len);
                    let expected = if model.to_linux.len() + len <= size {
                        model.to_linux.extend(&bytes);
                        Ok(Moved { bytes: len, user: 0 })
                    } else {
                        Err(Full)
                    };
                    prop_assert_eq!(fifo.put(&bytes), expected);
                }
                Step::Get(most) => {
                    let expected = Model::drain(&mut model.to_task, &mut model.to_linux, most);
                    let mut bytes = vec![0; most];
                    let moved = fifo.get(&mut bytes);
                    bytes.truncate(moved.bytes);
                    prop_assert_eq!(bytes, expected);
                }
                Step::LinuxRead(most) => {
                    let expected = Model::drain(&mut model.to_linux, &mut model.to_task, most);
                    prop_assert_eq!(linux.read(&rig, most), expected);
                }
                Step::LinuxWrite(len) => {
                    let bytes = model.fresh(len);
                    let wrote = linux.write(&rig, &bytes);
                    prop_assert_eq!(wrote, len.min(size - model.to_task.len()));
                    model.to_task.extend(&bytes[..wrote]);
                }
                Step::Flush => {
                    let len = model.to_linux.len() + model.to_task.len();
                    prop_assert_eq!(fifo.flush().bytes, len);
                    model.to_linux.clear();
                    model.to_task.clear();
                }
                Step::Look => {
                    let lengths = (model.to_linux.len(), model.to_task.len());
                    prop_assert_eq!(fifo.lengths(), lengths);
                    prop_assert_eq!(fifo.room(), size - lengths.0);
                    prop_assert_eq!(fifo.is_empty(), lengths == (0, 0));
                }
            }
            prop_assert_eq!(fifo.damaged(), 0);
            rig.check_guards();
        }
    }
}

/// Both sides run at once on two processors: each stream arrives complete and in order.
#[test]
fn both_sides_at_the_same_time() {
    const TOTAL: usize = if cfg!(miri) { 3_000 } else { 1_000_000 };
    let rig = Rig::new(257);
    let mut fifo = rig.fifo();
    let byte = |n: usize| (n % 253) as u8;
    let check = |place: &mut usize, bytes: &[u8]| {
        assert!((*place..).zip(bytes).all(|(n, b)| byte(n) == *b), "from {place} on");
        *place += bytes.len();
    };
    std::thread::scope(|scope| {
        let rig = &rig;
        scope.spawn(move || {
            let (mut linux, mut read, mut wrote) = (Linux::default(), 0, 0);
            while read < TOTAL || wrote < TOTAL {
                // Only the ring to Linux: what Linux wrote is for the task.
                let bytes = linux.read_to_linux(rig, 1 + read % 130);
                check(&mut read, &bytes);
                let bytes: Vec<u8> = (wrote..TOTAL.min(wrote + 1 + wrote % 90)).map(byte).collect();
                wrote += linux.write(rig, &bytes);
            }
        });
        let (mut put, mut got, mut buffer) = (0, 0, [0; 200]);
        while put < TOTAL || got < TOTAL {
            let bytes: Vec<u8> = (put..TOTAL.min(put + 1 + put % 120)).map(byte).collect();
            if fifo.put(&bytes).is_ok() {
                put += bytes.len();
            }
            // No more than Linux wrote: beyond that the task would take back its own bytes.
            let there = fifo.lengths().1.min(buffer.len());
            let moved = fifo.get(&mut buffer[..there]);
            check(&mut got, &buffer[..moved.bytes]);
        }
    });
    assert_eq!(fifo.damaged(), 0);
    rig.check_guards();
}

/// Linux is woken only if it announced that it waits for what happened.
#[test]
fn wakes_who_waits() {
    let rig = Rig::new(8);
    let (mut fifo, mut linux) = (rig.fifo(), Linux::default());
    let (want_data, want_room) = (common::word::WANTS, common::word::WANTS + 4);
    assert_eq!(fifo.put(&[1]), Ok(Moved { bytes: 1, user: 0 }));
    rig.scribble(want_data, 1);
    assert_eq!(fifo.put(&[2]), Ok(Moved { bytes: 1, user: 1 }));
    assert_eq!(fifo.put(&[0; 7]), Err(Full));
    assert_eq!(fifo.get(&mut [0; 2]), Moved { bytes: 2, user: 0 });
    rig.scribble(want_data, 0);
    rig.scribble(want_room, 1);
    assert_eq!(fifo.get(&mut [0; 2]), Moved { bytes: 0, user: 0 }, "this made no room");
    assert_eq!(linux.write(&rig, &[3; 9]), 8);
    assert_eq!(fifo.get(&mut [0; 2]), Moved { bytes: 2, user: 1 });
    assert_eq!(fifo.flush(), Moved { bytes: 6, user: 1 });
}

/// A request to the handler is seen once, as it was filled in, and Linux sees the answer.
#[test]
fn requests_are_answered() {
    use pillion_abi::channel::FifoControl;
    use std::{mem::offset_of, sync::atomic::Ordering::Relaxed};
    let rig = Rig::new(8);
    let mut fifo = rig.fifo();
    assert_eq!(fifo.request(), None);
    rig.word(offset_of!(FifoControl, argument)).store(77, Relaxed);
    rig.word(offset_of!(FifoControl, request_kind)).store(0x5401_0000_0003, Relaxed);
    rig.word(offset_of!(FifoControl, request)).store(1, Relaxed);
    let request = fifo.request().unwrap();
    assert_eq!((request.number, request.kind, request.command, request.argument), (1, 3, 0x5401, 77));
    fifo.answer(&request, -22);
    assert_eq!(rig.word(offset_of!(FifoControl, result)).load(Relaxed) as i64, -22);
    assert_eq!(rig.word(offset_of!(FifoControl, answer)).load(Relaxed), 1);
    assert_eq!(fifo.request(), None);
}
