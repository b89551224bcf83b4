use super::*;

/// Letters in an array: number `n` is the one at `n - 1`.
#[derive(Debug, Default)]
struct Desk([Letter; 4]);

impl Letters for Desk {
    fn letter(&self, number: NonZeroU32) -> &Letter {
        &self.0[number.get() as usize - 1]
    }
}

impl Desk {
    fn send(&self, inbox: &Inbox<2>, sender: usize, number: u32) -> bool {
        let number = NonZeroU32::new(number).unwrap();
        inbox.put(sender, number, self.letter(number))
    }
}

#[cfg(not(loom))]
mod alone {
    use super::*;

    fn take(receiver: &mut Receiver, inbox: &Inbox<2>, desk: &Desk) -> u32 {
        receiver.take(inbox, desk).map_or(0, NonZeroU32::get)
    }

    #[test]
    fn only_the_first_letter_interrupts() {
        let (inbox, desk, mut receiver) = (Inbox::new(), Desk::default(), Receiver::new());
        assert!(desk.send(&inbox, 0, 1));
        assert!(!desk.send(&inbox, 1, 2));
        assert_ne!(take(&mut receiver, &inbox, &desk), 0);
        assert!(receiver.has_more());
        assert!(desk.send(&inbox, 0, 3), "the receiver has looked");
    }

    #[test]
    fn a_sender_that_floods_does_not_hold_up_another() {
        let (inbox, desk, mut receiver) = (Inbox::new(), Desk::default(), Receiver::new());
        let _ = (desk.send(&inbox, 0, 1), desk.send(&inbox, 1, 2));
        let mut taken = [0; 4];
        for place in &mut taken {
            *place = take(&mut receiver, &inbox, &desk);
            let _ = *place == 1 && desk.send(&inbox, 0, 1);
        }
        assert_eq!(taken.iter().filter(|number| **number == 2).count(), 1, "{taken:?}");
    }

    #[test]
    fn a_vector_is_taken_once_and_interrupts_once() {
        let messages = Messages::new();
        assert!(messages.put(0xfd));
        assert!(!messages.put(0xfd) && !messages.put(0x21));
        assert_eq!(messages.take(), [1 << 0x21, 0, 0, 1 << 0x3d]);
        assert_eq!(messages.take(), [0; 4]);
        assert!(messages.put(0x21), "the receiver has looked");
    }

    #[test]
    fn an_interrupt_without_a_letter() {
        let (inbox, desk, mut receiver) = (Inbox::new(), Desk::default(), Receiver::new());
        assert_eq!(take(&mut receiver, &inbox, &desk), 0);
        assert!(!receiver.has_more());
    }
}

#[cfg(loom)]
mod model {
    use super::*;
    use loom::sync::{Arc, Notify};
    use loom::thread;

    /// Sends letters from two processors, and receives all of them, looking
    /// only when interrupted: in every order with as many preemptions, none is lost, and none comes
    /// twice.
    fn deliver(sent: [&'static [u32]; 2], preemptions: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(preemptions);
        model.check(move || {
            let shared = Arc::new((Inbox::<2>::new(), Desk::default(), Notify::new()));
            let senders = [0, 1].map(|sender| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (inbox, desk, interrupt) = &*shared;
                    for number in sent[sender] {
                        if desk.send(inbox, sender, *number) {
                            interrupt.notify();
                        }
                    }
                })
            });
            let (inbox, desk, interrupt) = &*shared;
            let (mut receiver, mut taken) = (Receiver::new(), [0; 4]);
            while taken.iter().sum::<usize>() < sent[0].len() + sent[1].len() {
                if !receiver.has_more() {
                    interrupt.wait();
                }
                if let Some(number) = receiver.take(inbox, desk) {
                    taken[number.get() as usize - 1] += 1;
                }
            }
            for sender in senders {
                sender.join().unwrap();
            }
            assert!(taken.iter().all(|times| *times <= 1), "{taken:?}");
        });
    }

    #[test]
    fn one_of_each() {
        deliver([&[1], &[2]], 6);
    }

    #[test]
    fn two_of_one() {
        deliver([&[1, 2], &[3]], 4);
    }
}
