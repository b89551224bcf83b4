//! Turns and shootdowns together: calls that unmap memory while another processor uses it. Each
//! step is made by whoever is let in, and a call may go on where that of another processor ended.

use crate::{Shootdown, Shown, Turn};
use loom::{
    cell::UnsafeCell,
    sync::{
        Arc, Notify,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
            fence,
        },
    },
    thread,
};

const ROOT: u64 = 0x1000;

/// A page of memory. Processors 0 and 1 unmap it, 2 has it mapped.
struct Machine {
    turn: Turn,
    /// The tree's: the checker reports two that are in at once.
    capability: UnsafeCell<()>,
    is_mapped: AtomicBool,
    is_used_anew: AtomicBool,
    /// What the walker finds in the tables.
    entry: AtomicBool,
    memory: UnsafeCell<()>,
    shown: Shown,
    shootdown: Shootdown,
    sent: AtomicBool,
    is_over: AtomicBool,
    interrupt: Notify,
    /// The walker has dropped what it knew, for each of those that wait for it.
    progress: [Notify; 2],
}

impl Machine {
    /// A step of a call that gives the memory to another use when it is unmapped, as
    /// `Kernel::unmap_step` makes it. Returns whether the call has ended.
    fn step(&self) -> bool {
        self.capability.with_mut(|_| ());
        if !self.shootdown.is_over() {
            return false;
        }
        if self.entry.load(Relaxed) {
            self.entry.store(false, Relaxed);
            if self.shown.shows(ROOT) {
                self.shootdown.begin(1 << 2);
                self.sent.store(true, Release);
                self.interrupt.notify();
                return false;
            }
        }
        if self.is_mapped.load(Relaxed) {
            self.is_mapped.store(false, Relaxed);
            return false;
        }
        if !self.is_used_anew.load(Relaxed) {
            self.is_used_anew.store(true, Relaxed);
            self.memory.with_mut(|_| ());
        }
        true
    }

    fn call(&self, own: usize) {
        loop {
            if self.turn.take(own, || 0, 1000) {
                let is_over = self.step();
                let waits = !self.shootdown.is_over();
                self.turn.end(own, || 0);
                if is_over {
                    return;
                }
                if waits {
                    self.progress[own].wait();
                }
            } else {
                thread::yield_now();
            }
        }
    }

    /// Goes to user mode twice, and uses the memory if it finds it in the tables, or knows where it
    /// is. It is interrupted at some time.
    fn walk(&self) {
        let mut is_known = false;
        let heed = |is_known: &mut bool| {
            if self.shootdown.concerns(2) {
                *is_known = false;
                self.shown.hide_space();
                self.shootdown.dropped(2);
                self.progress.iter().for_each(Notify::notify);
            }
        };
        for _ in 0..2 {
            if self.sent.load(Acquire) {
                heed(&mut is_known);
            }
            self.shown.load_space(ROOT, || fence(SeqCst));
            is_known |= self.entry.load(Relaxed);
            if is_known {
                self.memory.with(|_| ());
            }
        }
        loop {
            heed(&mut is_known);
            if self.is_over.load(Acquire) {
                return;
            }
            self.interrupt.wait();
        }
    }
}

/// Nobody uses the memory after it is put to another use, which it is once.
#[test]
fn two_unmap() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(1);
    model.check(|| {
        let machine = Arc::new(Machine {
            turn: Turn::default(),
            capability: UnsafeCell::new(()),
            is_mapped: AtomicBool::new(true),
            is_used_anew: AtomicBool::new(false),
            entry: AtomicBool::new(true),
            memory: UnsafeCell::new(()),
            shown: Shown::default(),
            shootdown: Shootdown::default(),
            sent: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            interrupt: Notify::new(),
            progress: [Notify::new(), Notify::new()],
        });
        let [walker, other] = [machine.clone(), machine.clone()];
        let walker = thread::spawn(move || walker.walk());
        let other = thread::spawn(move || other.call(1));
        machine.call(0);
        other.join().unwrap();
        machine.is_over.store(true, Release);
        machine.interrupt.notify();
        walker.join().unwrap();
    });
}
