//! When the kernel was entered, according to its trace.

use pillion_abi::{
    RT_VECTOR_FIRST,
    trace::{Entry, Event},
};

/// When a real-time interrupt last entered the kernel, in ticks. The entries begin with the newest.
///
/// When an interrupt ends guest mode, the exit is recorded before the kernel knows its cause. It
/// then stands directly before the interrupt, and is the earlier stamp.
pub fn last(newest_first: impl IntoIterator<Item = Entry>) -> Option<u64> {
    let mut entries = newest_first.into_iter();
    let interrupt = entries.find(|entry| is(entry, Event::Interrupt) && entry.first >= RT_VECTOR_FIRST.into())?;
    let exit = entries.next().filter(|entry| is(entry, Event::GuestExit));
    Some(exit.unwrap_or(interrupt).time)
}

fn is(entry: &Entry, event: Event) -> bool {
    entry.event == event as u64
}
