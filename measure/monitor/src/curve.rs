//! The points of one scan, kept until it is over and then printed as lines.

use crate::name::Name;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};
use pillion_runtime::log::Log;

/// The most points of a scan.
pub const POINTS: usize = 8_192;

/// Points of a line of at most 200 characters: 13 for each point and 44 for the longest name.
const IN_A_LINE: usize = 12;

/// Where a call was interrupted, and how long the most urgent thread then waited; both in ticks.
struct Point {
    place: AtomicI32,
    delay: AtomicU32,
}

impl Point {
    const fn new() -> Point {
        Point { place: AtomicI32::new(0), delay: AtomicU32::new(0) }
    }
}

/// A scan's points.
pub struct Curve {
    points: [Point; POINTS],
    used: AtomicUsize,
}

impl Curve {
    pub const fn new() -> Curve {
        Curve { points: [const { Point::new() }; POINTS], used: AtomicUsize::new(0) }
    }

    /// Forgets all points.
    pub fn clear(&self) {
        self.used.store(0, Relaxed);
    }

    /// Adds a point. Returns false if there is no room.
    pub fn add(&self, place: i64, delay: u64) -> bool {
        let used = self.used.load(Relaxed);
        let Some(point) = self.points.get(used) else { return false };
        point.place.store(place as i32, Relaxed);
        point.delay.store(delay as u32, Relaxed);
        self.used.store(used + 1, Relaxed);
        true
    }

    fn points(&self) -> &[Point] {
        &self.points[..self.used.load(Relaxed)]
    }

    /// The longest delay.
    pub fn longest(&self) -> u32 {
        self.points().iter().map(|point| point.delay.load(Relaxed)).max().unwrap_or(0)
    }

    /// The shortest delay before and after a call of this length, where a thread is in user mode.
    pub fn beside(&self, length: i64) -> u32 {
        let beside = |point: &&Point| !(0..=length).contains(&point.place.load(Relaxed).into());
        self.points().iter().filter(beside).map(|point| point.delay.load(Relaxed)).min().unwrap_or(0)
    }

    /// The number of points.
    pub fn places(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Prints the points in lines that are short enough for any log.
    pub fn print(&self, name: Name) {
        for points in self.points().chunks(IN_A_LINE) {
            let mut log = Log::new();
            let _ = say(&mut log, name, points);
        }
    }
}

fn say(log: &mut Log, name: Name, points: &[Point]) -> fmt::Result {
    write!(log, "points {name} ns ns")?;
    for point in points {
        write!(log, " {}:{}", point.place.load(Relaxed), point.delay.load(Relaxed))?;
    }
    log.write_char('\n')
}
