//! Figures side by side: a group for each figure, a bar in it for each system.
//!
//! If the chart is normalised, each bar is a multiple of one system's figure, which is drawn as a
//! line at 1; the absolute value is in the group's name. Figures with unrelated units have no
//! common axis: then the longest bar of each group fills the width.

use super::curve::{spoken, systems};
use crate::draw::axis::Axis;
use crate::draw::frame::{Frame, NUMBERS_BELOW};
use crate::draw::lettering::{Text, over, width, wrapped};
use crate::draw::scale::Range;
use crate::draw::{Area, Picture, WIDTH, line, rectangle};
use crate::number::{fixed, quantity, rounded};
use crate::theme::Colours;
use maud::{Markup, html};
use pillion_measure_data::{Chart, Figure, Measurement, System};

/// Width reserved for the names of groups.
const NAMES: f64 = 224.0;
/// Width reserved for the words behind bars, at least.
const ROOM: f64 = 70.0;
/// Height of a bar, with and without the gap to the next one.
const STEP: f64 = 17.0;
const BAR: f64 = 12.0;
/// Height of a line of a group's name.
const LETTERS: f64 = 14.0;
/// Gap between groups.
const BETWEEN: f64 = 11.0;
/// Height of a row of the key.
const KEY: f64 = 19.0;

/// A figure of several systems.
struct Group<'a> {
    name: Vec<String>,
    bars: Vec<(&'a System, &'a Figure)>,
    /// The divisor of its values.
    divisor: f64,
    height: f64,
}

pub fn draw(measurement: &Measurement, chart: &Chart, colours: &Colours) -> Picture {
    let groups: Vec<Group> = chart.series.iter().filter_map(|name| group(measurement, chart, name)).collect();
    if groups.is_empty() {
        return Picture::nothing("No system reported these figures.");
    }
    let shown: Vec<&System> =
        systems(measurement, chart).into_iter().filter(|system| is_drawn(&groups, system)).collect();
    let top = key_rows(&shown, chart) + 10.0;
    let bottom = top + groups.iter().map(|group| group.height + BETWEEN).sum::<f64>();
    let area = Area { left: NAMES, top, right: WIDTH - room(&groups, chart), bottom };
    let scaled = scaled(&groups, chart);
    let frame =
        Frame::new(area, axis(&groups, chart, scaled), Axis::new(Range::between(0.0, 1.0, false), "1", "", 1.0));
    let tops = groups.iter().scan(top, |next, group| Some(std::mem::replace(next, *next + group.height + BETWEEN)));
    let body = html! {
        (key(measurement, chart, &shown, colours))
        @if scaled { (rulers(&frame)) }
        @for (group, top) in groups.iter().zip(tops) { (drawn(&frame, group, chart, colours, top, scaled)) }
        @if chart.normalised.is_some() { (line("axis", (frame.x(1.0), top - 4.0), (frame.x(1.0), bottom))) }
        @if scaled { (frame.numbers(NUMBERS_BELOW)) }
    };
    Picture { height: bottom + if scaled { 44.0 } else { 4.0 }, body }
}

/// Room behind the longest bar for the longest words, and at least [`ROOM`].
fn room(groups: &[Group], chart: &Chart) -> f64 {
    let bars = groups.iter().flat_map(|group| group.bars.iter().map(move |(_, figure)| (group, figure)));
    let words = bars.map(|(group, figure)| width(&words(figure, group.divisor, chart.normalised.is_some())) + 12.0);
    words.fold(ROOM, f64::max)
}

fn group<'a>(measurement: &'a Measurement, chart: &Chart, name: &str) -> Option<Group<'a>> {
    let figure = |system: &'a System| Some((system, measurement.figure(&system.name, name)?));
    let all: Vec<(&System, &Figure)> = systems(measurement, chart).into_iter().filter_map(figure).collect();
    let about = all
        .iter()
        .find(|(_, figure)| !figure.about.is_empty())
        .map_or(spoken(name), |(_, figure)| figure.about.clone());
    let (divisor, reference) = match &chart.normalised {
        Some(system) => {
            let figure = measurement.figure(system, name).filter(|figure| figure.value > 0.0)?;
            (figure.value, format!(" ({})", quantity(figure.value, &figure.unit)))
        }
        None => (1.0, String::new()),
    };
    let is_bar = |(system, _): &(&System, &Figure)| chart.normalised.as_ref() != Some(&system.name);
    let bars: Vec<_> = all.into_iter().filter(is_bar).collect();
    let name = wrapped(&(about + &reference), NAMES - 20.0);
    let height = (bars.len() as f64 * STEP).max(name.len() as f64 * LETTERS);
    (!bars.is_empty()).then_some(Group { name, bars, divisor, height })
}

fn is_drawn(groups: &[Group], system: &System) -> bool {
    groups.iter().flat_map(|group| &group.bars).any(|(drawn, _)| drawn.name == system.name)
}

/// Whether all bars share an axis: multiples always do, values if their units are the same.
fn scaled(groups: &[Group], chart: &Chart) -> bool {
    let mut units = groups.iter().flat_map(|group| &group.bars).map(|(_, figure)| &figure.unit);
    let first = units.next();
    chart.normalised.is_some() || units.all(|unit| Some(unit) == first)
}

fn axis(groups: &[Group], chart: &Chart, scaled: bool) -> Axis {
    let log = scaled && (chart.log_x || chart.log_y == Some(true));
    let value = |group: &Group, figure: &Figure| match scaled {
        true => figure.value / group.divisor,
        false => 1.0,
    };
    let values = groups.iter().flat_map(|group| group.bars.iter().map(move |(_, figure)| value(group, figure)));
    let values = values.chain(chart.normalised.as_ref().map(|_| 1.0));
    let range = Range::over(values, log);
    let range =
        if log { Range { low: 10_f64.powf((range.low * 0.9).log10().floor()), ..range } } else { range.with_zero() };
    let unit = match &chart.normalised {
        Some(_) => "1",
        None => &groups[0].bars[0].1.unit,
    };
    Axis::new(range, unit, if chart.x.is_empty() { &chart.y } else { &chart.x }, 6.0)
}

/// Vertical lines at the numbers of the axis.
fn rulers(frame: &Frame) -> Markup {
    html! { @for value in frame.x_values() { (line("grid", (frame.x(value), frame.area.top - 4.0), (frame.x(value), frame.area.bottom))) } }
}

fn drawn(frame: &Frame, group: &Group, chart: &Chart, colours: &Colours, top: f64, scaled: bool) -> Markup {
    let longest = group.bars.iter().map(|(_, figure)| figure.value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let divisor = if scaled { group.divisor } else { longest };
    let names = top + (group.height - group.name.len() as f64 * LETTERS) / 2.0;
    let bars = top + (group.height - group.bars.len() as f64 * STEP) / 2.0;
    html! {
        @for (n, words) in group.name.iter().enumerate() {
            (Text::new(NAMES - 12.0, names + n as f64 * LETTERS + 11.0, words).end())
        }
        @for (n, (system, figure)) in group.bars.iter().enumerate() {
            (bar(frame, figure, divisor, colours.slot(&system.name), chart.normalised.is_some(), bars + n as f64 * STEP))
        }
    }
}

/// A bar with its value, and with a whisker as wide as the uncertainty by chance.
fn bar(frame: &Frame, figure: &Figure, divisor: f64, slot: usize, multiple: bool, top: f64) -> Markup {
    let (zero, end) = (frame.x(0.0), frame.x(figure.value / divisor));
    let area = Area { left: zero.min(end), top: top + 2.0, right: zero.max(end), bottom: top + 2.0 + BAR };
    let middle = (area.top + area.bottom) / 2.0;
    let chance = figure
        .chance
        .map(|chance| (frame.x((figure.value - chance) / divisor), frame.x((figure.value + chance) / divisor)));
    let right = chance.map_or(area.right, |(_, right)| right.max(area.right));
    let words = words(figure, divisor, multiple);
    html! {
        (rectangle(&format!("f{slot}"), area))
        @if let Some((from, to)) = chance { (line("thin whisker", (from, middle), (to, middle))) }
        @if figure.is_beyond_bar() {
            (over(&Text::new(right + 6.0, top + 12.0, &format!("{words} !")).class("alarm bold small")))
        } @else {
            (over(&Text::new(right + 6.0, top + 12.0, &words).class("text small")))
        }
    }
}

/// What stands behind a bar.
fn words(figure: &Figure, divisor: f64, multiple: bool) -> String {
    if multiple { format!("× {}", multiple_of(figure.value / divisor)) } else { quantity(figure.value, &figure.unit) }
}

/// Two decimals show a per cent; large multiples need none.
fn multiple_of(times: f64) -> String {
    if times.abs() < 100.0 { fixed(times, 2) } else { rounded(times, 3) }
}

/// Height of the key: one row for each line of names.
fn key_rows(shown: &[&System], chart: &Chart) -> f64 {
    (places(shown).last().map_or(0.0, |place| place.1 + 1.0) + f64::from(u8::from(chart.normalised.is_some()))) * KEY
}

/// Column and row of each system's name in the key, which flows over several lines.
fn places(shown: &[&System]) -> Vec<(f64, f64)> {
    let mut places: Vec<(f64, f64)> = Vec::new();
    let (mut x, mut row) = (0.0, 0.0);
    for system in shown {
        let wide = width(&system.title) + 44.0;
        if x > 0.0 && x + wide > WIDTH {
            (x, row) = (0.0, row + 1.0);
        }
        places.push((x, row));
        x += wide;
    }
    places
}

fn key(measurement: &Measurement, chart: &Chart, shown: &[&System], colours: &Colours) -> Markup {
    let places = places(shown);
    let reference =
        chart.normalised.as_ref().and_then(|name| measurement.systems.iter().find(|system| system.name == *name));
    let below = places.last().map_or(0.0, |place| (place.1 + 1.0) * KEY);
    html! {
        @for (system, (x, row)) in shown.iter().zip(&places) {
            @let top = row * KEY;
            (rectangle(&format!("f{}", colours.slot(&system.name)), Area { left: *x, top: top + 3.0, right: x + 12.0, bottom: top + 15.0 }))
            (Text::new(x + 18.0, top + 13.0, &system.title).class("text bold"))
        }
        @if let Some(system) = reference {
            (Text::new(0.0, below + 13.0, &format!("1 is {}, whose values stand in brackets", system.title)).class("quiet"))
        }
    }
}
