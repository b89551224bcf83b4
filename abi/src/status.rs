//! Status codes of system calls.

/// Why a call was refused. Returned in `rax` as the negative of the number; 0 means success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Error {
    /// No such call.
    BadCall = 1,
    /// The capability index is out of range, or its slot is empty.
    BadCap = 2,
    /// The slot names an object of another kind than the call needs.
    WrongKind = 3,
    /// The capability lacks the right that the call needs.
    NoRight = 4,
    /// An argument is out of its range, or is not aligned.
    BadArgument = 5,
    /// The slot that was to be filled is taken.
    SlotTaken = 6,
    /// The memory handed in does not suffice.
    NoMemory = 7,
    /// The object is in a state in which the call makes no sense.
    BadState = 8,
    /// The deadline passed first.
    Timeout = 9,
    /// The other side went away while the caller waited.
    Gone = 10,
    /// Something is already mapped or bound there.
    Busy = 11,
    /// The machine lacks what the call needs.
    Unsupported = 12,
    /// A chain of calls or of derivations is deeper than the kernel allows.
    TooDeep = 13,
    /// An object belongs to another processor than the call, or than the object that it is to be
    /// bound to.
    Elsewhere = 14,
}

impl Error {
    /// All codes, in order of their numbers.
    pub const ALL: [Error; 14] = [
        Error::BadCall,
        Error::BadCap,
        Error::WrongKind,
        Error::NoRight,
        Error::BadArgument,
        Error::SlotTaken,
        Error::NoMemory,
        Error::BadState,
        Error::Timeout,
        Error::Gone,
        Error::Busy,
        Error::Unsupported,
        Error::TooDeep,
        Error::Elsewhere,
    ];

    /// The value that a call leaves in `rax`.
    #[must_use]
    pub const fn to_raw(self) -> u64 {
        (self as u8 as i64).wrapping_neg() as u64
    }

    /// The inverse of [`Error::to_raw`]; `None` for success and for values that are no code.
    #[must_use]
    pub fn from_raw(raw: u64) -> Option<Error> {
        let number = (raw as i64).wrapping_neg();
        usize::try_from(number).ok()?.checked_sub(1).and_then(|i| Self::ALL.get(i)).copied()
    }
}

/// Result of a system call.
pub type Result<T> = core::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_round_trip() {
        for (i, e) in Error::ALL.into_iter().enumerate() {
            assert_eq!(e as usize, i + 1);
            assert_eq!(Error::from_raw(e.to_raw()), Some(e));
        }
        assert_eq!(Error::from_raw(0), None);
        assert_eq!(Error::from_raw((-15i64) as u64), None);
        assert_eq!(Error::from_raw(7), None);
    }
}
