//! The futex calls that are answered in primary mode (futex(2), and Linux's `uapi/linux/futex.h`):
//! those with the private flag that wait, wake, lock, or unlock. Linux answers each other one, and
//! each with an argument that is wrong.

const WAIT: u32 = 0;
const WAKE: u32 = 1;
const LOCK_PI: u32 = 6;
const UNLOCK_PI: u32 = 7;
const WAIT_BITSET: u32 = 9;
const WAKE_BITSET: u32 = 10;
const LOCK_PI2: u32 = 13;

const PRIVATE: u32 = 128;
const REALTIME_CLOCK: u32 = 256;
const ANY_BIT: u32 = u32::MAX;

/// Numbers of Linux's clocks.
const REALTIME: u64 = 0;
const MONOTONIC: u64 = 1;

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Waits, if the futex has that value, for a wake-up with one of the bits.
    Wait {
        /// See above.
        value: u32,
        /// See above.
        bitset: u32,
        /// Until when.
        end: Limit,
    },
    /// Wakes at most so many that wait for one of the bits.
    Wake {
        /// See above: at least one.
        most: u32,
        /// See above.
        bitset: u32,
    },
    /// Locks, with priority inheritance.
    Lock {
        /// Until when it waits.
        end: Limit,
    },
    /// Unlocks.
    Unlock,
}

/// How long a wait may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// However long.
    Never,
    /// The length of time that is at an address.
    After(u64),
    /// Until the time of a clock that is at an address.
    At {
        /// Linux's number of the clock.
        clock: u64,
        /// See above.
        address: u64,
    },
}

impl Request {
    /// The call with these arguments, the second to the fourth and the last.
    #[must_use]
    pub fn new(operation: u64, value: u64, time: u64, bitset: u64) -> Option<Request> {
        let (operation, value, bitset) = (operation as u32, value as u32, bitset as u32);
        let command = operation & !(PRIVATE | REALTIME_CLOCK);
        let bitset = if matches!(command, WAIT_BITSET | WAKE_BITSET) { bitset } else { ANY_BIT };
        if operation & PRIVATE == 0 || bitset == 0 {
            return None;
        }
        let is_real_time = operation & REALTIME_CLOCK != 0;
        let limit = |limit: Limit| if time == 0 { Limit::Never } else { limit };
        let until = |clock| limit(Limit::At { clock, address: time });
        let clock = if is_real_time { REALTIME } else { MONOTONIC };
        match command {
            WAIT if !is_real_time => Some(Request::Wait { value, bitset, end: limit(Limit::After(time)) }),
            WAIT_BITSET => Some(Request::Wait { value, bitset, end: until(clock) }),
            LOCK_PI if !is_real_time => Some(Request::Lock { end: until(REALTIME) }),
            LOCK_PI2 => Some(Request::Lock { end: until(clock) }),
            UNLOCK_PI if !is_real_time => Some(Request::Unlock),
            // Linux wakes one where less is asked for.
            WAKE | WAKE_BITSET if !is_real_time => {
                Some(Request::Wake { most: value.cast_signed().max(1).cast_unsigned(), bitset })
            }
            _ => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// What glibc 2.36 and 2.41 call.
    #[test]
    fn what_the_c_library_calls_is_known() {
        let forever = Request::Wait { value: 2, bitset: ANY_BIT, end: Limit::Never };
        assert_eq!(Request::new(128, 2, 0, 7), Some(forever), "a mutex; the last argument does not count");
        assert_eq!(Request::new(129, 1, 0, 0), Some(Request::Wake { most: 1, bitset: ANY_BIT }));
        let all = Request::Wake { most: i32::MAX as u32, bitset: ANY_BIT };
        assert_eq!(Request::new(129, i32::MAX as u64, 0, 0), Some(all), "a barrier");
        for (operation, clock) in [(137, MONOTONIC), (137 | 256, REALTIME)] {
            let until = Request::Wait { value: 5, bitset: ANY_BIT, end: Limit::At { clock, address: 0x1000 } };
            assert_eq!(Request::new(operation, 5, 0x1000, u32::MAX.into()), Some(until), "a condition, a semaphore");
            assert_eq!(Request::new(operation, 2, 0, u32::MAX.into()), Some(forever));
        }
        for (operation, clock) in [(134, REALTIME), (141, MONOTONIC), (141 | 256, REALTIME)] {
            let until = Request::Lock { end: Limit::At { clock, address: 0x1000 } };
            assert_eq!(Request::new(operation, 0, 0x1000, 0), Some(until), "a mutex with priority inheritance");
            assert_eq!(Request::new(operation, 0, 0, 0), Some(Request::Lock { end: Limit::Never }));
        }
        assert_eq!(Request::new(135, 0, 0, 0), Some(Request::Unlock));
    }

    #[test]
    fn only_the_low_half_of_an_argument_counts() {
        let wait = Request::Wait { value: 5, bitset: 1, end: Limit::Never };
        assert_eq!(Request::new(0xdead << 32 | 137, 0xdead << 32 | 5, 0, 0xdead << 32 | 1), Some(wait));
        let after = Request::Wait { value: 5, bitset: ANY_BIT, end: Limit::After(0x1_0000_1000) };
        assert_eq!(Request::new(128, 5, 0x1_0000_1000, 0), Some(after));
    }

    #[test]
    fn what_is_wrong_or_unusual_is_linuxs() {
        for operation in (0..512).filter(|operation| operation & PRIVATE as u64 == 0) {
            assert_eq!(Request::new(operation, 1, 0, 1), None, "{operation} is shared");
        }
        for command in (2..6).chain([8, 11, 12]).chain(14..128) {
            assert_eq!(Request::new(command | 128, 1, 0, 1), None, "{command}");
        }
        for operation in [128, 129, 134, 135, 138].map(|operation| operation | 256).into_iter().chain([128 | 512]) {
            assert_eq!(Request::new(operation, 1, 0, 1), None, "{operation} with a clock, or a bit that is unknown");
        }
        for operation in [137, 138] {
            assert_eq!(Request::new(operation, 1, 0, 0), None, "no bits");
        }
    }

    #[test]
    fn at_least_one_is_woken() {
        for few in [0, -1_i32 as u32, i32::MIN as u32] {
            assert_eq!(Request::new(129, few.into(), 0, 0), Some(Request::Wake { most: 1, bitset: ANY_BIT }));
        }
    }
}
