//! How late tasks were in instructions of their own processor, which the emulator's plug-in tells
//! apart from those of the others' turns.

use super::plugin::{self, Plugin};
use super::tool::Tool;
use anyhow::{Context as _, Result};
use pillion_measure_data::lines::Readings;

const SOURCE: &str = "measure/plugin/own.c";
const PLUGIN: &str = "build/own.so";
/// The addresses of the kernel, and of the demonstration task's code.
const ARGUMENTS: &str = "kernel=ffffffff80200000-ffffffff80ffffff,task=400000-40ffff";

/// Builds the plug-in, and returns it as it is loaded.
pub fn prepare(tool: &dyn Tool) -> Result<Plugin> {
    plugin::build_total(tool.repository(), &tool.emulator_of_several()?, SOURCE, PLUGIN)?;
    Ok(Plugin { file: PLUGIN.into(), arguments: ARGUMENTS.into() })
}

/// Adds the figures: of all processors together, and the longest of each.
pub fn read(readings: &mut Readings, text: &str) {
    match processors(text) {
        Ok(all) if !all.is_empty() => report(readings, &all),
        Ok(_) => readings.disturbed.push("the plug-in saw no task".into()),
        Err(error) => readings.disturbed.push(format!("{error:#}")),
    }
}

/// A processor's line: its samples, their sum, the longest, how late that one was with the others'
/// turns, and the longest with them.
type Line = [u64; 5];

fn processors(text: &str) -> Result<Vec<Line>> {
    text.lines().map(|line| parsed(line).with_context(|| format!("the plug-in wrote {line:?}"))).collect()
}

fn parsed(line: &str) -> Option<Line> {
    let numbers: Option<Vec<u64>> = line.strip_prefix("own ")?.split(' ').map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok().filter(|line: &Line| line[0] != 0)
}

fn report(readings: &mut Readings, all: &[Line]) {
    let mut figure = |name: &str, value: u64| {
        readings.figures.insert(name.to_owned(), (value as f64, "instructions".to_owned()));
    };
    let of = |at: usize| all.iter().map(move |line| line[at]);
    figure("own_avg", of(1).sum::<u64>() / of(0).sum::<u64>());
    figure("own_max", of(2).max().unwrap_or_default());
    figure("with_turns_max", of(4).max().unwrap_or_default());
    let fewest = of(0).min().unwrap_or_default();
    readings.figures.insert("fewest_samples".into(), (fewest as f64, "1".into()));
    readings.figures.insert("processors".into(), (all.len() as f64, "1".into()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_all_processors_counts() {
        let mut readings = Readings::default();
        read(&mut readings, "own 10 3000 900 2000 2500\nown 30 9000 700 701 4000\n");
        let value = |name: &str| readings.figures[name].0;
        let names = ["own_avg", "own_max", "with_turns_max", "fewest_samples", "processors"];
        assert_eq!(names.map(value), [300.0, 900.0, 4000.0, 10.0, 2.0]);
        assert_eq!(readings.disturbed, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_disturbs() {
        for text in ["", "own 1 2 3 4\n", "own 0 0 0 0 0\n", "end\n"] {
            let mut readings = Readings::default();
            read(&mut readings, text);
            assert_eq!((readings.disturbed.len(), readings.figures.len()), (1, 0), "{text}");
        }
    }
}
