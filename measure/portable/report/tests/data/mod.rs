//! Invented measurements that look like real ones: every kind of chart, every instrument, a
//! disturbed run and a quick one.

mod random;

use pillion_measure_data::{
    Bucket, Chart, Data, Direction, Figure, Histogram, Instrument, Kind, Measurement, Points, Series, System,
};
use random::Random;
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
        contexts(),
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

fn response(instrument: Instrument, count: u32) -> Measurement {
    let factor = if instrument == Instrument::Modelled { 6.0 } else { 1.0 };
    let mut made = measurement(
        "response",
        "Interrupt response under worst-case load",
        instrument,
        &["own-space", "alone", "kernel-space", "linux", "linux-rt"],
    );
    made.about = "How long the local timer's interrupt takes to the kernel's entry and to the task, while Linux does its worst: what an address space of its own costs a task.".into();
    made.paper = "Mehnert, Hohmuth and Härtig 2002, 4.1 and 4.2, figures 3 and 4".into();
    made.text = RESPONSE.into();
    let mut random = Random::new(7);
    for (system, base, spread, tail) in [
        ("own-space", 291.0, 40.0, 90.0),
        ("alone", 280.0, 4.0, 8.0),
        ("kernel-space", 241.0, 32.0, 60.0),
        ("linux", 2900.0, 900.0, 26_000.0),
        ("linux-rt", 2600.0, 500.0, 800.0),
    ] {
        let (base, spread, tail) = (base * factor, spread * factor, tail * factor);
        let mut total = |part: f64| {
            let second = if random.unit() < 0.3 { base * 0.35 } else { 0.0 };
            (base
                + second
                + random.normal().abs() * spread
                + if random.unit() < 0.02 { random.exponential() * tail } else { 0.0 })
                * part
        };
        made.series.push(samples(system, "entry", (0..count).map(|_| total(0.4))));
        made.series.push(samples(system, "total", (0..count).map(|_| total(1.0))));
    }
    let largest = |system: &str| match made.series(system, "total") {
        Some(Data::Histogram(histogram)) => histogram.max().unwrap_or(0) as f64,
        _ => 0.0,
    };
    let mut figures: Vec<Figure> = SYSTEMS
        .iter()
        .map(|(system, _)| figure(system, "total_max", "release to first instruction, maximum", largest(system), "ns"))
        .collect();
    (figures[0].bar, figures[0].goal, figures[0].field) =
        (Some(1500.0 * factor), Some(1000.0 * factor), "PREEMPT_RT 7,578".into());
    (figures[1].bar, figures[1].goal) = (Some(300.0), Some(200.0));
    figures.extend(SYSTEMS.iter().map(|(system, _)| figure(system, "total_samples", "", f64::from(count), "1")));
    made.figures = figures;
    let mut all = Chart::new(Kind::Histogram, "From the interrupt to the task's first instruction", &["total"]);
    (all.log_x, all.x) = (true, "latency".into());
    all.about = "Two humps each: the second comes from misses in Linux's system calls. Stock Linux has a tail of a quarter of a millisecond.".into();
    let mut near = Chart::new(Kind::Histogram, "What the address space costs", &["total"]);
    near.systems = vec!["own-space".into(), "alone".into(), "kernel-space".into()];
    near.x = "latency".into();
    let mut parts = Chart::new(Kind::Histogram, "Entry and total, system by system", &["entry", "total"]);
    (parts.log_x, parts.x) = (true, "latency".into());
    let mut tail = Chart::new(Kind::Cumulative, "How often it takes longer", &["total"]);
    (tail.log_x, tail.x) = (true, "latency".into());
    made.charts = vec![all, near, parts, tail];
    made
}

const RESPONSE: &str = "# Interrupt response

## Method

The timer of the local APIC is set to a release time. The handler reads the time-stamp counter as its *first* act. After every 100 interrupts the rate changes, so that
no phase of Linux's work is preferred. Loads: system calls of every kind, and a flooder of caches and TLBs that leaves every line dirty.

| | RTLinux | L4RTL |
|---|---|---|
| Pentium Pro, 200 MHz | 22 µs | 31 µs |
| Pentium 4, 1.6 GHz | 21 µs | 56 µs |

## What it shows, and what it cannot show

A counted figure has no cache in it. `total_max` is the largest *seen*; a bound would need a proof. See [the plan](../../../docs/plan.md).
";

fn periodicity() -> Measurement {
    let mut made = measurement(
        "periodicity",
        "Two tasks, triggered alternately every 100 µs",
        Instrument::Counted,
        &["own-space", "alone"],
    );
    made.about =
        "How regularly two periodic tasks are activated while Linux reads its disk and walks its files.".into();
    made.paper = "Härtig, Hohmuth and Wolter 1998, 5.3, figures 6 to 8".into();
    made.quick = true;
    let mut random = Random::new(3);
    for (system, jitter) in [("own-space", 180.0), ("alone", 6.0)] {
        let mut time = 0.0;
        let mut elapsed = || {
            let rare = if random.unit() < 0.002 { random.normal() * jitter * 12.0 } else { 0.0 };
            let elapsed = 100_000.0 + random.normal() * jitter + rare;
            time += elapsed;
            (time, elapsed)
        };
        made.series.push(points(system, "elapsed", ("ns", "ns"), (0..30_000).map(|_| elapsed()).collect()));
    }
    let mut timeline = Chart::new(Kind::Timeline, "Time since the activation before", &["elapsed"]);
    timeline.about = "A line without hairs would be perfect.".into();
    made.charts = vec![timeline];
    made
}

fn slow_down() -> Measurement {
    let mut made = measurement("slow-down", "What riding costs Linux", Instrument::Counted, &[]);
    made.about = "Micro-benchmarks of Linux, native and as a passenger.".into();
    made.paper = "Härtig and others 1997, 5.1 and 5.2, figures 4 and 5".into();
    made.systems = [
        ("linux", "Linux, native"),
        ("riding", "Linux, riding on Pillion"),
        ("riding-rt", "PREEMPT_RT Linux, riding on Pillion"),
    ]
    .map(|(name, title)| System {
        name: name.into(),
        title: title.into(),
        commands: vec![format!("x run --headless --counted --seconds 20 # {name}")],
    })
    .into();
    let benchmarks = [
        ("getpid", "getpid", 212.0, 1.0, 1.0),
        ("read", "read 1 byte of /dev/zero", 402.0, 1.01, 1.05),
        ("pipe", "pipe, round trip", 6_100.0, 1.04, 1.31),
        ("fork", "fork, exit and wait", 142_000.0, 1.09, 1.22),
        ("exec", "fork, exec and wait", 611_000.0, 1.11, 1.24),
        ("mmap", "mmap and munmap of 64 KiB", 2_800.0, 1.02, 1.08),
        ("fault", "page fault on a fresh page", 1_150.0, 1.22, 1.3),
        ("signal", "signal to itself, caught", 1_420.0, 1.0, 1.02),
    ];
    for (name, about, value, riding, rt) in benchmarks {
        made.figures.push(figure("linux", name, about, value, "ns"));
        let mut ridden = figure("riding", name, about, value * riding, "ns");
        (ridden.chance, ridden.bar) = (Some(value * 0.02), Some(value * 1.15));
        made.figures.push(ridden);
        made.figures.push(figure("riding-rt", name, about, value * rt, "ns"));
    }
    let names: Vec<&str> = benchmarks.iter().map(|benchmark| benchmark.0).collect();
    let mut normalised = Chart::new(Kind::Bars, "Riding, as a multiple of native", &names);
    normalised.normalised = Some("linux".into());
    normalised.x = "times native".into();
    let mut absolute = Chart::new(Kind::Bars, "The same in time", &names[..4]);
    absolute.log_x = true;
    let throughput = |system: &str, factor: f64| {
        points(
            system,
            "jobs",
            ("1", "1/s"),
            (1..=16).map(|n| (f64::from(n), 900.0 * factor * (1.0 - (-f64::from(n) / 3.0).exp()))).collect(),
        )
    };
    made.series = vec![throughput("linux", 1.0), throughput("riding", 0.965), throughput("riding-rt", 0.8)];
    let mut users = Chart::new(Kind::Lines, "Throughput as more work at once", &["jobs"]);
    (users.x, users.y) = ("jobs at once".into(), "jobs done".into());
    made.charts = vec![normalised, absolute, users];
    made
}

fn monitor() -> Measurement {
    let mut made = measurement(
        "software-monitor",
        "Where a system call cannot be preempted",
        Instrument::Counted,
        &["linux", "linux-rt"],
    );
    made.about = "A system call is interrupted at every tenth instruction. Where the interrupt must wait stands a triangle, as high as the wait is long.".into();
    made.paper = "Heursch 2006, 3.8.2 and 7.3".into();
    for (system, teeth) in [
        ("linux", vec![(900.0, 2100.0), (5200.0, 4800.0), (11_500.0, 900.0), (14_000.0, 6400.0)]),
        ("linux-rt", vec![(900.0, 400.0), (5200.0, 700.0), (14_000.0, 1100.0)]),
    ] {
        let wait = |x: f64| {
            teeth
                .iter()
                .filter(|(from, long)| x >= *from && x < from + long)
                .map(|(from, long)| long - (x - from))
                .fold(240.0, f64::max)
        };
        made.series.push(points(
            system,
            "wait",
            ("ns", "ns"),
            (0..2_200).map(|n| (f64::from(n) * 10.0, wait(f64::from(n) * 10.0))).collect(),
        ));
    }
    let mut triangles =
        Chart::new(Kind::Triangles, "fork(): the wait of an interrupt, by the place at which it came", &["wait"]);
    triangles.about = "PREEMPT_RT cuts the long stretches into short ones.".into();
    made.charts = vec![triangles];
    made
}

fn reliability() -> Measurement {
    let mut made =
        measurement("reliability", "How fast a signal can be answered", Instrument::Counted, &["own-space", "linux"]);
    made.about = "A square wave is answered by software. The answer's correlation with the question, at each frequency, is a point of the complex plane.".into();
    made.paper = "Heursch 2006, 3.9".into();
    for (system, delay, loss) in [("own-space", 0.000_012, 0.000_02), ("linux", 0.000_09, 0.000_16)] {
        let frequency = |n: i32| 100.0 * 10_f64.powf(f64::from(n) / 20.0);
        let response = |f: f64| {
            let gain = 1.0 / (1.0 + (f * loss).powi(2)).sqrt();
            (gain * (TAU * f * delay / 2.0).cos(), -gain * (TAU * f * delay / 2.0).sin())
        };
        made.series.push(points(system, "locus", ("1", "1"), (0..60).map(|n| response(frequency(n))).collect()));
        made.series.push(points(
            system,
            "locus_frequency",
            ("1/s", "1"),
            (0..60).map(|n| (frequency(n), response(frequency(n)).0)).collect(),
        ));
    }
    made.charts = vec![Chart::new(Kind::Locus, "Frequency response locus", &["locus"])];
    made
}

fn contexts() -> Measurement {
    let mut made = measurement(
        "ready-threads",
        "A context switch as ready threads grow",
        Instrument::Counted,
        &["own-space", "linux", "linux-rt"],
    );
    made.about = "Flat, where the scheduler's work does not depend on how many are ready.".into();
    for (system, base, growth) in [("own-space", 338.0, 0.0), ("linux", 2_400.0, 0.4), ("linux-rt", 2_900.0, 0.45)] {
        let threads = [1.0_f64, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
        made.series.push(points(
            system,
            "switch",
            ("1", "ns"),
            threads.map(|n| (n, base + growth * n.sqrt() * 40.0)).into(),
        ));
    }
    let mut lines = Chart::new(Kind::Lines, "Switch to the next thread", &["switch"]);
    (lines.x, lines.log_x, lines.log_y) = ("ready threads".into(), true, Some(true));
    made.charts = vec![lines];
    made
}

fn jitter() -> Measurement {
    let mut made = measurement("jitter", "Stolen time on a real machine", Instrument::Measured, &["linux"]);
    made.about = "Gaps in a loop that does nothing but read the clock.".into();
    made.machine = [("processor", "AMD Ryzen 7 5800X"), ("kernel", "6.12.9-amd64"), ("governor", "performance")]
        .map(|(what, which)| (what.into(), which.into()))
        .into();
    let mut random = Random::new(11);
    made.series.push(points(
        "linux",
        "gaps",
        ("s", "us"),
        (0..6_000)
            .map(|n| (f64::from(n) / 100.0, 0.3 + random.exponential() * if n % 97 == 0 { 40.0 } else { 1.4 }))
            .collect(),
    ));
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
