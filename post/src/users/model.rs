//! A runner of dual mode beside processors whose guest takes pages from the process: what
//! corresponds to `kernel/src/guest/taken.rs`, `user/dual/src/commit.rs` and `process.rs`, and
//! `dual_settle()` of `linux/module/dual_processor.c`.

use super::Users;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use loom::sync::{Arc, Notify};
use loom::thread;

const RUNNER: u32 = 1;

/// A page of the process's, which an entry leads to until it is 0, and that is used for something
/// else then.
struct Page {
    entry: AtomicU64,
    memory: UnsafeCell<u64>,
    /// Whoever takes it waits for this.
    progress: Notify,
}

struct Machine {
    users: Users,
    pages: Vec<Page>,
    /// Interrupts that the runner's processor has not taken.
    sent: AtomicU32,
    interrupt: Notify,
    takers: AtomicU32,
}

/// The runner's processor: what its kernel has written, and what the vCPU has walked.
struct Processor<'a> {
    machine: &'a Machine,
    moment: u64,
    known: Vec<bool>,
}

impl Machine {
    fn new(takers: usize) -> Machine {
        let page = || Page { entry: AtomicU64::new(1), memory: UnsafeCell::new(0), progress: Notify::new() };
        Machine {
            users: Users::default(),
            pages: (0..takers).map(|_| page()).collect(),
            sent: AtomicU32::new(0),
            interrupt: Notify::new(),
            takers: AtomicU32::new(takers as u32),
        }
    }

    fn send(&self) {
        self.sent.fetch_add(1, AcqRel);
        self.interrupt.notify();
    }

    /// Another processor's guest takes a page, and uses it for something else.
    fn take(&self, own: usize) {
        let page = &self.pages[own];
        page.entry.store(0, Relaxed);
        if let Some(interrupts) = self.users.ask(own) {
            if interrupts {
                self.send();
            }
            while self.users.keeps(own) {
                page.progress.wait();
            }
        }
        page.memory.with_mut(|_| ());
        self.takers.fetch_sub(1, AcqRel);
        self.interrupt.notify();
    }
}

impl Processor<'_> {
    /// The runner goes on. Returns whether its sequence begins again.
    fn go_on(&mut self) -> bool {
        let users = &self.machine.users;
        let is_new = users.shown() != RUNNER;
        if is_new && users.show(RUNNER) {
            self.moment += 1;
        }
        is_new
    }

    /// Takes an interrupt, if one was sent.
    fn take_interrupt(&mut self) -> bool {
        if self.machine.sent.load(Acquire) == 0 {
            return false;
        }
        self.machine.sent.fetch_sub(1, AcqRel);
        if self.machine.users.heed() {
            self.machine.send();
        }
        self.machine.pages.iter().for_each(|page| page.progress.notify());
        true
    }

    /// The runner may be interrupted here. Returns whether its sequence begins again.
    fn may_be_interrupted(&mut self) -> bool {
        self.take_interrupt() && self.go_on()
    }

    /// The runner stores a word, as `Process::set_word` does.
    fn store(&mut self, number: usize) {
        let page = &self.machine.pages[number];
        loop {
            let moment = self.moment;
            self.may_be_interrupted();
            if page.entry.load(Relaxed) == 0 {
                return;
            }
            self.may_be_interrupted();
            // The sequence.
            if self.moment != moment || self.may_be_interrupted() {
                continue;
            }
            page.memory.with_mut(|_| ());
            return;
        }
    }

    /// The thread runs on the vCPU: it drops its translations when it is entered, walks the tables,
    /// and uses what it knows.
    fn run_guest(&mut self) {
        self.known.fill(false);
        self.go_on();
        for number in 0..self.known.len() {
            if self.take_interrupt() {
                self.known.fill(false);
                self.go_on();
            }
            self.known[number] |= self.machine.pages[number].entry.load(Relaxed) != 0;
        }
        // Without an interrupt on the way.
        for (page, known) in self.machine.pages.iter().zip(&self.known) {
            if *known {
                page.memory.with_mut(|_| ());
            }
        }
    }

    /// Something more urgent runs in between.
    fn run_another(&mut self) {
        self.machine.users.hide();
        self.take_interrupt();
        self.go_on();
    }

    /// Nothing runs here any more, but it is interrupted as long as others ask.
    fn idle(&mut self) {
        while self.machine.takers.load(Acquire) != 0 {
            if !self.take_interrupt() {
                self.machine.interrupt.wait();
            }
        }
    }
}

/// In every order with so many preemptions, nobody uses what is used for something else.
fn taken_while(takers: usize, preemptions: usize, run: fn(&mut Processor<'_>)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let machine = Arc::new(Machine::new(takers));
        let takers: Vec<_> = (0..takers)
            .map(|own| {
                let machine = machine.clone();
                thread::spawn(move || machine.take(own))
            })
            .collect();
        let mut processor = Processor { machine: &machine, moment: 0, known: vec![false; takers.len()] };
        processor.go_on();
        run(&mut processor);
        processor.idle();
        for taker in takers {
            taker.join().unwrap();
        }
    });
}

#[test]
fn a_store_while_one_takes() {
    taken_while(1, 3, |processor| processor.store(0));
}

#[test]
fn a_guest_while_one_takes() {
    taken_while(1, 3, |processor| processor.run_guest());
}

/// What was found before something else ran is not used afterwards.
#[test]
fn a_break_while_one_takes() {
    taken_while(1, 3, |processor| {
        let page = &processor.machine.pages[0];
        let moment = processor.moment;
        let is_there = page.entry.load(Relaxed) != 0;
        processor.run_another();
        if is_there && processor.moment == moment {
            page.memory.with_mut(|_| ());
        }
    });
}

#[test]
fn two_take() {
    taken_while(2, 1, |processor| processor.store(0));
}
