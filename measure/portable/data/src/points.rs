//! Curves and clouds of points.

use serde::{Deserialize, Serialize};

/// Points of a curve or a cloud, in the order in which they were reported.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Points {
    /// Unit of the horizontal axis.
    pub x_unit: String,
    /// Unit of the vertical axis.
    pub y_unit: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}
