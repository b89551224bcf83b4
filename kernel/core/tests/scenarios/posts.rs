//! Signals to notifications of other processors.

use crate::machine::world::{Worker, World, args};
use pillion_abi::{
    NEVER,
    call::Call,
    object::{Kind, right},
    status::Error,
};
use pillion_core::{Cap, Id, Outcome, notification::Notification, thread::State};
use std::sync::atomic::Ordering::Relaxed;

/// Three processors: a receiver on 1, which waits for a notification, and senders on 0 and 2 with
/// capabilities for bits 0 and 1.
struct Posts {
    w: World,
    note: u64,
    id: Id<Notification>,
    receiver: Worker,
    signals: [u64; 2],
}

impl Posts {
    fn new() -> Self {
        let mut w = World::of(3);
        let note = w.make(Kind::Notification, 1);
        let Cap::Notification(made) = w.cap(note) else { panic!() };
        let signals = [1, 2].map(|badge| {
            let to = w.free_slot();
            w.root(Call::CapDerive, [0, to, note, right::ALL.into(), badge]);
            to
        });
        let receiver = w.limited_of(1, 20, NEVER, 0);
        for processor in [0, 2] {
            w.limited_of(processor, 30, NEVER, 0);
        }
        let mut p = Posts { w, note, id: made.id(), receiver, signals };
        p.wait();
        p
    }

    /// The receiver, which runs, waits or takes bits. Returns those.
    fn wait(&mut self) -> Option<u64> {
        self.w.on(1);
        assert_eq!(self.w.current(), self.receiver.id);
        let f = self.w.call(Call::Wait, [self.note, NEVER]);
        (self.w.state(self.receiver.id) == State::Ready).then_some(f.words[0])
    }

    /// Signals from a processor.
    fn signal(&mut self, from: u8, which: usize) {
        self.w.on(from);
        assert_eq!(self.w.enter(Call::Signal as u64, args([self.signals[which]])), Outcome::Arranged);
        let current = self.w.current();
        assert_eq!(self.w.frame(current).rax, 0);
    }

    fn receiver(&mut self) -> (State, u64) {
        self.w.on(1);
        (self.w.state(self.receiver.id), self.w.frame(self.receiver.id).words[0])
    }

    fn letters(&self) -> usize {
        self.w.k.m.letters.len()
    }
}

#[test]
fn a_signal_wakes_a_thread_elsewhere() {
    let mut p = Posts::new();
    p.signal(0, 1);
    assert_eq!(p.receiver().0, State::Waiting);
    p.w.deliver();
    assert_eq!((p.receiver(), p.w.k.cpu.current), ((State::Ready, 2), Some(p.receiver.id)));
}

#[test]
fn signals_that_are_under_way_are_merged() {
    let mut p = Posts::new();
    p.signal(0, 0);
    p.signal(2, 1);
    p.signal(0, 0);
    assert_eq!(p.letters(), 1);
    p.w.deliver();
    assert_eq!(p.receiver(), (State::Ready, 3));
}

#[test]
fn a_thread_that_does_not_wait_is_not_interrupted_twice() {
    let mut p = Posts::new();
    let busy = p.w.limited_of(1, 200, NEVER, 0);
    p.signal(0, 0);
    p.w.deliver();
    p.signal(0, 0);
    p.w.deliver();
    for from in [0, 2, 0, 2] {
        p.signal(from, 1);
        assert_eq!(p.letters(), 0);
    }
    p.w.on(1);
    assert_eq!(p.w.current(), busy.id);
    p.w.call(Call::Sleep, [0, NEVER]);
    assert_eq!(p.receiver(), (State::Ready, 1));
    assert_eq!(p.wait(), Some(1));
    assert_eq!(p.wait(), Some(2), "what gathered meanwhile");
    assert_eq!(p.wait(), None);
    p.signal(2, 1);
    p.w.deliver();
    assert_eq!(p.receiver(), (State::Ready, 2));
}

#[test]
fn a_bound_thread_is_woken_from_elsewhere() {
    let mut p = Posts::new();
    p.signal(0, 0);
    p.w.deliver();
    let endpoint = p.w.make(Kind::Endpoint, 1);
    p.w.root(Call::EndpointBind, [endpoint, p.receiver.thread]);
    p.w.root(Call::ThreadBindNotification, [p.receiver.thread, p.note]);
    for badge in 0..2 {
        p.w.on(1);
        p.w.call(Call::Receive, [0, NEVER]);
        p.w.expect(p.receiver.id, State::Receiving);
        p.signal(0, badge);
        p.w.deliver();
        p.w.on(1);
        p.w.expect(p.receiver.id, State::Ready);
        p.signal(2, badge);
        p.w.deliver();
        assert!(p.w.k.m.peek(p.id).held);
        p.w.on(1);
        p.w.call(Call::Receive, [0, NEVER]);
        p.w.expect(p.receiver.id, State::Ready);
    }
}

#[test]
fn a_letter_whose_bits_came_with_another_wakes_nobody() {
    let mut p = Posts::new();
    for waits in [true, false] {
        p.w.checked = false;
        // As if a signal came while the last letter was given back.
        p.signal(0, 0);
        p.w.k.m.peek(p.id.post()).bits.store(0, Relaxed);
        p.w.checked = true;
        p.w.deliver();
        p.w.on(1);
        p.w.expect(p.receiver.id, if waits { State::Waiting } else { State::Ready });
        p.signal(0, 1);
        p.w.deliver();
        if !waits {
            assert_eq!(p.wait(), Some(2));
            assert_eq!(p.wait(), None);
            p.signal(0, 1);
            p.w.deliver();
        }
        assert_eq!(p.receiver(), (State::Ready, 2));
    }
}

#[test]
fn without_bits_nobody_is_woken_elsewhere() {
    let mut p = Posts::new();
    p.signals[0] = p.note;
    p.signal(0, 0);
    assert_eq!(p.letters(), 0);
}

#[test]
fn whoever_signals_elsewhere_can_yield() {
    let mut p = Posts::new();
    let [first, second] = [0, 0].map(|_| p.w.limited(40, NEVER, 0).id);
    p.w.on(0);
    assert_eq!(p.w.current(), first);
    p.w.enter(Call::SignalYield as u64, args([p.signals[1]]));
    assert_eq!((p.w.current(), p.w.frame(first).rax), (second, 0));
    p.w.deliver();
    assert_eq!(p.receiver(), (State::Ready, 2));
}

#[test]
fn only_the_home_waits() {
    let mut p = Posts::new();
    p.w.root_runs();
    p.w.fails(Call::Wait, [p.note, NEVER], Error::Elsewhere);
}

#[test]
fn a_notification_ends_when_its_letter_is_back() {
    // How many letters are delivered before the deletion begins, of signals from 0, 2 and 0.
    for processor in 0..3 {
        for delivered in 0..4 {
            let mut p = Posts::new();
            let deleter = p.w.limited_of(processor, 100, NEVER, 0).id;
            for (at, from) in [0, 2, 0].into_iter().enumerate() {
                p.signal(from, at % 2);
                if at < delivered {
                    p.w.deliver();
                }
            }
            let mut steps = 0;
            while p.w.k.m.everywhere::<Notification>().contains(&p.id) {
                // One step of the deletion and one letter in turns.
                p.w.on(processor);
                if p.w.k.cpu.current == Some(deleter) {
                    p.w.enter(Call::CapDelete as u64, args([0, p.note]));
                }
                if p.letters() != 0 {
                    // The newest and the oldest in turns: no inbox has the same one first for ever.
                    p.w.deliver_one(if steps % 2 == 0 { p.letters() - 1 } else { 0 });
                }
                steps += 1;
                assert!(steps < 100, "the notification does not end");
            }
            p.w.deliver();
            assert!(p.w.k.m.letters.is_empty());
            p.w.on(1);
            assert_eq!(p.w.k.cpu.held_posts, 0);
        }
    }
}
