//! Maps the skin's priorities to the kernel's levels.
//!
//! The skin has 1,000,001 priorities, the kernel 255 levels. The map is the same in all tasks, so
//! threads of different tasks rank as their priorities do. It is exact at both ends, where programs
//! choose neighbouring numbers: from 0 up and from 1,000,000 down. In between, each doubling of the
//! priority gets four levels.

#![forbid(unsafe_code)]

/// Highest priority.
pub const MOST: u32 = 1_000_000;

/// Level of priority 0.
const FIRST: u32 = 16;

/// First priority above those at the low end, which have a level each, and its level.
const OCTAVES: (u32, u32) = (128, FIRST + 128);

/// First priority of those at the high end, which have a level each, and its level.
const TOP: (u32, u32) = (MOST - 15, 196);

/// Level of a priority in a task whose threads may have at most level `ceiling`.
#[inline]
#[must_use]
pub const fn of(priority: u32, ceiling: u8) -> u8 {
    let level = uncapped(priority);
    if level < ceiling as u32 { level as u8 } else { ceiling }
}

const fn uncapped(priority: u32) -> u32 {
    if priority < OCTAVES.0 {
        FIRST + priority
    } else if priority < TOP.0 {
        let octave = priority.ilog2();
        let quarter = (priority >> (octave - 2)) & 3;
        OCTAVES.1 + 4 * (octave - OCTAVES.0.ilog2()) + quarter
    } else if priority < MOST {
        TOP.1 + (priority - TOP.0)
    } else {
        TOP.1 + (MOST - TOP.0)
    }
}
