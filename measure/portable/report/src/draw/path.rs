//! Paths.

use super::at;
use maud::{Markup, html};

pub fn through(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (n, (x, y)) in places.iter().enumerate() {
        path += if n == 0 { "M" } else { "L" };
        path += &format!("{} {}", at(*x), at(*y));
    }
    path
}

/// Steps through places: each one holds its height until the next begins.
pub fn steps(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (n, (x, y)) in places.iter().enumerate() {
        path += &match n {
            0 => format!("M{} {}", at(*x), at(*y)),
            _ => format!("H{}V{}", at(*x), at(*y)),
        };
    }
    path
}

/// Bars side by side, each from x to x and from the base to y; neighbours share an outline.
pub fn bars(bars: &[(f64, f64, f64)], base: f64) -> String {
    let mut path = String::new();
    let mut end = None;
    for (from, to, top) in bars {
        let touches = end.is_some_and(|end: f64| (from - end).abs() < 0.05);
        if !touches {
            path += &end.map_or(String::new(), |_| format!("V{}", at(base)));
            path += &format!("M{} {}", at(*from), at(base));
        }
        path += &format!("V{}H{}", at(*top), at(*to));
        end = Some(*to);
    }
    path + &end.map_or(String::new(), |_| format!("V{}", at(base)))
}

/// The element of a path.
pub fn path(class: &str, path: &str) -> Markup {
    html! { @if !path.is_empty() { path class=(class) d=(path) {} } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_places() {
        let places = [(0.0, 1.0), (2.04, 3.0)];
        assert_eq!(through(&places), "M0 1L2 3");
        assert_eq!(steps(&places), "M0 1H2V3");
        assert_eq!(bars(&[(0.0, 1.0, 5.0), (1.0, 2.0, 6.0), (4.0, 5.0, 7.0)], 9.0), "M0 9V5H1V6H2V9M4 9V7H5V9");
        assert_eq!((through(&[]), bars(&[], 1.0)), (String::new(), String::new()));
    }
}
