//! The points of one scan, kept until it is over and then printed as lines.

use crate::name::Name;
use core::fmt::{self, Write};
use pillion_runtime::log::Log;

/// The most points of a scan.
pub const POINTS: usize = 8_192;

/// Points of a line, which has at most 200 characters: 13 for each point and 44 for the longest
/// name.
const IN_A_LINE: usize = 12;

/// Where a call was interrupted, and how long the most urgent thread then waited; both in ticks.
#[derive(Clone, Copy)]
struct Point {
    place: i32,
    delay: u32,
}

/// A scan's points.
pub struct Curve {
    points: [Point; POINTS],
    used: usize,
}

impl Curve {
    /// An empty curve.
    pub const fn new() -> Curve {
        Curve { points: [Point { place: 0, delay: 0 }; POINTS], used: 0 }
    }

    /// Forgets all points.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Adds a point. Returns false if there is no room.
    pub fn add(&mut self, place: i64, delay: u64) -> bool {
        let Some(point) = self.points.get_mut(self.used) else { return false };
        *point = Point { place: place as i32, delay: delay as u32 };
        self.used += 1;
        true
    }

    /// The longest delay.
    pub fn longest(&self) -> u32 {
        self.points[..self.used].iter().map(|point| point.delay).max().unwrap_or(0)
    }

    /// The shortest delay before and after a call of this length, where a thread computes in user
    /// mode.
    pub fn beside(&self, length: i64) -> u32 {
        let beside = |point: &&Point| !(0..=length).contains(&point.place.into());
        self.points[..self.used].iter().filter(beside).map(|point| point.delay).min().unwrap_or(0)
    }

    /// The number of points.
    pub fn places(&self) -> usize {
        self.used
    }

    /// Prints the points in lines that are short enough for any log.
    pub fn print(&self, name: Name) {
        for points in self.points[..self.used].chunks(IN_A_LINE) {
            let mut log = Log::new();
            let _ = say(&mut log, name, points);
        }
    }
}

fn say(log: &mut Log, name: Name, points: &[Point]) -> fmt::Result {
    write!(log, "points {name} ns ns")?;
    for point in points {
        write!(log, " {}:{}", point.place, point.delay)?;
    }
    log.write_char('\n')
}
