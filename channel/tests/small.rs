//! Extents, events, copies, the log.

use pillion_abi::channel::{LOG_SIZE, Status};
use pillion_channel::{
    copy::copy,
    event,
    extent::{self, Extent},
    log::{Log, STEP, read},
};
use proptest::{collection::vec, prelude::*};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

#[test]
fn only_the_first_event_rings() {
    let events = AtomicU64::new(0);
    assert!(event::raise(&events, 4));
    assert!(!event::raise(&events, 4) && !event::raise(&events, 1));
    assert_eq!(events.swap(0, Relaxed), 5);
    assert!(event::raise(&events, 1));
    assert_eq!([0, 7].map(|want| event::wanted(&AtomicU32::new(want))), [0, 7]);
}

fn status() -> Box<Status> {
    // SAFETY: it consists of integers, which may be 0.
    unsafe { Box::new_zeroed().assume_init() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A place that is found lies inside and overlaps nothing; if none is found, there is none.
    #[test]
    fn extents_lie_apart(space_at in 0u64..50, space_size in 0u64..200, sizes in vec(1u64..60, 1..20), drops in vec(any::<bool>(), 20)) {
        let space = Extent { at: space_at, size: space_size };
        let mut taken: Vec<Extent> = Vec::new();
        for (size, drop) in sizes.into_iter().zip(drops) {
            let free = |at: u64| taken.iter().all(|t| at + size <= t.at || t.end() <= at);
            let best = (space.at..=space.end().saturating_sub(size)).filter(|at| at + size <= space.end()).find(|at| free(*at));
            prop_assert_eq!(extent::find(space, &mut taken.clone(), size), best);
            taken.extend(best.map(|at| Extent { at, size }));
            if drop && !taken.is_empty() {
                taken.remove(0);
            }
        }
    }

    #[test]
    fn copies_are_exact(len in 0usize..300, from in 0usize..9, to in 0usize..9) {
        let source: Vec<u8> = (0..320).map(|i| i as u8 | 1).collect();
        let mut target = vec![0; 320];
        // SAFETY: both are longer than `len` plus the offset.
        unsafe { copy(target.as_mut_ptr().add(to), source.as_ptr().add(from), len) };
        prop_assert_eq!(&target[to..to + len], &source[from..from + len]);
        prop_assert!(target[..to].iter().chain(&target[to + len..]).all(|byte| *byte == 0));
    }

    /// A reader gets all text in order, or learns how much it lost.
    #[test]
    fn the_log_is_read_as_written(appends in vec((0usize..9_000, 0usize..6_000), 1..30)) {
        let mut status = status();
        let status = NonNull::from(&mut *status);
        // SAFETY: the box lives on; nobody has a reference.
        let mut log = unsafe { Log::new(status) };
        let byte = |n: u64| (n % 251) as u8;
        let (mut written, mut place) = (0u64, 0u64);
        for (len, room) in appends {
            let text: Vec<u8> = (written..written + len as u64).map(byte).collect();
            log.append(&text);
            written += len as u64;
            let mut buffer = vec![0; room];
            // SAFETY: as above.
            let got = unsafe { read(status, place, &mut buffer) };
            let kept = (LOG_SIZE - STEP) as u64;
            prop_assert_eq!(got.lost, written.saturating_sub(kept).saturating_sub(place));
            place += got.lost;
            prop_assert_eq!(got.len as u64, (written - place).min(room as u64));
            prop_assert!((place..).zip(&buffer[..got.len]).all(|(n, b)| byte(n) == *b));
            place += got.len as u64;
            prop_assert_eq!(got.next, place);
        }
    }
}

/// A task that is loaded again restarts its log, and a reader starts again at byte 0.
#[test]
fn a_new_log_is_read_from_its_start() {
    let mut status = status();
    let status = NonNull::from(&mut *status);
    // SAFETY: the box lives on; nobody has a reference.
    let mut log = unsafe { Log::new(status) };
    log.append(b"anew");
    let mut buffer = [0; 8];
    // SAFETY: as above.
    let got = unsafe { read(status, 70_000, &mut buffer) };
    assert_eq!((&buffer[..got.len], got.lost, got.next), (&b"anew"[..], 0, 4));
}

/// A reader on another processor gets no byte that was being overwritten.
#[test]
fn the_log_is_read_while_it_is_written() {
    struct Shared(NonNull<Status>);
    // SAFETY: the status outlives the threads, one of which writes.
    unsafe impl Sync for Shared {}
    impl Shared {
        fn status(&self) -> NonNull<Status> {
            self.0
        }
    }

    let mut status = status();
    let shared = Shared(NonNull::from(&mut *status));
    let byte = |n: u64| (n % 251) as u8;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: the box lives on; there is one writer.
            let mut log = unsafe { Log::new(shared.status()) };
            let mut written = 0;
            while !stop.load(Relaxed) {
                let text: Vec<u8> = (written..written + 700).map(byte).collect();
                log.append(&text);
                written += 700;
            }
        });
        let (mut place, mut lost, mut buffer) = (0, 0, vec![0; 2 * LOG_SIZE]);
        while place < if cfg!(miri) { 3 * LOG_SIZE as u64 } else { 20_000_000 } {
            // SAFETY: the box lives on.
            let got = unsafe { read(shared.status(), place, &mut buffer) };
            lost += got.lost;
            let start = place + got.lost;
            assert!((start..).zip(&buffer[..got.len]).all(|(n, b)| byte(n) == *b), "from {start} on");
            assert_eq!(got.next, start + got.len as u64);
            place = got.next;
        }
        stop.store(true, Relaxed);
        assert!(lost < place, "the reader got nothing");
    });
}
