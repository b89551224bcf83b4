//! Colours: one for each system, the same throughout the report.
//!
//! They are those of Okabe and Ito, which colour-blind readers can distinguish, with lighter ones
//! for dark screens. Systems also have dashes of their own, for grey paper.

use pillion_measure_data::Measurement;
use std::fmt::Write as _;

/// Number of colours; with more systems, colours repeat.
pub const SLOTS: usize = 8;

/// Colour on white, colour on black, dashes.
const PALETTE: [(&str, &str, &str); SLOTS] = [
    ("#0072b2", "#4aa8e8", "none"),
    ("#56b4e9", "#a3d8f7", "7 3"),
    ("#009e73", "#2ecc9a", "2 2"),
    ("#d55e00", "#f58645", "9 3 2 3"),
    ("#e69f00", "#f7c35c", "4 2"),
    ("#cc79a7", "#e5a3c9", "12 3"),
    ("#666666", "#b5b5b5", "5 2 1 2"),
    ("#a39400", "#f0e442", "1 2"),
];

/// Systems that have the same colour in every report.
const KNOWN: [&str; 7] = ["own-space", "alone", "kernel-space", "linux", "linux-rt", "riding", "riding-rt"];

/// Colours besides those of the systems, on light and on dark background: background, text, quiet
/// text, grid, axis, alarm, good.
const LIGHT: [&str; 7] = ["#fffefb", "#1d1d1b", "#6b6a66", "#e6e4dd", "#8f8d86", "#b3261e", "#1b7f4f"];
const DARK: [&str; 7] = ["#16171a", "#e9e7e1", "#9c9a94", "#2d2f34", "#74726c", "#ff8a80", "#5fd39b"];

/// The colour of each system.
#[derive(Debug, Default)]
pub struct Colours {
    systems: Vec<(String, usize)>,
}

impl Colours {
    /// Gives each system of the measurements a colour.
    pub fn of(measurements: &[Measurement]) -> Colours {
        let mut colours = Colours::default();
        for system in measurements.iter().flat_map(|measurement| &measurement.systems) {
            if colours.find(&system.name).is_none() {
                let slot = colours.free(&system.name);
                colours.systems.push((system.name.clone(), slot));
            }
        }
        colours
    }

    /// The colour of a system.
    pub fn slot(&self, system: &str) -> usize {
        self.find(system).unwrap_or(0)
    }

    fn find(&self, system: &str) -> Option<usize> {
        self.systems.iter().find(|(name, _)| name == system).map(|&(_, slot)| slot)
    }

    /// A known system's own colour; for another one, the first unused colour.
    fn free(&self, system: &str) -> usize {
        let taken = |slot: &usize| self.systems.iter().any(|(_, used)| used == slot);
        KNOWN
            .iter()
            .position(|known| *known == system)
            .unwrap_or_else(|| (0..SLOTS).rev().find(|slot| !taken(slot)).unwrap_or(self.systems.len() % SLOTS))
    }
}

/// The style of drawings for a light background, and for a dark one where the screen asks for it.
pub fn style() -> String {
    format!("{}@media screen and (prefers-color-scheme: dark) {{\n{}}}\n", light_style(), rules(&DARK, true))
}

/// The style of drawings for a light background only.
pub fn light_style() -> String {
    let mut css = rules(&LIGHT, false);
    for (slot, (_, _, dashes)) in PALETTE.iter().enumerate() {
        let _ = writeln!(css, ".d{slot} {{ stroke-dasharray: {dashes} }}");
    }
    css + include_str!("drawing.css")
}

fn rules(ground: &[&str; 7], dark: bool) -> String {
    let [paper, text, quiet, grid, axis, alarm, good] = ground;
    let mut css = format!(
        ".paper {{ fill: {paper} }}\n.text {{ fill: {text} }}\n.quiet {{ fill: {quiet} }}\n.grid {{ stroke: {grid} }}\n\
         .axis {{ stroke: {axis} }}\n.whisker {{ stroke: {text} }}\n.alarm {{ fill: {alarm} }}\n.limit {{ stroke: {alarm} }}\n.goal {{ stroke: {good} }}\n.halo {{ stroke: {paper} }}\n"
    );
    for (slot, (light, on_dark, _)) in PALETTE.iter().enumerate() {
        let colour = if dark { on_dark } else { light };
        let _ = writeln!(css, ".f{slot} {{ fill: {colour} }}\n.l{slot} {{ stroke: {colour} }}");
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::System;

    #[test]
    fn each_system_keeps_its_colour() {
        let systems = |names: &[&str]| Colours {
            systems: names
                .iter()
                .fold(Colours::default(), |mut colours, name| {
                    let slot = colours.free(name);
                    colours.systems.push((System { name: (*name).into(), ..System::default() }.name, slot));
                    colours
                })
                .systems,
        };
        let colours = systems(&["linux", "odd", "own-space", "odder"]);
        assert_eq!((colours.slot("own-space"), colours.slot("linux")), (0, 3));
        assert_ne!(colours.slot("odd"), colours.slot("odder"));
        assert!(colours.slot("odd") < SLOTS);
    }
}
