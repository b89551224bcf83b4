//! Charts: what the report draws.

use serde::{Deserialize, Serialize};

/// A chart, as a measure.toml describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// How it is drawn.
    pub kind: Kind,
    /// Headline.
    pub title: String,
    /// What to look for in it.
    #[serde(default)]
    pub about: String,
    /// Names of series; of figures for bars.
    pub series: Vec<String>,
    /// Names of the systems that are drawn; if empty, all systems that have the series.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Title of the horizontal axis.
    #[serde(default)]
    pub x: String,
    /// Title of the vertical axis.
    #[serde(default)]
    pub y: String,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic; each kind has its own default.
    #[serde(default)]
    pub log_y: Option<bool>,
    /// Whether it appears on the first page as well.
    #[serde(default)]
    pub cover: bool,
    /// Bars only: each figure is divided by this system's.
    #[serde(default)]
    pub normalised: Option<String>,
}

impl Chart {
    /// A chart of series in one unit, which the drawing shows at its axes.
    pub fn new(kind: Kind, title: &str, series: &[&str]) -> Chart {
        Chart {
            kind,
            title: title.into(),
            about: String::new(),
            series: series.iter().map(|&name| name.into()).collect(),
            systems: Vec::new(),
            x: String::new(),
            y: String::new(),
            log_x: false,
            log_y: None,
            cover: false,
            normalised: None,
        }
    }
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// How often each value was seen, logarithmically.
    Histogram,
    /// The fraction of samples larger than a value, logarithmically.
    Cumulative,
    /// Points joined by lines.
    Lines,
    /// Points.
    Scatter,
    /// A group of bars for each figure, with one bar for each system.
    Bars,
    /// The software monitor's picture: a point for each place at which a path was interrupted,
    /// filled down to the axis, so that non-preemptible stretches show as triangles.
    Triangles,
    /// A frequency response in the complex plane.
    Locus,
    /// Activations over time.
    Timeline,
}
