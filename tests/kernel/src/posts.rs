//! Signals to notifications of other processors. A loop here has PAUSE, where an emulator that
//! counts gives a processor's turn away.

use crate::{Test, cells};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use pillion_abi::{
    NEVER,
    object::Kind,
    status::Error::{self, Timeout},
};
use pillion_runtime::{Cap, cap_delete, now, signal, signal_yield, wait};
use pillion_test_kit::{Checked, Kit, Setup, check, done, refused, same, stop};

/// For four processors.
pub const TESTS: &[Test] = &[
    ("posts/wakes-there", wakes),
    ("posts/gathers-there", gathers),
    ("posts/storm", storm),
    ("posts/ends-in-a-storm", ends),
];

/// The home of the notifications. All others signal.
const HOME: u64 = 3;
const SENDERS: usize = 3;

const NOTES: usize = 64;
/// Threads that wait for them, each for every sixteenth.
const RECEIVERS: usize = 16;
/// How often each sender signals each.
const ROUNDS: u64 = 50;

/// How often each sender has signalled each notification, and how often according to the last look
/// after a signal.
type Counts = [[AtomicU64; NOTES]; SENDERS];
static SENT: Counts = [const { [const { AtomicU64::new(0) }; NOTES] }; SENDERS];
static SEEN: Counts = [const { [const { AtomicU64::new(0) }; NOTES] }; SENDERS];

/// Cells.
const FIRST: usize = 0;
const DONE: usize = 1;
const ROUND: usize = 2;

/// Logs what it gets.
extern "C" fn waiter(note: u64) -> ! {
    while let Ok([bits, _]) = wait(note as Cap, NEVER) {
        cells::log(bits);
    }
    stop()
}

fn wakes(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, HOME));
    let (one, two) = (done!(kit.badged(n, 1)), done!(kit.badged(n, 2)));
    done!(kit.start(Setup::new(20, waiter).with(n.into()).on(HOME)));
    refused!(wait(n, NEVER), Error::Elsewhere);
    for cap in [one, two] {
        cells::spin(3_000);
        done!(signal(cap));
    }
    cells::spin(3_000);
    done!(signal_yield(one));
    cells::spin(3_000);
    check!(cells::logged(&[1, 2, 1]), "{:?}", cells::list());
    Ok(())
}

/// Is busy for some time before it takes the bits.
extern "C" fn late(note: u64) -> ! {
    cells::spin(20_000);
    waiter(note)
}

fn gathers(kit: &mut Kit) -> Checked {
    let n = done!(kit.make(Kind::Notification, HOME));
    let caps = [done!(kit.badged(n, 1)), done!(kit.badged(n, 2)), done!(kit.badged(n, 4))];
    done!(kit.start(Setup::new(20, late).with(n.into()).on(HOME)));
    for cap in caps.into_iter().chain(caps) {
        cells::spin(1_000);
        done!(signal(cap));
    }
    cells::spin(40_000);
    // The first bit came with the letter, which stayed there; the others gathered behind it.
    check!(cells::logged(&[1, 7]), "{:?}", cells::list());
    Ok(())
}

/// The capability for a notification, or for a sender's bit of it.
fn cap_of(note: usize, sender: Option<usize>) -> Cap {
    cells::cap(FIRST) + (note * (1 + SENDERS) + sender.map_or(0, |s| 1 + s)) as Cap
}

extern "C" fn sender(me: u64) -> ! {
    let me = me as usize;
    for _ in 0..ROUNDS {
        for (note, count) in SENT[me].iter().enumerate() {
            count.fetch_add(1, SeqCst);
            if signal(cap_of(note, Some(me))).is_err() {
                stop();
            }
            core::hint::spin_loop();
        }
    }
    cells::add(DONE, 1);
    stop()
}

/// Waits for each for a while, which leaves the less urgent receivers their turn.
extern "C" fn receiver(me: u64) -> ! {
    for note in (me as usize..NOTES).step_by(RECEIVERS).cycle() {
        match wait(cap_of(note, None), now() + 30_000) {
            Ok([bits, _]) => {
                for s in (0..SENDERS).filter(|s| bits >> s & 1 == 1) {
                    SEEN[s][note].store(SENT[s][note].load(SeqCst), SeqCst);
                }
            }
            Err(Timeout) => {}
            Err(_) => break,
        }
    }
    stop()
}

fn storm(kit: &mut Kit) -> Checked {
    for counts in [&SENT, &SEEN] {
        counts.iter().flatten().for_each(|count| count.store(0, SeqCst));
    }
    for note in 0..NOTES {
        let n = done!(kit.make(Kind::Notification, HOME));
        if note == 0 {
            cells::set(FIRST, n);
        }
        for s in 0..SENDERS {
            same!(done!(kit.badged(n, 1 << s)), cap_of(note, Some(s)));
        }
    }
    for i in 0..RECEIVERS {
        done!(kit.start(Setup::new(20 + i as u8 % 4, receiver).with(i as u64).on(HOME)));
    }
    for s in 0..SENDERS {
        done!(kit.start(Setup::new(20, sender).with(s as u64).on(s as u64)));
    }
    let missing = || {
        let counts = SENT.iter().flatten().zip(SEEN.iter().flatten());
        counts.filter(|(sent, seen)| sent.load(SeqCst) != ROUNDS || seen.load(SeqCst) != ROUNDS).count()
    };
    for _ in 0..2_000 {
        if cells::get(DONE) == SENDERS as u64 && missing() == 0 {
            return Ok(());
        }
        kit.rest(20_000);
    }
    check!(false, "{} senders are done, {} bits are missing", cells::get(DONE), missing());
    Ok(())
}

/// Signals whatever notification is there.
extern "C" fn flooder(_: u64) -> ! {
    loop {
        // It may be gone.
        let _ = signal(cells::cap(FIRST));
        cells::add(ROUND, 1);
        core::hint::spin_loop();
    }
}

fn ends(kit: &mut Kit) -> Checked {
    for s in 0..SENDERS as u64 {
        done!(kit.start(Setup::new(20, flooder).on(s)));
    }
    for _ in 0..40 {
        let n = done!(kit.make(Kind::Notification, HOME));
        cells::set(FIRST, done!(kit.badged(n, 1)));
        kit.rest(3_000);
        done!(cap_delete(0, n));
    }
    check!(cells::get(ROUND) > 100, "{} signals", cells::get(ROUND));
    Ok(())
}
