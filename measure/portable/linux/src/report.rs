//! `pillion-measure report`: measurements as one page.

use crate::compare::read;
use anyhow::Result;
use pillion_measure_data::Measurement;
use std::path::{Path, PathBuf};

/// Draws files into a folder and prints where the page is. Files of one experiment by one
/// instrument are merged, with their systems side by side.
///
/// # Errors
/// A file cannot be read, or the folder cannot be written.
pub fn report(files: &[PathBuf], folder: &Path) -> Result<bool> {
    let mut all: Vec<Measurement> = Vec::new();
    for file in files {
        let measurement = read(file)?;
        match all.iter_mut().find(|before| belong_together(before, &measurement)) {
            Some(before) => join(before, measurement),
            None => all.push(measurement),
        }
    }
    println!("{}", pillion_measure_report::write(&all, folder)?.display());
    Ok(true)
}

/// Whether both are of one experiment and of different systems.
fn belong_together(before: &Measurement, other: &Measurement) -> bool {
    let has = |name: &str| before.systems.iter().any(|system| system.name == name);
    (before.experiment == other.experiment && before.instrument == other.instrument && before.quick == other.quick)
        && !other.systems.iter().any(|system| has(&system.name))
}

fn join(before: &mut Measurement, other: Measurement) {
    before.command = format!("{}; {}", before.command, other.command);
    before.systems.extend(other.systems);
    before.figures.extend(other.figures);
    before.series.extend(other.series);
    before.disturbed.extend(other.disturbed);
    for (name, value) in other.machine {
        let known = before.machine.entry(name).or_insert_with(|| value.clone());
        if *known != value {
            *known = format!("{known}; {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pillion_measure_data::{Instrument, System};

    fn measurement(system: &str, kernel: &str) -> Measurement {
        Measurement {
            command: system.into(),
            machine: [("kernel".to_owned(), kernel.to_owned()), ("processor".to_owned(), "one".to_owned())].into(),
            systems: vec![System { name: system.into(), ..System::default() }],
            ..Measurement::new("latency", "", Instrument::Measured)
        }
    }

    #[test]
    fn systems_of_one_experiment_stand_side_by_side() {
        let mut both = measurement("linux", "6.1");
        let other = measurement("linux-rt", "6.1-rt");
        assert!(belong_together(&both, &other) && !belong_together(&both, &both.clone()));
        join(&mut both, other);
        assert_eq!(both.systems.len(), 2);
        assert_eq!((both.command.as_str(), both.machine["processor"].as_str()), ("linux; linux-rt", "one"));
        assert_eq!(both.machine["kernel"], "6.1; 6.1-rt");
    }
}
