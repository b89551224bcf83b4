//! Making the first task.

use crate::machine::Fake;
use pillion_abi::{
    object::{Kind, right},
    status::Error,
};
use pillion_core::{Cap, Kernel, root::Start};

const SLOTS: u32 = 8;

/// What lies behind the last slot belongs to other objects.
#[test]
fn only_slots_that_exist_are_read_and_only_empty_ones_filled() {
    assert!(Kernel::new(Fake::new(1 << 20), 0).first_task(SLOTS, SLOTS).is_none());
    let mut k = Kernel::new(Fake::new(1 << 20), 0);
    let mut task = k.first_task(SLOTS, 1).unwrap();
    task.create(Kind::AddressSpace, 8, 2).unwrap();
    let Cap::AddressSpace(space) = task.cap(2) else { panic!("no space") };
    for index in [SLOTS, u32::MAX] {
        assert_eq!(task.give(index, Cap::Trace, right::ALL), Err(Error::BadCap));
        assert_eq!(task.create(Kind::Notification, 0, index), Err(Error::BadCap));
        assert_eq!(task.map(index, space, 0x1000, 0), Err(Error::BadCap));
        assert_eq!(task.cap(index), Cap::None);
    }
    for (index, cap, error) in [
        (2, Cap::Trace, Error::SlotTaken),
        (0, Cap::Trace, Error::BadArgument),
        (3, Cap::AddressSpace(space), Error::WrongKind),
    ] {
        assert_eq!(task.give(index, cap, right::ALL), Err(error));
    }
    let slots = [3, 4, SLOTS];
    let start = Start { slots, priority: 1, entry: 0, stack: 0, argument: 0 };
    assert!(task.start(&start).is_err());
}
