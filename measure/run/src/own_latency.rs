//! How late tasks were in instructions of their own processor, which the emulator's plug-in tells
//! apart from those of the others' turns.

use super::plugin::{self, Plugin};
use super::processors;
use super::tool::Tool;
use anyhow::{Context as _, Result};
use pillion_measure_data::Processor;
use pillion_measure_data::lines::Readings;
use serde_json::Value;

const SOURCE: &str = "measure/plugin/own.c";
const PLUGIN: &str = "build/own.so";
/// The addresses of the kernel, and of the demonstration task's code.
const ARGUMENTS: &str = "kernel=ffffffff80200000-ffffffff80ffffff,task=400000-40ffff";

/// Builds the plug-in, and returns it as it is loaded.
pub fn prepare(tool: &dyn Tool) -> Result<Plugin> {
    plugin::build_total(tool.repository(), &tool.emulator_of_several()?, SOURCE, PLUGIN)?;
    Ok(Plugin { file: PLUGIN.into(), arguments: ARGUMENTS.into() })
}

/// Adds the figures: of all processors together, and the longest of each, own_max_N.
pub fn read(readings: &mut Readings, text: &str, result: &Value) {
    match lines(text) {
        Ok(all) if !all.is_empty() => {
            report(readings, &all);
            of_each(readings, &all, result);
        }
        Ok(_) => readings.disturbed.push("the plug-in saw no task".into()),
        Err(error) => readings.disturbed.push(format!("{error:#}")),
    }
}

/// A processor's line: its samples, their sum, the longest, how late that one was with the others'
/// turns, and the longest with them.
type Line = [u64; 5];

fn lines(text: &str) -> Result<Vec<Line>> {
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

/// The plug-in does not know the processors' numbers. A line is of the processor whose tasks read
/// the same longest latency, the others' turns included.
fn of_each(readings: &mut Readings, all: &[Line], result: &Value) {
    let processors = processors::of(result);
    for Processor { cpu, max_ns, .. } in &processors {
        let lines: Vec<&Line> = all.iter().filter(|line| Some(line[4]) == *max_ns).collect();
        let is_alone = processors.iter().filter(|one| one.max_ns == *max_ns).count() == 1;
        if let ([line], true) = (&*lines, is_alone) {
            readings.figures.insert(format!("own_max_{cpu}"), (line[2] as f64, "instructions".to_owned()));
        } else {
            readings
                .disturbed
                .push(format!("the plug-in's figures of processor {cpu} cannot be told from the others'"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "own 10 3000 900 2000 2500\nown 30 9000 700 701 4000\n";

    fn result(longest: [u64; 2]) -> Value {
        let counted = |(cpu, max_ns)| {
            json!({ "cpu": cpu, "has": "both", "tasks": ["t"], "max_ns": max_ns, "overruns": 0, "timers": 1, "messages": 0,
                    "calls": 0, "signals": 0, "flushes": 0, "devices": 0, "linux": 0 })
        };
        json!({ "processors": longest.into_iter().enumerate().map(counted).collect::<Vec<_>>() })
    }

    #[test]
    fn a_line_is_of_the_processor_with_its_longest_latency() {
        let mut readings = Readings::default();
        read(&mut readings, TEXT, &result([4000, 2500]));
        assert_eq!((readings.figures["own_max_0"].0, readings.figures["own_max_1"].0), (700.0, 900.0));
        assert_eq!(readings.disturbed, Vec::<String>::new());
        for (longest, unclear) in [([4000, 2501], 1), ([4000, 4000], 2)] {
            let mut readings = Readings::default();
            read(&mut readings, TEXT, &result(longest));
            assert_eq!(readings.disturbed.len(), unclear, "{longest:?}");
            assert!(!readings.figures.contains_key("own_max_1"));
        }
    }

    #[test]
    fn the_longest_of_all_processors_counts() {
        let mut readings = Readings::default();
        read(&mut readings, TEXT, &Value::Null);
        let value = |name: &str| readings.figures[name].0;
        let names = ["own_avg", "own_max", "with_turns_max", "fewest_samples", "processors"];
        assert_eq!(names.map(value), [300.0, 900.0, 4000.0, 10.0, 2.0]);
        assert_eq!(readings.disturbed, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_read_disturbs() {
        for text in ["", "own 1 2 3 4\n", "own 0 0 0 0 0\n", "end\n"] {
            let mut readings = Readings::default();
            read(&mut readings, text, &Value::Null);
            assert_eq!((readings.disturbed.len(), readings.figures.len()), (1, 0), "{text}");
        }
    }
}
