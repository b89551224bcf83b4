//! One experiment, run with one instrument on several systems.

use crate::{Chart, Figure, Histogram, Points, Processor};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Version of the format; a reader refuses any other.
pub const FORMAT: u32 = 1;

/// How something was measured. Figures of different instruments are never compared with each other.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Instrument {
    /// Executed instructions of an emulated machine, 1 ns each. Repeatable; ignores caches.
    Counted,
    /// Cycles charged by a model of caches and TLBs. Repeatable; a model.
    Modelled,
    /// The time-stamp counter of a real machine.
    Measured,
}

impl Instrument {
    /// Every instrument.
    pub const ALL: [Instrument; 3] = [Instrument::Counted, Instrument::Modelled, Instrument::Measured];

    /// Its name on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Instrument::Counted => "counted",
            Instrument::Modelled => "modelled",
            Instrument::Measured => "measured",
        }
    }
}

impl fmt::Display for Instrument {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The results of an experiment.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Measurement {
    /// [`FORMAT`].
    pub format: u32,
    /// Name of the experiment: its folder in measure/experiments.
    pub experiment: String,
    /// Headline.
    pub title: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Where the method comes from.
    #[serde(default)]
    pub paper: String,
    /// The experiment's page of text, in Markdown.
    #[serde(default)]
    pub text: String,
    /// The conclusion, for a reader who reads nothing else: parts of a sentence in which
    /// `{SYSTEM:FIGURE}` stands for a figure's value. If a figure of the first part is missing,
    /// there is no conclusion.
    #[serde(default)]
    pub conclusion: Vec<String>,
    /// The instrument it was measured with.
    pub instrument: Instrument,
    /// Command line that repeats the measurement.
    pub command: String,
    /// Whether it is the short form, whose figures differ from those of the long one.
    #[serde(default)]
    pub quick: bool,
    /// The machine: emulator, processor, kernels, versions.
    pub machine: BTreeMap<String, String>,
    /// The systems that were compared, in the order in which they are drawn.
    pub systems: Vec<System>,
    /// Why it is invalid; empty if it is valid. An invalid one has no figures and no series.
    #[serde(default)]
    pub disturbed: Vec<String>,
    /// Single numbers.
    pub figures: Vec<Figure>,
    /// Histograms and curves.
    pub series: Vec<Series>,
    /// What each processor of a system told, where several ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processors: Vec<Processor>,
    /// How the report draws them.
    pub charts: Vec<Chart>,
}

/// A system that was measured and is compared with others: a kernel, a placement of a task.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct System {
    /// Short name, for files and keys.
    pub name: String,
    /// Name for readers.
    pub title: String,
    /// Commands that produced it, one for each run.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// Data of one system.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Series {
    /// Name of the [`System`].
    pub system: String,
    /// What it is; every system uses the same name.
    pub name: String,
    /// The values.
    #[serde(flatten)]
    pub data: Data,
}

/// Values of a series.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// How often each value was seen.
    Histogram(Histogram),
    /// A curve, or a cloud of points.
    Points(Points),
}

impl Measurement {
    /// An empty measurement of the long form.
    pub fn new(experiment: &str, title: &str, instrument: Instrument) -> Measurement {
        Measurement {
            format: FORMAT,
            experiment: experiment.into(),
            title: title.into(),
            about: String::new(),
            paper: String::new(),
            text: String::new(),
            conclusion: Vec::new(),
            instrument,
            command: String::new(),
            quick: false,
            machine: BTreeMap::new(),
            systems: Vec::new(),
            disturbed: Vec::new(),
            figures: Vec::new(),
            series: Vec::new(),
            processors: Vec::new(),
            charts: Vec::new(),
        }
    }

    /// Reads a file. Fails if it is missing, or is no measurement in this version of the format.
    pub fn read(path: &Path) -> Result<Measurement> {
        parse(&std::fs::read(path)?)
    }

    /// The figure with that name of that system.
    pub fn figure(&self, system: &str, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.system == system && figure.name == name)
    }

    /// The series with that name of that system.
    pub fn series(&self, system: &str, name: &str) -> Option<&Data> {
        self.series.iter().find(|series| series.system == system && series.name == name).map(|series| &series.data)
    }

    /// Whether it is undisturbed.
    pub fn is_valid(&self) -> bool {
        self.disturbed.is_empty()
    }
}

/// Checks the version first: another version may lack any other field.
fn parse(text: &[u8]) -> Result<Measurement> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        format: Value,
    }
    let Head { format } = serde_json::from_slice(text)?;
    ensure!(format == FORMAT, "its format is {format}, and {FORMAT} is read");
    Ok(serde_json::from_slice(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::tests::measurement;

    #[test]
    fn what_is_written_is_read_again() {
        let measured = measurement(&[("f", 1.5)]);
        assert_eq!(parse(&serde_json::to_vec(&measured).unwrap()).unwrap(), measured);
    }

    #[test]
    fn what_is_no_measurement_says_why() {
        let said = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(said("{\"format\": 99}"), "its format is 99, and 1 is read");
        assert_eq!(said("{}"), "its format is null, and 1 is read");
        assert!(said("{\"format\": 1}").contains("experiment"));
        assert!(parse(b"{").unwrap_err().is::<serde_json::Error>());
        assert!(Measurement::read(Path::new("/nothing/here")).unwrap_err().is::<std::io::Error>());
    }
}
