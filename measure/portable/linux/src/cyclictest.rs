//! The output formats of `cyclictest` from rt-tests (2.4): the histogram of `-h`, and `--json`.
//! Values are in microseconds there, or in the unit of the histogram.

use pillion_measure_data::Histogram;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug)]
pub struct Thread<'a> {
    pub latencies: &'a Histogram,
    /// The processor that it ran on.
    pub cpu: usize,
}

/// The facts that accompany the numbers.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub command: String,
    pub version: String,
    /// Start and end in local time, as in RFC 2822.
    pub times: (String, String),
    /// System name, host name, release, version and machine: the output of `uname -a`.
    pub system: [String; 5],
    /// Whether the kernel is PREEMPT_RT.
    pub realtime: bool,
}

/// Prints the histogram of `-h LIMIT`: a row for each value below it, a column for each thread.
pub fn histogram(threads: &[Thread], limit: u64) -> String {
    let mut text = String::from("# Histogram\n");
    for value in 0..limit {
        let counts: Vec<String> = threads.iter().map(|thread| format!("{:06}", count(thread, value))).collect();
        let _ = writeln!(text, "{value:06} {}", counts.join("\t"));
    }
    let beyond = |thread: &Thread| thread.latencies.samples() - within(thread, limit);
    row(&mut text, "Total", threads, 9, |thread| within(thread, limit));
    row(&mut text, "Min Latencies", threads, 5, |thread| thread.latencies.min().unwrap_or(0));
    row(&mut text, "Avg Latencies", threads, 5, |thread| thread.latencies.mean() as u64);
    row(&mut text, "Max Latencies", threads, 5, |thread| thread.latencies.max().unwrap_or(0));
    row(&mut text, "Histogram Overflows", threads, 5, beyond);
    text
}

fn row(text: &mut String, name: &str, threads: &[Thread], digits: usize, value: impl Fn(&Thread) -> u64) {
    let values: Vec<String> = threads.iter().map(|thread| format!("{:0digits$}", value(thread))).collect();
    let _ = writeln!(text, "# {name}: {}", values.join(" "));
}

fn count(thread: &Thread, value: u64) -> u64 {
    let buckets = &thread.latencies.buckets;
    buckets.binary_search_by_key(&value, |bucket| bucket.low).map_or(0, |at| buckets[at].count)
}

fn within(thread: &Thread, limit: u64) -> u64 {
    let below = thread.latencies.buckets.iter().take_while(|bucket| bucket.low < limit);
    below.map(|bucket| bucket.count).sum()
}

/// The document of `--json`. Keys are spelt as in cyclictest, including the colon of `cmdline:`.
pub fn json(facts: &Facts, threads: &[Thread]) -> Value {
    let [sysname, nodename, release, version, machine] = &facts.system;
    let each: Map<String, Value> =
        threads.iter().enumerate().map(|(index, thread)| (index.to_string(), thread_json(thread))).collect();
    json!({
        "file_version": 1,
        "cmdline:": facts.command,
        "rt_test_version:": facts.version,
        "start_time": facts.times.0,
        "end_time": facts.times.1,
        "return_code": 0,
        "sysinfo": {
            "sysname": sysname,
            "nodename": nodename,
            "release": release,
            "version": version,
            "machine": machine,
            "realtime": u8::from(facts.realtime),
        },
        "num_threads": threads.len(),
        "resolution_in_ns": u8::from(threads.iter().any(|thread| thread.latencies.unit == "ns")),
        "thread": each,
    })
}

fn thread_json(thread: &Thread) -> Value {
    let latencies = thread.latencies;
    let buckets: Map<String, Value> =
        latencies.buckets.iter().map(|bucket| (bucket.low.to_string(), bucket.count.into())).collect();
    json!({
        "histogram": buckets,
        "cycles": latencies.samples(),
        "min": latencies.min().unwrap_or(0),
        "max": latencies.max().unwrap_or(0),
        "avg": (latencies.mean() * 100.0).round() / 100.0,
        "cpu": thread.cpu,
        "node": 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_cyclictest_prints_them() {
        let [first, second] = [Histogram::of("us", [1, 1, 3, 900]), Histogram::of("us", [2])];
        let threads = [Thread { latencies: &first, cpu: 0 }, Thread { latencies: &second, cpu: 1 }];
        assert_eq!(
            histogram(&threads, 4),
            "# Histogram\n000000 000000\t000000\n000001 000002\t000000\n000002 000000\t000001\n000003 000001\t000000\n\
             # Total: 000000003 000000001\n# Min Latencies: 00001 00002\n# Avg Latencies: 00226 00002\n\
             # Max Latencies: 00900 00002\n# Histogram Overflows: 00001 00000\n"
        );
    }

    #[test]
    fn the_document_has_cyclictests_keys() {
        let latencies = Histogram::of("ns", [1500, 1500, 1600]);
        let times = ["Sun, 22 Nov 2026 02:32:27 +0100", "Sun, 22 Nov 2026 02:32:37 +0100"].map(String::from);
        let facts = Facts {
            command: "pillion-measure run latency".into(),
            times: times.clone().into(),
            realtime: true,
            ..Facts::default()
        };
        let document = json(&facts, &[Thread { latencies: &latencies, cpu: 2 }]);
        assert_eq!(document["thread"]["0"]["histogram"]["1500"], 2);
        assert_eq!(document["thread"]["0"]["avg"], 1533.33);
        assert_eq!((&document["resolution_in_ns"], &document["sysinfo"]["realtime"]), (&1.into(), &1.into()));
        assert_eq!(document["cmdline:"], "pillion-measure run latency");
        assert_eq!([&document["start_time"], &document["end_time"]], [&times[0], &times[1]]);
    }
}
