//! How long each request keeps its client's priority. For the broker, this is the whole request, as
//! it runs on the client's time; for the resource manager, only the kernel's path there, as the
//! manager continues at its own priority. Each request is made where it takes longest, and compared
//! with what the check of the system file assumes.

use crate::{manager, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use pillion_abi::NEVER;
use pillion_abi::call::MESSAGE_WORDS;
use pillion_abi::channel::{FIFOS, THREADS};
use pillion_runtime::broker::open::CREATE;
use pillion_runtime::broker::{
    Answer, Caller, DATA_SIZE, LONGEST_NS, Name, QUEUE_MESSAGES, QUEUES, Request, SEMAPHORES, WAKES,
};
use pillion_runtime::call::call;
use pillion_runtime::info::{self, broker, label, skin, slot};
use pillion_runtime::{now, park, println, signal, wait};

/// Levels of the asking thread, and of the observer.
const LEVELS: [u8; 2] = [200, 100];

/// The observer: the thread that takes the time.
const OBSERVER: u32 = 2;

/// First of the threads that wait in the broker.
const WAITERS: u8 = 3;

/// Longest path to the manager: the kernel's call and switch.
const WAY_NS: u64 = 1_500;

/// Starts the threads.
pub fn main() -> ! {
    manager::started(0);
    let _ = spawn::start(OBSERVER, LEVELS[1], observe, 0);
    let _ = spawn::start(1, LEVELS[0], run, 0);
    park()
}

/// When the request began, and how long it took until a less urgent thread ran.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static UNTIL: AtomicU64 = AtomicU64::new(0);

extern "C" fn observe(_: u64) -> ! {
    loop {
        let _ = wait(skin::slot::NOTIFICATIONS + OBSERVER, NEVER);
        UNTIL.store(now() - BEGAN.load(Relaxed), Relaxed);
    }
}

/// The results.
#[derive(Default)]
pub struct Table {
    failed: u64,
    count: u64,
}

impl Table {
    /// Adds a line: the request, its time, and whether that is within the limit.
    pub fn line(&mut self, of: &str, name: &str, ticks: u64, most: u64) {
        let ns = (u128::from(ticks) * 1_000_000_000 / u128::from(info::task().tsc_hz)) as u64;
        self.count += 1;
        println!("request {of}-{name}: {ns} ns of {most}");
        if ns <= most {
            println!("test requests/{of}-{name} ok");
        } else {
            self.failed += 1;
            println!("test requests/{of}-{name} FAILED {ns} ns, more than {most}");
        }
    }

    /// Makes a request to the broker as a thread of the task; returns the answer's first value.
    pub fn broker_as(&mut self, thread: u8, level: u8, name: &str, request: Request) -> u64 {
        let (value, ticks) = timed(thread, level, request);
        self.line("broker", name, ticks, LONGEST_NS);
        value
    }

    fn broker(&mut self, name: &str, request: Request) -> u64 {
        self.broker_as(1, LEVELS[0], name, request)
    }

    /// Ends the system with the result.
    pub fn end(self) -> ! {
        let Table { failed, count } = self;
        println!("tests {} passed {failed} failed", count - failed);
        manager::end(failed)
    }

    fn manager(&mut self, name: &str, ask: impl FnOnce()) {
        let _ = signal(skin::slot::NOTIFICATIONS + OBSERVER);
        BEGAN.store(now(), Relaxed);
        ask();
        let until = UNTIL.swap(u64::MAX / 2, Relaxed);
        self.line("manager", name, until, WAY_NS);
    }
}

/// Makes a request to the broker as a thread of the task. Returns the answer's first value and the
/// ticks that it took.
pub fn timed(thread: u8, level: u8, request: Request) -> (u64, u64) {
    let (answer, _, ticks) = answer(thread, level, request);
    let value = match answer {
        Answer::Done([value, ..]) => value,
        Answer::Wait => broker::WAIT,
        Answer::More => broker::MORE,
        Answer::Failed(errno) => -i64::from(errno) as u64,
    };
    (value, ticks)
}

/// Like [`timed`], but returns the answer itself, the task's threads that it woke, and the ticks.
pub fn answer(thread: u8, level: u8, request: Request) -> (Answer, u64, u64) {
    let (label, words) = request.encode(Caller { thread, level, at: 0 });
    let began = now();
    let answer = call(skin::slot::BROKER, label, words);
    let ticks = now() - began;
    // Only a stop of the thread could make the call itself fail, and nothing stops it.
    let words = answer.unwrap_or_else(|_| park()).words;
    (Answer::decode(&words), words[WAKES], ticks)
}

/// Makes a request without a line in the table.
fn ask(request: Request) -> u64 {
    timed(1, LEVELS[0], request).0
}

/// A name that is compared up to its end.
pub fn name(kind: u8, number: usize) -> Name {
    let mut text = *b"/a long name, which differs at its end ..";
    let end = text.len();
    (text[1], text[end - 2], text[end - 1]) = (kind, b'0' + (number / 10) as u8, b'0' + (number % 10) as u8);
    Name::new(&text).unwrap_or_else(|| park())
}

extern "C" fn run(_: u64) -> ! {
    let mut table = Table::default();
    semaphores(&mut table);
    queues(&mut table);
    fifos(&mut table);
    managers(&mut table);
    table.end()
}

/// The last place of the full table, and the list with all other threads in it.
fn semaphores(table: &mut Table) {
    let open = |n| Request::SemOpen { name: name(b's', n), flags: CREATE, value: 0 };
    let made: [u64; SEMAPHORES - 1] = core::array::from_fn(|n| ask(open(n)));
    let semaphore = table.broker("sem-open-makes", open(SEMAPHORES - 1)) as u32;
    table.broker("sem-open-finds", open(SEMAPHORES - 1));
    table.broker("sem-open-full", open(SEMAPHORES));
    for thread in WAITERS..THREADS as u8 {
        timed(thread, 1, Request::SemWait { semaphore, block: true });
    }
    table.broker("sem-wait", Request::SemWait { semaphore, block: true });
    table.broker("finish-waits", Request::Finish { length: 0, priority: 0 });
    table.broker("cancel", Request::Cancel { length: 0, priority: 0 });
    table.broker("abandon", Request::Abandon { thread: WAITERS });
    table.broker("sem-value", Request::SemValue { semaphore });
    table.broker("sem-post", Request::SemPost { semaphore });
    table.broker("sem-close-held", Request::SemClose { semaphore });
    // All waiters fail, and each is woken.
    table.broker("sem-close-fails-all", Request::SemClose { semaphore });
    for thread in WAITERS..THREADS as u8 {
        timed(thread, 1, Request::Finish { length: 0, priority: 0 });
    }
    table.broker("sem-unlink", Request::SemUnlink { name: name(b's', SEMAPHORES - 1), only: 0 });
    for (n, semaphore) in made.into_iter().enumerate() {
        ask(Request::SemClose { semaphore: semaphore as u32 });
        ask(Request::SemUnlink { name: name(b's', n), only: 0 });
    }
}

fn queues(table: &mut Table) {
    let sized =
        |n, size: usize| Request::QueueOpen { name: name(b'q', n), flags: CREATE, messages: 1, size: size as u32 };
    let mut made: [u64; QUEUES - 1] = core::array::from_fn(|n| ask(sized(n, 256 * (n + 2))));
    // Every other one is created anew, the largest first and smaller than before: their places are
    // in no order, and there is room between them.
    for n in (0..QUEUES - 1).step_by(2) {
        ask(Request::QueueUnlink { name: name(b'q', n), only: 0 });
        ask(Request::QueueClose { queue: made[n] as u32 });
    }
    for n in (0..QUEUES - 1).step_by(2).rev() {
        made[n] = ask(sized(n, 256 * (n + 1)));
    }
    let most = Request::QueueOpen { name: name(b'q', QUEUES - 1), flags: CREATE, messages: QUEUE_MESSAGES, size: 1 };
    table.broker("queue-open-makes", most);
    table.broker("queue-open-full", sized(QUEUES, 64));
    for n in 0..QUEUES {
        let name = name(b'q', n);
        let queue = made.get(n).copied().unwrap_or_else(|| ask(most)) as u32;
        ask(Request::QueueUnlink { name, only: 0 });
        ask(Request::QueueClose { queue });
        ask(Request::QueueClose { queue });
    }
    let large = Request::QueueOpen { name: name(b'l', 0), flags: CREATE, messages: 2, size: DATA_SIZE };
    let queue = ask(large) as u32;
    let receive = Request::QueueReceive { queue, room: DATA_SIZE, block: true };
    let send = Request::QueueSend { queue, length: DATA_SIZE, priority: 31, block: true };
    for thread in WAITERS..THREADS as u8 {
        timed(thread, 1, receive);
    }
    table.broker("queue-receive-waits", receive);
    // By another thread, as this one waits.
    table.broker_as(2, 1, "queue-send-to-waiter", send);
    table.broker("finish-receives", Request::Finish { length: 0, priority: 0 });
    table.broker("queue-notify", Request::QueueNotify { queue, thread: 1, wanted: true });
    table.broker("queue-attributes", Request::QueueAttributes { queue });
    table.broker("queue-close-fails-all", Request::QueueClose { queue });
    for thread in WAITERS..THREADS as u8 {
        timed(thread, 1, Request::Finish { length: 0, priority: 0 });
    }
    let queue = ask(large) as u32;
    let receive = Request::QueueReceive { queue, room: DATA_SIZE, block: true };
    let send = Request::QueueSend { queue, length: DATA_SIZE, priority: 31, block: true };
    table.broker("queue-send", send);
    table.broker("queue-receive", receive);
    table.broker("queue-unlink", Request::QueueUnlink { name: name(b'l', 0), only: 0 });
    table.broker("queue-close-ends", Request::QueueClose { queue });
}

fn fifos(table: &mut Table) {
    let last = FIFOS as u32 - 1;
    // Their rings are in no order.
    for n in 0..last {
        ask(Request::FifoCreate { fifo: n * 37 % last, size: 64 });
    }
    table.broker("fifo-create", Request::FifoCreate { fifo: last, size: 64 });
    table.broker("fifo-resize", Request::FifoResize { fifo: last, size: 128 });
    table.broker("fifo-state", Request::FifoState { fifo: last });
    table.broker("fifo-pair", Request::FifoPair { get: last, put: 0 });
    table.broker("fifo-flush", Request::FifoFlush { fifo: last });
    table.broker("fifo-destroy", Request::FifoDestroy { fifo: last });
    for fifo in 0..last {
        ask(Request::FifoDestroy { fifo });
    }
    ask(Request::FifoCreate { fifo: 0, size: DATA_SIZE });
    table.broker("fifo-put", Request::FifoPut { fifo: 0, length: DATA_SIZE });
    table.broker("fifo-get", Request::FifoGet { fifo: 0, length: DATA_SIZE });
}

fn managers(table: &mut Table) {
    let pool = info::task().skin.pool_size;
    table.manager("fifo-claim", || _ = manager::ask_for(label::FIFO_CLAIM, 70));
    table.manager("fifo-release", || _ = manager::ask_for(label::FIFO_RELEASE, 70));
    table.manager("mbuff-hold", || _ = manager::ask_about(label::MBUFF_HOLD, pool / 2, "large"));
    table.manager("mbuff-release", || _ = manager::ask_about(label::MBUFF_RELEASE, 0, "large"));
    table.manager("started", || manager::started(0));
    table.manager("log", || _ = call(slot::MANAGER, label::LOG | 1 << 8, [10; MESSAGE_WORDS]));
    table.manager("unknown", || _ = call(slot::MANAGER, 0xff, [0; MESSAGE_WORDS]));
}
