//! Measures how long a request to the broker takes after all other tasks, as many as there can be,
//! have done what they can to make it long: they wait for what the request hands on, half of them
//! with 62 real threads, stand in lists that it has to pass, and fill the tables that it searches.
//!
//! The asker, the last task, measures; the others are the crowd. One semaphore counts the phases,
//! another the tasks that are ready with their phase.

use crate::requests::{Table, answer, name, timed};
use crate::{manager, spawn};
use core::array::from_fn;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicUsize};
use pillion_abi::NEVER;
use pillion_abi::channel::{TASKS, THREADS, task_state};
use pillion_runtime::broker::open::CREATE;
use pillion_runtime::broker::{
    Answer, DATA_SIZE, KEPT_QUEUES, KEPT_SEMAPHORES, LONGEST_NS, QUEUE_MESSAGES, QUEUES, Request, SEMAPHORES,
};
use pillion_runtime::info::{self, broker, skin};
use pillion_runtime::{now, park, println, signal, sleep, wait};

/// Levels: of a thread that goes before all others in a list; of threads that are handed
/// everything, and of the asker; of the crowd's waiting threads; of the thread that leads them, so
/// that they wait as soon as it says so; and below all.
const FIRST: u8 = 212;
pub const HOARDER: u8 = 200;
const WAITER: u8 = 100;
pub const LEADER: u8 = 50;
const LAST: u8 = 1;

/// Threads that are handed something, or really wait: all but the main thread and the leading one.
const HOARD: Range<u8> = 2..THREADS as u8;

/// Nanoseconds between two probes of the broker.
const LOOK_NS: u64 = 2_000;

const FINISH: Request = Request::Finish { length: 1, priority: 0 };
const CANCEL: Request = Request::Cancel { length: 1, priority: 0 };

/// What threads can wait for; for a queue, also its maximum number of messages and their size.
#[derive(Clone, Copy)]
enum Kind {
    Semaphore,
    Receive(u32, u32),
    Send(u32, u32),
}

const SHORT: u32 = HOARD.end as u32 - HOARD.start as u32;

const ROUNDS: [Kind; 5] = [
    Kind::Semaphore,
    Kind::Receive(SHORT, 1),
    Kind::Send(SHORT, 1),
    Kind::Receive(1, DATA_SIZE),
    Kind::Send(1, DATA_SIZE),
];

/// The round whose object is waited for when a task ends.
const AT_END: usize = 1;

/// A round's object.
#[derive(Clone, Copy)]
struct Object {
    round: usize,
    handle: u32,
}

impl Object {
    fn open(round: usize) -> Object {
        let name = name(b'o', round);
        let request = match ROUNDS[round] {
            Kind::Semaphore => Request::SemOpen { name, flags: CREATE, value: 0 },
            Kind::Receive(messages, size) | Kind::Send(messages, size) => {
                Request::QueueOpen { name, flags: CREATE, messages, size }
            }
        };
        Object { round, handle: must(request) as u32 }
    }

    fn wait(self) -> Request {
        match ROUNDS[self.round] {
            Kind::Semaphore => Request::SemWait { semaphore: self.handle, block: true },
            Kind::Receive(_, size) => self.receive(size),
            Kind::Send(_, size) => self.send(size),
        }
    }

    /// The request that releases one waiter.
    fn give(self) -> Request {
        match ROUNDS[self.round] {
            Kind::Semaphore => Request::SemPost { semaphore: self.handle },
            Kind::Receive(_, size) => self.send(size),
            Kind::Send(_, size) => self.receive(size),
        }
    }

    fn send(self, length: u32) -> Request {
        Request::QueueSend { queue: self.handle, length, priority: 0, block: true }
    }

    fn receive(self, room: u32) -> Request {
        Request::QueueReceive { queue: self.handle, room, block: true }
    }

    /// Uses up what there is, so that nobody gets one without a wait.
    fn exhaust(self) {
        if let Kind::Send(messages, _) = ROUNDS[self.round] {
            (0..messages).for_each(|_| _ = must(self.wait()));
        }
    }

    /// Has one handed to each number of the task but two; none of them fetches it.
    fn hoard(self) {
        HOARD.for_each(|thread| _ = timed(thread, HOARDER, self.wait()));
        HOARD.for_each(|_| _ = must(self.give()));
    }

    fn unlink(self) {
        let name = name(b'o', self.round);
        must(match ROUNDS[self.round] {
            Kind::Semaphore => Request::SemUnlink { name, only: 0 },
            Kind::Receive(..) | Kind::Send(..) => Request::QueueUnlink { name, only: 0 },
        });
    }

    fn close(self) -> (u32, u64) {
        close(match ROUNDS[self.round] {
            Kind::Semaphore => Request::SemClose { semaphore: self.handle },
            Kind::Receive(..) | Kind::Send(..) => Request::QueueClose { queue: self.handle },
        })
    }
}

/// Makes a request as the leading thread.
fn ask(request: Request) -> u64 {
    timed(1, FIRST, request).0
}

/// Makes a request that cannot be refused.
fn must(request: Request) -> u64 {
    let value = ask(request);
    // An errno, or the answer that the caller has to wait.
    if value >= broker::MORE {
        println!("test crowd FAILED {request:?}: {}", value as i64);
        manager::end(1);
    }
    value
}

fn ticks(ns: u64) -> u64 {
    (u128::from(ns) * u128::from(info::task().tsc_hz) / 1_000_000_000) as u64
}

fn pause() {
    let _ = sleep(now() + ticks(1_000_000));
}

/// The progress of all tasks.
struct Pace {
    phase: u32,
    ready: u32,
}

impl Pace {
    /// The asker creates the semaphores, so that both count as its own.
    fn new(flags: u32) -> Pace {
        let open = |number| loop {
            let semaphore = ask(Request::SemOpen { name: name(b'p', number), flags, value: 0 });
            if semaphore as i64 >= 0 {
                return semaphore as u32;
            }
            pause();
        };
        Pace { phase: open(0), ready: open(1) }
    }

    fn next(&self) {
        must(Request::SemPost { semaphore: self.phase });
    }

    fn reach(&self, phase: usize) {
        while (must(Request::SemValue { semaphore: self.phase }) as usize) < phase {
            pause();
        }
    }

    fn ready(&self) {
        must(Request::SemPost { semaphore: self.ready });
    }

    fn gather(&self, mut count: usize) {
        while count != 0 {
            match ask(Request::SemWait { semaphore: self.ready, block: false }) {
                0 => count -= 1,
                _ => pause(),
            }
        }
    }
}

/// Number of tasks in the crowd: all but the asker and the broker.
const CROWD: usize = TASKS - 2;

/// Phases: two for each round, then those at the end.
const FULL: usize = 2 * ROUNDS.len() + 1;
const HOARDER_ENDS: usize = FULL + 1;
const ALL_END: usize = FULL + 2;

/// Starts the leading thread.
pub fn main(level: u8, leader: extern "C" fn(u64) -> !) -> ! {
    manager::started(0);
    let _ = spawn::start(1, level, leader, 0);
    park()
}

/// The object that the task's threads wait for, and the semaphore that they post when they have it.
static ROUND: AtomicUsize = AtomicUsize::new(0);
static HANDLE: AtomicU32 = AtomicU32::new(0);
static READY: AtomicU32 = AtomicU32::new(0);

/// A thread that waits as the library's threads do, with a deadline.
extern "C" fn waits(thread: u64) -> ! {
    let (notification, thread) = (skin::slot::NOTIFICATIONS + thread as u32, thread as u8);
    loop {
        let _ = wait(notification, NEVER);
        let object = Object { round: ROUND.load(Relaxed), handle: HANDLE.load(Relaxed) };
        let mut value = timed(thread, WAITER, object.wait()).0;
        while value == broker::WAIT {
            let _ = wait(notification, now() + ticks(10_000_000_000 + 1_000 * u64::from(thread)));
            value = timed(thread, WAITER, FINISH).0;
        }
        if value as i64 >= 0 {
            must(Request::SemPost { semaphore: READY.load(Relaxed) });
        }
    }
}

/// The task's threads that really wait, as far as there are that many.
fn waiters() -> Range<u8> {
    HOARD.start..info::task().skin.threads as u8
}

/// The other numbers of the task. The broker accepts the numbers of threads that do not exist: they
/// only stand in its lists.
fn others() -> impl Iterator<Item = u8> {
    (0..THREADS as u8).filter(|thread| !waiters().contains(thread))
}

/// Has all numbers of the task wait for an object.
fn enter(object: Object) {
    ROUND.store(object.round, Relaxed);
    HANDLE.store(object.handle, Relaxed);
    waiters().for_each(|thread| _ = signal(skin::slot::NOTIFICATIONS + u32::from(thread)));
    others().for_each(|thread| _ = timed(thread, LAST, object.wait()));
}

/// Closes an object as the library does. Returns how many requests, and the longest one's ticks.
fn close(request: Request) -> (u32, u64) {
    let (mut times, mut longest) = (0, 0);
    loop {
        let (answer, wakes, ticks) = answer(1, FIRST, request);
        waiters()
            .filter(|thread| wakes >> thread & 1 != 0)
            .for_each(|t| _ = signal(skin::slot::NOTIFICATIONS + u32::from(t)));
        (times, longest) = (times + 1, ticks.max(longest));
        if answer != Answer::More {
            return (times, longest);
        }
    }
}

/// Leads a task of the crowd.
pub extern "C" fn one_of_it(_: u64) -> ! {
    let index = info::task().skin.index as usize;
    let pace = Pace::new(0);
    READY.store(pace.ready, Relaxed);
    for thread in waiters() {
        let _ = spawn::start(thread.into(), WAITER, waits, thread.into());
    }
    for round in 0..ROUNDS.len() {
        pace.reach(2 * round + 1);
        let object = Object::open(round);
        enter(object);
        pace.ready();
        pace.reach(2 * round + 2);
        object.close();
        others().for_each(|thread| _ = timed(thread, LAST, FINISH));
        pace.ready();
    }
    pace.reach(FULL);
    let object = Object::open(AT_END);
    let (semaphores, queues) = shares(index);
    semaphores.for_each(|n| _ = must(semaphore(n, CREATE)));
    queues.for_each(|n| _ = must(queue(n, CREATE)));
    if index == 0 {
        object.hoard()
    } else {
        enter(object)
    }
    pace.ready();
    pace.reach(if index == 0 { HOARDER_ENDS } else { ALL_END });
    manager::ended()
}

/// The range of semaphores and of queues that a task of the crowd creates: its reserved ones, and
/// in the first task all unreserved ones as well.
fn shares(index: usize) -> (Range<usize>, Range<usize>) {
    let share = |places: usize, kept: usize| {
        let first = places - (CROWD - 1) * kept;
        if index == 0 { 0..first } else { first + (index - 1) * kept..first + index * kept }
    };
    // Two semaphores and the last queue are the asker's.
    (share(SEMAPHORES - 2, KEPT_SEMAPHORES), share(QUEUES - 1, KEPT_QUEUES))
}

fn semaphore(number: usize, flags: u32) -> Request {
    Request::SemOpen { name: name(b's', number), flags, value: 0 }
}

fn queue(number: usize, flags: u32) -> Request {
    Request::QueueOpen { name: name(b'q', number), flags, messages: QUEUE_MESSAGES, size: 1 }
}

/// Measures.
pub extern "C" fn asker(_: u64) -> ! {
    let (pace, mut table) = (Pace::new(CREATE), Table::default());
    for (round, kind) in ROUNDS.into_iter().enumerate() {
        let object = Object::open(round);
        object.exhaust();
        pace.next();
        pace.gather(CROWD);
        let count = match kind {
            Kind::Semaphore => hands_on(&mut table, ["sem-wait-before-all", "sem-close-hands-on"], object),
            Kind::Receive(SHORT, _) => {
                hands_on(&mut table, ["queue-receive-before-all", "queue-close-hands-on-messages"], object)
            }
            Kind::Send(SHORT, _) => {
                hands_on(&mut table, ["queue-send-before-all", "queue-close-hands-on-room"], object)
            }
            Kind::Receive(..) => gives(&mut table, "queue-send-wakes", object),
            Kind::Send(..) => gives(&mut table, "queue-receive-wakes", object),
        };
        object.unlink();
        pace.gather(count);
        pace.next();
        pace.gather(CROWD);
        HOARD.for_each(|thread| _ = timed(thread, HOARDER, FINISH));
    }
    let object = Object::open(AT_END);
    pace.next();
    pace.gather(CROWD);
    let semaphores: [u64; SEMAPHORES - 2] = from_fn(|n| must(semaphore(n, 0)));
    let queues: [u64; QUEUES - 1] = from_fn(|n| must(queue(n, 0)));
    pace.next();
    watch(&pace, &mut table, "hoarder-ends", 0..1);
    pace.gather(HOARD.len());
    pace.next();
    watch(&pace, &mut table, "crowd-ends", 1..CROWD);
    object.unlink();
    object.close();
    full_tables(&mut table, &semaphores, &queues);
    table.end()
}

/// The asker goes before all waiters, is handed as much as it can hold, and closes the object.
/// Returns how many of the others it was then handed to.
fn hands_on(table: &mut Table, [wait, close]: [&str; 2], object: Object) -> usize {
    HOARD.for_each(|thread| _ = timed(thread, HOARDER, object.wait()));
    table.broker_as(1, FIRST, wait, object.wait());
    ask(CANCEL);
    HOARD.for_each(|_| _ = must(object.give()));
    let (times, longest) = object.close();
    table.line("broker", close, longest, LONGEST_NS);
    println!("request broker-{close}: asked {times} times");
    HOARD.len()
}

/// The asker copies as much as possible, for one of the waiters.
fn gives(table: &mut Table, line: &str, object: Object) -> usize {
    table.broker_as(1, FIRST, line, object.give());
    object.close();
    1
}

/// Tasks end, at the manager's priority: no part of that can hide between two probes of the broker.
fn watch(pace: &Pace, table: &mut Table, line: &str, tasks: Range<usize>) {
    let (mut longest, mut last) = (0, now());
    while tasks.clone().any(|task| manager::state(task) != task_state::STOPPED) {
        let _ = sleep(now() + ticks(LOOK_NS));
        must(Request::SemValue { semaphore: pace.ready });
        let now = now();
        (longest, last) = ((now - last).max(longest), now);
    }
    table.line("broker", line, longest, LONGEST_NS);
}

/// Tasks that are gone created all that there can be, and the last task has it open.
fn full_tables(table: &mut Table, semaphores: &[u64], queues: &[u64]) {
    let last =
        |handles: &[u64]| handles.iter().copied().max_by_key(|handle| handle & 0xff).unwrap_or_else(|| park()) as u32;
    let (full, made) = (SEMAPHORES, SEMAPHORES + 1);
    table.broker_as(1, FIRST, "sem-open-full", semaphore(full, CREATE));
    table.broker_as(1, FIRST, "queue-open-full", queue(full, CREATE));
    close(Request::SemClose { semaphore: last(semaphores) });
    close(Request::QueueClose { queue: last(queues) });
    table.broker_as(1, FIRST, "sem-open-makes", semaphore(made, CREATE));
    table.broker_as(1, FIRST, "queue-open-makes", queue(made, CREATE));
    table.broker_as(1, FIRST, "sem-unlink", Request::SemUnlink { name: name(b's', made), only: 0 });
    table.broker_as(1, FIRST, "queue-unlink", Request::QueueUnlink { name: name(b'q', made), only: 0 });
}
