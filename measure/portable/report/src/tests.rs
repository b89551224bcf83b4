//! Tests every kind of chart with ordinary, empty and odd data; the page of invented measurements.

#[path = "../tests/data/mod.rs"]
mod data;

use crate::page::{self, Report};
use crate::{chart, picture, theme};
use data::{figure, measurement, points, samples};
use pillion_measure_data::{Chart, Data, Instrument, Kind, Measurement, Processor, Series};
use roxmltree::Document;
use std::iter::once;
use theme::Colours;

const KINDS: [Kind; 8] = [
    Kind::Histogram,
    Kind::Cumulative,
    Kind::Lines,
    Kind::Scatter,
    Kind::Bars,
    Kind::Triangles,
    Kind::Locus,
    Kind::Timeline,
];

/// Draws each chart, and checks that it is well-formed XML and that its numbers are finite.
fn drawn(measurement: &Measurement) -> Vec<String> {
    let colours = Colours::of(std::slice::from_ref(measurement));
    let file = |shown| picture::file(measurement, shown, &chart::draw(measurement, shown, &colours), &theme::style());
    let files: Vec<String> = measurement.charts.iter().map(file).collect();
    files.iter().for_each(|file| check(file));
    files
}

fn check(svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let size = |name: &str| document.root_element().attribute(name).and_then(|size| size.parse::<f64>().ok());
    let (Some(width), Some(height)) = (size("width"), size("height")) else { panic!("no size: {svg}") };
    for node in document.descendants() {
        for attribute in node.attributes() {
            assert!(!attribute.value().contains("NaN") && !attribute.value().contains("inf"), "{attribute:?}");
            let most = match attribute.name() {
                "x" | "x1" | "x2" | "cx" => width,
                "y" | "y1" | "y2" | "cy" => height,
                _ => continue,
            };
            let place: f64 = attribute.value().parse().unwrap_or(f64::NAN);
            assert!((-1.0..=most).contains(&place), "{attribute:?} is outside of {width} x {height}");
        }
    }
}

/// A measurement of one series, drawn as every kind of chart, linear and logarithmic.
fn in_every_kind(series: Vec<Series>) -> Measurement {
    let mut made = measurement("odd", "Odd", Instrument::Measured, &["own-space", "linux"]);
    made.series = series;
    for kind in KINDS {
        for log in [false, true] {
            let mut shown = Chart::new(kind, "Odd", &["a"]);
            (shown.log_x, shown.log_y) = (log, Some(log));
            made.charts.push(shown);
        }
    }
    made
}

#[test]
fn every_invented_chart_is_drawn() {
    let all = data::measurements(3_000);
    let kinds: Vec<Kind> = all.iter().flat_map(|made| &made.charts).map(|chart| chart.kind).collect();
    assert!(KINDS.iter().all(|kind| kinds.contains(kind)));
    for svg in all.iter().flat_map(drawn) {
        let elements = ["<path", "<rect", "<circle", "<line"].map(|element| svg.matches(element).count());
        assert!(elements.iter().sum::<usize>() > 10, "{svg}");
        assert!(svg.len() < 400_000, "{} bytes", svg.len());
    }
}

#[test]
fn odd_data_is_drawn() {
    let curves = [
        vec![],
        vec![(0.0, 0.0)],
        vec![(5.0, 5.0)],
        vec![(1.0, 2.0), (1.0, 2.0)],
        vec![(-3.0, -7.0), (0.0, 0.0), (2.0, 1.0)],
        vec![(f64::MIN, f64::MAX), (f64::MAX, f64::MIN)],
        vec![(f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)],
        vec![(f64::MIN_POSITIVE, 1e-300), (1e300, 1e300)],
    ];
    for curve in curves {
        drawn(&in_every_kind(vec![points("linux", "a", ("ns", "ns"), curve)]));
    }
    for values in [vec![], vec![0], vec![7], vec![0, u64::MAX / 2], vec![1, 1, 1_000_000_000_000]] {
        drawn(&in_every_kind(vec![samples("own-space", "a", values.into_iter().map(|value: u64| value as f64))]));
    }
}

#[test]
fn odd_figures_are_drawn() {
    for value in [0.0, -5.0, 1e300, -1e300, 1e-300] {
        let mut made = in_every_kind(Vec::new());
        made.figures = vec![figure("own-space", "a", "a", value, "ns"), figure("linux", "a", "a", 3.0, "ns")];
        let mut normalised = Chart::new(Kind::Bars, "Odd", &["a"]);
        normalised.normalised = Some("own-space".into());
        made.charts.push(normalised);
        drawn(&made);
    }
}

#[test]
fn bars_tell_multiples_of_the_reference() {
    let mut made = measurement("m", "M", Instrument::Counted, &["own-space", "linux"]);
    made.figures = vec![figure("own-space", "a", "fork", 300.0, "ns"), figure("linux", "a", "fork", 1200.0, "ns")];
    let mut bars = Chart::new(Kind::Bars, "M", &["a"]);
    bars.normalised = Some("own-space".into());
    made.charts = vec![bars];
    let svg = &drawn(&made)[0];
    assert!(svg.contains(">× 4.00<") && svg.contains(">fork (300\u{202f}ns)<"), "{svg}");
}

/// The words behind the longest bar do not leave the picture.
#[test]
fn a_long_unit_has_room_behind_its_bar() {
    let end = |unit: &str| {
        let mut made = measurement("m", "M", Instrument::Counted, &["own-space"]);
        made.figures = vec![figure("own-space", "a", "a", 1420.0, unit)];
        made.charts = vec![Chart::new(Kind::Bars, "M", &["a"])];
        let svg = drawn(&made).remove(0);
        let document = Document::parse(&svg).unwrap();
        let bars =
            document.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("height") == Some("12"));
        let place = |node: roxmltree::Node, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        bars.map(|node| place(node, "x") + place(node, "width")).fold(0.0, f64::max)
    };
    assert!(end("instructions") < end("ns") - 20.0, "{} and {}", end("instructions"), end("ns"));
}

#[test]
fn a_histogram_tells_its_numbers() {
    let mut made = measurement("m", "M", Instrument::Counted, &["own-space"]);
    made.series = vec![samples("own-space", "a", (1..=1000).map(f64::from).chain(once(3000.0)))];
    made.charts = vec![Chart::new(Kind::Histogram, "M", &["a"])];
    let said = |svg: &str, text: &str| {
        Document::parse(svg).is_ok_and(|svg| svg.descendants().any(|node| node.text() == Some(text)))
    };
    let svg = &drawn(&made)[0];
    for text in ["1\u{202f}ns", "503\u{202f}ns", "991\u{202f}ns", "3\u{202f}000\u{202f}ns", "1\u{202f}001"] {
        assert!(said(svg, text), "{text} is missing: {svg}");
    }
    made.figures = vec![figure("own-space", "a_max", "", 2999.5, "ns")];
    assert!(said(&drawn(&made)[0], "3\u{202f}000\u{202f}ns") && !said(&drawn(&made)[0], "2\u{202f}999\u{202f}ns"));
}

#[test]
fn more_than_three_histograms_stand_below_each_other() {
    let systems = ["own-space", "alone", "kernel-space", "linux"];
    let height = |systems: &[&str]| {
        let mut made = measurement("m", "M", Instrument::Counted, systems);
        made.series = systems.iter().map(|system| samples(system, "a", (1..9).map(f64::from))).collect();
        let shown = Chart::new(Kind::Histogram, "M", &["a"]);
        chart::draw(&made, &shown, &Colours::default()).height
    };
    assert!(height(&systems[..3]) < 500.0 && height(&systems) > 550.0);
}

#[test]
fn texts_are_escaped() {
    let mut made = measurement("a/../<b>", "Title <b> & \"c\"", Instrument::Counted, &["linux"]);
    made.systems[0].title = "Linux <x> & y".into();
    made.about = "<script>alert(1)</script>".into();
    made.series = vec![points("linux", "a", ("ns", "ns"), vec![(1.0, 2.0), (2.0, 3.0)])];
    made.charts = vec![Chart::new(Kind::Lines, "Chart </svg> & <i>", &["a"])];
    assert!(drawn(&made)[0].contains("Linux &lt;x&gt; &amp; y"));
    let all = [made];
    let report = Report::of(&all);
    let html = page::html(&report);
    assert!(!html.contains("<script") && !html.contains("<i>") && !html.contains("</svg> &"), "{html}");
    assert!(report.figures().all(|(_, figure)| !figure.file.contains(['/', '.', '<'])));
}

#[test]
fn what_xml_forbids_is_left_out() {
    let mut made = measurement("a\0", "Title\0 \x1b", Instrument::Counted, &["linux"]);
    made.about = "about\u{ffff}".into();
    made.systems[0].title = "Linux\x08".into();
    made.series = vec![points("linux", "a", ("ns\x01", "ns"), vec![(1.0, 2.0), (2.0, 3.0)])];
    made.charts = vec![Chart::new(Kind::Lines, "Chart\0 of \x1b[31mall", &["a"])];
    let all = [made];
    let report = Report::of(&all);
    let forbidden = |c: char| (c < ' ' && !matches!(c, '\n' | '\t' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!page::html(&report).contains(forbidden));
    for (measurement, figure) in report.figures() {
        let svg = picture::file(measurement, figure.chart, &figure.picture, "");
        assert!(svg.contains("Chart of [31mall") && !svg.contains(forbidden), "{svg}");
    }
}

#[test]
fn a_disturbed_measurement_shows_reasons_and_no_charts() {
    let mut made = measurement("m", "M", Instrument::Counted, &["linux"]);
    made.figures = vec![figure("linux", "a", "told", 4711.0, "ns")];
    made.series = vec![points("linux", "b", ("ns", "ns"), vec![(1.0, 2.0)])];
    made.charts = vec![Chart::new(Kind::Scatter, "Cloud", &["b"])];
    let shown = |made: &Measurement| page::html(&Report::of(std::slice::from_ref(made)));
    assert!(shown(&made).contains("4\u{202f}711") && shown(&made).contains("Cloud"));
    made.disturbed = vec!["an SMI came".into()];
    let html = shown(&made);
    assert!(html.contains("an SMI came") && html.contains("of the other systems") && !html.contains("Cloud"));
    made.figures.clear();
    assert!(shown(&made).contains("there are no numbers"));
}

#[test]
fn each_processor_tells_its_figures() {
    let mut made = measurement("m", "M", Instrument::Counted, &["own-space", "linux"]);
    let shown = |made: &Measurement| page::html(&Report::of(std::slice::from_ref(made)));
    assert!(!shown(&made).contains(">processor<"), "one processor has no table");
    let of = |cpu, tasks: &[&str], max_ns| Processor {
        system: "own-space".into(),
        cpu,
        has: "both".into(),
        tasks: tasks.iter().map(|&task| task.into()).collect(),
        max_ns: Some(max_ns),
        overruns: Some(cpu.into()),
        timers: 84_000,
        linux: 7,
        ..Processor::default()
    };
    made.processors = vec![of(0, &[], 0), of(1, &["first", "<second>"], 1264)];
    let html = shown(&made);
    let table =
        html.split("<table class=\"figures processors\">").nth(1).and_then(|rest| rest.split("</table>").next());
    let table = table.unwrap();
    for text in ["first, &lt;second&gt;", "1\u{202f}264\u{202f}ns", "84\u{202f}000", "value beyond\">1<", ">Linux<"] {
        assert!(table.contains(text), "{text} is missing: {table}");
    }
    assert!(!table.contains(">calls<") && !table.contains("system"), "{table}");
    made.processors.push(Processor { system: "linux".into(), ..of(0, &[], 0) });
    assert!(shown(&made).contains("<th>system</th>"));
}

#[test]
fn each_chart_says_its_instrument() {
    let all = data::measurements(3_000);
    let html = page::html(&Report::of(&all));
    let charts = html.split("<figure ").skip(1).count();
    assert!(charts > 10);
    for figure in html.split("<figure ").skip(1) {
        let figure = figure.split("</figure>").next().unwrap_or_default();
        assert!(
            ["counted", "modelled", "measured"].iter().any(|name| figure.contains(&format!("class=\"badge {name}\"")))
        );
    }
    assert!(html.contains("quick run") && html.len() < 2_000_000);
    let outside = ["src=", "@import", "url(", "<link", "<script"];
    assert!(outside.iter().all(|word| !html.contains(word)));
}

#[test]
fn fits_are_drawn_over_their_histogram() {
    let mut made = measurement("m", "M", Instrument::Counted, &["own-space"]);
    made.series = vec![samples("own-space", "a", (100..900).map(f64::from))];
    made.charts = vec![Chart::new(Kind::Histogram, "M", &["a", "a_fit"])];
    let without = drawn(&made)[0].matches("<path").count();
    made.series.push(points("own-space", "a_fit", ("ns", "1"), (100..900).map(|x| (f64::from(x), 1.0)).collect()));
    assert_eq!(drawn(&made)[0].matches("<path").count(), without + 1);
    assert!(matches!(made.series[1].data, Data::Points(_)));
}

#[test]
fn no_percentile_is_beyond_the_maximum() {
    let mut made = measurement("m", "M", Instrument::Counted, &["linux"]);
    made.figures = vec![figure("linux", "a_max", "", 8130.0, "ns")];
    made.series = vec![samples("linux", "a", [8130.0].into_iter())];
    made.charts = [Kind::Histogram, Kind::Cumulative].map(|kind| Chart::new(kind, "M", &["a"])).into();
    for svg in drawn(&made) {
        let cells = svg.matches("8.13").count() + svg.matches("8\u{202f}130").count();
        assert!(cells >= 3 && !svg.contains("8.19") && !svg.contains("8\u{202f}191"), "{svg}");
    }
}
