//! Random calls from all of four processors at once, on objects that they share. What happens in
//! which order is not said, and this is not for a machine whose instructions are counted. Demanded
//! is that each signal arrives, each call is answered with what belongs to it, what was suspended
//! stands still, no processor reads memory that was taken away, slots hold what was put into them,
//! and everybody comes to an end.

use crate::{
    cells,
    mappings::{peek, poke},
};
use core::arch::naked_asm;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use pillion_abi::{
    NEVER, PAGE,
    boot::slot,
    call::LABEL_FAULT,
    object::{Kind, map, right},
    status::Error,
};
use pillion_runtime::{
    Cap, call, cap_delete, cap_derive, cap_identify, cap_move, cap_revoke, context_configure, context_consumed,
    endpoint_bind, memory_map, memory_unmap, now, println, receive, region_create, region_reset, reply_receive, signal,
    sleep, thread_bind_context, thread_configure, thread_register, thread_resume, thread_set_registers, thread_suspend,
    wait,
};
use pillion_test_kit::{Checked, Kit, Setup, check, done, same, stop};

/// Processors, each with one actor, which makes calls, and one server.
const ACTORS: usize = 4;
const NOTES: usize = 8;

/// Priorities.
const VICTIM: u8 = 10;
const NEWBORN: u8 = 14;
const READS: u8 = 15;
const ACTOR: u8 = 20;
const WAITER: u8 = 30;
const SERVER: u8 = 40;

/// Cells. The first is of all; of the others, each actor has one.
const FIRST_NOTE: usize = 0;
const ENDED: usize = 1;
const STOP: usize = 2;
const BEGUN: usize = 3;
const ENDPOINT: usize = 4;
const REGION: usize = 8;
const MEMORY: usize = 12;
const ADDRESS: usize = 16;
const READER: usize = 20;
const STACK: usize = 24;
const FOUND: usize = 28;
const VICTIM_THREAD: usize = 32;
const CONTEXT: usize = 36;
const COUNT: usize = 40;
const STEPS: usize = 44;
const BORN: usize = 48;
const WINDOW: usize = 52;
const ACTION: usize = 56;

/// The last action of an actor.
const END: u64 = 100;

/// Steps that each actor makes at least, however slow the machine is.
const LEAST: u64 = 200;

/// Slots of the threads' space that the kit does not give away: a notification of each actor that
/// comes and goes, and what else an actor makes.
const PASSING: Cap = 700;
const OWN: Cap = 720;
const OWN_SLOTS: usize = 16;
const THREAD: Cap = 16;
const SLOTS: Cap = 32;

/// How often each actor signalled each notification, and how often according to the last look
/// after a signal; how often it called each server, and how often that answered it.
static SENT: [[AtomicU64; NOTES]; ACTORS] = [const { [const { AtomicU64::new(0) }; NOTES] }; ACTORS];
static SEEN: [[AtomicU64; NOTES]; ACTORS] = [const { [const { AtomicU64::new(0) }; NOTES] }; ACTORS];
static CALLED: [[AtomicU64; ACTORS]; ACTORS] = [const { [const { AtomicU64::new(0) }; ACTORS] }; ACTORS];
static SERVED: [[AtomicU64; ACTORS]; ACTORS] = [const { [const { AtomicU64::new(0) }; ACTORS] }; ACTORS];

/// The first thing that went wrong: line of this file and a value.
static WRONG: AtomicU64 = AtomicU64::new(0);

fn wrong<T>(line: u32, value: u64) -> Option<T> {
    let _ = WRONG.compare_exchange(0, u64::from(line) << 32 | value & 0xffff_ffff, SeqCst, SeqCst);
    None
}

/// The value of a call that must succeed.
macro_rules! must {
    ($call:expr) => {
        match $call {
            Ok(value) => value,
            Err(error) => return wrong(line!(), error as u64),
        }
    };
}

fn cap_of(note: usize, actor: Option<usize>) -> Cap {
    cells::cap(FIRST_NOTE) + (note * (1 + ACTORS) + actor.map_or(0, |a| 1 + a)) as Cap
}

extern "C" fn waiter(note: u64) -> ! {
    let note = note as usize;
    while let Ok([bits, _]) = wait(cap_of(note, None), NEVER) {
        for a in (0..ACTORS).filter(|a| bits >> a & 1 == 1) {
            SEEN[a][note].store(SENT[a][note].load(SeqCst), SeqCst);
        }
    }
    wrong::<()>(line!(), note as u64);
    stop()
}

/// What a server makes of a word.
fn answer(word: u64) -> u64 {
    word.rotate_left(7) ^ 0x5555
}

/// Answers calls, and leaves threads that fault stopped.
extern "C" fn server(me: u64) -> ! {
    let mut message = receive(NEVER);
    while let Ok(m) = message {
        message = if m.label == LABEL_FAULT {
            reply_receive(2, [0; 8])
        } else {
            SERVED[m.badge as usize - 1][me as usize].fetch_add(1, SeqCst);
            reply_receive(answer(m.label), m.words.map(answer))
        };
    }
    wrong::<()>(line!(), me);
    stop()
}

/// Counts.
extern "C" fn victim(actor: u64) -> ! {
    loop {
        cells::add(COUNT + actor as usize, 1);
        core::hint::spin_loop();
    }
}

/// What a reader may see, and what it may not.
const KEPT: u64 = 1;
const OTHERS: u64 = 2;

extern "C" fn reader(actor: u64) -> ! {
    let address = cells::get(ADDRESS + actor as usize);
    loop {
        for _ in 0..1_000 {
            let word = peek(address);
            if word != KEPT {
                cells::set(FOUND + actor as usize, word);
            }
            core::hint::spin_loop();
        }
        // What is less urgent has its turn.
        let _ = sleep(now() + 20_000);
    }
}

/// Adds to the word at its argument, and spins, without a stack.
#[unsafe(naked)]
extern "C" fn newborn(_: u64) -> ! {
    naked_asm!("lock inc qword ptr [rdi]", "2: pause", "jmp 2b")
}

/// What an actor has put into a slot: the kind, and the slot that it was derived from.
type Content = Option<(Kind, Option<usize>)>;

struct Actor {
    me: usize,
    random: u64,
    slots: [Content; OWN_SLOTS],
}

impl Actor {
    fn random(&mut self, below: u64) -> u64 {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            self.random ^= if left { self.random << by } else { self.random >> by };
        }
        (self.random >> 20) % below
    }

    fn cell(&self, first: usize) -> Cap {
        cells::cap(first + self.me)
    }

    fn slot(&self, index: usize) -> Cap {
        OWN + SLOTS * self.me as Cap + index as Cap
    }

    /// Waits for the others, and lets its reader read.
    fn begin(&mut self) -> Option<()> {
        while cells::get(BEGUN) == 0 {
            core::hint::spin_loop();
        }
        self.show()
    }

    /// The reader's memory has what it may see, and it begins anew.
    fn show(&mut self) -> Option<()> {
        let (at, stack, thread) = (cells::get(ADDRESS + self.me), cells::get(STACK + self.me), self.cell(READER));
        poke(cells::get(WINDOW + self.me), KEPT);
        must!(memory_map(self.cell(MEMORY), slot::ADDRESS_SPACE, at, map::WRITE));
        must!(thread_set_registers(thread, reader as *const () as u64, stack, self.me as u64));
        must!(thread_resume(thread));
        Some(())
    }

    fn step(&mut self) -> Option<()> {
        let action = self.random(16);
        cells::set(ACTION + self.me, action);
        match action {
            0..4 => self.signal(),
            4..8 => self.call(),
            8 => self.suspend(),
            9 => self.remap(),
            10 => self.bear(),
            11 => self.pass(),
            12 => self.rest(),
            _ => self.churn(),
        }
    }

    fn signal(&mut self) -> Option<()> {
        let note = self.random(NOTES as u64) as usize;
        SENT[self.me][note].fetch_add(1, SeqCst);
        must!(signal(cap_of(note, Some(self.me))));
        // Those of others come and go: they have no rights while they do.
        match signal(PASSING + self.random(ACTORS as u64) as Cap) {
            Ok(_) | Err(Error::BadCap | Error::NoRight) => Some(()),
            Err(error) => wrong(line!(), error as u64),
        }
    }

    fn call(&mut self) -> Option<()> {
        let to = self.random(ACTORS as u64) as usize;
        let (label, words) = (self.random(1 << 20), [(); 8].map(|()| self.random(1 << 40)));
        CALLED[self.me][to].fetch_add(1, SeqCst);
        let endpoint = cells::cap(ENDPOINT + to) + 1 + self.me as Cap;
        let reply = must!(call(endpoint, label, words));
        let is_right = reply.label == answer(label) && reply.words == words.map(answer);
        if is_right { Some(()) } else { wrong(line!(), reply.label) }
    }

    fn suspend(&mut self) -> Option<()> {
        let (thread, context) = (self.cell(VICTIM_THREAD), self.cell(CONTEXT));
        must!(thread_register(thread, 0));
        must!(thread_suspend(thread));
        let count = cells::get(COUNT + self.me);
        let priority = VICTIM - self.random(5) as u8;
        must!(context_configure(slot::SCHED_CONTROL, context, priority, NEVER, 0, 0));
        must!(context_consumed(context));
        if cells::get(COUNT + self.me) != count {
            return wrong(line!(), count);
        }
        must!(thread_resume(thread));
        Some(())
    }

    /// Memory gets other content as soon as it is taken from a thread that reads it.
    fn remap(&mut self) -> Option<()> {
        must!(memory_unmap(self.cell(MEMORY)));
        poke(cells::get(WINDOW + self.me), OTHERS);
        cells::spin(self.random(2_000));
        // It has faulted, or would when it runs.
        must!(thread_suspend(self.cell(READER)));
        match cells::get(FOUND + self.me) {
            0 => self.show(),
            word => wrong(line!(), word),
        }
    }

    /// A thread begins to live somewhere, and ends.
    fn bear(&mut self) -> Option<()> {
        let (region, home) = (self.cell(REGION), self.random(ACTORS as u64));
        let [thread, context, caps] = [0, 1, 2].map(|i| self.slot(0) + THREAD + i);
        for (kind, size, at) in
            [(Kind::Thread, home, thread), (Kind::SchedContext, home, context), (Kind::CapSpace, 2, caps)]
        {
            match region_create(region, kind, size, at) {
                Ok(_) => {}
                Err(Error::NoMemory) => return self.reset(),
                Err(error) => return wrong(line!(), error as u64),
            }
        }
        must!(context_configure(slot::SCHED_CONTROL, context, NEWBORN, NEVER, 0, 0));
        must!(thread_configure(thread, slot::ADDRESS_SPACE, caps, 0, 0));
        must!(thread_bind_context(thread, context));
        let argument = cells::address(BORN + self.me);
        must!(thread_set_registers(thread, newborn as *const () as u64, PAGE, argument));
        must!(thread_resume(thread));
        cells::spin(self.random(2_000));
        // Without its context, its space or itself.
        let first = self.random(3) as usize;
        for i in 0..3 {
            must!(cap_delete(0, [context, caps, thread][(first + i) % 3]));
        }
        Some(())
    }

    /// A notification that others signal comes, or goes.
    fn pass(&mut self) -> Option<()> {
        let (at, home) = (PASSING + self.me as Cap, self.random(ACTORS as u64));
        match region_create(self.cell(REGION), Kind::Notification, home, at) {
            Ok(_) => Some(()),
            Err(Error::NoMemory) => self.reset(),
            Err(_) => {
                must!(cap_delete(0, at));
                Some(())
            }
        }
    }

    fn rest(&mut self) -> Option<()> {
        must!(sleep(now() + self.random(50_000)));
        Some(())
    }

    /// Ends all that the actor has made.
    fn reset(&mut self) -> Option<()> {
        must!(region_reset(self.cell(REGION)));
        self.slots = [None; OWN_SLOTS];
        Some(())
    }

    /// Whether what is in a slot was derived from another.
    fn descends(&self, slot: usize, from: usize) -> bool {
        let parent = |at: usize| self.slots[at].and_then(|(_, parent)| parent);
        core::iter::successors(parent(slot), |at| parent(*at)).any(|at| at == from)
    }

    fn forget_descendants(&mut self, of: usize) {
        let gone = core::array::from_fn::<_, OWN_SLOTS, _>(|slot| self.descends(slot, of));
        for (content, _) in self.slots.iter_mut().zip(gone).filter(|(_, is_gone)| *is_gone) {
            *content = None;
        }
    }

    /// Makes, derives, moves, revokes and deletes, and looks at what is in the slots.
    fn churn(&mut self) -> Option<()> {
        const KINDS: [Kind; 8] = [
            Kind::Thread,
            Kind::SchedContext,
            Kind::Endpoint,
            Kind::Notification,
            Kind::Timer,
            Kind::CapSpace,
            Kind::AddressSpace,
            Kind::Memory,
        ];
        let [one, other] = [(); 2].map(|()| self.random(OWN_SLOTS as u64) as usize);
        let (from, to) = (self.slot(one), self.slot(other));
        let Some((kind, _)) = self.slots[one] else {
            let kind = KINDS[self.random(8) as usize];
            let size = match kind {
                Kind::CapSpace | Kind::AddressSpace => 1 + self.random(4),
                Kind::Memory => PAGE,
                _ => self.random(ACTORS as u64),
            };
            match region_create(self.cell(REGION), kind, size, from) {
                Ok(_) => self.slots[one] = Some((kind, None)),
                Err(Error::NoMemory) => return self.reset(),
                Err(error) => return wrong(line!(), error as u64),
            }
            return Some(());
        };
        match self.random(6) {
            0 | 1 if self.slots[other].is_none() => match cap_derive(0, to, from, right::ALL, 0) {
                Ok(_) => self.slots[other] = Some((kind, Some(one))),
                Err(Error::TooDeep) => {}
                Err(error) => return wrong(line!(), error as u64),
            },
            2 if self.slots[other].is_none() => {
                must!(cap_move(0, to, from));
                self.slots[other] = self.slots[one].take();
                for (_, parent) in self.slots.iter_mut().flatten().filter(|(_, parent)| *parent == Some(one)) {
                    *parent = Some(other);
                }
            }
            3 => {
                must!(cap_delete(0, from));
                self.forget_descendants(one);
                self.slots[one] = None;
            }
            4 => {
                must!(cap_revoke(0, from));
                self.forget_descendants(one);
            }
            _ => {}
        }
        let found = must!(cap_identify(to))[0] & 0xff;
        let expected = self.slots[other].map_or(0, |(kind, _)| kind as u64);
        if found == expected { Some(()) } else { wrong(line!(), found << 8 | expected) }
    }
}

/// The number of an actor, and a seed above it.
extern "C" fn actor(argument: u64) -> ! {
    let me = argument as usize % ACTORS;
    let random = (argument + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut actor = Actor { me, random, slots: [None; OWN_SLOTS] };
    let mut goes_on = actor.begin();
    while goes_on.is_some() && cells::get(STOP) == 0 {
        goes_on = actor.step();
        cells::add(STEPS + me, 1);
    }
    cells::set(ACTION + me, END);
    let _ = actor.reset();
    cells::add(ENDED, 1);
    stop()
}

fn make_actor(kit: &mut Kit, me: usize, seed: u64) -> Checked {
    let home = |after: usize| ((me + after) % ACTORS) as u64;
    let endpoint = done!(kit.make(Kind::Endpoint, me as u64));
    cells::set(ENDPOINT + me, endpoint);
    for from in 0..ACTORS as u64 {
        done!(kit.badged(endpoint, 1 + from));
    }
    let server = done!(kit.prepare(Setup::new(SERVER, server).with(me as u64).on(me as u64)));
    done!(endpoint_bind(endpoint, server.thread));
    done!(thread_resume(server.thread));
    let victim = done!(kit.start(Setup::new(VICTIM, victim).with(me as u64).on(home(2))));
    cells::set(VICTIM_THREAD + me, victim.thread);
    cells::set(CONTEXT + me, victim.context);
    let (own, window) = done!(kit.memory(PAGE, map::WRITE));
    cells::set(WINDOW + me, window);
    cells::set(MEMORY + me, own);
    cells::set(ADDRESS + me, kit.address());
    let setup = Setup { fault: endpoint, ..Setup::new(READS, reader).with(me as u64).on(home(1)) };
    let reader = done!(kit.prepare(setup));
    cells::set(READER + me, reader.thread);
    cells::set(STACK + me, done!(thread_register(reader.thread, 0))[1]);
    let region = done!(kit.make(Kind::Region, 256 * PAGE));
    done!(cap_move(kit.workers(), region, region));
    cells::set(REGION + me, region);
    done!(kit.start(Setup::new(ACTOR, actor).with(me as u64 | seed << 8).on(me as u64)));
    Ok(())
}

fn set_up(kit: &mut Kit, seed: u64) -> Checked {
    for cap in [slot::ADDRESS_SPACE, slot::SCHED_CONTROL] {
        done!(kit.grant(cap));
    }
    for note in 0..NOTES {
        let n = done!(kit.make(Kind::Notification, (note % ACTORS) as u64));
        if note == 0 {
            cells::set(FIRST_NOTE, n);
        }
        for a in 0..ACTORS {
            same!(done!(kit.badged(n, 1 << a)), cap_of(note, Some(a)));
        }
    }
    for note in 0..NOTES {
        done!(kit.start(Setup::new(WAITER, waiter).with(note as u64).on((note % ACTORS) as u64)));
    }
    // They begin when all are there.
    for me in 0..ACTORS {
        make_actor(kit, me, seed)?;
    }
    cells::set(BEGUN, 1u64);
    Ok(())
}

/// Waits until something is so, for some seconds at most.
fn within(kit: &Kit, seconds: u64, is_so: impl Fn() -> bool) -> bool {
    let end = now() + seconds * kit.info.tsc_hz;
    while !is_so() && now() < end {
        kit.rest(kit.info.tsc_hz / 100);
    }
    is_so()
}

fn all(counts: &[[AtomicU64; ACTORS]; ACTORS]) -> u64 {
    counts.iter().flatten().map(|count| count.load(SeqCst)).sum()
}

fn steps() -> [u64; ACTORS] {
    core::array::from_fn(|a| cells::get(STEPS + a))
}

/// What each does at last.
fn actions() -> [u64; ACTORS] {
    core::array::from_fn(|a| cells::get(ACTION + a))
}

fn is_fine() -> Checked {
    let wrong = WRONG.load(SeqCst);
    check!(wrong == 0, "{:#x} in line {} of stress.rs", wrong & 0xffff_ffff, wrong >> 32);
    Ok(())
}

/// Runs for some seconds. Somebody may stand still for `patience` seconds: where instructions are
/// not counted, the processors are threads of a computer that may be busy with something else.
pub fn run(kit: &mut Kit, seconds: u64, seed: u64, patience: u64) -> Checked {
    check!(kit.info.cpus == ACTORS as u64, "{} processors run", kit.info.cpus);
    cells::clear();
    kit.begin()?;
    set_up(kit, seed)?;
    let end = now() + seconds * kit.info.tsc_hz;
    while now() < end || steps().iter().any(|steps| *steps < LEAST) {
        let before = steps();
        let all_move = || steps().iter().zip(before).all(|(after, before)| *after > before);
        check!(within(kit, patience, all_move), "somebody stands still at {:?}: {:?}", steps(), actions());
        kit.rest(kit.info.tsc_hz);
        is_fine()?;
    }
    cells::set(STOP, 1u64);
    check!(
        within(kit, patience, || cells::get(ENDED) == ACTORS as u64),
        "{} have ended: {:?}",
        cells::get(ENDED),
        actions()
    );
    is_fine()?;
    let counts = || SENT.iter().flatten().zip(SEEN.iter().flatten());
    let missing = || counts().filter(|(sent, seen)| sent.load(SeqCst) != seen.load(SeqCst)).count();
    check!(within(kit, patience, || missing() == 0), "{} signals are missing", missing());
    same!(all(&SERVED), all(&CALLED));
    let before: [u64; ACTORS] = core::array::from_fn(|a| cells::get(COUNT + a));
    let all_count = || (0..ACTORS).all(|a| cells::get(COUNT + a) > before[a]);
    check!(within(kit, patience, all_count), "a thread was not resumed");
    println!(
        "stress: {:?} steps, {} calls, {} threads",
        steps(),
        all(&CALLED),
        (0..ACTORS).map(|a| cells::get(BORN + a)).sum::<u64>()
    );
    kit.end()
}
