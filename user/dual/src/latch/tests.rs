use super::*;
use std::cell::Cell;

#[test]
fn a_statement_that_stays_is_read_once() {
    let (number, reads) = (AtomicU64::new(7), Cell::new(0));
    let found = stated(&number, |copy| {
        reads.set(reads.get() + 1);
        Some(copy)
    });
    assert_eq!((found, reads.get()), ((7, Some(1)), 1));
}

#[test]
fn one_that_changes_is_read_again() {
    let (number, reads) = (AtomicU64::new(4), Cell::new(0));
    let found = stated(&number, |copy| {
        reads.set(reads.get() + 1);
        if reads.get() < 4 {
            number.fetch_add(1, Relaxed);
        }
        Some(copy)
    });
    assert_eq!(found, (7, Some(1)));
}

/// Linux can harm its own threads only: they go there.
#[test]
fn one_that_never_stays_is_none() {
    let number = AtomicU64::new(0);
    let found = stated(&number, |_| {
        number.fetch_add(1, Relaxed);
        Some(())
    });
    assert_eq!(found.1, None);
}
