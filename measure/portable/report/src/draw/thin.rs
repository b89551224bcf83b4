//! Reduces the number of points without losing what they show.

use std::collections::HashSet;

/// Curves with more points than this are thinned.
const MANY: usize = 1500;
/// Width of the columns in which a curve keeps its first, last, highest and lowest point.
const COLUMN: f64 = 1.0;
/// Points of a cloud that are nearer to each other look like one.
const GRAIN: f64 = 0.8;

/// Thins a curve with places from left to right, keeping each column's extremes.
pub fn curve(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let ordered = places.is_sorted_by(|one, other| one.0 <= other.0);
    if places.len() <= MANY || !ordered {
        return places;
    }
    let column = |place: &(f64, f64)| (place.0 / COLUMN).floor();
    places.chunk_by(|one, other| column(one) == column(other)).flat_map(extremes).collect()
}

/// First, lowest, highest and last place of a column, in their original order.
fn extremes(column: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let by_height = |one: &&usize, other: &&usize| column[**one].1.total_cmp(&column[**other].1);
    let all: Vec<usize> = (0..column.len()).collect();
    let ends = [all.first(), all.iter().min_by(by_height), all.iter().max_by(by_height), all.last()];
    let mut kept: Vec<usize> = ends.into_iter().flatten().copied().collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|place| column[place]).collect()
}

/// Thins a cloud: keeps one of several points that look like one.
pub fn cloud(places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut seen = HashSet::new();
    let cell = |(x, y): &(f64, f64)| ((x / GRAIN).floor() as i64, (y / GRAIN).floor() as i64);
    places.into_iter().filter(|place| seen.insert(cell(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thin_curve_keeps_its_extremes() {
        let mut places: Vec<(f64, f64)> = (0..100_000).map(|n| (f64::from(n) / 200.0, f64::from(n % 7))).collect();
        places[54_321].1 = 999.0;
        let thin = curve(places.clone());
        assert!(thin.len() < 2_500);
        assert!(thin.contains(&places[54_321]) && thin.first() == places.first() && thin.last() == places.last());
        assert!(thin.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn few_points_and_loops_stay() {
        let loops: Vec<(f64, f64)> = (0..5000).map(|n| (f64::from(n % 10), 0.0)).collect();
        assert_eq!(curve(loops.clone()).len(), loops.len());
        assert_eq!(cloud(loops).len(), 10);
    }
}
