//! The readings of a run: its programs' lines, and values extracted from its result and its log.

use super::by_processor;
use super::own_latency;
use super::plan::{Plan, Run};
use super::tool::RunOutput;
use pillion_histogram::bucket_end_ns;
use pillion_measure_data::lines::Readings;
use pillion_measure_data::{Bucket, Data, Histogram, Instrument};
use serde_json::Value;

/// The end of the resource manager's line that reports how much it could not print:
/// docs/run-log.md.
const LOST: &str = " bytes of the log are lost)";

/// Adds the readings of a run to those of its system.
pub fn take(readings: &mut Readings, plan: &Plan, run: &Run, instrument: Instrument, output: &RunOutput) {
    let prefix = &run.prefix;
    readings.disturbed.extend(lost(&output.log));
    if instrument == Instrument::Modelled {
        readings.read(&output.plugin, prefix);
        readings.disturbed.extend(complaints(output));
        return;
    }
    readings.read(&output.log, prefix);
    readings.read(&output.console, prefix);
    if run.is_counted_by_processor() {
        by_processor::read(readings, run, &output.plugin);
    }
    if run.own_latency {
        own_latency::read(readings, &output.plugin, &output.result);
    }
    for (name, pointer) in &run.from_result {
        let unit = unit(plan, &run.system, name);
        match output.result.pointer(pointer) {
            Some(Value::Array(buckets)) => drop(readings.series.insert(name.clone(), histogram(unit, buckets))),
            Some(value) => figure(readings, name, value.as_f64(), unit),
            None => figure(readings, name, None, unit),
        }
    }
    for (name, place) in &run.from_log {
        figure(readings, name, largest(&output.log, place), unit(plan, &run.system, name));
    }
}

/// With the model, programs also report their own, counted figures; only their complaints are used
/// then.
fn complaints(output: &RunOutput) -> Vec<String> {
    let mut readings = Readings::default();
    readings.read(&output.log, "");
    readings.read(&output.console, "");
    readings.disturbed
}

/// The manager's reports that it could not print everything from a task: a figure or a complaint
/// may have been lost.
fn lost(log: &str) -> impl Iterator<Item = String> {
    let told = log.lines().map(str::trim).filter(|line| line.ends_with(LOST));
    told.map(|line| format!("the log lost lines: {line}"))
}

fn unit<'a>(plan: &'a Plan, system: &str, name: &str) -> &'a str {
    plan.figure(system, Instrument::Counted, name).map_or("1", |figure| &figure.unit)
}

fn figure(readings: &mut Readings, name: &str, value: Option<f64>, unit: &str) {
    match value {
        Some(value) => drop(readings.figures.insert(name.to_owned(), (value, unit.to_owned()))),
        None => readings.disturbed.push(format!("the run does not report {name}")),
    }
}

/// A task's histogram; it gives the lower bounds of its buckets.
fn histogram(unit: &str, buckets: &[Value]) -> Data {
    let mut histogram = Histogram { unit: if unit == "1" { "ns".into() } else { unit.into() }, buckets: Vec::new() };
    for (low, count) in buckets.iter().filter_map(|bucket| Some((bucket[0].as_u64()?, bucket[1].as_u64()?))) {
        histogram.add(Bucket { low, width: (bucket_end_ns(low) - low).saturating_add(1), count });
    }
    Data::Histogram(histogram)
}

/// The largest number of KIND/FIELD in a log's JSON lines.
fn largest(log: &str, place: &str) -> Option<f64> {
    let (kind, field) = place.split_once('/')?;
    let objects = log.lines().filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
    objects.filter(|line| line["pillion"] == kind).filter_map(|line| line[field].as_f64()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(run: &str, instrument: Instrument) -> Readings {
        taken_of("", run, instrument)
    }

    /// The same with another text in the log before.
    fn taken_of(log: &str, run: &str, instrument: Instrument) -> Readings {
        let plan = "title = \"t\"\nabout = \"a\"\nsystem = []\nrun = []\n[[figure]]\nname = \"most\"\nabout = \"\"\nunit = \"ns\"";
        let (plan, run) = (toml::from_str(plan).unwrap(), toml::from_str(run).unwrap());
        let output = RunOutput {
            log: log.to_owned()
                + "text\n{\"pillion\":\"stretch\",\"longest_ns\":9}\r\n{\"pillion\":\"stretch\",\"longest_ns\":7}\n[t] figure f 1 ns\n",
            console: "figure g 2 1\n".into(),
            plugin: "figure cycles 3 cycles\n".into(),
            result: serde_json::json!({ "tasks": [{ "max_ns": 35, "histogram": [[20, 3], [20480, 1]] }] }),
        };
        let mut readings = Readings::default();
        take(&mut readings, &plan, &run, instrument, &output);
        readings
    }

    #[test]
    fn figures_come_from_lines_results_and_logs() {
        let run = "system = \"s\"\nfrom_result = { most = \"/tasks/0/max_ns\", h = \"/tasks/0/histogram\" }\nfrom_log = { off = \"stretch/longest_ns\" }";
        let readings = taken(run, Instrument::Counted);
        assert_eq!(readings.figures["most"], (35.0, "ns".into()));
        assert_eq!(readings.figures["off"], (9.0, "1".into()));
        assert_eq!((readings.figures["f"].0, readings.figures["g"].0), (1.0, 2.0));
        let Data::Histogram(histogram) = &readings.series["h"] else { panic!("{readings:?}") };
        assert_eq!(histogram.buckets, [(20, 10, 3).into(), (20480, 1024, 1).into()]);
        assert_eq!(readings.disturbed, Vec::<String>::new());
    }

    #[test]
    fn what_is_not_there_disturbs() {
        let run =
            "system = \"s\"\nfrom_result = { most = \"/tasks/1/max_ns\" }\nfrom_log = { off = \"other/longest_ns\" }";
        assert_eq!(taken(run, Instrument::Counted).disturbed.len(), 2);
    }

    #[test]
    fn a_run_whose_log_lost_something_is_invalid() {
        let log = "[other] (7 bytes of the log are safe)\n[response] (4096 bytes of the log are lost)\r\n";
        for instrument in [Instrument::Counted, Instrument::Modelled] {
            let readings = taken_of(log, "system = \"s\"", instrument);
            assert_eq!(readings.disturbed, ["the log lost lines: [response] (4096 bytes of the log are lost)"]);
        }
    }

    #[test]
    fn a_model_counts_alone() {
        let readings = taken("system = \"s\"", Instrument::Modelled);
        assert_eq!(readings.figures.keys().collect::<Vec<_>>(), ["cycles"]);
    }
}
