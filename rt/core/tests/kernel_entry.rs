//! When the kernel was entered.

use pillion_abi::trace::{Entry, Event};
use pillion_rt_core::kernel_entry::last;

/// Events in their order, one a tick. The first word is a vector, or irrelevant.
fn newest_first(events: &[(Event, u64)]) -> impl Iterator<Item = Entry> {
    let entries =
        (1..).zip(events).map(|(time, (event, first))| Entry { time, event: *event as u64, first: *first, second: 0 });
    entries.collect::<Vec<_>>().into_iter().rev()
}

const TIMER: (Event, u64) = (Event::Interrupt, 0xfe);
const SWITCH: (Event, u64) = (Event::Switch, 7);
const EXIT: (Event, u64) = (Event::GuestExit, 1);

#[test]
fn out_of_a_task() {
    assert_eq!(last(newest_first(&[SWITCH, TIMER, SWITCH])), Some(2));
}

#[test]
fn out_of_a_guest() {
    assert_eq!(last(newest_first(&[(Event::GuestEntry, 1), EXIT, TIMER, SWITCH])), Some(2));
}

#[test]
fn out_of_sleep() {
    assert_eq!(last(newest_first(&[EXIT, (Event::Idle, 0), TIMER, SWITCH])), Some(3));
}

#[test]
fn interrupts_of_linux_do_not_count() {
    let linux = (Event::Interrupt, 0xef);
    assert_eq!(last(newest_first(&[TIMER, SWITCH, EXIT, linux, SWITCH])), Some(1));
    assert_eq!(last(newest_first(&[EXIT, linux, SWITCH])), None);
}
