//! Measurements as files.

use crate::{FORMAT, Measurement};
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a file cannot be read as a measurement.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// It cannot be read at all.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is not JSON, or not the JSON of a measurement.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has another version of the format.
    #[error("its format is {0}, and {FORMAT} is read")]
    Format(Value),
}

impl Measurement {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is missing, or is not a measurement in this version of the format.
    pub fn read(path: &Path) -> Result<Measurement, Unreadable> {
        parse(&std::fs::read(path)?)
    }
}

/// The field that every version of the format has.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: Value,
}

/// Checks the version first: another version may lack any other field.
fn parse(text: &[u8]) -> Result<Measurement, Unreadable> {
    let Head { format } = serde_json::from_slice(text)?;
    if format != FORMAT {
        return Err(Unreadable::Format(format));
    }
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
        assert!(matches!(parse(b"{"), Err(Unreadable::Json(_))));
        assert!(matches!(Measurement::read(Path::new("/nothing/here")), Err(Unreadable::File(_))));
    }
}
