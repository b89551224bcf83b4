//! Paths whose instructions the emulator's plug-in counts for each processor apart, between events.

use super::cache_model;
use super::plan::{Path, Run, Stretch, Sum};
use super::plugin::{self, Plugin};
use super::tool::Tool;
use anyhow::{Context as _, Result, ensure};
use pillion_measure_data::lines::Readings;

const SOURCE: &str = "measure/plugin/several.c";
const PLUGIN: &str = "build/several.so";
/// The kernel's addresses.
const KERNEL: &str = "ffffffff80200000-ffffffff80ffffff";
/// Events at the kernel's entry for an interrupt, and its vector: a message of another processor's
/// guest, another processor's letter, the timer.
const ENTRIES: [(&str, u64); 3] = [("message", 0xef), ("letter", 0xfd), ("timer", 0xfe)];
/// The first samples of each path, which warm up and are not counted.
const WARM_UP: usize = 16;
/// Samples without which a path has no figure.
const FEWEST: usize = 100;

/// Builds the plug-in and the kernel, and returns the plug-in as it is loaded.
pub fn prepare(tool: &dyn Tool) -> Result<Plugin> {
    plugin::build_by_processor(tool.repository(), SOURCE, PLUGIN)?;
    let kernel = tool.kernel(None)?;
    let mut arguments = format!("kernel={KERNEL}");
    for (event, vector) in ENTRIES {
        arguments += &format!(",at={event}:{:x}", cache_model::entry(&kernel, vector)?);
    }
    Ok(Plugin { file: PLUGIN.into(), arguments })
}

/// An event of a processor: its name, and the processor's count then or the stretch's length.
struct Event<'a> {
    name: &'a str,
    processor: usize,
    count: u64,
}

/// Adds the figures of a run's paths, their sums and stretches to the readings.
pub fn read(readings: &mut Readings, run: &Run, text: &str) {
    let all = match series(text) {
        Ok(all) => all,
        Err(error) => return readings.disturbed.push(format!("{error:#}")),
    };
    let of = |number: usize| all.get(number).map_or(&[][..], |events| events);
    for path in &run.path {
        match path.samples(of(path.series)) {
            Ok(samples) => path.report(readings, &samples),
            Err(error) => readings.disturbed.push(format!("{}: {error:#}", path.name)),
        }
    }
    for Sum { name, of } in &run.sum {
        let parts: Option<Vec<f64>> = of.iter().map(|path| Some(readings.figures.get(path)?.0)).collect();
        match parts {
            Some(parts) => figure(readings, name.clone(), parts.iter().sum()),
            None => readings.disturbed.push(format!("not all of {name} was counted")),
        }
    }
    for Stretch { name, series, processor } in &run.stretch {
        // The line comes before the next mark.
        let off = of(*series).iter().find(|event| event.name == "off" && event.processor == *processor);
        match off {
            Some(off) => figure(readings, name.clone(), off.count as f64),
            None => readings.disturbed.push(format!("{name} was not counted")),
        }
    }
}

/// The events before the first mark, then those from each one on.
fn series(text: &str) -> Result<Vec<Vec<Event<'_>>>> {
    let mut all = vec![Vec::new()];
    for line in text.lines() {
        let event = event(line).with_context(|| format!("the plug-in wrote {line:?}"))?;
        if event.name == "Mark" {
            all.push(Vec::new());
        }
        all.last_mut().context("no series")?.push(event);
    }
    Ok(all)
}

fn event(line: &str) -> Option<Event<'_>> {
    let mut words = line.split(' ');
    Some(Event { name: words.next()?, processor: words.next()?.parse().ok()?, count: words.next()?.parse().ok()? })
}

impl Path {
    /// The lengths from each last beginning to the end that follows it.
    fn samples(&self, events: &[Event<'_>]) -> Result<Vec<u64>> {
        let mut samples = Vec::new();
        let mut begun = None;
        for event in events.iter().filter(|event| event.processor == self.processor) {
            if event.name == self.from {
                begun = Some(event.count);
            } else if event.name == self.upto
                && let Some(begun) = begun.take()
            {
                samples.push(event.count - begun);
            }
        }
        let samples = samples.split_off(WARM_UP.min(samples.len()));
        ensure!(samples.len() >= FEWEST, "{} samples were counted, fewer than {FEWEST}", samples.len());
        Ok(samples)
    }

    /// The average, rounded up, and the extremes.
    fn report(&self, readings: &mut Readings, samples: &[u64]) {
        let average = samples.iter().sum::<u64>().div_ceil(samples.len() as u64);
        let extremes = [samples.iter().min(), samples.iter().max()].map(|extreme| extreme.copied().unwrap_or_default());
        figure(readings, self.name.clone(), average as f64);
        figure(readings, format!("{}_min", self.name), extremes[0] as f64);
        figure(readings, format!("{}_max", self.name), extremes[1] as f64);
    }
}

fn figure(readings: &mut Readings, name: String, value: f64) {
    readings.figures.insert(name, (value, "instructions".to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(from: &str, upto: &str) -> Path {
        Path { name: "p".into(), series: 1, processor: 1, from: from.into(), upto: upto.into() }
    }

    /// A series in which the path takes 10, then more, and something else happens meanwhile.
    fn text(rounds: u64) -> String {
        let mut text = "From 1 1\noff 1 999 1000\nMark 0 5\n".to_owned();
        for round in 0..rounds {
            let at = 1_000 * round;
            let length = if round == rounds - 1 { 14 } else { 10 };
            text += &format!("From 1 {at}\nFrom 0 7\nFrom 1 {}\nUpto 0 9\nUpto 1 {}\n", at + 1, at + 1 + length);
        }
        text + "Upto 1 999999\noff 0 70 abc\noff 1 60 abc\nMark 0 5\noff 1 50 abc\nend 1 1000000\n"
    }

    #[test]
    fn a_path_is_counted_from_its_last_beginning() {
        let mut readings = Readings::default();
        let run = Run {
            path: vec![path("From", "Upto")],
            sum: vec![Sum { name: "twice".into(), of: vec!["p".into(), "p".into()] }],
            stretch: vec![Stretch { name: "off".into(), series: 1, processor: 1 }],
            ..Run::default()
        };
        read(&mut readings, &run, &text(WARM_UP as u64 + 100));
        assert_eq!(readings.disturbed, Vec::<String>::new());
        let value = |name: &str| readings.figures[name].0;
        assert_eq!([value("p"), value("p_min"), value("p_max"), value("off")], [11.0, 10.0, 14.0, 60.0]);
        assert_eq!(value("twice"), 22.0);
    }

    #[test]
    fn what_was_not_counted_disturbs() {
        for (text, why) in [
            (text(WARM_UP as u64 + 99), "99 samples"),
            ("Mark 0 5\nUpto 1 7\n".into(), "0 samples"),
            ("Mark 0\n".into(), "the plug-in wrote"),
            (String::new(), "0 samples"),
        ] {
            let mut readings = Readings::default();
            read(&mut readings, &Run { path: vec![path("From", "Upto")], ..Run::default() }, &text);
            assert!(readings.disturbed.iter().any(|said| said.contains(why)), "{why}: {:?}", readings.disturbed);
        }
        let mut readings = Readings::default();
        let run = Run {
            sum: vec![Sum { name: "both".into(), of: vec!["p".into()] }],
            stretch: vec![Stretch { name: "off".into(), series: 9, processor: 0 }],
            ..Run::default()
        };
        read(&mut readings, &run, "");
        assert_eq!(readings.disturbed, ["not all of both was counted", "off was not counted"]);
    }
}
