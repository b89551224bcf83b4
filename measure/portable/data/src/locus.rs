//! The frequency response locus: a system's [`Response`] from low frequencies up to its cut-off.

use crate::Points;
use crate::walsh::Response;

/// The response to one frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Edges of the input per second.
    pub frequency: f64,
    /// The system's response.
    pub response: Response,
    /// The fraction of the edges that were answered, 0 to 1.
    pub answered: f64,
}

/// Places in ascending order of frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locus(pub Vec<Place>);

impl Locus {
    /// The highest frequency up to which every edge was answered.
    pub fn cut_off(&self) -> Option<&Place> {
        self.0.iter().take_while(|place| place.answered >= 1.0).last()
    }

    /// The locus in the complex plane, in per cent.
    pub fn points(&self) -> Points {
        let points = self.0.iter().map(|place| (place.response.real * 100.0, place.response.imaginary * 100.0));
        Points { x_unit: "%".into(), y_unit: "%".into(), points: points.collect() }
    }

    /// A property of each place, in per cent, over the frequency.
    pub fn over_frequency(&self, part: impl Fn(&Place) -> f64) -> Points {
        let points = self.0.iter().map(|place| (place.frequency, part(place) * 100.0));
        Points { x_unit: "1/s".into(), y_unit: "%".into(), points: points.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response of a system that is always late by the same time, in seconds: it lies on a
    /// square around the origin.
    fn ideal(delay: f64, frequency: f64) -> Response {
        let late = (delay * frequency).rem_euclid(2.0);
        let triangle = |late: f64| 1.0 - 2.0 * late.rem_euclid(2.0).min(2.0 - late.rem_euclid(2.0));
        Response { real: triangle(late), imaginary: triangle(late - 0.5), reliability: 1.0 }
    }

    #[test]
    fn an_ideal_system_has_the_special_places() {
        let at = |frequency| ideal(1e-5, frequency);
        assert_eq!((at(0.0).real, at(0.0).imaginary), (1.0, 0.0));
        assert!((at(50_000.0).real).abs() < 1e-9 && (at(50_000.0).imaginary - 1.0).abs() < 1e-9);
        assert!((at(100_000.0).real + 1.0).abs() < 1e-9 && at(100_000.0).imaginary.abs() < 1e-9);
        for frequency in [1.0, 12_345.0, 99_999.0, 150_000.0] {
            assert!((at(frequency).real.abs() + at(frequency).imaginary.abs() - 1.0).abs() < 1e-9, "{frequency}");
        }
    }

    #[test]
    fn the_cut_off_is_before_the_first_lost_edge() {
        let place = |frequency, answered| Place { frequency, response: ideal(1e-6, frequency), answered };
        let locus = Locus(vec![place(1e3, 1.0), place(2e3, 1.0), place(5e3, 0.9), place(1e4, 1.0)]);
        assert_eq!(locus.cut_off().unwrap().frequency, 2e3);
        assert_eq!(Locus::default().cut_off(), None);
        assert_eq!(locus.points().points.len(), 4);
        assert_eq!(locus.over_frequency(|place| place.answered).points[2], (5e3, 90.0));
    }
}
