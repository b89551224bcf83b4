//! Presents findings: as lines for programs, as a table for people, as files.

use crate::cyclictest::{self, Facts, Thread};
use crate::date::date;
use crate::experiments::Entry;
use crate::findings::Findings;
use crate::options::Options;
use crate::this_machine;
use anyhow::{Context, Result};
use pillion_measure_data::{Bucket, Data, Figure, Histogram, Measurement, Series, plain};
use std::fs;
use std::io::{IsTerminal, Write, stdout};
use std::path::Path;
use std::time::SystemTime;

/// Presents the findings of an experiment that began at `began`. Fails if a file cannot be written,
/// or the output is closed.
pub fn show(
    entry: &Entry,
    findings: &Findings,
    measurement: &Measurement,
    options: &Options,
    began: SystemTime,
) -> Result<()> {
    if measurement.is_valid() {
        if let Some(path) = &options.cyclictest_json {
            let facts = facts(&measurement.command, [began, SystemTime::now()]);
            let document = cyclictest_json(&facts, findings, measurement);
            write(path, &serde_json::to_string_pretty(&document)?)?;
        }
        if let Some(limit) = options.histogram {
            stdout().write_all(histograms(findings, limit, measurement).as_bytes())?;
            return Ok(());
        }
    }
    let text = if options.lines || !stdout().is_terminal() { findings.lines() } else { table(entry, findings) };
    stdout().write_all(plain(&text).as_bytes()).context("the output is closed")
}

/// Writes a measurement: to a file, or into a folder if it is one of several. Fails if the file
/// cannot be written.
pub fn keep(measurement: &Measurement, path: &Path, is_one_of_several: bool) -> Result<()> {
    let text = serde_json::to_string_pretty(measurement)?;
    if !is_one_of_several && !path.is_dir() {
        return write(path, &text);
    }
    fs::create_dir_all(path).with_context(|| path.display().to_string())?;
    write(&path.join(format!("{}.json", measurement.experiment)), &text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, format!("{text}\n")).with_context(|| path.display().to_string())
}

/// A table of the figures.
fn table(entry: &Entry, findings: &Findings) -> String {
    let rows = findings.figures.iter().map(row);
    let reasons = findings.disturbances.iter().map(|reason| format!("  INVALID: {reason}\n"));
    let rows: String = if findings.disturbances.is_empty() { rows.collect() } else { reasons.collect() };
    format!("{}\n{rows}\n", entry.title)
}

fn row(found: &Figure) -> String {
    let unit = if found.unit == "1" { "" } else { &found.unit };
    let decimals = if found.value.fract() == 0.0 { 0 } else { 2 };
    format!("  {:<36} {:>16.decimals$} {unit}\n", found.name, found.value)
}

/// The histograms in nanoseconds as cyclictest prints them, in microseconds.
fn histograms(findings: &Findings, limit: u64, measurement: &Measurement) -> String {
    let cpu = cpu(measurement);
    let text = |(name, histogram): (&str, Histogram)| {
        format!("# {name}\n{}", cyclictest::histogram(&[Thread { latencies: &histogram, cpu }], limit))
    };
    in_microseconds(findings).map(text).collect()
}

fn cyclictest_json(facts: &Facts, findings: &Findings, measurement: &Measurement) -> serde_json::Value {
    let histograms: Vec<Histogram> = in_microseconds(findings).map(|(_, histogram)| histogram).collect();
    let cpu = cpu(measurement);
    let threads: Vec<Thread> = histograms.iter().map(|latencies| Thread { latencies, cpu }).collect();
    cyclictest::json(facts, &threads)
}

fn in_microseconds(findings: &Findings) -> impl Iterator<Item = (&str, Histogram)> {
    findings.series.iter().filter_map(|Series { name, data, .. }| match data {
        Data::Histogram(histogram) if histogram.unit == "ns" => Some((name.as_str(), microseconds(histogram))),
        _ => None,
    })
}

fn microseconds(nanoseconds: &Histogram) -> Histogram {
    let mut histogram = Histogram { unit: "us".into(), buckets: Vec::new() };
    for bucket in &nanoseconds.buckets {
        histogram.add(Bucket { low: bucket.low / 1000, width: 1, count: bucket.count });
    }
    histogram
}

fn cpu(measurement: &Measurement) -> usize {
    measurement.machine.get("measured on processor").and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The facts about a command that ran between two times.
fn facts(command: &str, times: [SystemTime; 2]) -> Facts {
    let system = rustix::system::uname();
    let fields = [system.sysname(), system.nodename(), system.release(), system.version(), system.machine()];
    Facts {
        command: command.into(),
        version: format!("pillion-measure {}", env!("CARGO_PKG_VERSION")),
        times: times.map(date).into(),
        system: fields.map(|field| field.to_string_lossy().into_owned()),
        realtime: this_machine::is_preempt_rt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn nanoseconds_share_microseconds() {
        let histogram = microseconds(&Histogram::of("ns", [1999, 1000, 2000]));
        assert_eq!(histogram.buckets, [Bucket { low: 1, width: 1, count: 2 }, Bucket { low: 2, width: 1, count: 1 }]);
    }

    #[test]
    fn cyclictests_document_says_when_it_began_and_ended() {
        let times = [SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(90)];
        let document = cyclictest::json(&facts("pillion-measure run latency", times), &[]);
        let said = |key: &str| document[key].as_str().unwrap().to_owned();
        assert_eq!([said("start_time"), said("end_time")], times.map(date));
        assert_ne!(said("start_time"), said("end_time"));
        assert!(["sysname", "release", "machine"].iter().all(|key| document["sysinfo"][key] != ""));
    }
}
