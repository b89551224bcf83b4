//! Conversion between nanoseconds and the 8254's ticks, the time of RTLinux's first interface.

/// Ticks in a second.
pub const PER_SECOND: i64 = 1_193_180;

const NS: i64 = 1_000_000_000;

/// The end of time, in either unit.
pub const NEVER: i64 = i64::MAX;

/// Converts ticks to nanoseconds, rounded down. The end of time is preserved; a result that does
/// not fit becomes the end of time.
#[must_use]
pub const fn to_ns(ticks: i64) -> i64 {
    scale(ticks, NS, PER_SECOND)
}

/// Converts nanoseconds to ticks, rounded down.
#[must_use]
pub const fn from_ns(ns: i64) -> i64 {
    scale(ns, PER_SECOND, NS)
}

const fn scale(value: i64, by: i64, over: i64) -> i64 {
    if value == NEVER {
        return NEVER;
    }
    let product = value as i128 * by as i128;
    let scaled = product.div_euclid(over as i128);
    if scaled > i64::MAX as i128 {
        NEVER
    } else if scaled < i64::MIN as i128 {
        i64::MIN
    } else {
        scaled as i64
    }
}

/// Converts a priority of RTLinux's first interface, with 0 the most urgent, to one of the third.
#[must_use]
pub const fn priority(old: i32) -> i32 {
    const MOST: i32 = 1_000_000;
    if old < 0 {
        MOST
    } else if old > MOST {
        0
    } else {
        MOST - old
    }
}
