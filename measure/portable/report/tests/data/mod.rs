//! Invented measurements: every kind of chart, every instrument, a disturbed run and a quick one.

use pillion_measure_data::{
    Bucket, Chart, Data, Direction, Figure, Histogram, Instrument, Kind, Measurement, Points, Series, System,
};
use std::f64::consts::TAU;

const SYSTEMS: [(&str, &str); 5] = [
    ("own-space", "RT task in its own address space, beside Linux"),
    ("alone", "RT task in its own address space, no Linux"),
    ("kernel-space", "RT task in the kernel's address space"),
    ("linux", "Linux, stock"),
    ("linux-rt", "Linux with PREEMPT_RT"),
];

/// All of them, with `samples` samples in each large histogram.
pub fn measurements(samples: u32) -> Vec<Measurement> {
    vec![
        response(Instrument::Counted, samples),
        response(Instrument::Modelled, samples),
        periodicity(),
        slow_down(),
        monitor(),
        reliability(),
        jitter(),
        disturbed(),
    ]
}

/// A measurement without charts and data.
pub fn measurement(experiment: &str, title: &str, instrument: Instrument, systems: &[&str]) -> Measurement {
    let machine = [
        ("emulator", "QEMU 7.2.22, -icount shift=0,sleep=off, -cpu EPYC,+svm,+npt, one CPU"),
        ("passenger", "Linux 6.1.0-56-amd64, Debian 12"),
        ("Linux with PREEMPT_RT", "Linux 6.1.0-56-rt-amd64, Debian 12"),
        ("Pillion", "0.1.0, commit 7f38261"),
    ];
    let command = |system: &str| {
        format!(
            "x run --headless --counted --task measure/experiments/{experiment}/{system} --load hackbench,disk --seconds 5"
        )
    };
    let known = |name: &&(&str, &str)| systems.contains(&name.0);
    Measurement {
        command: format!("x measure run {experiment} --instrument {instrument}"),
        machine: machine.map(|(what, which)| (what.into(), which.into())).into(),
        systems: SYSTEMS
            .iter()
            .filter(known)
            .map(|(name, title)| System { name: (*name).into(), title: (*title).into(), commands: vec![command(name)] })
            .collect(),
        ..Measurement::new(experiment, title, instrument)
    }
}

pub fn points(system: &str, name: &str, units: (&str, &str), points: Vec<(f64, f64)>) -> Series {
    let points = Points { x_unit: units.0.into(), y_unit: units.1.into(), points };
    Series { system: system.into(), name: name.into(), data: Data::Points(points) }
}

/// A series of samples, in buckets of 1 ns below 4,096, and of about 1 % above.
pub fn samples(system: &str, name: &str, samples: impl Iterator<Item = f64>) -> Series {
    let mut histogram = Histogram { unit: "ns".into(), buckets: Vec::new() };
    for value in samples.map(|value| value.max(0.0) as u64) {
        let width = if value < 4096 { 1 } else { 1 << (value.ilog2() - 6) };
        histogram.add(Bucket { low: value / width * width, width, count: 1 });
    }
    Series { system: system.into(), name: name.into(), data: Data::Histogram(histogram) }
}

/// A figure; less is better.
pub fn figure(system: &str, name: &str, about: &str, value: f64, unit: &str) -> Figure {
    Figure {
        system: system.into(),
        name: name.into(),
        about: about.into(),
        value,
        unit: unit.into(),
        direction: Direction::Smaller,
        ..Figure::default()
    }
}

/// Latencies from `base` on, the longer the rarer, up to `most` for the last of `count`.
fn latencies(base: f64, most: f64, count: u32) -> impl Iterator<Item = f64> {
    (1..=count).map(move |n| base + (most - base) * (f64::from(n) / f64::from(count)).powi(40))
}

fn response(instrument: Instrument, count: u32) -> Measurement {
    let factor = if instrument == Instrument::Modelled { 6.0 } else { 1.0 };
    let names = SYSTEMS.map(|(name, _)| name);
    let mut made = measurement("response", "Interrupt response under worst-case load", instrument, &names);
    made.about = "How long the local timer's interrupt takes to the kernel's entry and to the task.".into();
    made.paper = "Mehnert, Hohmuth and Härtig 2002, 4.1 and 4.2, figures 3 and 4".into();
    made.text = RESPONSE.into();
    for (system, base, most) in [
        ("own-space", 291.0, 900.0),
        ("alone", 280.0, 310.0),
        ("kernel-space", 241.0, 600.0),
        ("linux", 2900.0, 260_000.0),
        ("linux-rt", 2600.0, 8_000.0),
    ] {
        let (base, most) = (base * factor, most * factor);
        made.series.push(samples(system, "entry", latencies(base * 0.4, most * 0.4, count)));
        made.series.push(samples(system, "total", latencies(base, most, count)));
        made.figures.push(figure(system, "total_max", "release to first instruction, maximum", most, "ns"));
        made.figures.push(figure(system, "total_samples", "", f64::from(count), "1"));
    }
    (made.figures[0].bar, made.figures[0].goal) = (Some(1500.0 * factor), Some(1000.0 * factor));
    made.figures[0].field = "PREEMPT_RT 7,578".into();
    (made.figures[2].bar, made.figures[2].goal) = (Some(300.0), Some(200.0));
    let chart = |kind, title, series: &[&str]| {
        let mut chart = Chart::new(kind, title, series);
        (chart.log_x, chart.x) = (true, "latency".into());
        chart
    };
    let mut near = chart(Kind::Histogram, "What the address space costs", &["total"]);
    (near.log_x, near.systems) = (false, names[..3].iter().map(|name| (*name).into()).collect());
    let mut all = chart(Kind::Histogram, "From the interrupt to the task's first instruction", &["total"]);
    all.about = "Stock Linux has a tail of a quarter of a millisecond.".into();
    let parts = chart(Kind::Histogram, "Entry and total, system by system", &["entry", "total"]);
    made.charts = vec![all, near, parts, chart(Kind::Cumulative, "How often it takes longer", &["total"])];
    made
}

const RESPONSE: &str = "# Interrupt response

## Method

The timer of the local APIC is set to a release time. The handler reads the time-stamp counter as its *first* act.

| | RTLinux | L4RTL |
|---|---|---|
| Pentium Pro, 200 MHz | 22 µs | 31 µs |

## What it shows, and what it cannot show

A counted figure has no cache in it. `total_max` is the largest *seen*. See [the plan](../../../docs/plan.md).
";

fn periodicity() -> Measurement {
    let title = "Two tasks, triggered alternately every 100 µs";
    let mut made = measurement("periodicity", title, Instrument::Counted, &["own-space", "alone"]);
    made.about = "How regularly two periodic tasks are activated while Linux reads its disk.".into();
    made.quick = true;
    for (system, jitter) in [("own-space", 180.0), ("alone", 6.0)] {
        let elapsed = |n: i32| (f64::from(n) * 1e5, 1e5 + jitter * f64::from(n).sin().powi(9));
        made.series.push(points(system, "elapsed", ("ns", "ns"), (0..30_000).map(elapsed).collect()));
    }
    made.charts = vec![Chart::new(Kind::Timeline, "Time since the activation before", &["elapsed"])];
    made
}

fn slow_down() -> Measurement {
    let mut made =
        measurement("slow-down", "What riding costs Linux", Instrument::Counted, &["linux", "own-space", "alone"]);
    made.about = "Micro-benchmarks of Linux, native and as a passenger.".into();
    let benchmarks = [
        ("getpid", "getpid", 212.0, 1.0),
        ("pipe", "pipe, round trip", 6_100.0, 1.04),
        ("exec", "fork, exec and wait", 611_000.0, 1.11),
        ("fault", "page fault on a fresh page", 1_150.0, 1.22),
    ];
    for (name, about, value, riding) in benchmarks {
        made.figures.push(figure("linux", name, about, value, "ns"));
        let mut ridden = figure("own-space", name, about, value * riding, "ns");
        (ridden.chance, ridden.bar) = (Some(value * 0.02), Some(value * 1.15));
        made.figures.push(ridden);
    }
    let names = benchmarks.map(|benchmark| benchmark.0);
    let mut normalised = Chart::new(Kind::Bars, "Riding, as a multiple of native", &names);
    (normalised.normalised, normalised.x) = (Some("linux".into()), "times native".into());
    let mut absolute = Chart::new(Kind::Bars, "The same in time", &names);
    absolute.log_x = true;
    for (system, factor) in [("linux", 900.0), ("own-space", 870.0), ("alone", 720.0)] {
        let jobs = |n: i32| (f64::from(n), factor * (1.0 - (-f64::from(n) / 3.0).exp()));
        made.series.push(points(system, "jobs", ("1", "1/s"), (1..=16).map(jobs).collect()));
    }
    let mut users = Chart::new(Kind::Lines, "Throughput as more work at once", &["jobs"]);
    (users.x, users.y, users.log_x, users.log_y) = ("jobs at once".into(), "jobs done".into(), true, Some(true));
    made.charts = vec![normalised, absolute, users];
    made
}

fn monitor() -> Measurement {
    let title = "Where a system call cannot be preempted";
    let mut made = measurement("software-monitor", title, Instrument::Counted, &["linux", "linux-rt"]);
    made.about = "Where an interrupt must wait stands a triangle, as high as the wait is long.".into();
    for (system, teeth) in [("linux", [(900.0, 2100.0), (14_000.0, 6400.0)]), ("linux-rt", [(900.0, 400.0); 2])] {
        let wait = |n: i32| {
            let x = f64::from(n) * 10.0;
            let inside = teeth.iter().filter(|(from, long)| x >= *from && x < from + long);
            (x, inside.map(|(from, long)| long - (x - from)).fold(240.0, f64::max))
        };
        made.series.push(points(system, "wait", ("ns", "ns"), (0..2_200).map(wait).collect()));
    }
    made.charts = vec![Chart::new(Kind::Triangles, "fork(): the wait of an interrupt", &["wait"])];
    made
}

fn reliability() -> Measurement {
    let mut made =
        measurement("reliability", "How fast a signal can be answered", Instrument::Counted, &["own-space", "linux"]);
    made.about = "A square wave is answered by software; its correlation is a point of the complex plane.".into();
    for (system, delay) in [("own-space", 0.000_012), ("linux", 0.000_09)] {
        let frequency = |n: i32| 100.0 * 10_f64.powf(f64::from(n) / 20.0);
        let response = |n: i32| {
            let turn = TAU * frequency(n) * delay;
            ((turn / 2.0).cos() / (1.0 + turn), -(turn / 2.0).sin() / (1.0 + turn))
        };
        let at = |n: i32| (frequency(n), response(n).0);
        made.series.push(points(system, "locus", ("1", "1"), (0..60).map(response).collect()));
        made.series.push(points(system, "locus_frequency", ("1/s", "1"), (0..60).map(at).collect()));
    }
    made.charts = vec![Chart::new(Kind::Locus, "Frequency response locus", &["locus"])];
    made
}

fn jitter() -> Measurement {
    let mut made = measurement("jitter", "Stolen time on a real machine", Instrument::Measured, &["linux"]);
    made.about = "Gaps in a loop that does nothing but read the clock.".into();
    made.machine = [("processor".into(), "AMD Ryzen 7 5800X".into()), ("kernel".into(), "6.12.9-amd64".into())].into();
    let gap = |n: i32| (f64::from(n) / 100.0, if n % 97 == 0 { 40.0 } else { 0.3 + f64::from(n * 31 % 89) / 50.0 });
    made.series.push(points("linux", "gaps", ("s", "us"), (0..6_000).map(gap).collect()));
    let mut scatter = Chart::new(Kind::Scatter, "Gaps longer than 0.3 µs", &["gaps"]);
    (scatter.x, scatter.y, scatter.log_y) = ("time".into(), "length".into(), Some(true));
    made.charts = vec![scatter];
    made
}

fn disturbed() -> Measurement {
    let mut made = measurement("cyclictest", "cyclictest with hackbench & a compile", Instrument::Measured, &["linux"]);
    made.about = "A disturbed run: reasons instead of <numbers>.".into();
    made.disturbed = vec!["the clock source is hpet, not tsc".into(), "3 SMIs while it ran (MSR 0x34)".into()];
    made
}
