//! Measurements that were kept as files: `pillion-measure report` and `pillion-measure compare`.

use anyhow::{Context, Result, ensure};
use pillion_measure_data::changes::{self, Change, Verdict};
use pillion_measure_data::{Measurement, percent, plain};
use std::path::{Path, PathBuf};

/// Draws files into a folder and prints where the page is. Files of one experiment by one
/// instrument are merged, with their systems side by side. Fails if a file cannot be read, or the
/// folder cannot be written.
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

/// Prints the figures that two files have in common; false if one has worsened beyond its
/// threshold. Fails if a file cannot be read, or the two cannot be compared.
pub fn compare(old: &Path, new: &Path) -> Result<bool> {
    let changes = changes::compare(&read(old)?, &read(new)?)?;
    let rows: Vec<String> = changes.iter().filter_map(row).collect();
    ensure!(!rows.is_empty(), "they have no figure in common");
    rows.iter().for_each(|row| println!("{}", plain(row)));
    Ok(changes.iter().all(|change| change.verdict != Verdict::TooBad))
}

fn read(path: &Path) -> Result<Measurement> {
    Measurement::read(path).with_context(|| path.display().to_string())
}

/// The line for a figure that both have.
fn row(change: &Change) -> Option<String> {
    let (old, new) = (change.old?, change.new?);
    let note = if change.verdict == Verdict::TooBad { "  WORSE" } else { "" };
    let name = format!("{}: {}", change.system, change.name);
    Some(format!("{name:<48} {old:>14} {new:>14} {:<5} {:>+8.2} %{note}", change.unit, percent(old, new)))
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

    #[test]
    fn a_row_says_what_got_worse_and_by_how_much() {
        let change = |old, verdict| Change {
            system: "linux".into(),
            name: "call".into(),
            unit: "ns".into(),
            old,
            new: Some(103.0),
            change: None,
            verdict,
        };
        let worse = row(&change(Some(100.0), Verdict::TooBad)).unwrap();
        assert!(worse.starts_with("linux: call ") && worse.ends_with(" 103 ns       +3.00 %  WORSE"), "{worse}");
        assert!(row(&change(Some(0.0), Verdict::Worse)).unwrap().ends_with(" +inf %"));
        assert_eq!(row(&change(None, Verdict::New)), None);
    }
}
