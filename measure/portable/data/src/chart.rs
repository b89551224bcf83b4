//! What the report draws.

use serde::{Deserialize, Serialize};

/// A chart, as a measure.toml describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// How it is drawn.
    pub kind: Kind,
    /// Headline.
    pub title: String,
    /// What to see in it.
    #[serde(default)]
    pub about: String,
    /// Names of series; of figures for bars.
    pub series: Vec<String>,
    /// Names of the systems that are drawn; all that have the series when there are none.
    #[serde(default)]
    pub systems: Vec<String>,
    /// What stands below the horizontal axis.
    #[serde(default)]
    pub x: String,
    /// What stands beside the vertical axis.
    #[serde(default)]
    pub y: String,
    /// Whether the horizontal axis is logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic; each kind has its own default.
    #[serde(default)]
    pub log_y: Option<bool>,
    /// Whether it stands on the first page, too.
    #[serde(default)]
    pub cover: bool,
    /// Bars: each figure is divided by this system's.
    #[serde(default)]
    pub normalised: Option<String>,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// How often each value was seen, logarithmically.
    Histogram,
    /// The part of samples that are larger than a value, logarithmically.
    Cumulative,
    /// Points joined by lines.
    Lines,
    /// Points.
    Scatter,
    /// A group of bars for each figure, a bar in it for each system.
    Bars,
    /// The software monitor's picture: a point for each place at which a path was interrupted,
    /// filled down to the axis, so that stretches that cannot be preempted show as triangles.
    Triangles,
    /// A frequency response in the complex plane.
    Locus,
    /// Activations over time.
    Timeline,
}
