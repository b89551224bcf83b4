//! A thread's urgency, and the kernel's level that it runs at.
//!
//! A program's priorities are 0 to 1,000,000; the kernel has 196 levels for them. Small and very
//! high priorities, the ones that programs use, have a level each; between them there are four
//! levels for each doubling. So a higher priority never has a lower level.

/// Highest priority of a program.
pub const PRIORITY_MAX: u32 = 1_000_000;

/// Level of priority 0.
const FIRST_LEVEL: u8 = 16;
/// Priorities below this one have a level each.
const SMALL_END: u32 = 128;
/// Priorities from this one have a level each.
const HIGH_START: u32 = 999_985;
/// Level of [`HIGH_START`].
const HIGH_LEVEL: u8 = 196;
/// Level of threads that run interrupt handlers.
const INTERRUPT_LEVEL: u8 = 212;

/// A thread's urgency: its priority, with room below for the main thread and above for interrupt
/// handlers. Urgencies compare as priorities do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency(u32);

impl Urgency {
    /// The main thread, which does what Linux did: less urgent than any real-time thread.
    pub const MAIN: Urgency = Urgency(0);
    /// Interrupt handlers: more urgent than any thread of the program.
    pub const INTERRUPT: Urgency = Urgency(PRIORITY_MAX + 2);

    /// A real-time thread with a priority of the program.
    #[must_use]
    pub fn of_priority(priority: u32) -> Urgency {
        Urgency(priority.min(PRIORITY_MAX) + 1)
    }

    /// The kernel's level for this urgency in a task with these limits.
    #[must_use]
    pub fn level(self, limits: Limits) -> u8 {
        match self {
            Urgency::MAIN => limits.main,
            Urgency::INTERRUPT => INTERRUPT_LEVEL.min(limits.ceiling),
            Urgency(above) => level_of_priority(above - 1).min(limits.ceiling),
        }
    }
}

/// Limits of a task's levels.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Level of the main thread.
    pub main: u8,
    /// Highest level.
    pub ceiling: u8,
}

/// The level of a priority.
#[must_use]
fn level_of_priority(priority: u32) -> u8 {
    if priority < SMALL_END {
        FIRST_LEVEL + priority as u8
    } else if priority >= HIGH_START {
        HIGH_LEVEL + (priority.min(PRIORITY_MAX) - HIGH_START) as u8
    } else {
        let octave = priority.ilog2();
        let quarter = (priority >> (octave - 2)) & 3;
        FIRST_LEVEL + SMALL_END as u8 + (4 * (octave - SMALL_END.ilog2()) + quarter) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_never_fall() {
        let levels = [0, 127, 128, 159, 160, 255, 256, 999_984, 999_985, 1_000_000, u32::MAX].map(level_of_priority);
        assert_eq!(levels, [16, 143, 144, 144, 145, 147, 148, 195, 196, 211, 211]);
        assert!((1..=PRIORITY_MAX).all(|p| level_of_priority(p) - level_of_priority(p - 1) <= 1));
    }

    #[test]
    fn a_ceiling_caps_and_the_order_holds() {
        let limits = Limits { main: 5, ceiling: 100 };
        let order = [Urgency::MAIN, Urgency::of_priority(0), Urgency::of_priority(PRIORITY_MAX), Urgency::INTERRUPT];
        assert!(order.is_sorted());
        assert_eq!(order.map(|u| u.level(limits)), [5, 16, 100, 100]);
        assert_eq!(Urgency::INTERRUPT.level(Limits { main: 5, ceiling: 220 }), 212);
        assert_eq!(Urgency::of_priority(u32::MAX), Urgency::of_priority(PRIORITY_MAX));
    }
}
